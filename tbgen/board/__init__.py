"""The board: positions and endgames in a browser, and the same answers over HTTP.

    state      a request's query  <->  View: the game so far, and how it is to be shown
    library    View  ->  Study: value, moves, suggestion and referee's verdict, from the tables
    api        JSON, SVG and text of a study              /v1/...
    pages      HTML of a study, readable without scripts  /, /play, /edit
    endgames   HTML of tables                             /endgames/...
    diagram    a position as SVG; `pieces` has the strokes of the pieces
    words      reasons, `i18n` all other text, in English and in both Chinese scripts
    server     routes, limits, headers, and running it

Needs the extra `web`. Nothing is drawn from another project: see `pieces`.
"""
