"""Play by the tables: values and moves, choice among equal moves, whole lines.

    prober       probing of legal positions and of all their moves
    preference   order of preference of values, and sets of equally good moves
    repetition   verdicts of the referee on a game
    streaks      runs of checks or chases of one side with a common victim
    safety       moves by which a side avoids losing by its own perpetual check or chase
    choice       the move to play
    mainline     best play of both sides to the end
    tablebase    the package's interface: `GameTablebase`, `open_tablebase`
    environment  a game against the table, move by move

Plain Python without numba. Texts about positions are in `tbgen.answers`, the alpha-beta search of
the engine in `tbgen.engine.search`.
"""
