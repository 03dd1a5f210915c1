"""Squares where pieces may stand, and the index of each placement.

    material  ->  placement groups  ->  layout: (lead, mid, inner)  ->  index

    squares, material, position, move   a board, an endgame, a position (FEN), a move
    rulesets          repetition rules as data
    boardcode         a board as six integers
    groups            placements of identical pieces or of one side's defenders, and their ranks
    layout            the index of a material: its parts, and slots of positions, many at once
    slots             the index of one position, for plain Python and kernels
    arrangement       order of slots in a file, and the blocks that they are cut into
    placement_count   number of placements in an index
    errors            errors that a user can correct, with hints

The package has neither values nor files nor rules of movement, and does not import numba.

Vocabulary
    defenders    king, advisors and elephants
    attackers    rooks, knights, cannons and pawns, which can cross the river
    placement    the squares of some pieces; its number among all of theirs is its *rank*
    slot         number of a position in the index; of a single piece: index of its square in its
                 area (`squares.area`)
    lead         number of a placement of both sides' defenders; mirror images share one number,
                 except in some layouts of the solver (`Layout.reduced`)
    mid          number of a placement of all attackers except the inner piece
    inner piece  the attacker whose square is the last part of a slot (`layout.choose_inner`)
    twin         another piece of the inner piece's side and type
    canonical    the one that the index uses, of several equal placements (mirror images, twins
                 exchanged)
    hole         a slot without a canonical placement, for example because two pieces overlap
    armless      without attackers

Parameters of kernels, unless a kernel says otherwise:
    d : Integers (words,), the descriptor that the module describes
    squares : Integers (pieces,), squares of the pieces, in the order of `Layout.piece_codes`
    first : int, index in `squares` of the first piece of the group
    mirrored : bool, whether the mirror image of the squares is ranked
    slot : int, the number of a position in the index
    side : int, 0 Red, 1 Black
    kind : int, a `PieceType`
    code : int, the content of a square: `piece_code`, or `EMPTY`
    square : int, 0 to 89
"""

from tbgen.indexing.errors import InputError, MaterialError, MoveTextError, PositionError
from tbgen.indexing.material import Army, Material
from tbgen.indexing.move import Move
from tbgen.indexing.position import START_FEN, Position, as_position
from tbgen.indexing.squares import PieceType, Side

__all__ = [
    "START_FEN", "Army", "InputError", "Material", "MaterialError", "Move", "MoveTextError",
    "PieceType", "Position", "PositionError", "Side", "as_position",
]  # fmt: skip
