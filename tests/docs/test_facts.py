"""docs/facts.md says what docs/facts.csv says, and that what tables and other programs say."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import pytest

from tbgen.indexing import Material
from tbgen.tables import Rules
from tests.conftest import build
from tests.kits.paths import DATA, ROOT

sys.path.insert(0, str(ROOT / "scripts" / "docs"))

import facts


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """KRKN and what it needs, under all three rule sets."""
    folder = tmp_path_factory.mktemp("facts")
    for rules in Rules:
        build(folder, rules, "KRKN")
    return folder


def test_the_page_is_the_csv() -> None:
    """Otherwise run `python scripts/docs/facts.py`."""
    rows = facts.read()
    assert facts.PAGE.read_text("utf-8") == facts.page(rows, facts.written_at())
    for name, picture in facts.pictures(rows).items():
        assert (facts.PICTURES / name).read_text("utf-8") == picture


def test_the_csv_is_what_tables_say(directory: Path) -> None:
    written = {(row.material, row.rules): row for row in facts.read()}
    measured = facts.measure(directory)
    assert {row.material for row in measured} == {"KRK", "KNK", "KRKN"}
    assert len(measured) == 3 * len(facts.RULES)
    for row in measured:
        assert row == written[row.material, row.rules]


def test_other_programs_agree() -> None:
    """Legal positions, and draws without rules and under perpetual check in all orders."""
    written = {(row.material, row.rules): row for row in facts.read()}
    with (DATA / "check_all_orders.csv").open(newline="") as file:
        theirs = list(csv.DictReader(file))
    compared = 0
    for row in theirs:
        for rules, theirs_of in (("none", "draws_no_rule"), ("check", "draws_all_orders")):
            ours = written.get((Material.parse(row["material"]).name, rules))
            if ours is not None:
                compared += 1
                assert (ours.legal, ours.draws) == (int(row["legal"]), int(row[theirs_of]))
    assert compared > 10


def test_materials_without_both_armed_do_not_depend_on_the_rules() -> None:
    """The lemma of docs/values.md."""
    by_material: dict[str, set[int]] = {}
    for row in facts.read():
        if not set(row.material[row.material.rindex("K") :]) & set("RNCP"):
            by_material.setdefault(row.material, set()).add(row.draws)
            assert not row.rule_decided
    assert by_material
    assert all(len(draws) == 1 for draws in by_material.values())
