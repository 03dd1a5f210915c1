# mypy: allow-untyped-defs, allow-untyped-calls
"""Memory of one search as one record, and making a move.

    fields by row     one row for each position: the referee's record (`tbgen.referee.record`),
                      squares, hash keys, and sums of the evaluation
    fields by ply     one entry for each ply from the root: moves and their ranks, killers, the
                      principal variation, path dependence
    other fields      histories, counters, limits, the rules, the stop flag

Moves are not unmade: a move writes the next position into the next row. Row `root` has the position
that is searched; rows before it are the last plies of the game, at most `GAME_PLIES`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import borrowing_kernel, by_pointer, part
from tbgen.engine.search import network
from tbgen.engine.search.geometry import KING, LINE_OF, LINES, PHASES, PLACE_OF, ROOK
from tbgen.engine.search.safety import gives_check
from tbgen.indexing import Move
from tbgen.indexing.squares import EMPTY, SQUARES
from tbgen.probing import Buffers
from tbgen.referee import record
from tbgen.rules.board import MAX_MOVES

GAME_PLIES = 512
"""Maximum number of the game's last plies in the record, to find repetitions."""
MAX_PLY = 120
"""Maximum ply of the search."""
PLIES = MAX_PLY + 2
"""Length of the fields by ply."""
ROWS = GAME_PLIES + PLIES + 1
"""Length of the fields by row."""
PIECES = 32
"""Number of ids of pieces (`tbgen.referee.record`)."""
MEN = 16
"""Maximum pieces of a side."""

PLACES = 8 * SQUARES
"""Number of pairs (kind of piece below 8, square); the index of a pair is `90 * kind + square`."""

STATE = np.dtype(
    [
        ("boards", np.int8, (ROWS, SQUARES)),
        ("ids", np.int8, (ROWS, SQUARES)),
        ("log", np.int64, (ROWS, record.LOG_FIELDS)),
        ("occupancy", np.int16, (ROWS, LINES)),  # masks of ranks and files (`geometry`)
        ("squares", np.int8, (ROWS, PIECES)),  # square of each id; -1 once captured
        ("keys", np.int64, ROWS),
        ("accumulator", np.int16, (ROWS, network.ACCUMULATOR_SIZE)),  # sums of the `network`
        ("phase", np.int32, ROWS),
        ("attackers_left", np.int32, (ROWS, 2)),  # rooks, knights, cannons and pawns by side
        ("men_left", np.int32, ROWS),  # number of pieces on the board
        ("codes", np.int8, PIECES),  # piece code of each id
        ("men", np.int8, (2, MEN)),  # ids of each side's pieces, captured ones too
        ("men_count", np.int64, 2),
        ("kings", np.int64, 2),  # ids of the kings
        ("moves", np.int32, (PLIES, MAX_MOVES)),
        ("ranks", np.int32, (PLIES, MAX_MOVES)),
        ("stage", np.int32, PLIES),  # see `ordering`
        ("next", np.int32, PLIES),
        ("count", np.int32, PLIES),
        ("hash_move", np.int32, PLIES),
        ("killers", np.int32, (PLIES, 2)),
        ("history", np.int32, (16, SQUARES)),  # see `ordering`
        ("followups", np.int16, (2, PLACES, PLACES)),
        ("countermoves", np.int32, PLACES),
        ("played", np.int32, PLIES),  # index in `PLACES` of the last move's piece and target, or 0
        ("estimate", np.int32, PLIES),  # see `selectivity`
        ("pv", np.int32, (PLIES, PLIES)),
        ("pv_length", np.int32, PLIES),
        ("depends", np.int64, PLIES),  # see `judging`
        ("lifted", np.int8, (PIECES, 2)),  # square and code of pieces removed by `exchange`
        ("scratch", np.int64, (2, record.PAIRS_ROOM)),
        ("root", np.int64),
        ("root_side", np.int64),
        ("offences", np.int64),
        ("chase_rules", np.int64),
        ("table_pieces", np.int64),  # maximum pieces of the tables; 0 without tables
        ("generation", np.int64),  # of new hash table entries
        ("nodes", np.int64),
        ("node_limit", np.int64),
        ("table_hits", np.int64),
        ("judged", np.int64),  # repetitions judged
        ("spared", np.int64),  # of these, draws that cause a cutoff
        ("deepest", np.int64),
        ("full_width", np.int64),  # 1: no reductions, no pruning (for tests)
        ("stop", np.int64),
    ],
    align=True,
)
"""Data type of the record."""


@by_pointer
class Shared(NamedTuple):
    """Memory shared by all threads of a search."""

    table: NDArray[np.int64]  # the hash table (`transposition`)
    buffers: Buffers  # the tables, empty where there are none


def numbers_of_moves(moves: Iterable[Move]) -> NDArray[np.int32]:
    """Return moves as numbers `source << 7 | target`: int32 (n,)."""
    return np.array([move.source << 7 | move.target for move in moves], np.int32)


def move_of_number(number: int) -> Move:
    """Return the move with the number `source << 7 | target`."""
    return Move(int(number) >> 7, int(number) & 127)


State = np.record
"""Type of a search's record (`STATE`) in kernels. Python passes an array of one such record."""

