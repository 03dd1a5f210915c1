"""Unpacked planes: stored codes replaced by indices into a palette of the codes that occur.

Indices have one byte or two. Each side to move has a palette of its own.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from tbgen.tables.codes import CodeSpace
from tbgen.verify.arrays import Palette, PlaneAllocator, Supports, rank_after_capture, unpack

SPACE = CodeSpace(2)


def tiled(*planes):
    """Return a stand-in for a table file with these planes, in two tiles.

    The tile with the last slots comes first.
    """
    half = len(planes[0]) // 2
    return SimpleNamespace(
        code_space=SPACE,
        occurring_codes=lambda side: [*planes[side].tolist(), 0],
        tiles=lambda side: 2,
        tile=lambda side, number, numbers_of: [
            (first, looked_up(planes[side][first : first + 75], numbers_of))
            for first in ((half, half + 75) if number == 0 else range(0, half, 75))
        ],
    )


def looked_up(codes, numbers_of):
    """Replace codes by the numbers that `numbers_of` returns for them.

    As for real files, `numbers_of` gets each code once.
    """
    found, places = np.unique(codes, return_inverse=True)
    return numbers_of(found).take(places)


def plane(different):
    """Return 300 codes of which `different` differ; none equals its own index."""
    return (7 * (np.arange(300) % different) + 40).astype(np.uint16)


@pytest.mark.parametrize("different", [3, 256, 257, 300])
def test_ranks_after_captures_are_looked_up(different):
    """Ranks after captures are found through the palette of the supporting table.

    Each side to move of the supporting table has a palette of its own.
    """
    planes, first = (plane(different), plane(5)[::-1]), 11
    table, places = tiled(*planes), np.zeros(first + 600, np.uint16)
    ranks = np.zeros((2, 2, 2, different + 5), np.uint16)
    for side in range(2):
        palette = Palette.of(table, side)
        assert len(palette.keys) == 1 + len(np.unique(planes[side]))
        unpack(table, side, palette, places[first + 300 * side :])
        code_of_place = np.zeros(len(palette.keys), np.int64)
        code_of_place[palette.places] = palette.codes
        for here in range(2):
            ranks[1, side, here, : len(palette.keys)] = code_of_place + here
    tables = np.array([[0, 0], [first, first + 300]])
    arrays = SimpleNamespace(supports=Supports(places, ranks), tables=tables)
    for side in range(2):
        for here in range(2):
            found = [rank_after_capture(1, side, here, slot, arrays) for slot in range(300)]
            assert found == (planes[side] + here).tolist()


def test_unlisted_codes_have_no_value():
    """Codes that the statistics do not list have palette index 0 (no value), as has code 0.

    Only codes with a value are counted.
    """
    table = tiled(plane(3), plane(3))
    palette = Palette.of(table, 0)
    assert palette.places_of(np.array([0, 40, 41, 47, 54, 61, 65_535])).tolist() == [
        0, 1, 0, 2, 3, 0, 0,
    ]  # fmt: skip
    assert palette.count_codes(np.array([9, 8, 7, 0])) == {40: 8, 47: 7}


def test_equivalent_codes_share_an_index():
    """After a conversion only the outcome counts, so codes that differ in distance are equal."""
    table = tiled(plane(300), plane(299))
    assert len(Palette.of(table, 0, converts=True).keys) == 2
    assert len(Palette.of(table, 0).keys) == 301


def test_planes_share_one_memory_budget(tmp_path):
    """A plane that exceeds the memory left by earlier planes is put on disk.

    Each of two planes would fit alone, but not both.
    """
    room = PlaneAllocator(1_000, tmp_path)
    planes = [room.reserve(600, np.uint8) for _ in range(2)]
    assert [plane.flags.owndata for plane in planes] == [True, False]
    assert not any(plane.any() for plane in planes)
    assert room.reserve(200, np.uint16).flags.owndata
