"""The hash table of the search, and scores that depend on the path to the position."""

from __future__ import annotations

import numpy as np
import pytest

from tbgen.compiling.jit import borrowing_kernel
from tbgen.engine.search import transposition as entry
from tbgen.engine.search.scores import UNKNOWN
from tbgen.engine.search.state import STATE, Shared
from tbgen.probing import NumbaTables
from tbgen.tables import Rules, Tablebase

KEY, MOVE, OTHER_MOVE = 0x1234_5678_9ABC, 17 << 7 | 26, 33 << 7 | 24


@borrowing_kernel
def tell(states, shared, depth, move, found):  # type: ignore[no-untyped-def]
    """Store entries for a position in the hash table, and look the position up again.

    states : STATE (1,), of the position; shared : the hash table
    depth : depth of an upper bound of -55 to store first; if negative, none is stored
    move : move to store then
    found : int (2,), out: the stored move, and the score if it cuts off a search of depth 3 with
        the window 0 to 1, else UNKNOWN
    """
    state, row = states[0], np.int64(0)
    if depth >= 0:
        entry.store(state, shared, row, 0, depth, entry.UPPER, -55, OTHER_MOVE)
    entry.store_move(state, shared, row, move)
    data = entry.look_up(state, shared, row)
    found[0], found[1] = entry.move_of(data), entry.cutoff_score(state, data, 0, 3, 0, 1)


@pytest.mark.parametrize("mebibytes", [0, 1, 3, 16])
def test_buckets_are_aligned_to_cache_lines(mebibytes: int) -> None:
    table = entry.new_table(mebibytes)
    assert table.ctypes.data % 64 == 0
    assert table.flags.c_contiguous
    assert table.nbytes <= max(mebibytes << 20, 2 * entry.ENTRY_BYTES)
    assert not table.any()


@pytest.mark.parametrize(
    ("depth", "score"),
    [(-1, UNKNOWN), (2, UNKNOWN), (5, -55)],
    ids=["nothing known", "a shallower bound", "a deep enough bound"],
)
def test_a_move_is_stored_without_a_value(depth: int, score: int) -> None:
    states, found = np.zeros(1, STATE), np.zeros(2, np.int64)
    states["keys"][0, 0] = KEY
    states["generation"] = 1
    buffers = NumbaTables(Tablebase(rules=Rules.WXF), ()).buffers
    tell(states, Shared(entry.new_table(1), buffers), depth, MOVE, found)
    assert found.tolist() == [MOVE, score]
