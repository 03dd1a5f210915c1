"""A position: a board with a side to move, and its FEN.

A `Position` has one king a side, at most the pieces of a xiangqi set, and each piece in its area.
It need not be legal: `tbgen.rules` checks that the kings do not face each other, and that the side
not to move is not in check.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self

from tbgen.indexing.errors import PositionError, excerpt, require_text
from tbgen.indexing.material import MAX_COUNT, Army, Material
from tbgen.indexing.squares import (
    EMPTY,
    FILES,
    LETTERS,
    RANKS,
    SQUARES,
    PieceType,
    Side,
    area,
    flip_square,
    piece_code,
    piece_kind,
    piece_side,
    square_name,
)

START_FEN = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1"
"""FEN of the opening array."""

LETTER_ALIASES = str.maketrans("eEhHsS", "bBnNpP")
"""Other letters that a FEN may use: e for elephants, h for knights, s for pawns."""

LETTERS_BY_CODE = f"1{LETTERS} {LETTERS.lower()}"
"""Letter of each piece code in a FEN; 1 for `EMPTY`, and a blank for 8, which is no code."""
_SIDE_LETTERS = {
    "w": Side.RED, "r": Side.RED, "b": Side.BLACK, "红": Side.RED, "紅": Side.RED, "黑": Side.BLACK
}  # fmt: skip
_AFTER_SIDE = re.compile("(?<=[红紅黑])方?(?:走|先.*)?$")
"""Pattern of characters that may follow a side to move in Chinese, as in 红方先 or 黑先胜."""
_OF_A_BOOK = re.compile("[红紅黑]方?先")
"""Beginning of a book's words, such as 黑先胜, which may follow all fields of a FEN."""


_KINGS = tuple(piece_code(side, PieceType.KING) for side in Side)

_LIMITS = tuple((piece_code(side, kind), MAX_COUNT[kind]) for side in Side for kind in PieceType)
"""Each piece code with the greatest number of its pieces."""


@dataclass(frozen=True)
class Position:
    """A board of 90 piece codes (`squares.piece_code`, 0 = empty) and the side to move."""

    board: bytes
    side: Side

    _AREAS: ClassVar[Mapping[int, frozenset[int]]] = {
        piece_code(side, kind): frozenset(area(side, kind)) for side in Side for kind in PieceType
    }
    """Squares where a piece may stand, by piece code; the subclass `Diagram` allows more."""

    def __post_init__(self) -> None:
        """Convert `board` to bytes and `side` to a `Side`, and check them.

        Raises `PositionError`, and `ValueError` for a code that no byte holds.
        """
        if type(self.board) is not bytes:
            object.__setattr__(self, "board", bytes(self.board))
        if type(self.side) is not Side:
            if self.side not in tuple(Side):
                raise PositionError(f"{self.side!r} is no side", "it is Side.RED or Side.BLACK")
            object.__setattr__(self, "side", Side(self.side))
        if len(self.board) != SQUARES:
            raise PositionError(f"a board has {SQUARES} squares, not {len(self.board)}")
        for square, code in enumerate(self.board):
            if code != EMPTY and square not in self._AREAS.get(code, ()):
                raise _misplaced(code, square)
        for code in _KINGS:
            if self.board.count(code) != 1:
                raise PositionError(
                    f"{_owner(code)} has {self.board.count(code)} kings",
                    "each side has exactly one king (K and k)",
                )
        for code, limit in _LIMITS:
            if self.board.count(code) > limit:
                raise PositionError(
                    f"{_owner(code)} has {self.board.count(code)} pieces of the kind "
                    f"{LETTERS[piece_kind(code)]}",
                    f"a set has {limit}",
                )

    @classmethod
    def from_fen(cls, fen: str) -> Self:
        """Parse a FEN of two, four or six fields; raises `PositionError` with a hint.

        Also accepts e for elephants, h for knights and s for pawns, r or 红 for Red to move, 黑 for
        Black, and `_` or `+` in place of blanks. The third and the fourth field must be dashes:
        moves after the side to move are an error. The words of a book, such as 黑先胜, may follow,
        or be in place of the side to move.
        """
        require_text(fen, "FEN", PositionError, f"give text, as in '{START_FEN}'")
        fields = fen.replace("_", " ").replace("+", " ").split()
        if not fields:
            raise PositionError("the FEN is empty", f"a FEN looks like '{START_FEN}'")
        book = fields.pop() if len(fields) > 2 and _OF_A_BOOK.match(fields[-1]) else ""
        if any(field.strip("-") for field in fields[2:4]):
            raise PositionError(
                f"a FEN has no {excerpt(' '.join(fields[2:]))} after the side to move",
                "write one position, without moves; `tbgen judge` and the board's box read games",
            )
        if len(fields) not in (2, 4, 6):
            raise PositionError(
                f"the FEN must have 2, 4 or 6 fields, not {len(fields)}",
                "give the board and the side to move, as in '4k4/9/9/9/9/9/9/9/9/R2K5 w'",
            )
        side = _SIDE_LETTERS.get(_AFTER_SIDE.sub("", fields[1]))
        if side is None:
            raise PositionError(f"{excerpt(fields[1])} is no side to move", "write w (or r) or b")
        if book and side != _SIDE_LETTERS[book[0]]:
            raise PositionError(
                f"{excerpt(book)} follows a FEN with {side.name.title()} to move",
                "correct one of the two",
            )
        if len(fields) == 6 and not (fields[4].isdecimal() and fields[5].isdecimal()):
            raise PositionError("the last two FEN fields are not numbers", "they are usually '0 1'")
        return cls(bytes(_parse_board(fields[0].translate(LETTER_ALIASES))), side)

    @property
    def fen(self) -> str:
        """FEN with six fields: board, side to move (w or b), and always `- - 0 1`."""
        board = "/".join(rank_texts(self.board))
        return f"{board} {'w' if self.side == Side.RED else 'b'} - - 0 1"

    def __str__(self) -> str:
        return self.fen

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.fen!r})"

    def _repr_svg_(self) -> str:
        """Return the diagram for notebooks."""
        from tbgen import picture  # late: the package is above this one, and slow to load

        return picture(self)

    def pieces(self) -> list[tuple[int, int]]:
        """List (piece code, square) of every piece, by ascending square."""
        return [(code, square) for square, code in enumerate(self.board) if code != EMPTY]

    @cached_property
    def armies(self) -> tuple[Army, Army]:
        """Red's and Black's pieces, in this order."""
        counts = [[0] * len(PieceType) for _ in Side]
        for code, _ in self.pieces():
            counts[piece_side(code)][piece_kind(code)] += 1
        return Army(*counts[Side.RED][1:]), Army(*counts[Side.BLACK][1:])

    @cached_property
    def material(self) -> Material:
        """Canonical material of the pieces. Its first side is Black's army if `is_swapped`."""
        return Material(*self.armies)

    @property
    def is_swapped(self) -> bool:
        """Return whether the material names Black's army first.

        A table then contains the position `swapped()` in place of this one.
        """
        return self.material.first != self.armies[Side.RED]

    def swapped(self) -> Self:
        """Return the position with colours exchanged: board flipped, other side to move."""
        board = bytearray(SQUARES)
        for code, square in self.pieces():
            board[flip_square(square)] = code ^ 8
        return type(self)(bytes(board), self.side.other)

    def mirrored(self) -> Self:
        """Return the left-right mirror image."""
        ranks = (self.board[first : first + FILES] for first in range(0, SQUARES, FILES))
        return type(self)(b"".join(rank[::-1] for rank in ranks), self.side)

    def after(self, source: int, target: int) -> Self:
        """Return the position after a move from `source` to `target`; legality is not checked.

        Raises `PositionError` if a king is captured, or the piece may never stand on `target`.
        """
        board = bytearray(self.board)
        board[target] = board[source]
        board[source] = EMPTY
        after = type(self)(bytes(board), self.side.other)
        if self.board[target] == EMPTY:
            # Counting the pieces again would be a quarter of the cost of probing all moves.
            vars(after).update(armies=self.armies, material=self.material)
        return after


