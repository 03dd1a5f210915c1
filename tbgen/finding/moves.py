# mypy: allow-untyped-defs, allow-untyped-calls
"""Positions in which one move alone keeps the win or the draw, compiled.

Every legal move is made, and the position after it looked up in tables as arrays
(`tbgen.probing.NumbaTables`), until two are found that keep the outcome.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import kernel
from tbgen.indexing.squares import EMPTY
from tbgen.probing import COLD, OK, NumbaTables, probe_board
from tbgen.rules.board import MAX_MOVES
from tbgen.rules.moves import generate_moves, is_safe_after


@kernel
def find_only_moves(buffers, boards, side, outcomes, pending, only, statuses):
    """Write whether one legal move alone, of several, keeps the outcome of each position.

    buffers : Buffers, the tables of the material and of all after one capture
    boards : int8 (n, 90), legal positions; put back as they were
    side : int, the side to move in all of them
    outcomes : int8 (n,), 1 win, 0 draw: those of the positions
    pending : int64 (m,), the numbers of the positions to look at
    only : bool (n,), out
    statuses : int8 (n,), out: `OK`, or `COLD` where blocks are wanted
    """
    sources, targets = np.empty(MAX_MOVES, np.int64), np.empty(MAX_MOVES, np.int64)
    for number in pending:
        board = boards[number]
        count = generate_moves(board, side, sources, targets)
        legal = 0
        keeping = 0
        worst = OK
        for i in range(count):
            source, target = sources[i], targets[i]
            if not is_safe_after(board, side, source, target):
                continue
            legal += 1
            moved, taken = board[source], board[target]
            board[target] = moved
            board[source] = EMPTY
            status, score = probe_board(buffers, board, 1 - side)
            board[source] = moved
            board[target] = taken
            if status != OK:
                worst = max(worst, status)
                continue
            sign = 0
            if score < 0:
                sign = 1
            elif score > 0:
                sign = -1
            if sign == outcomes[number]:
                keeping += 1
                if keeping == 2:
                    break
        if keeping == 2:
            worst = OK
        only[number] = keeping == 1 and legal > 1
        statuses[number] = worst


def only_moves(
    tables: NumbaTables,
    boards: NDArray[np.uint8],
    side: int,
    outcomes: NDArray[np.int8],
    pool: ThreadPoolExecutor,
    threads: int,
) -> NDArray[np.bool_]:
    """bool (n,): the legal positions, won or drawn, in which one move alone keeps that.

    `tables` has the material and all that one capture leads to. Raises like
    `NumbaTables.load_wanted`.
    """
    boards = np.ascontiguousarray(boards).view(np.int8)
    only, statuses = np.zeros(len(boards), np.bool_), np.full(len(boards), COLD, np.int8)
    pending = np.arange(len(boards))
    while len(pending):
        work = [
            pool.submit(
                find_only_moves, tables.buffers, boards, side, outcomes, part, only, statuses
            )
            for part in np.array_split(pending, threads)
        ]
        for each in work:
            each.result()
        pending = pending[statuses[pending] == COLD]
        if len(pending):
            tables.load_wanted()
    return only
