"""Codes of Red's pieces as plain numbers, and the game phase."""

from __future__ import annotations

import numpy as np

from tbgen.indexing.squares import PieceType, piece_code

KING, ADVISOR, ELEPHANT, ROOK, KNIGHT, CANNON, PAWN = (piece_code(0, kind) for kind in PieceType)
"""Piece codes in ascending order. Pieces whose code is at least `ROOK` can cross the river."""

FULL_PHASE = 32
"""Game phase of the starting position, the largest one. The phase is the sum of `PHASES` over all
pieces, and 0 in an endgame without rooks, knights and cannons.
"""

PHASES = np.zeros(16, np.int64)
"""int64 (16,): weight of a piece code in the game phase; 0 for all but rook, knight and cannon."""
for _code, _weight in ((ROOK, 4), (KNIGHT, 2), (CANNON, 2)):
    PHASES[[_code, _code + 8]] = _weight
