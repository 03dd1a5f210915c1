"""Positions, moves and materials as text, in the notations that people and programs write.

    text  ->  parse_position  ->  Position  ->  format_position  ->  fen | pai | six | board
    text  ->  parse_move      ->  Move      ->  format_move      ->  iccs | fairy | wxf | zh
    text  ->  parse_material  ->  Material

    positions   FEN, Pai's string, the six integers, boards of ten lines
    materials   letters, English and Chinese names of endgames
    moves       which notation a text is in; ICCS and Fairy-Stockfish's
    wxf, chinese    the notations that name pieces by their file
    naming      what those two share: which of several pieces of a kind is meant

docs/notations.md describes each notation with examples. Nothing here knows values or tables, and
nothing imports numba or numpy; the words in which a value is explained are in `tbgen.answers`.
"""

from tbgen.notation.materials import parse_material, read_material
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
    "parse_material",
    "parse_move",
    "parse_position",
    "read_material",
    "read_position",
]
