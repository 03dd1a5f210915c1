"""The board: positions and endgames in a browser, and the same answers over HTTP.

    language    texts, names and reasons in three languages
    knowledge   a game  ->  what tables and referee know of it; searches, puzzles
    drawing     positions and lines  ->  SVG, PNG, GIF
    web         a request  ->  a page, or an answer for programs

`web` asks the others; `drawing` and `knowledge` do not know each other. Nothing here reads files of
tables or judges moves: `knowledge` asks `tbgen.play` and the referee, and what is said of their
answers is in `tbgen.answers`, as for the command line, which the board does not know: it brings who
builds.
"""
