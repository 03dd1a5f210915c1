"""Moves and un-moves of a side, and whether a move is legal.

    generate_moves    pseudo-legal moves, captures included, king's safety aside
    generate_unmoves  quiet moves backwards: where may each piece have come from
    is_legal_move     pseudo-legal, and the mover's king is safe afterwards

Scalar functions (`tbgen.indexing.scalar`): plain Python, and callable from kernels. The position
level, with `Position` and `Move`, is in `positions`.
"""

from __future__ import annotations

from tbgen.indexing.scalar import scalar
from tbgen.indexing.squares import EMPTY, SQUARES, PieceType, piece_kind, piece_side
from tbgen.rules.attacks import attacks, in_check, pieces_between
from tbgen.rules.board import (
    DIAGONALS,
    LEAPS,
    STEPS,
    Board,
    MutableBoard,
    Squares,
    forward,
    is_on_board,
    is_own_half,
)


@scalar
def generate_moves(board: Board, side: int, sources: Squares, targets: Squares) -> int:
    """Write every pseudo-legal move of a side; returns how many.

    `sources` and `targets` need room for `board.MAX_MOVES`. Captures are included, of the king
    too; whether the mover's king is safe afterwards is not looked at.
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
    """Write the targets of the piece on `source` from index `count` on; returns the new count."""
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
    elif kind == PieceType.ADVISOR or kind == PieceType.ELEPHANT:
        distance = 1 if kind == PieceType.ADVISOR else 2
        for rank_step, file_step in DIAGONALS:
            to_rank, to_file = rank + distance * rank_step, file + distance * file_step
            if (
                is_on_board(to_rank, to_file)
                and attacks(board, source, 9 * to_rank + to_file)
                and _is_open_to(board, side, 9 * to_rank + to_file)
            ):
                targets[count] = 9 * to_rank + to_file
                count += 1
    else:
        for rank_step, file_step in STEPS:
            to_rank, to_file = rank + rank_step, file + file_step
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
    """Return whether a piece of the side may come to a square: empty, or an opponent's."""
    return board[square] == EMPTY or piece_side(board[square]) != side


@scalar
def _append(source: int, target: int, sources: Squares, targets: Squares, count: int) -> int:
    """Write one move; returns the new count."""
    sources[count] = source
    targets[count] = target
    return count + 1


@scalar
def generate_unmoves(board: Board, side: int, sources: Squares, targets: Squares) -> int:
    """Write every quiet un-move of a side; returns how many.

    The piece that stands on `sources[i]` may have come from the empty square `targets[i]` by a
    pseudo-legal move that captured nothing; both squares lie in the piece's area. Whether the
    position before was legal (the other king not in check then) is for the caller to ask.
    `sources` and `targets` need room for `board.MAX_MOVES`.
    """
    count = 0
    for square in range(SQUARES):
        code = board[square]
        if code == EMPTY or piece_side(code) != side:
            continue
        kind = piece_kind(code)
        rank, file = square // 9, square % 9
        if kind == PieceType.ROOK or kind == PieceType.CANNON:
            for rank_step, file_step in STEPS:
                from_rank, from_file = rank + rank_step, file + file_step
                while is_on_board(from_rank, from_file):
                    if board[9 * from_rank + from_file] != EMPTY:
                        break
                    count = _append(square, 9 * from_rank + from_file, sources, targets, count)
                    from_rank += rank_step
                    from_file += file_step
        elif kind == PieceType.KNIGHT:
            # The leg lies beside the square that the knight left, not beside where it stands.
            for rank_step, file_step, leg_rank, leg_file in LEAPS:
                from_rank, from_file = rank - rank_step, file - file_step
                if (
                    is_on_board(from_rank, from_file)
                    and board[9 * from_rank + from_file] == EMPTY
                    and board[9 * (from_rank + leg_rank) + from_file + leg_file] == EMPTY
                ):
                    count = _append(square, 9 * from_rank + from_file, sources, targets, count)
        elif kind == PieceType.PAWN:
            count = _pawn_unmoves(board, square, sources, targets, count)
        else:
            # Kings, advisors and elephants step back as they step forward, within their area.
            for rank_step, file_step in STEPS if kind == PieceType.KING else DIAGONALS:
                distance = 2 if kind == PieceType.ELEPHANT else 1
                from_rank, from_file = rank + distance * rank_step, file + distance * file_step
                if (
                    is_on_board(from_rank, from_file)
                    and board[9 * from_rank + from_file] == EMPTY
                    and attacks(board, square, 9 * from_rank + from_file)
                ):
                    count = _append(square, 9 * from_rank + from_file, sources, targets, count)
    return count


@scalar
def _pawn_unmoves(board: Board, square: int, sources: Squares, targets: Squares, count: int) -> int:
    """Append where the pawn on `square` may have come from; returns the new count."""
    side = piece_side(board[square])
    rank, file = square // 9, square % 9
    from_rank = rank - forward(side)
    # A pawn starts on its side's fourth rank, and keeps to files a, c, e, g, i before the river.
    may_stand_behind = not is_own_half(side, from_rank) or (file % 2 == 0 and 3 <= from_rank <= 6)
    if may_stand_behind and is_on_board(from_rank, file) and board[9 * from_rank + file] == EMPTY:
        count = _append(square, 9 * from_rank + file, sources, targets, count)
    if not is_own_half(side, rank):
        for from_file in (file - 1, file + 1):
            if 0 <= from_file < 9 and board[9 * rank + from_file] == EMPTY:
                count = _append(square, 9 * rank + from_file, sources, targets, count)
    return count


@scalar
def reaches(board: Board, source: int, target: int) -> bool:
    """Return whether the piece on `source` moves to `target` pseudo-legally, or captures there."""
    code = board[source]
    if not _is_open_to(board, piece_side(code), target):
        return False
    if piece_kind(code) == PieceType.CANNON and board[target] == EMPTY:
        return pieces_between(board, source, target) == 0
    return attacks(board, source, target)


@scalar
def is_safe_after(board: MutableBoard, side: int, source: int, target: int) -> bool:
    """Return whether the side's king is safe once its piece goes from `source` to `target`.

    The board is put back as it was.
    """
    moved, taken = board[source], board[target]
    board[target] = moved
    board[source] = EMPTY
    safe = not in_check(board, side)
    board[source] = moved
    board[target] = taken
    return safe


@scalar
def is_legal_move(board: MutableBoard, side: int, source: int, target: int) -> bool:
    """Return whether a side may move from `source` to `target`: pseudo-legal, and its king safe.

    The board is put back as it was. `bytes` cannot be tried on: pass `bytearray(board)`.
    """
    code = board[source]
    return (
        code != EMPTY
        and piece_side(code) == side
        and reaches(board, source, target)
        and is_safe_after(board, side, source, target)
    )
