"""Play by the tables: values and moves, the choice among equals, whole lines.

    prober       legal positions and their moves, with values
    preference   which value a side prefers, and which moves are equally good
    repetition   the referee, asked about a line of play
    streaks      who has been checking or chasing what, move after move
    safety       moves that do not end in an offence of one's own
    choice       the move to play
    mainline     best play of both sides to the end
    tablebase    all of it behind one object: `GameTablebase`, `open_tablebase`
    environment  a game against the table, move by move

Plain Python over `tbgen.tables`, `tbgen.rules` and `tbgen.referee`; never numba. What is said of a
position is in `tbgen.answers`; finding moves by search is no business of this package.
"""
