"""Knowledge about games and endgames, from tables and referee: no HTML, no HTTP.

    library    a game  ->  Study: value, moves, suggestion, the referee's verdict
    insight    heat maps, other rules, the loser's ladder, slips
    search     positions of a table in bounded time
    puzzles    positions with a single good move; weaker opponents
    daily      positions of the day
    games      games from text           pgn     games as text    workshop   builds, and their cost

Tables are accessed through `library`.
"""
