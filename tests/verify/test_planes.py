"""Unpacked planes: stored codes replaced by their ranks, in one byte or two."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tbgen.tables.codes import CodeSpace
from tbgen.verify.arrays import Palette, PlaneAllocator, list_codes, unpack
from tbgen.verify.values import NO_KEY

SPACE = CodeSpace(2)


def tiled(*planes):
    """Return a stand-in for a table file that has two planes, each stored in two parts (tiles).

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
    """Replace codes by the numbers that the function `numbers_of` returns for them.

    As for real files, the function gets each code once.
    """
    found, places = np.unique(codes, return_inverse=True)
    return numbers_of(found).take(places)


def plane(different):
    """Return a plane of 300 codes, uint16, with `different` distinct values, all at least 40."""
    return (7 * (np.arange(300) % different) + 40).astype(np.uint16)


@pytest.mark.parametrize("different", [3, 256, 257, 300])
@pytest.mark.parametrize("side", [0, 1])
def test_planes_hold_the_ranks_of_their_codes(side, different):
    """`list_codes` lists the codes of one side to move; `unpack` replaces each by its rank."""
    planes = plane(different), plane(5)[::-1]
    codes, keys = list_codes(tiled(*planes), side)
    assert len(keys) == 1 + len(np.unique(planes[side]))
    unpacked = np.zeros(300, np.uint16)
    # A rank one larger than the code.
    unpack(tiled(*planes), side, Palette(codes, codes + 1), unpacked)
    assert unpacked.tolist() == (planes[side] + 1).tolist()


def test_unlisted_codes_have_no_value():
    """Codes that the statistics do not list have the last rank of the palette, as has code 0.

    That rank, here 0, means no value. `count_codes` omits it, and listed codes that do not occur.
    """
    codes, keys = list_codes(tiled(plane(3), plane(3)), 0)
    assert keys[-1] == NO_KEY
    palette = Palette(codes, np.array([1, 2, 3, 0]))
    assert palette.ranks_of(np.array([0, 40, 41, 47, 54, 61, 65_535])).tolist() == [
        0, 1, 0, 2, 3, 0, 0,
    ]  # fmt: skip
    assert palette.count_codes(np.array([9, 8, 7, 0])) == {40: 8, 47: 7}


def test_equivalent_codes_share_a_key():
    """In the metric DTC, codes that differ only in the distance share a key after a capture."""
    table = tiled(plane(300), plane(299))
    assert len({*list_codes(table, 0, converts=True)[1].tolist()}) == 2
    assert len({*list_codes(table, 0)[1].tolist()}) == 301


def test_planes_share_one_memory_budget(tmp_path):
    """A plane that exceeds the memory left by earlier planes is put on disk.

    Each of two planes would fit alone, but not both.
    """
    allocator = PlaneAllocator(1_000, tmp_path)
    planes = [allocator.reserve(600, np.uint8) for _ in range(2)]
    assert [plane.flags.owndata for plane in planes] == [True, False]
    assert not any(plane.any() for plane in planes)
    assert allocator.reserve(200, np.uint16).flags.owndata


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="needs posix_fallocate")
def test_planes_need_room_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk raises an error at once; a page without room would end the process by SIGBUS."""

    def full(descriptor: int, offset: int, size: int) -> None:
        raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(OSError, match="no space"):
        PlaneAllocator(0, tmp_path).reserve(1_000, np.uint8)
