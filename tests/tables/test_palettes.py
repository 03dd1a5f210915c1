"""Palettes number the codes that occur: numbers have the codes' order, and give equal blocks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tbgen.tables import CodeSpace, Rules
from tbgen.tables.blocks import encode_filled
from tbgen.tables.palettes import Palette
from tbgen.tables.writer import write_table
from tests.helpers.random_tables import random_planes, spec_of, statistics_of, write


@pytest.mark.parametrize("width", [1, 2, 4])
@pytest.mark.parametrize("distinct", [1, 2, 100, 253, 5000])
def test_blocks_of_indices_equal_blocks_of_codes(width: int, distinct: int) -> None:
    rng = np.random.default_rng(distinct)
    space = CodeSpace(width)
    values = rng.choice(min(space.top, 1 << 30), min(distinct, 253 if width == 1 else distinct)) + 1
    palette = Palette.of(space, values.tolist())
    assert palette.dtype == (np.uint8 if len(palette.codes) <= 256 else np.uint16)
    encode = palette.encoder(encode_filled)
    for slots in (1, 7, 20000):
        for empty in (0, 0.5, 1):
            codes = rng.choice(values, slots).astype(space.dtype)
            codes[rng.random(slots) < empty] = 0
            numbers = palette.numbers(codes.tolist()).astype(palette.dtype)
            assert np.array_equal(palette.codes_of(numbers), codes)
            assert encode(numbers, space.draw) == encode_filled(codes, space.draw)


def test_a_palette_is_sorted_and_contains_code_0_and_the_draw() -> None:
    palette = Palette.of(CodeSpace(2), [65535, 3])
    assert palette.codes.tolist() == [0, 3, 32768, 65535]
    assert palette.draw == 2


@pytest.mark.parametrize(("distinct", "dtype"), [(60, np.uint8), (600, np.uint16)])
def test_the_file_of_indices_equals_the_file_of_codes(
    tmp_path: Path, distinct: int, dtype: type[np.unsignedinteger]
) -> None:
    spec = spec_of("KPK", 2, Rules.CHECK)
    planes = random_planes(spec, 3, distinct)
    planes[0][planes[0] == planes[0].max()] = 0
    red, black = (Palette.of(spec.codes, set(plane.tolist())) for plane in planes)
    assert red.dtype == black.dtype == dtype
    assert len(red.codes) != len(black.codes), "which is which"
    numbers = [
        palette.numbers(plane.tolist()).astype(dtype)
        for palette, plane in zip((red, black), planes, strict=True)
    ]
    path = tmp_path / "numbers"
    statistics = statistics_of(spec, planes)
    write_table(
        path, spec, lambda side, first, count: numbers[side][first : first + count],
        lambda: statistics, palettes=(red, black),
    )  # fmt: skip
    assert path.read_bytes() == write(tmp_path, spec, planes).read_bytes()


def test_indices_of_another_width_are_refused(tmp_path: Path) -> None:
    spec = spec_of("KPK", 2, Rules.CHECK)
    planes = random_planes(spec, 3)
    palette = Palette.of(spec.codes, set(np.concatenate(planes).tolist()))
    with pytest.raises(ValueError, match="uint16"):
        write_table(
            tmp_path / "numbers", spec,
            lambda side, first, count: planes[side][first : first + count],
            lambda: statistics_of(spec, planes), palettes=(palette, palette),
        )  # fmt: skip
