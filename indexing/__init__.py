"""Where pieces may stand, and which number that is.

    material  ->  placement groups  ->  layout: (lead, mids, inner)  ->  index

Squares and piece areas, material signatures and their captures, positions and FEN, the perfect
index and its inverse. This package knows nothing of values, files, or how pieces move; it
imports neither `tbgen.tables` nor anything else of `tbgen`.
"""

from tbgen.indexing.errors import InputError, MaterialError, MoveTextError, PositionError
from tbgen.indexing.material import Army, Material
from tbgen.indexing.move import Move
from tbgen.indexing.position import START_FEN, Position
from tbgen.indexing.squares import PieceType, Side

__all__ = [
    "START_FEN",
    "Army",
    "InputError",
    "Material",
    "MaterialError",
    "Move",
    "MoveTextError",
    "PieceType",
    "Position",
    "PositionError",
    "Side",
]
