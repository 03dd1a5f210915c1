# mypy: allow-untyped-defs, allow-untyped-calls
"""Studies: won positions whose solution is unique move by move, compiled.

    won positions with one winning move   ->  levels of equal order and plies, the lowest order
                                              first, within an order the fewest plies
    winning move, every longest defence   ->  positions of earlier levels, with known lengths

The line of moves ends with mate or stalemate, with a capture by either side (which leaves the
table), or in a direct win (docs/values.md), which itself is no study. The *length* is the number of
plies of the line; of the shortest line, if several defences are equally good. A longest defence has
the best value for the loser: the highest order, then the most plies.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import kernel
from tbgen.finding.moves import ILLEGAL, UNKNOWN, probe_moves, run_until_loaded
from tbgen.indexing.slots import slot_of_squares
from tbgen.indexing.squares import EMPTY, SQUARES
from tbgen.probing import OK, NumbaTables, order_of, plies_of
from tbgen.probing.columns import TableColumns
from tbgen.probing.kernels import WIN
from tbgen.rules.board import MAX_MOVES

NO_OUTCOME = 2
"""Outcome that no move has, passed to `probe_moves` so that it probes all moves."""

NO_STUDY = 0
"""Length of a position that is no study, such as a direct win, or is not yet measured."""


@kernel
def _slot_of_board(board, codes, descriptor, squares):
    """Return the slot of a position (`tbgen.finding`), given as a board.

    board : int8 (90,), with the pieces `codes` and no others
    squares : int64 (pieces,), scratch: the square of each piece, in the order of `codes`
    """
    for p in range(len(codes)):
        squares[p] = -1
    for square in range(SQUARES):
        if board[square] == EMPTY:
            continue
        for p in range(len(codes)):
            if codes[p] == board[square] and squares[p] < 0:
                squares[p] = square
                break
    return slot_of_squares(squares, descriptor)


@kernel
def _length_of(slot, slots, known):
    """Look up the length of the unique line from a slot; `NO_STUDY` if `slots` lacks the slot.

    slot : int
    slots : int64 (m,), ascending
    known : int32 (m,), the lengths of the lines from these slots
    """
    # np.searchsorted would take a second longer to compile.
    low, high = 0, len(slots)
    while low < high:
        middle = (low + high) // 2
        if slots[middle] < slot:
            low = middle + 1
        else:
            high = middle
    if low < len(slots) and slots[low] == slot:
        return np.int64(known[low])
    return np.int64(NO_STUDY)


@kernel
def measure_studies(
    buffers, boards, side, converts, moves, descriptor, codes, slots, known, lengths, pending,
    statuses,
):  # fmt: skip
    """Write the length in plies of the unique line from each `pending` position (`tbgen.finding`).

    The positions are a level: all have equal order and plies, and none is a direct win. In all of
    them `side`, the winner, is to move and has one winning move.

    converts : int, 1 if the table's distances count to conversion, so that a capture by the loser
        counts as a loss in 2 plies; else 0
    moves : int16 (n,), the winning moves, 90 * source + target
    slots : int64 (m,), ascending: the slots of all m positions of the table, at any level, in which
        `side` has one winning move
    known : int32 (m,), lengths of the lines from these slots, measured for all earlier levels;
        `NO_STUDY` for other levels and for direct wins
    lengths : int32 (n,), out: plies to the end of the line, `NO_STUDY` if it is not unique;
        arbitrary unless the status is `OK`
    """
    sources, targets = np.empty(MAX_MOVES, np.int64), np.empty(MAX_MOVES, np.int64)
    scores = np.empty(MAX_MOVES, np.int64)
    squares = np.empty(len(codes), np.int64)
    for number in pending:
        board = boards[number]
        source, target = moves[number] // SQUARES, moves[number] % SQUARES
        moved, captured = board[source], board[target]
        board[target] = moved
        board[source] = EMPTY
        statuses[number] = OK
        lengths[number] = 1
        if captured == EMPTY:
            count, status = probe_moves(
                buffers, board, 1 - side, np.int64(NO_OUTCOME), np.int64(1),
                sources, targets, scores,
            )  # fmt: skip
            best = np.int64(ILLEGAL)
            for i in range(count):
                if converts != 0 and board[targets[i]] != EMPTY and scores[i] < UNKNOWN:
                    scores[i] = WIN - 1
                best = min(best, scores[i])
            statuses[number] = status
            shortest = np.int64(-1)
            for i in range(count):
                if best >= UNKNOWN or scores[i] != best:
                    continue
                remaining = np.int64(0)
                taken = board[targets[i]]
                if taken == EMPTY and (order_of(best) == 0 or plies_of(best) > 0):
                    board[targets[i]] = board[sources[i]]
                    board[sources[i]] = EMPTY
                    slot = _slot_of_board(board, codes, descriptor, squares)
                    board[sources[i]] = board[targets[i]]
                    board[targets[i]] = EMPTY
                    remaining = _length_of(slot, slots, known)
                    if remaining == NO_STUDY:
                        shortest = np.int64(NO_STUDY)
                        break
                if shortest < 0 or remaining + 2 < shortest:
                    shortest = remaining + 2
            if shortest >= 0:
                lengths[number] = shortest
        board[source] = moved
        board[target] = captured


def lengths_of_studies(
    tables: NumbaTables,
    wins: TableColumns,
    side: int,
    converts: bool,
    pool: ThreadPoolExecutor,
    threads: int,
) -> NDArray[np.int32]:
    """Return int32 (n,): the length of the study from each of n positions, in plies, or `NO_STUDY`.

    wins : all positions (n rows, in order of slots) in which `side` is to move and has exactly one
        winning move, which is in the column `move`
    converts : whether the table's distances count to conversion

    Works in `threads` tasks in `pool`. Raises like `run_until_loaded`.
    """
    layout = wins.layout
    slots, orders, plies = (wins[name].astype(np.int64) for name in ("slot", "order", "plies"))
    known = np.full(wins.rows, NO_STUDY, np.int32)
    codes = np.array(layout.piece_codes, np.uint8)
    for level in _levels(orders, plies):
        boards = wins.take(level).boards().view(np.int8)
        lengths = np.zeros(len(level), np.int32)
        run_until_loaded(
            measure_studies, tables, boards, int(side), int(converts), wins["move"][level],
            layout.descriptor, codes, slots, known, lengths, pool=pool, threads=threads,
        )  # fmt: skip
        known[level] = lengths
    return known


def _levels(orders: NDArray[np.int64], plies: NDArray[np.int64]) -> Iterator[NDArray[np.intp]]:
    """Yield the indices of each group of positions of equal order and plies.

    The lowest order comes first, within an order the fewest plies. Direct wins are left out.
    """
    indices = np.lexsort([plies, orders])
    indices = indices[(orders[indices] == 0) | (plies[indices] > 0)]
    keys = np.stack([orders[indices], plies[indices]])
    yield from np.split(indices, np.flatnonzero((np.diff(keys) != 0).any(axis=0)) + 1)
