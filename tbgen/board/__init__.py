"""The board: positions and endgames in a browser, and the same answers over HTTP.

    state      a request's query  <->  View: the game so far, and how it is to be shown
    library    View  ->  Study: value, moves, suggestion and referee's verdict, from the tables
    api        JSON, SVG and text of a study              /v1/...
    pages      HTML of a study, readable without scripts  /, /play, /edit
    endgames   HTML of tables                             /endgames/...
    diagram    a position as SVG; `pieces` has the strokes of the pieces
    editor     a page on which positions are set up
    layout     what all pages share; `http`, what all answers share
    words      reasons, `i18n` all other text, in English and in both Chinese scripts
    server     routes, limits, headers, and running it

Needs the extra `web`. Nothing here reads files of tables or judges moves: `library` asks
`tbgen.play` and the referee, and what is said of their answers is in `tbgen.answers`, as for the
command line, which this package does not know. Nothing is drawn from another project: see `pieces`.
"""
