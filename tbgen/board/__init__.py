"""Web board: positions and endgames in a browser, and the same answers over HTTP.

    language    texts, names and reasons in three languages
    knowledge   answers of tables and referee about a game; searches, puzzles
    drawing     positions and lines  ->  SVG, PNG, GIF
    web         HTTP request  ->  HTML page, or answer for programs

`web` imports the other three; `drawing` and `knowledge` do not import each other. No module here
decodes table files or judges moves: `knowledge` calls `tbgen.play`, `tbgen.finding`, `tbgen.tables`
and the referee. `tbgen.answers` puts the results into words, as for the command line. The board
does not import the command line. `tbgen serve` passes in the object that builds tables, a
`BuildService`.
"""
