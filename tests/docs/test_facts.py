"""docs/facts.md agrees with docs/facts*.csv, and these files with tables and other programs."""

from __future__ import annotations

import csv
import json
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from tbgen import open_tablebase
from tbgen.building.sets import materials_of
from tbgen.indexing import Material, Position, Side
from tbgen.probing.columns import all_columns
from tbgen.probing.placements import is_legal_board
from tbgen.tables import Rules, Tablebase
from tests.conftest import build
from tests.helpers.built import built
from tests.helpers.paths import DATA, ROOT

sys.path.insert(0, str(ROOT / "scripts" / "docs"))

import facts
import figures
from figures import PAIRS, Difference, Fact, Loop, Zugzwangs


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Directory with KRKN and its supporting tables under all rule sets."""
    folder = tmp_path_factory.mktemp("facts")
    for rules in Rules:
        build(folder, rules, "KRKN")
    return folder


def test_the_page_agrees_with_the_csv() -> None:
    """docs/facts.md is what `python scripts/docs/facts.py` writes."""
    assert facts.PAGE.read_text("utf-8") == facts.page()
    for name, picture in facts.pictures().items():
        assert (facts.PICTURES / name).read_text("utf-8") == picture


def test_the_csv_agrees_with_tables(directory: Path) -> None:
    written = {(row.material, row.rules): row for row in figures.read(Fact)}
    measured = figures.facts(directory)
    assert {row.material for row in measured} == {"KRK", "KNK", "KRKN"}
    assert len(measured) == 3 * len(figures.RULES)
    for row in measured:
        assert row == written[row.material, row.rules]


def test_all_materials_of_five_men_are_listed() -> None:
    named = {row.material for row in figures.read(Fact)}
    assert named == {material.name for material in materials_of([], 5)}


@pytest.mark.parametrize(
    "material", ["KNKP", pytest.param("KPAKP", marks=pytest.mark.certification)]
)
def test_zugzwangs_agree_with_every_position(material: str) -> None:
    """Counts of mutual zugzwangs agree with probing each placement with either side to move."""
    counted: Counter[tuple[int, int]] = Counter()
    with open_tablebase(built(material, rules="wxf")) as tables:
        table = tables.table(material)
        for rows in all_columns(table):
            squares = rows.squares[rows["side"] == Side.RED]
            boards = table.layout.boards_of_squares(squares)
            boards = boards[[is_legal_board(board, 1) for board in boards.view(np.int8)]]
            red, black = (
                tables.probe_wdl_boards(boards, np.full(len(boards), side)).astype(int)
                for side in Side
            )
            worse = red < -black
            counted.update(zip(red[worse].tolist(), (-black[worse]).tolist(), strict=True))
        found = figures.zugzwangs(tables, material)
        assert tables.probe(Position.from_fen(found.fen)).plies == found.plies
    assert (found.red, found.black, found.both) == (counted[0, 1], counted[-1, 0], counted[-1, 1])
    assert sum(counted.values())
    assert found in figures.read(Zugzwangs)


def test_loops_agree_with_referee_and_tables() -> None:
    """Loops in docs/facts-loops.csv agree with the collection of cases, the referee and the tables.

    All verdicts are compared with the collection (`figures.CASES`). Loops of KRKN and smaller
    materials are also judged and probed again.
    """
    cases = {case["id"]: case for case in json.loads(figures.CASES.read_text("utf-8"))}
    written = figures.read(Loop)
    assert {row.verdict for row in written} == {"red wins", "black wins", "draw"}
    assert all(row.verdict == cases[row.case]["verdict"] for row in written)
    assert "D2" in {row.diagram for row in written}
    measured = figures.loops(built("KRKN", rules="wxf"))
    assert measured
    assert set(measured) <= set(written)


def test_differences_agree_with_every_position(directory: Path) -> None:
    """Two rule sets differ in as many positions as their numbers of draws differ.

    Compared are KRKN without rules and under `wxf`, and each material under check rules and `wxf`.
    The counts and examples in the CSV file are also measured again for KRKN.
    """
    written = figures.read(Difference)
    measured = figures.differences(directory)
    assert [(row.first, row.second) for row in measured] == list(PAIRS)
    assert set(measured) <= set(written)
    facts_of = {(row.material, row.rules): row for row in figures.read(Fact)}
    with (
        Tablebase.open(directory, rules="none") as none,
        Tablebase.open(directory, rules="wxf") as wxf,
    ):
        found = figures.difference(none.table("KRKN"), wxf.table("KRKN"))
        position = Position.from_fen(found.fen)
        outcomes = [tables.probe(position).outcome.name.lower() for tables in (none, wxf)]
        assert wxf.probe(position).order == 1
    assert found.differ == facts_of["KRKN", "none"].draws - facts_of["KRKN", "wxf"].draws
    assert [found.first_outcome, found.second_outcome] == outcomes
    for row in written:
        if row.second == "wxf" and (row.material, "wxf") in facts_of:
            less = facts_of[row.material, "check"].draws - facts_of[row.material, "wxf"].draws
            assert row.differ == less


def test_another_program_finds_the_same_differences() -> None:
    written = {
        (row.material, row.first, row.second): row.differ for row in figures.read(Difference)
    }
    compared = 0
    with (DATA / "computer_counts.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            differ = written.get((Material.parse(row["material"]).name, "wxf", "computer"))
            if differ is not None:
                compared += 1
                assert differ == int(row["differs_from_wxf"])
    assert compared > 30


def test_other_programs_agree() -> None:
    """Counts of facts.csv equal those of another program, tests/data/check_all_orders.csv.

    Compared are the numbers of legal positions, and of draws without rules and under check rules.
    """
    written = {(row.material, row.rules): row for row in figures.read(Fact)}
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


def test_one_armed_materials_do_not_depend_on_the_rules() -> None:
    """Materials in which only one side has attackers have equally many draws under all rule sets.

    See docs/values.md: repetition decides nothing there.
    """
    by_material: dict[str, set[int]] = {}
    for row in figures.read(Fact):
        if not set(row.material[row.material.rindex("K") :]) & set("RNCP"):
            by_material.setdefault(row.material, set()).add(row.draws)
            assert not row.rule_decided
    assert by_material
    assert all(len(draws) == 1 for draws in by_material.values())
