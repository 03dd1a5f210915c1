"""HTTP server of the board: HTML pages, JSON answers, pictures.

    view            query of a request  <->  View: the game so far and its display settings
    pages           endpoints of pages
    routes          table of addresses, error pages
    server          runs uvicorn

    position_page   look-up page, games and puzzles
    line_page       best play as a film         editor         any arrangement of pieces
    verdict         outcome, list of moves      panels         sections beside the board
    endgames        list of tables, one table   handbook       tables by attacker
    small_boards    positions of one value      search_page    search form and results
    building        building tables from a page: permission, progress
    layout          frame of all pages          embed          <iframe> page, Open Graph tags

    api             JSON, SVG and text answers, /v1/...
    openapi         description of these addresses
    schemas         JSON Schemas of the answers
    files           files of the tables, /files/...
    http            threads, ETags, errors
    middleware      limits of requests, security headers, X-Forwarded-* headers
    assets          script, style and icon
    search_processes   processes that search

Parameters that most functions share:

    store       open tables, with caches of what is known about them
    view        `view.View`, the parsed address of the request
    facts       `knowledge.store.Facts`: a position, its value and its moves
    figures     statistics of a table
    order       of a value: 0 if mate or conversion decides, 1 or more if repetition does
    mechanism   the offence (perpetual check or chase) that decides a position of order 1 or above,
                with its pieces; None at order 0, and if none was found

The *visitor* is the person at the browser. A page has a *mode* (`view.MODES`). A *film* shows best
play ply by ply, or a *ladder*: the loops that the loser by repetition can enter in turn, each of
lower order than the one before. A *heat map* shows the values of a position with one piece moved to
other squares.

Needs the extra `web`.
"""
