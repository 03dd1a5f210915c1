"""Pages and answers over HTTP.

    state      a request's query  <->  View: the game so far, and how it is to be shown
    pages      dispatches requests          routes   has the addresses          server   runs them

    workspace  looking up                 playing  with puzzles             film, editor
    verdict    the answer and the moves   panels   what stands beside
    endgames   pages of tables            handbook   by attackers
    gallery    positions by their worth   composer   by what is asked
    layout     what all pages share       embed    for other people's pages
    construction   building from a page: who may, how it goes, what pages show of it

    api        JSON, SVG and text of a study       /v1/...            mirror   files of tables
    openapi    these addresses, described           schemas      what they answer, by field
    http       threads, ETags, errors       limits       what is refused, headers
    assets     script, style and icon       proxy        requests that a proxy has sent on
    helpers    processes that search

Needs the extra `web`.
"""
