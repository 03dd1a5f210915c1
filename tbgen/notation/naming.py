"""Parts of a move's text in WXF and Chinese notation: the piece's name, and its displacement.

    file            9 8 7 6 5 4 3 2 1   Red's (i is file 1); for Black a is file 1
    RelativePlace   file of a piece, and its number among its side's pieces of the same kind
    Displacement    + ahead, - back, . sideways; and the points moved or the file reached

Files count from the player's right. `wxf` and `chinese` write the numbers in their own letters.
"""

from __future__ import annotations

from typing import NamedTuple

from tbgen.indexing.move import Move
from tbgen.indexing.position import Position
from tbgen.indexing.squares import FILES, PieceType, Side, piece_kind, piece_side

_DIAGONAL = (PieceType.ADVISOR, PieceType.ELEPHANT, PieceType.KNIGHT)


class Displacement(NamedTuple):
    """Second half of a move's text: the direction, and the distance or file."""

    direction: str  # `+` ahead, `-` back, `.` sideways
    number: int  # points moved along the file; for sideways and diagonal moves the file reached


class RelativePlace(NamedTuple):
    """Place of a piece among its side's pieces of the same kind, which determines its name."""

    kind: PieceType
    file: int  # number of its file, 1..9 from its side's right
    rank: int  # number of the piece among those of its kind on the file; 1 is the most advanced
    count_on_file: int  # number of pieces of this kind and side on the file
    crowded_files: int  # number of files with two or more pieces of this kind and side
    serial: int
    """Number of the piece among those that are not alone on their file, from 1: file by file from
    the right, each file from the front. 0 if the piece is alone on its file.
    """

    @property
    def is_tandem(self) -> bool:
        """Return whether the piece's name needs more than the file.

        False for two advisors or elephants on a file: one can only go ahead, the other only back.
        """
        return self.count_on_file > 1 and self.kind not in (PieceType.ADVISOR, PieceType.ELEPHANT)


def file_number(side: int, square: int) -> int:
    """Return the number of a square's file, 1 to 9 from the right of `side`."""
    return FILES - square % FILES if side == Side.RED else square % FILES + 1


def relative_place(position: Position, square: int) -> RelativePlace:
    """Return the place of the piece on `square` among its side's pieces of the same kind."""
    code = position.board[square]
    side = piece_side(code)
    files: dict[int, list[int]] = {}
    for other, found in enumerate(position.board):
        if found == code:
            files.setdefault(file_number(side, other), []).append(other)
    for squares in files.values():
        # High ranks are in front for Red, low ranks for Black.
        squares.sort(reverse=side == Side.RED)
    own_file = file_number(side, square)
    crowded = [number for number in sorted(files) if len(files[number]) > 1]
    sharing = [other for number in crowded for other in files[number]]
    return RelativePlace(
        kind=PieceType(piece_kind(code)),
        file=own_file,
        rank=files[own_file].index(square) + 1,
        count_on_file=len(files[own_file]),
        crowded_files=len(crowded),
        serial=sharing.index(square) + 1 if square in sharing else 0,
    )


def displacement(position: Position, move: Move) -> Displacement:
    """Return the displacement of a move, as seen by the side that makes it."""
    code = position.board[move.source]
    side, kind = piece_side(code), piece_kind(code)
    ahead = move.target // FILES - move.source // FILES
    if side == Side.BLACK:
        ahead = -ahead
    direction = "." if ahead == 0 else "+" if ahead > 0 else "-"
    if ahead == 0 or kind in _DIAGONAL:
        return Displacement(direction, file_number(side, move.target))
    return Displacement(direction, abs(ahead))
