"""Moves of a side, and legality of a move.

    generate_moves    pseudo-legal moves, captures included; they may leave the king attacked
    is_legal_move     pseudo-legal, and the mover's king is safe afterwards

Scalar functions (`tbgen.system.scalar`): plain Python, and callable from kernels. `positions`
has the same for `Position` and `Move`.
"""

from __future__ import annotations

from tbgen.indexing.squares import EMPTY, SQUARES, PieceType, piece_kind, piece_side
from tbgen.rules.attacks import attacks, in_check, pieces_between
from tbgen.rules.board import DIAGONALS, LEAPS, STEPS, Board, MutableBoard, Squares, is_on_board
from tbgen.system.scalar import scalar


@scalar
def generate_moves(board: Board, side: int, sources: Squares, targets: Squares) -> int:
    """Write every pseudo-legal move of a side, and return their number.

    Move i goes from sources[i] to targets[i]. Captures of the king are included.
    """
    count = 0
    for square in range(SQUARES):
        code = board[square]
        if code != EMPTY and piece_side(code) == side:
            following = piece_moves(board, square, targets, count)
            for i in range(count, following):
                sources[i] = square
            count = following
    return count


@scalar
def piece_moves(board: Board, source: int, targets: Squares, count: int) -> int:
    """Write the target squares of a piece's pseudo-legal moves to `targets`, from index `count` on.

    Returns the index after the last one: `count` plus the number of moves.
    """
    side, kind = piece_side(board[source]), piece_kind(board[source])
    rank, file = source // 9, source % 9
    if kind == PieceType.ROOK or kind == PieceType.CANNON:
        for rank_step, file_step in STEPS:
            to_rank, to_file = rank + rank_step, file + file_step
            mounts = 0
            while mounts < 2 and is_on_board(to_rank, to_file):
                target = 9 * to_rank + to_file
                code = board[target]
                if code == EMPTY:
                    if mounts == 0:
                        targets[count] = target
                        count += 1
                elif kind == PieceType.CANNON and mounts == 0:
                    mounts = 1
                else:
                    if piece_side(code) != side:
                        targets[count] = target
                        count += 1
                    mounts = 2
                to_rank += rank_step
                to_file += file_step
    elif kind == PieceType.KNIGHT:
        for rank_step, file_step, leg_rank, leg_file in LEAPS:
            to_rank, to_file = rank + rank_step, file + file_step
            if (
                is_on_board(to_rank, to_file)
                and board[9 * (rank + leg_rank) + file + leg_file] == EMPTY
                and _is_open_to(board, side, 9 * to_rank + to_file)
            ):
                targets[count] = 9 * to_rank + to_file
                count += 1
    else:
        diagonal = kind == PieceType.ADVISOR or kind == PieceType.ELEPHANT
        distance = 2 if kind == PieceType.ELEPHANT else 1
        for rank_step, file_step in DIAGONALS if diagonal else STEPS:
            to_rank, to_file = rank + distance * rank_step, file + distance * file_step
            if (
                is_on_board(to_rank, to_file)
                and attacks(board, source, 9 * to_rank + to_file)
                and _is_open_to(board, side, 9 * to_rank + to_file)
            ):
                targets[count] = 9 * to_rank + to_file
                count += 1
    return count


@scalar
def _is_open_to(board: Board, side: int, square: int) -> bool:
    """Return whether a square is empty or has a piece of the opponent of `side`."""
    return board[square] == EMPTY or piece_side(board[square]) != side


@scalar
def reaches(board: Board, source: int, target: int) -> bool:
    """Return whether the piece on `source` has a pseudo-legal move to `target`.

    There must be a piece on `source`; `target` may be any square.
    """
    code = board[source]
    if not _is_open_to(board, piece_side(code), target):
        return False
    if piece_kind(code) == PieceType.CANNON and board[target] == EMPTY:
        return pieces_between(board, source, target) == 0
    return attacks(board, source, target)


@scalar
def is_safe_after(board: MutableBoard, side: int, source: int, target: int) -> bool:
    """Return whether a move leaves the king of `side`, the mover, out of check."""
    moved, taken = board[source], board[target]
    board[target] = moved
    board[source] = EMPTY
    safe = not in_check(board, side)
    board[source] = moved
    board[target] = taken
    return safe


@scalar
def is_legal_move(board: MutableBoard, side: int, source: int, target: int) -> bool:
    """Return whether a move is pseudo-legal, and the side's king safe after it."""
    code = board[source]
    return (
        code != EMPTY
        and piece_side(code) == side
        and reaches(board, source, target)
        and is_safe_after(board, side, source, target)
    )
