"""Operations on sets of positions against numpy on whole arrays.

A set is an array of rows, bit sets of ninety squares. A frontier is a set that lists its rows that
are not empty. Consecutive rows make a lead.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from tbgen.indexing.layout import Layout
from tbgen.indexing.material import Material
from tbgen.indexing.squares import Side
from tbgen.retrograde.legality import find_legal
from tbgen.rows.frame import make_frame
from tbgen.rows.sets import Frontier, Rows, Sets
from tbgen.rows.workers import Workers


@pytest.fixture(params=[1, 2])
def sets(request: pytest.FixtureRequest) -> Iterator[Sets]:
    with Workers(request.param) as workers:
        yield Sets(make_frame(Layout.of(Material.parse("KRKN"))), workers)


def random_set(sets: Sets, seed: int, share: float = 0.5) -> Rows:
    """Return random rows: a share of them with half of their bits set, the others empty.

    The rows of the first lead are full, so that a frontier lists the lead as a whole.
    """
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 1 << 45, sets.empty().shape, np.uint64)
    rows[rng.random(len(rows)) >= share] = 0
    rows[: sets.mids] = (1 << 45) - 1
    return rows


def on_front(sets: Sets, rows: Rows) -> Frontier:
    """Return a set of positions as a frontier, a set that lists its rows.

    The frontier held other positions before, which must not matter.
    """
    front = sets.empty_frontier()
    sets.put_difference(random_set(sets, 99), sets.empty(), front)
    sets.put_difference(rows, sets.empty(), front)
    return front


def listed(sets: Sets, front: Frontier) -> np.ndarray:
    """Return which rows a frontier lists, bool (rows,).

    A lead with many rows is listed as a whole, which counts as all of its rows.
    """
    found = np.zeros((sets.leads, sets.mids), bool)
    for lead, count in enumerate(front.counts):
        if count > front.limit:
            found[lead] = True
        else:
            start = lead * front.limit
            found[lead, front.listed[start : start + count]] = True
    return found.ravel()


def test_operations_agree_with_numpy(sets: Sets) -> None:
    one, other = random_set(sets, 1), random_set(sets, 2)
    target = random_set(sets, 3)
    sets.difference(one, other, target)
    assert np.array_equal(target, one & ~other)
    sets.copy(one, target)
    assert np.array_equal(target, one)
    sets.unite(other, target)
    assert np.array_equal(target, one | other)
    sets.intersect(one, target)
    assert np.array_equal(target, one)


@pytest.mark.parametrize("share", [0.01, 0.5])
def test_frontiers_list_their_rows(sets: Sets, share: float) -> None:
    one, other = random_set(sets, 1, share), random_set(sets, 2)
    front = on_front(sets, one)
    assert np.array_equal(front.rows, one)
    assert listed(sets, front)[one.any(axis=1)].all()
    sets.put_common(one, other, front)
    assert np.array_equal(front.rows, one & other)
    sets.clear(front)
    assert not front.rows.any()
    assert not front.counts.any()


@pytest.mark.parametrize("share", [0.01, 0.5])
def test_a_transfer_moves_the_positions_of_a_frontier(sets: Sets, share: float) -> None:
    moved, source, target = random_set(sets, 1, share), random_set(sets, 2), random_set(sets, 3)
    front = on_front(sets, moved)
    left, added = source.copy(), target.copy()
    assert sets.transfer(front, left, added)
    assert np.array_equal(left, source & ~moved)
    assert np.array_equal(added, target | moved)
    only_taken = source.copy()
    assert sets.transfer(front, only_taken)
    assert np.array_equal(only_taken, left)
    assert np.array_equal(front.rows, moved)
    assert not sets.transfer(on_front(sets, sets.empty()), source)


@pytest.mark.parametrize("shares", [(0.01, 0.5), (0.5, 0.01), (0.01, 0.01)])
def test_a_frontier_joins_another(sets: Sets, shares: tuple[float, float]) -> None:
    one, other = (random_set(sets, seed, share) for seed, share in enumerate(shares))
    target = on_front(sets, other)
    sets.join(on_front(sets, one), target)
    assert np.array_equal(target.rows, one | other)
    assert listed(sets, target)[target.rows.any(axis=1)].all()


def test_records_are_added_removed_and_copied(sets: Sets) -> None:
    members, within, before = (random_set(sets, seed) for seed in (1, 2, 3))
    packed = sets.packed(members)
    added, filtered, removed = before.copy(), before.copy(), before.copy()
    sets.add(packed, added)
    sets.add(packed, filtered, within)
    sets.remove(packed, removed)
    assert np.array_equal(added, before | members)
    assert np.array_equal(filtered, before | (members & within))
    assert np.array_equal(removed, before & ~members)
    front = on_front(sets, before)
    sets.put(packed, front)
    assert np.array_equal(front.rows, members)
    sets.put(packed, front, within)
    assert np.array_equal(front.rows, members & within)
    assert listed(sets, front)[front.rows.any(axis=1)].all()


def test_counts_of_positions_agree_with_the_index() -> None:
    """The count of a set agrees with the index: of several slots for one position, one counts.

    KRRKA has such slots: by identical rooks, and by kings and an advisor on the middle file.
    """
    layout = Layout.of(Material.parse("KRRKA"))
    sets = Sets(make_frame(layout), Workers(1))
    legal = find_legal(sets.frame, Side.RED, sets.workers)
    slots = np.flatnonzero((legal[:, :, None] >> np.arange(45, dtype=np.uint64)) & np.uint64(1))
    some = np.random.default_rng(4).choice(slots, 3000, replace=False)
    chosen = sets.empty()
    rows, squares = np.divmod(some, 90)
    np.bitwise_or.at(
        chosen, (rows, squares // 45), np.uint64(1) << (squares % 45).astype(np.uint64)
    )
    canonical = 0
    for slot in some:
        position = layout.position(int(slot), Side.RED)
        canonical += position is not None and layout.slot(position) == slot
    assert 0 < canonical < len(some)
    assert sets.count(chosen) == canonical
