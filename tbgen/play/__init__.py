"""Play by the tables: values and moves, choice among equal moves, whole lines.

    prober       probing of legal positions and of all their moves
    preference   order of preference of values, and sets of equally good moves
    repetition   verdicts of the referee on a game
    streaks      unbroken runs of checks or chases of one side
    safety       moves with which a side does not lose by a repetition of its own
    choice       the move to play
    mainline     best play of both sides to the end
    tablebase    the package's interface: `GameTablebase`, `open_tablebase`
    environment  a game against the table, move by move

Plain Python over `tbgen.tables`, `tbgen.rules` and `tbgen.referee`, without numba. Texts about
positions are in `tbgen.answers`; this package does not search.
"""
