"""Positions and moves as people and other programs write them, in both directions.

    text  ->  parse_position  ->  Position  ->  format_position  ->  fen | pai | six | board
    text  ->  parse_move      ->  Move      ->  format_move      ->  iccs | fairy | wxf | zh

Nothing here knows tables, and nothing imports numba or numpy. `docs/notations.md` describes each
notation with examples.
"""

from tbgen.notation.moves import MOVE_NOTATIONS, format_move, parse_move
from tbgen.notation.positions import (
    POSITION_STYLES,
    PositionText,
    format_position,
    parse_position,
    read_position,
)

__all__ = [
    "MOVE_NOTATIONS",
    "POSITION_STYLES",
    "PositionText",
    "format_move",
    "format_position",
    "parse_move",
    "parse_position",
    "read_position",
]
