"""Rules of movement: attacks, checks, moves and legality.

    board      types of the arguments, and board geometry
    attacks    attacks on a square, and check
    moves      pseudo-legal moves of a side, and legality of a move
    chases     attacks that count as chases
    positions  the rules on `Position` and `Move`; exported here

The functions of all modules but `positions` are scalar: they take integers and boards of ninety
piece codes, and serve plain Python and kernels. Nothing here imports numba. A *pseudo-legal*
move may leave the mover's king attacked, or facing the other king. Verdicts on repetitions are in
`tbgen.referee`.

Parameters of kernels, unless a kernel says otherwise:
    board : Board (90,), piece codes; a `MutableBoard` is changed to try a move and then restored
    side, by_side : int, 0 Red, 1 Black
    code : int, a piece code, or `EMPTY`
    square, source, target, attacker, victim, king : int, a square, 0 to 89
    rank, file : int, 0 to 9 and 0 to 8 on the board
    sources, targets : Squares (MAX_MOVES,), out
    count : int, number of entries already written
    without_xray : bool, True to ignore rooks and cannons that protect the victim only through the
        attacker's square, that is, only after the attacker has left it
    bit : int, of any integer type; the number of a bit
    chase_rules : int64, definition of a chase as bits (`Chases.word` in `tbgen.indexing.rulesets`)
"""

from tbgen.rules.positions import check_legal, in_check, is_legal, is_terminal, legal_moves, play

__all__ = ["check_legal", "in_check", "is_legal", "is_terminal", "legal_moves", "play"]
