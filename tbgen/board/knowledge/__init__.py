"""Knowledge about games and endgames, from tables and referee: no HTML, no HTTP.

    library    a game  ->  Study: value, moves, suggestion, the referee's verdict
    insight    heat maps, values under other rules, loops of the losing side, mistakes
    search     positions of a table in bounded time
    puzzles    positions with a single good move; weaker opponents
    daily      positions of the day
    games      games from text
    pgn        games as text
    workshop   builds of tables, and their cost

Tables are accessed through `library`. A *reader* is a visitor of the board.
"""
