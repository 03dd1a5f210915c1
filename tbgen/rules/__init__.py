"""What may move: attacks, checks, moves and un-moves, legality.

    board  ->  attacks  ->  moves  ->  positions

`attacks` and `moves` are scalar functions over a board of ninety piece codes, one source for
plain Python and for kernels; `positions` offers them for `Position` and `Move`. Nothing here
imports numba, and nothing knows of values, tables or repetitions.
"""

from tbgen.rules.positions import (
    check_legal,
    gives_check,
    in_check,
    is_terminal,
    legal_moves,
    play,
)

__all__ = ["check_legal", "gives_check", "in_check", "is_terminal", "legal_moves", "play"]
