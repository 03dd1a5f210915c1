"""Names of piece codes as plain numbers, and the game phase.

The *phase* of a position is the sum of `PHASES` over its pieces. It falls from `FULL_PHASE` in the
opening to 0 in an endgame.
"""

from __future__ import annotations

import numpy as np

from tbgen.indexing.squares import PieceType, piece_code

KING, ADVISOR, ELEPHANT, ROOK, KNIGHT, CANNON, PAWN = (piece_code(0, kind) for kind in PieceType)
"""Piece codes of Red (`KING` to `PAWN`). From `ROOK` on pieces can cross the river and attack."""

FULL_PHASE = 32
"""Phase of the starting position."""

PHASES = np.tile(np.array([0, 0, 0, 0, 4, 2, 2, 0]), 2)
"""int64 (16,): phase of each piece code; 0 for all but rook, knight and cannon."""
