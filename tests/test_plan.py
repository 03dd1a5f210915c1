"""What a build will cost: estimates from measured tables, and from those that are there."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from click.testing import CliRunner

from tbgen.build.costs import FITS
from tbgen.build.estimate import (
    Estimates,
    Fit,
    Present,
    density_features,
    present_tables,
    time_features,
)
from tbgen.build.plan import plan
from tbgen.cli import main
from tbgen.indexing import Material
from tbgen.indexing.census import count_placements
from tbgen.indexing.layout import Layout
from tbgen.indexing.squares import PieceType
from tbgen.tables.names import Rules

SIMPLE = Fit(
    time=(math.log(1e-7), 1.0, 0.0, 0.0, 0.0),
    density=(math.log(2), 1.0, 0.0, 0.0, 0.0, 0.0),
    start_seconds=0.5,
    wall_per_cpu=0.6,
    measured={"KRK": (1.0, 3600), "KNK": (1.0, 1800)},
)
"""Tenth microseconds a slot, e times that where rules decide; twice the densest supporting one."""

KRKN, KRKNA, KRKNAA = (Material.parse(name) for name in ("KRKN", "KRKNA", "KRKNAA"))


def test_measured_tables_cost_what_was_measured() -> None:
    estimates = Estimates(Rules.WXF, SIMPLE)
    assert estimates.cpu_seconds(Material.parse("KRK")) == 1.0
    assert estimates.disk_bytes(Material.parse("KRK")) == 3600


def test_an_unseen_table_compresses_as_its_densest_supporting_table() -> None:
    estimates = Estimates(Rules.WXF, SIMPLE)
    # KRK has 3600 placements, one byte for each; KNK half of that; the coefficients double it.
    assert estimates.disk_bytes(KRKN) == pytest.approx(2 * count_placements(Layout.of(KRKN)), abs=1)
    # KRKNA loses an advisor to KRKN, which is unseen itself: 2 * 2 bytes.
    size = 4 * count_placements(Layout.of(KRKNA))
    assert estimates.disk_bytes(KRKNA) == pytest.approx(size, abs=1)


def test_seconds_grow_with_slots_and_with_rules() -> None:
    slots = Layout.of(KRKN).slots
    ruled, free = (Estimates(rules, SIMPLE).cpu_seconds(KRKN) for rules in (Rules.WXF, Rules.NONE))
    assert free == pytest.approx(0.5 + 1e-7 * slots)
    assert ruled == pytest.approx(0.5 + math.e * 1e-7 * slots)


def test_features_see_what_the_armies_look_like() -> None:
    flat = {(0, PieceType.ROOK): 0.0}
    by_name = {
        name: time_features(Material.parse(name), Rules.WXF, flat)
        for name in ("KRKR", "KRNKR", "KRNKA", "KRKNAA")
    }
    assert [features[1] for features in by_name.values()] == [1, 1, 0, 1]
    assert [features[3] for features in by_name.values()] == [0, 1, 0, 0]
    # A knight more; a rook and a knight against an advisor; a rook against a knight with two.
    assert [round(features[2], 1) for features in by_name.values()] == [0, 4, 11.8, 2.6]
    # Without rules a table is that of an unarmed side.
    assert time_features(Material.parse("KRNKR"), Rules.NONE, flat)[1:4] == (0, 4, 0)


def test_the_table_after_losing_a_defender_tells_most() -> None:
    densities = {(1, PieceType.ADVISOR): -3.0, (0, PieceType.ROOK): -1.0}
    assert density_features(KRKNAA, densities)[:4] == (1, -3.0, -2.0, 1)
    # Without defenders the densest stands for them.
    only = {(0, PieceType.ROOK): -1.0, (1, PieceType.KNIGHT): -2.0}
    assert density_features(KRKN, only)[:4] == (1, -1.0, -1.5, 1)


@pytest.mark.parametrize(
    ("name", "uneven", "overwhelming"),
    [
        ("KRKR", 0, 0),
        ("KNKP", 1, 0),
        ("KRKN", 3, 0),
        ("KRKP", 3, 0),
        ("KRKC", 3, 1),
        ("KRNK", 3, 7),
    ],
)
def test_even_and_overwhelming_armies_compress(
    name: str, uneven: float, overwhelming: float
) -> None:
    features = density_features(Material.parse(name), {(0, PieceType.ROOK): 0.0})
    assert features[4:] == (uneven, overwhelming)


def test_tables_that_are_there_tell_about_others_and_about_the_machine() -> None:
    slots = count_placements(Layout.of(KRKN))
    there = {"KRKN": Present(file_bytes=slots * 5, seconds=0.0)}
    estimates = Estimates(Rules.WXF, SIMPLE, there)
    assert estimates.disk_bytes(KRKN) == slots * 5
    size = 10 * count_placements(Layout.of(KRKNA))
    assert estimates.disk_bytes(KRKNA) == pytest.approx(size, abs=1)
    assert estimates.wall_per_cpu() == SIMPLE.wall_per_cpu, "no record says how long it took"
    there["KRK"] = Present(3600, seconds=3.0)
    there["KNK"] = Present(1800, seconds=5.0)
    assert Estimates(Rules.WXF, SIMPLE, there).wall_per_cpu() == pytest.approx(4.0)


def test_small_tables_do_not_tell_about_the_machine() -> None:
    quick = Fit(SIMPLE.time, SIMPLE.density, 0.0, 0.6, {"KRK": (0.1, 3600), "KNK": (0.1, 1800)})
    there = {"KRK": Present(3600, seconds=9.0)}
    assert Estimates(Rules.WXF, quick, there).wall_per_cpu() == 0.6


def test_present_tables_are_those_of_the_rule_set_without_a_limit(tmp_path: Path) -> None:
    for name in ("KRK.wxf.dtm", "KNK.check.dtm", "KPK.wxf-o1.dtm", "nonsense", "KCK.wxf.dtc"):
        (tmp_path / f"{name}.xqt").write_bytes(bytes(100))
    (tmp_path / "KRK.wxf.dtm.build.json").write_text(json.dumps({"build_seconds": 2.5}))
    assert present_tables(tmp_path, Rules.WXF) == {
        "KRK": Present(100, 2.5),
        "KCK": Present(100, 0.0),
    }
    assert present_tables(tmp_path / "missing", Rules.WXF) == {}


def test_a_plan_takes_the_closure_and_adds_up(tmp_path: Path) -> None:
    planned = plan([KRKNAA], Rules.WXF, tmp_path)
    assert [table.material.name for table in planned] == [m.name for m in KRKNAA.closure()]
    fit = FITS[Rules.WXF]
    for table in planned:
        assert table.seconds == pytest.approx(table.cpu_seconds * fit.wall_per_cpu)
        assert table.disk_bytes > 0


@pytest.mark.parametrize("rules", list(Rules))
def test_more_slots_never_cost_less(rules: Rules) -> None:
    """Along chains of unmeasured materials that differ in attackers of equal worth for both."""
    planned = {t.material.name: t for t in plan([Material.parse("KRNCPKRNCP")], rules)}
    chain = [planned[name] for name in ("KRPKRP", "KRNKRN", "KRNPKRNP", "KRNCPKRNCP")]
    assert [t.seconds for t in chain] == sorted(t.seconds for t in chain)
    assert [t.disk_bytes for t in chain] == sorted(t.disk_bytes for t in chain)
    assert [t.memory_bytes for t in chain] == sorted(t.memory_bytes for t in chain)


@pytest.mark.parametrize("rules", FITS)
def test_every_capture_ends_in_a_measured_table(rules: Rules) -> None:
    assert {"KRK", "KNK", "KCK", "KPK"} <= set(FITS[rules].measured)


def test_the_command_lists_tables_and_totals(tmp_path: Path) -> None:
    arguments = ["plan", "KRKN", "--rules", "wxf", "--tables", str(tmp_path), "--json"]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0
    shown = json.loads(result.output)
    assert [table["material"] for table in shown["tables"]] == ["KNK", "KRK", "KRKN"]
    assert shown["missing"] == 3
    assert shown["disk_bytes"] == sum(table["disk_bytes"] for table in shown["tables"])
    assert shown["memory_bytes"] == max(table["memory_bytes"] for table in shown["tables"])
