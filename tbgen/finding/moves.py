# mypy: allow-untyped-defs, allow-untyped-calls
"""The only move that keeps a win or a draw, compiled.

move    90 * source + target, or `NO_MOVE`
score   value of a position for the side to move, greater is better (`tbgen.probing.kernels`)
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import kernel
from tbgen.indexing.squares import EMPTY, SQUARES
from tbgen.probing import COLD, OK, NumbaTables, outcome_of, probe_board
from tbgen.rules.board import MAX_MOVES
from tbgen.rules.moves import generate_moves, is_safe_after

NO_MOVE = -1
"""Result in place of a move: no move or several keep the outcome, or too few moves are legal."""

ILLEGAL, UNKNOWN = 1 << 62, 1 << 61
"""Values in place of a move's score, greater than any score.

`ILLEGAL`: the move is illegal. `UNKNOWN`: the probe after the move failed, for example because its
block is not loaded.
"""


@kernel
def probe_moves(buffers, board, side, outcome, enough, sources, targets, scores):
    """Make the moves of a position, and look up the positions after legal ones (`tbgen.finding`).

    Stops when `enough` legal moves keep `outcome`. Returns (number of moves tried, status). The
    number includes illegal moves. The status is `OK` if `enough` such moves were found or all
    probes succeeded, else the greatest status of a probe, such as `COLD`.

    board : int8 (90,), a legal position; restored
    outcome : int, for the side that moves: 1 win, 0 draw; any number above 1 to try all moves
    enough : int, at least 1
    sources, targets : int64 (MAX_MOVES,), out: squares of each move
    scores : int64 (MAX_MOVES,), out, written for the moves tried: `ILLEGAL`, `UNKNOWN`, or the
        score of the position after the move, for the opponent, who is then to move
    """
    count = generate_moves(board, side, sources, targets)
    found = 0
    greatest = OK
    for i in range(count):
        source, target = sources[i], targets[i]
        scores[i] = ILLEGAL
        if not is_safe_after(board, side, source, target):
            continue
        moved, taken = board[source], board[target]
        board[target] = moved
        board[source] = EMPTY
        status, score = probe_board(buffers, board, 1 - side)
        board[source] = moved
        board[target] = taken
        scores[i] = UNKNOWN
        if status != OK:
            greatest = max(greatest, status)
            continue
        scores[i] = score
        if outcome_of(-score) == outcome:
            found += 1
            if found == enough:
                return i + 1, OK
    return count, greatest


@kernel
def find_only_moves(buffers, boards, side, outcomes, least, moves, pending, statuses):
    """Write the only move that keeps the outcome of each `pending` position (`tbgen.finding`).

    outcomes : int8 (n,), the outcome of each position for `side`: 1 win, 0 draw
    least : int, required number of legal moves: positions with fewer get `NO_MOVE`
    moves : int16 (n,), out: the move, or `NO_MOVE`; arbitrary unless the status is `OK`
    """
    sources, targets = np.empty(MAX_MOVES, np.int64), np.empty(MAX_MOVES, np.int64)
    scores = np.empty(MAX_MOVES, np.int64)
    for number in pending:
        outcome = np.int64(outcomes[number])
        count, status = probe_moves(
            buffers, boards[number], side, outcome, np.int64(2), sources, targets, scores
        )
        legal = 0
        keeping = 0
        move = np.int64(NO_MOVE)
        for i in range(count):
            if scores[i] == ILLEGAL:
                continue
            legal += 1
            if scores[i] != UNKNOWN and outcome_of(-scores[i]) == outcome:
                keeping += 1
                move = sources[i] * SQUARES + targets[i]
        if keeping != 1 or legal < least:
            move = np.int64(NO_MOVE)
        moves[number] = move
        statuses[number] = status


def only_moves(
    tables: NumbaTables,
    boards: NDArray[np.uint8],
    side: int,
    outcomes: NDArray[np.int8],
    least: int,
    pool: ThreadPoolExecutor,
    threads: int,
) -> NDArray[np.int16]:
    """Return int16 (n,): the only move that keeps each position's outcome, or `NO_MOVE`.

    tables : tables of the material and all materials after one capture
    boards : (n, 90), legal positions with `side` to move
    outcomes : (n,), 1 for wins, 0 for draws
    least : required number of legal moves; positions with fewer get `NO_MOVE`

    Works in `threads` tasks in `pool`. Raises like `run_until_loaded`.
    """
    boards = np.ascontiguousarray(boards).view(np.int8)
    moves = np.full(len(boards), NO_MOVE, np.int16)
    turn = int(side)  # numba would compile the kernels again for an enumeration member
    run_until_loaded(
        find_only_moves, tables, boards, turn, outcomes, least, moves, pool=pool, threads=threads
    )
    return moves


def run_until_loaded(
    work: Callable[..., None],
    tables: NumbaTables,
    boards: NDArray[Any],
    *arguments: Any,
    pool: ThreadPoolExecutor,
    threads: int,
) -> None:
    """Run the kernel `work` in passes, until no position lacks a block of the tables.

    After a pass, missing blocks are loaded, and the next pass has only the positions with status
    `COLD`. In each pass, `threads` tasks in `pool` share the positions. A task calls the kernel
    with the buffers of `tables`, `boards`, `arguments`, the task's `pending`, and the `statuses` of
    all positions (`tbgen.finding`). The kernel writes its results into arrays among `arguments`.
    Raises like `NumbaTables.load_wanted` and `NumbaTables.raise_if_cancelled`.
    """
    statuses = np.full(len(boards), COLD, np.int8)
    pending = np.arange(len(boards))
    while len(pending):
        tables.raise_if_cancelled()
        parts = [part for part in np.array_split(pending, threads) if len(part)]
        run = partial(pool.submit, work, tables.buffers, boards, *arguments)
        for task in [run(part, statuses) for part in parts]:
            task.result()
        pending = np.flatnonzero(statuses == COLD)
        if len(pending):
            tables.load_wanted()
