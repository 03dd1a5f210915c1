"""Squares where pieces may stand, and the index of each placement.

    material  ->  placement groups  ->  layout: (lead, mids, inner)  ->  index

    squares, material, position, move   a board, an endgame, a position (FEN), a move
    boardcode     a board as six integers
    groups        placements of pieces that belong together, and their ranks
    geometry      the parts that an index is made of, and how large they are
    layout        the perfect index and its inverse, for many positions at once
    slots         the same for one position, in plain Python and in kernels alike
    arrangement   the order of slots in a file, and the blocks they are cut into
    census        how many placements an index holds
    scalar        functions that plain Python and kernels share
    importing     imports that stay, kept from the collector of cycles
    systems       what operating systems do not share, for all that opens files
    threads       threads that share work, started where there is room for them

Nothing here knows of values or files, nor how pieces move; nothing imports numba, or anything else
of `tbgen`.

Parameters of kernels, unless a kernel says otherwise:
    d : Integers (words,), the descriptor that the module describes
    squares : Integers (pieces,), where the pieces stand, in the order of `Layout.piece_codes`
    first : int, the place in `squares` of the first piece that is meant
    mirrored : bool, whether the pieces are to be seen in the mirror
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
    "as_position",
]
