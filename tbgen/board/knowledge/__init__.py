"""Knowledge about games and endgames, from tables and referee: no HTML, no HTTP.

    store      a game  ->  Facts: value, moves, suggestion, the referee's verdict
    analysis   heat maps, values under other rules, loops of the losing side, mistakes
    search     positions of a table in bounded time
    puzzles    positions with a single good move; positions of the day; moves of opponents
    games      a game, or best play, as PGN
    builds     builds of tables, and their cost

Tables are accessed through `store`.
"""
