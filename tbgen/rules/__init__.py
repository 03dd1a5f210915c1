"""Rules of movement: attacks, checks, moves and un-moves, legality.

    board      what the rules ask of a board, and its geometry
    attacks    which piece could take on which square, and is a king in danger
    moves      moves and un-moves of a side, and whether a move is legal
    chases     what attacks another piece in earnest
    positions  the same for `Position` and `Move`

All but `positions` are scalar functions over a board of ninety piece codes, one source for plain
Python and for kernels. Nothing here imports numba, and nothing knows of values, tables, or what a
repetition is worth (`tbgen.referee`).

Parameters of kernels, unless a kernel says otherwise:
    board : Board (90,), piece codes; a `MutableBoard` is tried on, and put back as it was
    side, by_side : int, 0 Red, 1 Black
    code : int, a piece code, or `EMPTY`
    attacker_kind, victim_kind : int, a `PieceType`
    square, source, target, attacker, victim, king : int, a square, 0 to 89
    rank, file : int, 0 to 9 and 0 to 8 on the board
    sources, targets : Squares (MAX_MOVES,), out
    count : int, how many entries have been written already
    without_xray : bool, whether rooks and cannons protect only what they protect before the capture
    chase_rules : int64, bits of the rule set (`tbgen.indexing.rulesets`)
"""

from tbgen.rules.positions import (
    check_legal,
    gives_check,
    in_check,
    is_legal,
    is_terminal,
    legal_moves,
    play,
)

__all__ = [
    "check_legal",
    "gives_check",
    "in_check",
    "is_legal",
    "is_terminal",
    "legal_moves",
    "play",
]
