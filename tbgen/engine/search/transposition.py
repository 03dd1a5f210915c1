# mypy: allow-untyped-defs, allow-untyped-calls
"""Hash table (transposition table) of search results.

    table : int64 (2 * buckets, 2)      (key ^ data, data), two entries per bucket
    data  : from the lowest bit: move, 14 bits | bound, 2 | depth, 8 | generation, 8
            | score + 2^23, 24

A new result replaces the second entry of its bucket if the first one belongs to another position,
was stored in the same search (generation), and is deeper; otherwise it replaces the first. Only
scores that do not depend on the path are stored (`judging`). Decided scores, which count plies from
the root, are stored relative to the position. Threads share a table without locks: an entry mixed
from two writes fails the comparison of its key.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import part, prefetch
from tbgen.engine.search.scores import MAX_EVALUATION, UNKNOWN

NO_BOUND, UPPER, LOWER, EXACT = range(4)
"""Kinds of scores: none, upper bound, lower bound, exact; `EXACT` has the bits of both bounds."""

_MOVE, _BOUND, _DEPTH, _GENERATION, _SCORE = 0, 14, 16, 24, 32
_MOVES = (1 << _BOUND) - 1
_SCORE_OFFSET = 1 << 23
MAX_DEPTH = 255
ENTRY_BYTES = 16
_LINE_NUMBERS = 8
"""Number of int64 values in a cache line of the processor (64 bytes)."""


def new_table(mebibytes: int) -> NDArray[np.int64]:
    """Return an empty table, aligned to cache lines.

    The number of entries is the largest power of two that fits into `mebibytes` MiB, at least 2.
    """
    entries = max(2, 1 << ((mebibytes << 20) // ENTRY_BYTES).bit_length() - 1) if mebibytes else 2
    memory = np.zeros(2 * entries + _LINE_NUMBERS, np.int64)
    first = -memory.ctypes.data // memory.itemsize % _LINE_NUMBERS
    return memory[first : first + 2 * entries].reshape(entries, 2)


@part
def _bucket(table, key):
    """Return the index of the first entry of a position's bucket.

    table : int64 (2 * buckets, 2), in
    """
    return (key & ((len(table) >> 1) - 1)) << 1


@part
def prefetch_bucket(shared, key):
    """Prefetch the bucket that `look_up` will read."""
    prefetch(shared.table, _bucket(shared.table, key))


@part
def look_up(state, shared, row):
    """Return the data of the entry for the position in a row; 0 if there is none."""
    table, key = shared.table, state.keys[row]
    at = _bucket(table, key)
    for entry in range(at, at + 2):
        data = table[entry, 1]
        if table[entry, 0] ^ data == key and data != 0:
            return data
    return np.int64(0)


@part
def move_of(data):
    """Return the move stored in a hash table entry, 0 for none."""
    return data & _MOVES


@part
def bound_of(data):
    """Return the kind of bound of an entry: `UPPER`, `LOWER`, `EXACT` or `NO_BOUND`."""
    return data >> _BOUND & 3


@part
def depth_of(data):
    """Return the depth of the search that made an entry."""
    return data >> _DEPTH & 255


@part
def score_of(data, ply):
    """Return the score of a hash table entry; a decided one counts plies from the search's root."""
    score = (data >> _SCORE & 0xFFFFFF) - _SCORE_OFFSET
    if score > MAX_EVALUATION:
        score -= ply
    elif score < -MAX_EVALUATION:
        score += ply
    return score


@part
def cutoff_score(state, data, ply, depth, alpha, beta):
    """Return the stored score if it causes a cutoff, else `UNKNOWN`.

    Decided scores apply at any depth, others only from searches at least as deep. In a full-width
    search the depth must be equal, so that scores are as without a hash table.
    """
    bound, score = bound_of(data), score_of(data, ply)
    if state.full_width != 0:
        if depth_of(data) != depth:
            return UNKNOWN
    elif depth_of(data) < depth and abs(score) <= MAX_EVALUATION:
        return UNKNOWN
    if (score >= beta and bound & LOWER) or (score <= alpha and bound & UPPER):
        return score
    return UNKNOWN


@part
def store_move(state, shared, row, move):
    """Store a node's move without its score, which depends on the path.

    If the bucket has an entry of the position, only the move in it is replaced. Otherwise a new
    entry with `NO_BOUND` replaces the bucket's second one.
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
    """Store the result of searching a node: depth, bound, score and best move.

    If `move` is 0 and the bucket's first entry is of the same position, its move is kept.
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
