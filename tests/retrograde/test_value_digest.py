"""The digest of values against its definition in docs/format.md, computed by the naive solver."""

from __future__ import annotations

import hashlib
import struct
from pathlib import Path

import numpy as np
import pytest

from tbgen.indexing import Material
from tbgen.indexing.layout import Layout
from tbgen.indexing.squares import Side
from tbgen.retrograde.value_digest import value_digest
from tbgen.tables import CodeSpace, Metric, Rules, TableFile, TableName
from tbgen.tables.codes import BYTE_SPAN, LONG_SPAN, Value
from tbgen.tables.header import TableSpec
from tbgen.tables.rule_sets import RuleSet
from tests.helpers.random_tables import random_planes, some_arrangements, spec_of, write
from tests.helpers.solutions import solution
from tests.oracles.naive.cache import naive_solution
from tests.oracles.naive.movegen import from_fen, is_legal
from tests.oracles.naive_reader import slot_of

Words = list[dict[int, bytes]]
"""For each side to move, the bytes of each slot's value, by slot, for slots with a position."""


def word(outcome: int, order: int, plies: int) -> bytes:
    return struct.pack("<I", outcome + 1 + 4 * plies + (order << 17))


def digest_of(name: TableName, words: Words, leads: int, slots: int) -> bytes:
    """Compute the digest of the values of a table, as docs/format.md defines it.

    words : the values; leads : number of leads, the placements of kings, advisors and elephants
    slots : number of slots of the table; each lead has an equal share of them
    """
    of_leads = b""
    for side in words:
        found = [hashlib.sha256() for _ in range(leads)]
        for slot in sorted(side):
            found[slot * leads // slots].update(side[slot])
        of_leads += b"".join(lead.digest() for lead in found)
    text = f"values 1 {name} {slots}".encode()
    return hashlib.sha256(text + of_leads).digest()[:16]


def name_of(material: str, rules: Rules = Rules.NONE, metric: Metric = Metric.DTM) -> TableName:
    return TableName(Material.parse(material), RuleSet(rules), metric)


@pytest.mark.parametrize(
    ("material", "rules", "metric"),
    [
        ("KRK", Rules.NONE, Metric.DTM),
        ("KPK", Rules.NONE, Metric.DTM),
        ("KNKA", Rules.NONE, Metric.DTM),
        ("KRKA", Rules.NONE, Metric.DTC),
        pytest.param("KRKN", Rules.CHECK, Metric.DTM, marks=pytest.mark.certification),
    ],
)
def test_the_digest_agrees_with_the_naive_solution(
    material: str, rules: Rules, metric: Metric
) -> None:
    words: Words = [{}, {}]
    leads = slots = 0
    for entry in naive_solution(material, rules=str(rules), metric=str(metric)).items():
        fen, outcome, number, order = entry
        board, side = from_fen(fen)
        pieces: dict[str, list[int]] = {}
        for square, letter in board.items():
            pieces.setdefault(letter, []).append(square % 10 * 9 + square // 10)
        slot, (of_leads, sizes) = slot_of(pieces)
        leads, slots = len(of_leads), len(of_leads) * int(np.prod(sizes))
        plies = 255 - number if order else number
        words["wb".index(side)][slot] = word(outcome, order, plies)
    name = name_of(material, rules, metric)
    expected = digest_of(name, words, leads, slots)
    assert value_digest(solution(material, rules, metric), name, threads=2) == expected


def test_twins_count_once_and_orders_matter(tmp_path: Path) -> None:
    spec = spec_of("KPAAK", 2, Rules.CHECK)
    layout = Layout.of(spec.name.material)
    words: Words = [{}, {}]
    canonical = np.flatnonzero(layout.squares_of_slots(np.arange(layout.slots))[1])
    with TableFile(write(tmp_path, spec, random_planes(spec, 1, 300, empty=0.0))) as file:
        for side in Side:
            plane = file.plane(side)
            for slot in canonical.tolist():
                position = layout.position(slot, side)
                assert position is not None
                board, to_move = from_fen(position.fen)
                if is_legal(board, to_move):
                    value = spec.codes.decode(int(plane[slot]))
                    words[side][slot] = word(value.outcome, value.order, value.plies)
        expected = digest_of(spec.name, words, layout.leads, layout.slots)
        assert value_digest(file, spec.name) == expected


def test_the_digest_depends_on_values_only(tmp_path: Path) -> None:
    solved, name = solution("KRKN", Rules.CHECK), name_of("KRKN", Rules.CHECK)
    expected = value_digest(solved, name)
    planes = solved.plane(Side.RED), solved.plane(Side.BLACK)
    seen = set()
    for number, space in enumerate((CodeSpace(2, BYTE_SPAN), CodeSpace(4, LONG_SPAN))):
        codes = [0] * (solved.code_space.top + 1)
        for code in np.unique(planes).tolist():
            codes[code] = space.encode(solved.code_space.decode(code)) if code else 0
        recoded = [np.array(codes, space.dtype)[plane] for plane in planes]
        folder = tmp_path / str(number)
        folder.mkdir()
        path = write(
            folder, TableSpec(name, space), (recoded[0], recoded[1]), block_slots=5000 + number,
            arrangements=some_arrangements(solved.layout, number),
        )  # fmt: skip
        with TableFile(path) as file:
            seen.add(file.header.digest)
            assert value_digest(file, name, threads=2) == expected
    assert len(seen) == 2
    other = int(np.flatnonzero(planes[1])[-1])
    planes[1][other] = solved.code_space.encode(Value(solved.code_space.decode(1).outcome, 0, 8))
    (tmp_path / "other").mkdir()
    path = write(tmp_path / "other", TableSpec(name, solved.code_space), planes)
    with TableFile(path) as file:
        assert value_digest(file, name) != expected
