# mypy: allow-untyped-defs, allow-untyped-calls
"""The only move that keeps a win or a draw, compiled.

Every legal move is made, and the position after it is looked up in tables as arrays
(`tbgen.probing.NumbaTables`), until two moves are found that keep the outcome.

    move    90 * source + target, or `NO_MOVE`
    score   value of a position for the side to move, greater is better (`tbgen.probing.kernels`)
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import kernel
from tbgen.indexing.squares import EMPTY, SQUARES
from tbgen.probing import COLD, OK, NumbaTables, outcome_of, probe_board
from tbgen.rules.board import MAX_MOVES
from tbgen.rules.moves import generate_moves, is_safe_after

NO_MOVE = -1
"""Result in place of a move, if not exactly one keeps the outcome, or too few moves are legal."""

ILLEGAL, UNKNOWN = 1 << 62, 1 << 61
"""Values in place of a move's score, greater than any score. `ILLEGAL`: the move is illegal.
`UNKNOWN`: the probe after the move failed, for example because its block is not loaded.
"""


@kernel
def probe_moves(buffers, board, side, outcome, most, sources, targets, scores):
    """Make the moves of a position in turn, and look up the positions after the legal ones.

    Stops when `most` legal moves keep `outcome`. Returns (number of moves tried, status); illegal
    moves are included in the number. The status is `OK` if `most` such moves were found or all
    probes succeeded, else the greatest status of a probe, such as `COLD`.

    buffers : Buffers, the tables of the material and of all after one capture
    board : int8 (90,), a legal position; restored
    side : int, the side to move
    outcome : int, for the side that moves: 1 win, 0 draw; any number above 1 to try all moves
    most : int, number of moves with that outcome after which the search stops
    sources, targets : int64 (moves,), out: squares of each move
    scores : int64 (moves,), out: score of the position after each move, so for the opponent, or
        `ILLEGAL`, or `UNKNOWN`
    """
    count = generate_moves(board, side, sources, targets)
    found = 0
    worst = OK
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
            worst = max(worst, status)
            continue
        scores[i] = score
        if outcome_of(-score) == outcome:
            found += 1
            if found == most:
                return i + 1, OK
    return count, worst


@kernel
def find_only_moves(buffers, boards, side, outcomes, least, pending, moves, statuses):
    """Write, for each position, the only legal move that keeps its outcome.

    buffers : Buffers, the tables of the material and of all after one capture
    boards : int8 (n, 90), legal positions; restored
    side : int, the side to move in all of them
    outcomes : int8 (n,), the outcome of each position: 1 win, 0 draw
    least : int, required number of legal moves: positions with fewer get `NO_MOVE`
    pending : int64 (m,), the indices of the positions to process
    moves : int16 (n,), out: the move, or `NO_MOVE`; arbitrary unless the status is `OK`
    statuses : int8 (n,), out: `OK`, or `COLD` if blocks are not loaded
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

    The n positions `boards` (n, 90) are legal, with `side` to move. `outcomes` (n,) are 1 for wins,
    0 for draws. Positions with fewer than `least` legal moves get `NO_MOVE`. `tables` has the
    material and all materials after one capture. Works in `threads` tasks in `pool`. Raises like
    `run_until_loaded`.
    """
    boards = np.ascontiguousarray(boards).view(np.int8)
    moves = np.full(len(boards), NO_MOVE, np.int16)
    turn = int(side)  # numba would compile the kernels again for an enumeration member

    def work(part: NDArray[np.int64], statuses: NDArray[np.int8]) -> None:
        find_only_moves(tables.buffers, boards, turn, outcomes, least, part, moves, statuses)

    run_until_loaded(tables, len(boards), work, pool, threads)
    return moves


def run_until_loaded(
    tables: NumbaTables,
    count: int,
    work: Callable[[NDArray[np.int64], NDArray[np.int8]], None],
    pool: ThreadPoolExecutor,
    threads: int,
) -> None:
    """Run `work` for the numbers 0 to `count` - 1, and again where blocks were not loaded.

    In each pass `threads` tasks in `pool` share the numbers. A task calls `work(part, statuses)`,
    which must set `statuses[number]` for each number in `part`: to `COLD` if a block that it needs
    is not loaded. Such blocks are loaded after the pass, and the next pass has only those numbers.
    Raises like `NumbaTables.load_wanted` and `NumbaTables.raise_if_cancelled`.
    """
    statuses = np.full(count, COLD, np.int8)
    pending = np.arange(count)
    while len(pending):
        tables.raise_if_cancelled()
        parts = [each for each in np.array_split(pending, threads) if len(each)]
        for each in [pool.submit(work, part, statuses) for part in parts]:
            each.result()
        pending = np.flatnonzero(statuses == COLD)
        if len(pending):
            tables.load_wanted()
