"""The board: positions and endgames in a browser, and the same answers over HTTP.

    state      a request's query  <->  View: the game so far, and how it is to be shown
    library    View  ->  Study: value, moves, suggestion and referee's verdict, from the tables
    insight    what only tables know: heat maps, other rules, the loser's ladder, slips

    construction   building from a page: who may, how it goes     starting   what pages show of it

    workspace  looking up                 playing  with puzzles             film, editor
    verdict    the answer and the moves   panels   what stands beside       puzzles, games
    endgames   pages of tables            figures  their pictures           gallery  positions
    matrix     all endgames at a glance             chosen   positions to begin with
    search     positions of a table in bounded time                 composer   what it can be asked
    diagram    a position as SVG on the board of `scenery`; `pieces` has the strokes of the pieces
    story      a line or a game, ply by ply         motion   where pieces are meanwhile
    animation  it as SVG that moves                 flipbook as GIF     raster   SVG as pixels
    layout     what all pages share                 embed    for other people's pages

    texts      messages, those about tables in `texts_tables`; `i18n` has them in three languages
    words      reasons and verdicts; `complaints` errors; `names` pieces, points and endgames

    api, pgn   JSON, SVG and text of a study              /v1/...
    limits     what is refused, headers     http     threads, ETags, errors
    assets     script, style and icon       proxy    requests that a proxy has sent on
    pages      dispatches requests          routes   has the addresses          server   runs them

Needs the extra `web`. Nothing here reads files of tables or judges moves: `library` asks
`tbgen.play` and the referee, and what is said of their answers is in `tbgen.answers`, as for the
command line, which this package does not know: it brings who builds. Nothing is drawn from another
project: see `pieces`.
"""