_random = np.random.default_rng(14)
PIECE_KEYS = _random.integers(-(1 << 62), 1 << 62, (16, SQUARES))
"""int64 (16, 90): Zobrist keys by piece code and square. A position's key is the XOR of the keys of
its pieces, and of `SIDE_KEY` if Black is to move.
"""
SIDE_KEY = int(_random.integers(1, 1 << 62))


@part
def _toggle(state, row, square):
    """Toggle the bit of a square in the occupancy masks of its rank and file."""
    for axis in range(2):
        state.occupancy[row, LINE_OF[axis, square]] ^= np.int64(1) << PLACE_OF[axis, square]


@borrowing_kernel
def begin(states, moves, side):
    """Set up the record from the board in row 0, and play the moves of the game to the root.

    states : `State` (1,), inout; `boards[0]` holds the first position; the fields by ply, and
        counters and limits, are unchanged
    moves : int32 (n,), in; legal moves from the first position, one after another
    side : int64; the side to move in row 0
    """
    state = states[0]
    record.start_record(state.boards, state.ids, state.log, side)
    key = np.int64(side * SIDE_KEY)
    phase = np.int64(0)
    for i in range(network.ACCUMULATOR_SIZE):
        state.accumulator[0, i] = network.EMPTY_ACCUMULATOR[i]
    state.attackers_left[0, 0] = state.attackers_left[0, 1] = 0
    state.men_count[0] = state.men_count[1] = 0
    for line in range(LINES):
        state.occupancy[0, line] = 0
    for i in range(PIECES):
        state.squares[0, i] = -1
        state.codes[i] = 0
    for square in range(SQUARES):
        code = np.int64(state.boards[0, square])
        if code != EMPTY:
            number = state.ids[0, square]
            state.codes[number] = code
            state.men[code >> 3, state.men_count[code >> 3]] = number
            state.men_count[code >> 3] += 1
            if code & 7 == KING:
                state.kings[code >> 3] = number
            elif code & 7 >= ROOK:
                state.attackers_left[0, code >> 3] += 1
            state.squares[0, number] = square
            _toggle(state, np.int64(0), square)
            key ^= PIECE_KEYS[code, square]
            phase += PHASES[code]
            for i in range(network.ACCUMULATOR_SIZE):
                state.accumulator[0, i] += network.INPUT_ROWS[code, square, i]
    state.keys[0], state.phase[0] = key, phase
    state.men_left[0] = state.men_count[0] + state.men_count[1]
    for row in range(len(moves)):
        push(state, np.int64(row), side, np.int64(moves[row]) >> 7, np.int64(moves[row]) & 127)
        side = 1 - side
    state.root, state.root_side = len(moves), side


@part
def key_after(state, row, source, target):
    """Return the hash key of the position after a move."""
    code, taken = np.int64(state.boards[row, source]), np.int64(state.boards[row, target])
    key = state.keys[row] ^ SIDE_KEY ^ PIECE_KEYS[code, source] ^ PIECE_KEYS[code, target]
    if taken != EMPTY:
        key ^= PIECE_KEYS[taken, target]
    return key


@part
def _copy(state, row):
    """Copy piece squares, occupancy masks, phase and piece counts to the next row."""
    after = row + 1
    for i in range(PIECES):
        state.squares[after, i] = state.squares[row, i]
    for line in range(LINES):
        state.occupancy[after, line] = state.occupancy[row, line]
    state.phase[after] = state.phase[row]
    state.attackers_left[after, 0] = state.attackers_left[row, 0]
    state.attackers_left[after, 1] = state.attackers_left[row, 1]
    state.men_left[after] = state.men_left[row]


@part
def push(state, row, side, source, target):
    """Make a legal move: write the position after it into the next row."""
    code, taken = np.int64(state.boards[row, source]), np.int64(state.boards[row, target])
    record.append_unchecked(state.boards, state.ids, state.log, row, source, target)
    after = row + 1
    _copy(state, row)
    state.squares[after, state.ids[row, source]] = target
    _toggle(state, after, source)
    if taken == EMPTY:
        _toggle(state, after, target)
    state.keys[after] = key_after(state, row, source, target)
    network.update_accumulator(state, row, code, source, target, taken)
    if taken != EMPTY:
        state.squares[after, state.ids[row, target]] = -1
        state.phase[after] -= PHASES[taken]
        state.men_left[after] -= 1
        if taken & 7 >= ROOK:
            state.attackers_left[after, taken >> 3] -= 1
    state.log[after, record.CHECKED] = gives_check(state, after, side, source, target)


@part
def push_null(state, row):
    """Make a null move (pass): write the position with the other side to move into the next row.

    The log's column `FIRST` of the new row is that row, so no repetition spans the null move.
    """
    after = row + 1
    for square in range(SQUARES):
        state.boards[after, square] = state.boards[row, square]
        state.ids[after, square] = state.ids[row, square]
    state.keys[after] = state.keys[row] ^ SIDE_KEY
    _copy(state, row)
    for i in range(network.ACCUMULATOR_SIZE):
        state.accumulator[after, i] = state.accumulator[row, i]
    here, following = state.log[row], state.log[after]
    following[record.KEY] = here[record.KEY]
    following[record.FIRST] = after
    following[record.CHECKED] = 0
    following[record.VICTIMS] = record.NOT_COMPUTED
    here[record.VICTIMS] = record.NOT_COMPUTED
    if row > 0:
        state.log[row - 1, record.VICTIMS] = record.NOT_COMPUTED
