"""Unpacked planes: places in palettes, of one byte and of two."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from tbgen.tables.codes import LimitExceededError
from tbgen.verify.planes import (
    SLACK,
    Palette,
    Room,
    Supports,
    rank_after_capture,
    reserve_twice,
    unpack_own,
    unpack_side,
    unpack_upper,
    widened,
)


def tiled(*planes):
    """A table of planes of so many different codes each, in tiles of two runs, last slots first."""
    slots = len(planes[0])
    half = slots // 2
    return SimpleNamespace(
        layout=SimpleNamespace(slots=slots),
        tiles=lambda side: 2,
        tile=lambda side, number, numbers_of: [
            (first, looked_up(planes[side][first : first + 75], numbers_of))
            for first in ((half, half + 75) if number == 0 else range(0, half, 75))
        ],
    )


def looked_up(codes, numbers_of):
    """Return what stands for codes, each of which is asked of once."""
    found, places = np.unique(codes, return_inverse=True)
    return numbers_of(found).take(places)


def plane(different):
    """300 slots with so many different codes, none of which is its own place."""
    return (7 * (np.arange(300) % different) + 40).astype(np.uint16)


@pytest.mark.parametrize("different", [3, 256, 257, 300])
def test_what_captures_lead_to_is_found_again(different):
    """Both sides, each with a palette of its own; ranks are the codes here."""
    planes = plane(different), plane(5)[::-1]
    table, first = tiled(*planes), 11
    low, high = np.zeros(first + 600, np.uint8), np.zeros(first + 600, np.uint8)
    codes = []
    for side in range(2):
        at = first + 300 * side
        codes.append(unpack_side(table, side, low[at:]).list_codes())
        if len(codes[side]) > 256:
            unpack_upper(table, side, high[at:])
    ranks = np.zeros((2, 2, 2, different + 5), np.uint16)
    for side in range(2):
        ranks[1, side, 0, : len(codes[side])] = codes[side]
        ranks[1, side, 1, : len(codes[side])] = codes[side] + 1
    is_wide = np.array([[False, False], [len(each) > 256 for each in codes]])
    assert is_wide[1].tolist() == [different > 256, False]
    assert high.any() == (different > 256)
    tables = np.array([[0, 0], [first, first + 300]])
    arrays = SimpleNamespace(supports=Supports(low, high, is_wide, ranks), tables=tables)
    for side in range(2):
        for here in range(2):
            found = [rank_after_capture(1, side, here, slot, arrays) for slot in range(300)]
            assert found == (planes[side] + here).tolist()


@pytest.mark.parametrize(("different", "dtype"), [(256, np.uint8), (257, np.uint16)])
def test_places_are_those_of_codes(different, dtype):
    planes = plane(different), plane(3)
    places = np.zeros(600 + SLACK, dtype)
    codes = [palette.list_codes() for palette in unpack_own(tiled(*planes), places)]
    for side in range(2):
        assert codes[side][places[300 * side :][:300]].tolist() == planes[side].tolist()


def test_all_codes_are_listed_where_their_places_do_not_fit():
    palettes = unpack_own(tiled(plane(300), plane(257)), np.zeros(600 + SLACK, np.uint8))
    codes = [palette.list_codes() for palette in palettes]
    assert [sorted(each.tolist()) for each in codes] == [
        np.unique(plane(different)).tolist() for different in (300, 257)
    ]


def test_codes_of_a_class_share_the_place_of_the_first():
    """And no others: of both sides, and of what captures lead to."""
    planes = plane(300), plane(299)
    table = tiled(*planes)
    places, low = np.zeros(600 + SLACK, np.uint8), np.zeros((2, 300), np.uint8)
    palettes = unpack_own(table, places, lambda codes: codes // 10)
    codes = [palette.list_codes() for palette in palettes]
    of_side = [unpack_side(table, side, low[side], lambda codes: codes // 10).list_codes()
               for side in range(2)]  # fmt: skip
    for side in range(2):
        assert 200 < len(codes[side]) < 256
        told = codes[side][places[300 * side :][:300]]
        assert np.array_equal(told // 10, planes[side] // 10)
        assert np.array_equal(of_side[side][low[side]], told)


def test_a_palette_has_an_end():
    palette = Palette(np.uint8)
    palette.places_of(np.arange(1 << 16))
    with pytest.raises(LimitExceededError):
        palette.places_of(np.array([1 << 16]))


@pytest.mark.parametrize("memory", [None, 0])
def test_bytes_become_two_in_the_room_before_them(memory, tmp_path):
    few = reserve_twice(Room(memory, tmp_path), 3_000_001)
    few[:] = np.arange(3_000_001) % 251
    wide = widened(few)
    del few
    assert wide.dtype == np.uint16
    assert np.array_equal(wide, np.arange(3_000_001) % 251)


def test_memory_is_given_out_once(tmp_path):
    """Each plane would have room, but not both."""
    room = Room(1_000, tmp_path)
    planes = [room.reserve(600, np.uint8) for _ in range(2)]
    assert [plane.flags.owndata for plane in planes] == [True, False]
    assert not any(plane.any() for plane in planes)
    assert room.reserve(200, np.uint16).flags.owndata