def _misplaced(code: int, square: int) -> PositionError:
    """Return the error for a square with a wrong code, or a piece that may not stand there."""
    if code not in Position._AREAS:
        return PositionError(
            f"{square_name(square)} holds {code}, which is no piece code",
            "piece codes are 1 to 7 for Red and 9 to 15 for Black",
        )
    kind = PieceType(piece_kind(code)).name.lower()
    return PositionError(
        f"{_owner(code)}'s {kind} cannot stand on {square_name(square)}",
        "kings stay in the palace, advisors on its five diagonal points, elephants on their seven "
        "points, pawns never stand behind their start or between their files",
    )


def _owner(code: int) -> str:
    """Return the name of a piece's side: Red or Black."""
    return Side(piece_side(code)).name.title()


def as_position(position: Position | str) -> Position:
    """Return a position, or parse its FEN; raises `PositionError`."""
    return position if isinstance(position, Position) else Position.from_fen(position)


def rank_texts(board: bytes, letters: str = LETTERS_BY_CODE) -> list[str]:
    """List the ranks of a board as texts of a FEN, Black's back rank first.

    letters : 16 characters, the letter of each piece code, with 1 for `EMPTY`
    """
    squares = "".join(letters[code] for code in board)
    ranks = (squares[first : first + FILES] for first in range(SQUARES - FILES, -1, -FILES))
    return [re.sub("1+", lambda run: str(len(run[0])), rank) for rank in ranks]


def _parse_board(text: str) -> list[int]:
    """List the ninety piece codes, by square, of a FEN's first field; raises `PositionError`."""
    rows = text.split("/")
    if len(rows) != RANKS:
        raise PositionError(
            f"the FEN must have ten ranks, not {len(rows)}",
            "separate the ranks of the board by '/'",
        )
    board: list[int] = []
    for index, row in enumerate(rows):
        letters = "".join("1" * int(c) if c in "123456789" else c for c in row)
        for letter in letters:
            if letter not in LETTERS_BY_CODE:
                raise PositionError(
                    f"{excerpt(letter)} is no piece letter",
                    "pieces are K A B R N C P, Black's in lower case",
                )
        if len(letters) != FILES:
            raise PositionError(
                f"rank {RANKS - 1 - index} of the FEN has {len(letters)} files",
                "every rank has nine files, a to i",
            )
        board = [*map(LETTERS_BY_CODE.index, letters), *board]
    return board
