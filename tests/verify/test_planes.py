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
    Source,
    Supports,
    rank_after_capture,
    unpack,
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


def itself(codes):
    """Every code of a class of its own."""
    return codes


def unpacked(planes, first=0, classify=itself):
    """The planes of a table as places, from a slot on, and the codes of each side by place."""
    table = tiled(*planes)
    sources = [Source(table, side, first + 300 * side, classify) for side in range(2)]
    return unpack(sources, Room().reserve_twice(first + 600 + SLACK))


@pytest.mark.parametrize("different", [3, 256, 257, 300])
def test_what_captures_lead_to_is_found_again(different):
    """Both sides, each with a palette of its own; ranks are the codes here."""
    planes, first = (plane(different), plane(5)[::-1]), 11
    places, codes = unpacked(planes, first)
    assert places.itemsize == (2 if different > 256 else 1)
    ranks = np.zeros((2, 2, 2, different + 5), np.uint16)
    for side in range(2):
        ranks[1, side, 0, : len(codes[side])] = codes[side]
        ranks[1, side, 1, : len(codes[side])] = codes[side] + 1
    tables = np.array([[0, 0], [first, first + 300]])
    arrays = SimpleNamespace(supports=Supports(places, ranks), tables=tables)
    for side in range(2):
        for here in range(2):
            found = [rank_after_capture(1, side, here, slot, arrays) for slot in range(300)]
            assert found == (planes[side] + here).tolist()


def test_codes_of_a_class_share_the_place_of_the_first():
    """And no others."""
    planes = plane(300), plane(299)
    places, codes = unpacked(planes, classify=lambda codes: codes // 10)
    assert places.itemsize == 1
    for side in range(2):
        assert 30 <= len(codes[side]) < 256
        told = codes[side][places[300 * side :][:300]]
        assert np.array_equal(told // 10, planes[side] // 10)


def test_a_palette_has_an_end():
    palette = Palette(np.uint8, itself)
    palette.places_of(np.arange(1 << 16))
    with pytest.raises(LimitExceededError):
        palette.places_of(np.array([1 << 16]))


@pytest.mark.parametrize("memory", [None, 0])
def test_bytes_become_two_in_the_room_before_them(memory, tmp_path):
    few = Room(memory, tmp_path).reserve_twice(3_000_001)
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
