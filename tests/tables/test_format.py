"""The documented format: a reader written from docs/format.md alone returns the same values."""

import hashlib
import re
from pathlib import Path

import numpy as np
import pytest

from tbgen.indexing import Material, Position, Side
from tbgen.indexing.layout import Layout
from tbgen.rules import is_legal
from tbgen.tables import FormatVersionError, Outcome, Rules, Tablebase, TableFile
from tbgen.tables.blocks import encode_filled
from tests.helpers.paths import DOCS
from tests.helpers.random_tables import (
    random_planes,
    some_arrangements,
    spec_of,
    with_valid_checksum,
    write,
)
from tests.oracles.naive_reader import value_of

PAGE = (DOCS / "format.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("material", "width", "distinct"),
    [
        ("KRK", 1, 20),
        ("KPK", 2, 400),
        ("KPKAB", 1, 5),
        ("KNNK", 1, 1),
        ("KPPKA", 4, 30),
        ("KNKPB", 2, 20),
        ("KCAKC", 1, 90),
    ],
)
@pytest.mark.parametrize("arranged", [False, True])
def test_the_naive_reader_agrees(
    tmp_path: Path, material: str, width: int, distinct: int, arranged: bool
) -> None:
    spec = spec_of(material, width)
    layout = Layout.of(Material.parse(material))
    arrangements = some_arrangements(layout, 5) if arranged else None
    planes = random_planes(spec, 4, distinct)
    path = write(tmp_path, spec, planes, block_slots=5000, arrangements=arrangements)
    rng = np.random.default_rng(2)
    seen = 0
    with TableFile(path) as file, Tablebase.open(tmp_path) as tablebase:
        while seen < 40:
            side = Side(int(rng.integers(2)))
            position = layout.position(int(rng.integers(layout.slots)), side)
            if position is None:
                continue
            seen += 1
            value = spec.codes.decode(file.code(side, layout.slot(position)))
            outcome = value.outcome.name.lower()
            assert value_of(path, position.fen) == (outcome, value.order, value.plies)
            assert tablebase.probe(position.swapped()).outcome == Outcome[outcome.upper()]


def test_the_examples_of_the_page() -> None:
    examples = re.findall(r"^\| `(.* [wb])` \| (\w+), .* \| (\d+) of (\d+) \|$", PAGE, re.MULTILINE)
    assert len(examples) >= 6
    for fen, material, slot, slots in examples:
        position = Position.from_fen(fen)
        assert is_legal(position)
        assert position.material.name == material
        if position.is_swapped:
            position = position.swapped()
        layout = Layout.of(position.material)
        assert (layout.slot(position), layout.slots) == (int(slot), int(slots))


def test_an_unknown_rule_set_is_no_damage(tmp_path: Path) -> None:
    spec = spec_of("KPK")
    path = write(tmp_path, spec, random_planes(spec, 4))
    data = bytearray(path.read_bytes())
    data[11] = len(Rules)
    path.write_bytes(with_valid_checksum(bytes(data)))
    with pytest.raises(FormatVersionError, match=r"has rule set \d+, .* up to \d+; update tbgen"):
        TableFile(path)


def test_byte_13_is_ignored(tmp_path: Path) -> None:
    spec = spec_of("KPK")
    planes = random_planes(spec, 4)
    path = write(tmp_path, spec, planes)
    data = bytearray(path.read_bytes())
    data[13] = 9
    path.write_bytes(with_valid_checksum(bytes(data)))
    with TableFile(path) as file:
        assert np.array_equal(file.plane(Side.RED)[planes[0] != 0], planes[0][planes[0] != 0])


def test_the_digest_is_the_documented_one(tmp_path: Path) -> None:
    spec = spec_of("KPK")
    red, black = random_planes(spec, 4)
    black[:] = 9
    with TableFile(write(tmp_path, spec, (red, black), block_slots=1000)) as file:
        blocks = [encode_filled(red[at : at + 1000], 128) for at in (0, 1000, 2000)]
        parts = [
            b"2 KPK.none.dtm 1 127 0 2475 1000 45 0 0,1 0 0,1",
            b"".join(hashlib.sha256(block).digest() for block in blocks),
            hashlib.sha256(b"\1\0\x09").digest(),
            file.metadata(),
        ]
        hashes = b"".join(hashlib.sha256(part).digest() for part in parts)
        assert file.header.digest == hashlib.sha256(hashes).digest()[:16]
