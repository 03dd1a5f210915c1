"""HTTP server of the board: HTML pages, JSON answers, pictures.

    state      query of a request  <->  View: the game so far and its display settings
    pages      endpoints of pages           routes   table of addresses      server   runs uvicorn

    workspace  look-up page                 playing   games and puzzles      film, editor
    verdict    outcome and list of moves    panels    sections beside the board
    endgames   list of tables, one table    handbook  tables by attacker
    gallery    positions of one value       composer  search form and results
    layout     frame of all pages           embed     <iframe> page, Open Graph tags
    construction   building tables from a page: permission, progress

    api        JSON, SVG and text answers      /v1/...           mirror   table files
    openapi    description of these addresses       schemas      JSON Schemas of the answers
    http       threads, ETags, errors       limits       limits of requests, security headers
    assets     script, style and icon       proxy        X-Forwarded-* headers
    helpers    search processes

Parameters that most functions share:

    library     open tables, with caches of what is known about them
    view        `state.View`, the parsed address of the request
    study       `knowledge.library.Study`: a position, its value and its moves
    mechanism   the offence that decides a position of order 1 or above; None if there is none

Needs the extra `web`.
"""
