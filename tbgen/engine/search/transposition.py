# mypy: allow-untyped-defs, allow-untyped-calls
"""The hash table: what a search has found out about positions, for all ways that lead to them.

    table : int64 (2 * buckets, 2)      (key ^ data, data), two entries a bucket
    data  : move, 14 bits | bound, 2 | depth, 8 | generation, 8 | score + 2^23, 24

The first entry of a bucket gives way to deeper or newer ones, the second to all. Only values that
do not depend on how a position was reached are stored (`judging`). Scores that count plies from
the root are stored as seen from the position. Threads may share a table without locks: an entry
that two of them have mixed fails the test of its key.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.fetching import fetch
from tbgen.compiling.jit import part
from tbgen.engine.search.scores import MAX_EVALUATION, UNKNOWN

NO_BOUND, UPPER, LOWER, EXACT = range(4)
"""What a stored score says of the value: nothing, at most, at least, equal."""

_MOVE, _BOUND, _DEPTH, _GENERATION, _SCORE = 0, 14, 16, 24, 32
_MOVES = (1 << _BOUND) - 1
_SCORE_OFFSET = 1 << 23
MAX_DEPTH = 255
ENTRY_BYTES = 16
_LINE_NUMBERS = 8
"""Numbers that a processor fetches at once, 64 bytes."""


def new_table(mebibytes: int) -> NDArray[np.int64]:
    """An empty table of at most so much memory; 0 makes one that hardly remembers.

    No bucket lies across two of the lines in which processors fetch memory: for that a line more
    is asked for.
    """
    entries = max(2, 1 << ((mebibytes << 20) // ENTRY_BYTES).bit_length() - 1) if mebibytes else 2
    memory = np.zeros(2 * entries + _LINE_NUMBERS, np.int64)
    first = -memory.ctypes.data // memory.itemsize % _LINE_NUMBERS
    return memory[first : first + 2 * entries].reshape(entries, 2)


@part
def _bucket(table, key):
    """Return the first entry of a position's bucket.

    table : int64 (2 * buckets, 2), in; the hash table
    key : int64; the position's
    """
    return (key & ((len(table) >> 1) - 1)) << 1


@part
def fetch_bucket(shared, key):
    """Begin to load what `look_up` will look at.

    key : int64; the position's
    """
    table = shared.table
    fetch(table, _bucket(table, key))


@part
def look_up(state, shared, row):
    """The data of the position, or 0."""
    table = shared.table
    key = state.keys[row]
    at = _bucket(table, key)
    for entry in range(at, at + 2):
        data = table[entry, 1]
        if table[entry, 0] ^ data == key and data != 0:
            return data
    return np.int64(0)


@part
def move_of(data):
    """The stored move, 0 for none.

    data : int64; an entry's data
    """
    return data & _MOVES


@part
def bound_of(data):
    """`UPPER`, `LOWER` or `EXACT`.

    data : int64; an entry's data
    """
    return data >> _BOUND & 3


@part
def depth_of(data):
    """The depth that was searched.

    data : int64; an entry's data
    """
    return data >> _DEPTH & 255


@part
def score_of(data, ply):
    """The score, seen from the root.

    data : int64; an entry's data
    """
    score = (data >> _SCORE & 0xFFFFFF) - _SCORE_OFFSET
    if score > MAX_EVALUATION:
        score -= ply
    elif score < -MAX_EVALUATION:
        score += ply
    return score


@part
def cutoff_score(state, data, ply, depth, alpha, beta):
    """The stored score if it settles the window, else `UNKNOWN`.

    data : int64; an entry's data, not 0

    A decided score counts at any depth. Where nothing is left out (`full_width`) the depth has to
    be the same, so that values are those of a search without a table.
    """
    bound, score = bound_of(data), score_of(data, ply)
    if state.full_width != 0:
        if depth_of(data) != depth:
            return UNKNOWN
    elif depth_of(data) < depth and abs(score) <= MAX_EVALUATION:
        return UNKNOWN
    if score >= beta and bound & LOWER:
        return score
    if score <= alpha and bound & UPPER:
        return score
    return UNKNOWN


@part
def remember_move(state, shared, row, move):
    """Remember a move where the value may not be: it depends on how the position was reached.

    What is already known of the position stays. Otherwise the second entry of the bucket gives way.
    """
    table, key = shared.table, state.keys[row]
    at = _bucket(table, key)
    for entry in range(at, at + 2):
        data = table[entry, 1]
        if table[entry, 0] ^ data == key and data != 0:
            break
    else:
        entry = at + 1
        data = NO_BOUND << _BOUND | state.generation << _GENERATION | _SCORE_OFFSET << _SCORE
    data = data & ~_MOVES | move
    table[entry, 0], table[entry, 1] = key ^ data, data


@part
def store(state, shared, row, ply, depth, bound, score, move):
    """Remember what was found.

    bound : int64; `UPPER`, `LOWER` or `EXACT`
    score : int64; seen from the root
    """
    if score > MAX_EVALUATION:
        score += ply
    elif score < -MAX_EVALUATION:
        score -= ply
    table, key = shared.table, state.keys[row]
    at = _bucket(table, key)
    first = table[at, 1]
    mine = table[at, 0] ^ first == key
    fresh = first >> _GENERATION & 255 == state.generation
    if not mine and fresh and depth_of(first) > depth:
        at += 1
    elif mine and move == 0:
        move = move_of(first)
    data = (
        move << _MOVE
        | bound << _BOUND
        | min(max(depth, 0), MAX_DEPTH) << _DEPTH
        | state.generation << _GENERATION
        | (score + _SCORE_OFFSET) << _SCORE
    )
    table[at, 0], table[at, 1] = key ^ data, data
