"""The rules of movement on `Position` and `Move`: legality, check, the end of the game.

Plain Python over the scalar functions of `attacks` and `moves`; no numba. Repetition is ignored
(`tbgen.referee`). Every position may be given as a FEN; an invalid FEN raises `PositionError`.
"""

from __future__ import annotations

from collections.abc import Iterator

from tbgen.indexing.errors import MoveTextError, PositionError
from tbgen.indexing.move import Move
from tbgen.indexing.position import Position, as_position
from tbgen.indexing.squares import (
    EMPTY,
    SQUARES,
    PieceType,
    Side,
    piece_kind,
    piece_side,
    square_name,
)
from tbgen.rules import attacks, moves
from tbgen.rules.board import MAX_MOVES


def legal_moves(position: Position | str) -> list[Move]:
    """List every legal move of the side to move, by ascending source square."""
    return list(_legal_moves(as_position(position)))


def _legal_moves(position: Position) -> Iterator[Move]:
    board = bytearray(position.board)
    sources, targets = [0] * MAX_MOVES, [0] * MAX_MOVES
    for i in range(moves.generate_moves(board, position.side, sources, targets)):
        if moves.is_safe_after(board, position.side, sources[i], targets[i]):
            yield Move(sources[i], targets[i])


def is_terminal(position: Position | str) -> bool:
    """Return whether the side to move has no legal move; it has then lost, in check or not."""
    return next(_legal_moves(as_position(position)), None) is None


def in_check(position: Position | str) -> bool:
    """Return whether the king of the side to move is attacked, or faces the other king."""
    position = as_position(position)
    return attacks.in_check(position.board, position.side)


def check_legal(position: Position | str) -> None:
    """Raise `PositionError` unless the position is legal.

    In a legal position the kings do not face each other and the side not to move is not in check.
    `Position` itself checks the squares and numbers of the pieces.
    """
    position = as_position(position)
    if attacks.kings_face(position.board):
        raise PositionError(
            "the kings face each other", "put a piece between them or move one to another file"
        )
    waiting = position.side.other
    if attacks.in_check(position.board, waiting):
        raise PositionError(
            f"{waiting.name.title()} is in check but {position.side.name.title()} is to move",
            "the side that is not to move cannot be in check",
        )


def is_legal(position: Position | str) -> bool:
    """Return whether `check_legal` accepts a position; an invalid FEN raises `PositionError`."""
    position = as_position(position)
    try:
        check_legal(position)
    except PositionError:
        return False
    return True


def play(position: Position | str, move: Move) -> Position:
    """Return the position after a move.

    Raises `MoveTextError`, with the reason, for an illegal move or numbers that are no squares.
    """
    position = as_position(position)
    if not is_on_board(move):
        raise MoveTextError(f"{tuple(move)} is no move", "squares have the numbers 0 to 89")
    board = bytearray(position.board)
    if not moves.is_legal_move(board, position.side, *move):
        message, hint = _why_illegal(position, move)
        raise MoveTextError(message, hint)
    return position.after(*move)


def is_on_board(move: Move) -> bool:
    """Return whether source and target of a move are squares, 0 to 89."""
    return min(move) >= 0 and max(move) < SQUARES


def _why_illegal(position: Position, move: Move) -> tuple[str, str]:
    """Return the error message and the hint for an illegal move."""
    board, side = bytearray(position.board), position.side
    source, target = (square_name(square) for square in move)
    mover = side.name.title()
    code = board[move.source]
    if code == EMPTY:
        return f"{move}: there is no piece on {source}", f"{mover} is to move"
    if piece_side(code) != side:
        owner = Side(piece_side(code)).name.title()
        return f"{move}: the piece on {source} is {owner}'s", f"{mover} is to move"
    taken = board[move.target]
    if taken != EMPTY and piece_side(taken) == side:
        return f"{move}: {target} is held by {mover}'s own piece", "choose another square"
    if not moves.reaches(board, *move):
        name = PieceType(piece_kind(code)).name.lower()
        return (
            f"{move}: the {name} on {source} cannot reach {target}",
            "it moves differently, or a piece blocks it",
        )
    after = bytearray(board)
    after[move.target], after[move.source] = code, EMPTY
    if attacks.kings_face(after):
        return f"{move}: this would leave the kings facing each other", "keep a piece between them"
    return f"{move}: this would leave {mover}'s king in check", "meet the check, or keep the pin"
