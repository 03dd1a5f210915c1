"""Kinds of pieces by name, as the search and its evaluation tell them apart: plain numbers."""

from __future__ import annotations

import numpy as np

from tbgen.indexing.squares import PieceType, piece_code

KING = piece_code(0, PieceType.KING)
ADVISOR, ELEPHANT = (piece_code(0, kind) for kind in (PieceType.ADVISOR, PieceType.ELEPHANT))
ROOK, KNIGHT, CANNON = (
    piece_code(0, kind) for kind in (PieceType.ROOK, PieceType.KNIGHT, PieceType.CANNON)
)
PAWN = piece_code(0, PieceType.PAWN)
"""Red's piece codes. From `ROOK` on they are attackers, which cross the river."""

FULL_PHASE = 32
"""The phase of the opening; 0 is the ending."""

PHASES = np.zeros(16, np.int64)
"""int64 (16,): what a piece code adds to the phase, nothing but for rook, knight and cannon."""
for _code, _weight in ((ROOK, 4), (KNIGHT, 2), (CANNON, 2)):
    PHASES[[_code, _code + 8]] = _weight
