"""Text notations of positions, moves and materials.

    text  ->  parse_position  ->  Position  ->  format_position  ->  fen | pai | six | board
    text  ->  parse_move      ->  Move      ->  format_move      ->  iccs | fairy | wxf | zh
    text  ->  parse_material  ->  Material
    text  ->  read_game       ->  GameText

`POSITION_STYLES` and `MOVE_NOTATIONS` list the names on the right. `MOVE_NOTATIONS` also has
zh-hant, which is zh in traditional characters.

    positions       FEN, Pai's string, six integers, boards of ten lines
    materials       letters, English and Chinese names of endgames
    games           PGN, lists of moves, Chinese records, UCI, DhtmlXQ; one game or several
    tokens          parts of a game's text: tags, moves, numbers, results
    dhtmlxq         boards of DhtmlXQ
    moves           detection of a text's notation; ICCS and Fairy-Stockfish's coordinates
    wxf, chinese    notations that name the moving piece by its kind and file
    naming          what `wxf` and `chinese` share: file numbers, places of pieces, displacements

docs/notations.md describes each notation with examples. This package does not import values,
tables, numba or numpy.
"""

from tbgen.notation.games import GameText, begins_with_moves, read_game, split_games
from tbgen.notation.materials import (
    names_two_sides,
    parse_material,
    read_attacker,
    read_material,
    require_stronger_first,
)
from tbgen.notation.moves import MOVE_NOTATIONS, format_move, is_fairy, parse_move
from tbgen.notation.positions import (
    POSITION_STYLES,
    PositionText,
    format_position,
    parse_position,
    read_position,
)
from tbgen.notation.tokens import open_brackets

__all__ = [
    "MOVE_NOTATIONS", "POSITION_STYLES", "GameText", "PositionText", "begins_with_moves",
    "format_move", "format_position", "is_fairy", "names_two_sides", "open_brackets",
    "parse_material", "parse_move", "parse_position", "read_attacker", "read_game",
    "read_material", "read_position", "require_stronger_first", "split_games",
]  # fmt: skip
