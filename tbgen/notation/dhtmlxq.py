"""Boards of DhtmlXQ, a web page's viewer of games: digits of the pieces and of the moves.

    binit       8979695949392919097717866646260600102030405060708012720323436383   pieces
    movelist    7747706279678070                                                  moves

A piece has two digits: its file, 0 for a, and its row, 0 for Black's back rank; 99 if it is absent.
The pieces are Red's, then Black's, each side's in the order of `_PIECES`. A move has four digits:
source and target.
"""

from __future__ import annotations

import re

from tbgen.indexing.errors import InputError, MoveTextError, excerpt
from tbgen.indexing.move import Move
from tbgen.indexing.position import START_FEN, Position
from tbgen.indexing.squares import FILES, LETTERS, SQUARES, PieceType, Side, piece_code

_PIECES = "RNBAKABNRCCPPPPP"


def read_board(places: str, moves: str) -> tuple[Position, list[Move]]:
    """Return the first position and the moves of the parts `binit` and `movelist`.

    Red is to move unless the first move is of a black piece. Without pieces the position is the
    opening array. Raises `InputError` for other digits.
    """
    digits = 4 * len(_PIECES)
    if len(places) not in (0, digits):
        raise InputError(
            f"a DhtmlXQ board has {digits} digits, not {len(places)}",
            "two for each piece, 99 for one that is not there",
        )
    board = bytearray(SQUARES)
    for number in range(len(places) // 2):
        point = places[2 * number : 2 * number + 2]
        if point != "99":
            side, place = divmod(number, len(_PIECES))
            board[_square(point)] = piece_code(side, LETTERS.index(_PIECES[place]))
    start = Position(bytes(board), Side.RED) if places else Position.from_fen(START_FEN)
    given = [_move(moves[at : at + 4]) for at in range(0, len(moves), 4)]
    if given and start.board[given[0].source] >= piece_code(Side.BLACK, PieceType.KING):
        start = Position(start.board, Side.BLACK)
    return start, given


def _move(digits: str) -> Move:
    """Return the move of four digits; raises `MoveTextError` for other text."""
    if not re.fullmatch("([0-8][0-9]){2}", digits):
        raise MoveTextError(
            f"{excerpt(digits)} is no move of a DhtmlXQ move list", "four digits, 7747"
        )
    return Move(_square(digits[:2]), _square(digits[2:]))


def _square(digits: str) -> int:
    """Return the square of two digits; raises `MoveTextError` for other text."""
    if not re.fullmatch("[0-8][0-9]", digits):
        raise MoveTextError(f"{excerpt(digits)} is no point of a DhtmlXQ board", "two digits, 77")
    file, row = int(digits[0]), int(digits[1])
    return FILES * (9 - row) + file
