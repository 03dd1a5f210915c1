"""Cost of a build: estimates from measured tables, and from present ones."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray

from tbgen.building.estimate import CostRegression, Estimates, FinishedTable, finished_tables
from tbgen.building.features import Outcomes, Support, Traits, typical_seconds
from tbgen.building.measured import CostRatio, Measured, Measurements, measurements, read_measured
from tbgen.building.plan import PlannedTable, plan
from tbgen.cli import main
from tbgen.indexing import Material
from tbgen.indexing.layout import Layout
from tbgen.indexing.placement_count import count_placements
from tbgen.indexing.rulesets import Rules
from tbgen.tables.names import Metric, TableName
from tbgen.tables.rule_sets import RuleSet
from tests.helpers.paths import ROOT

WXF = RuleSet(Rules.WXF)
KRKN, KRKNA, KRKNAA, KRNKR, KRNKN = (
    Material.parse(name) for name in ("KRKN", "KRKNA", "KRKNAA", "KRNKR", "KRNKN")
)


def flat(**changed: float) -> Measurements:
    """Return invented measurements of builds, so that estimates from them are known.

    Tables have half a byte per placement, and take the typical seconds. A keyword such as
    `KRKN=2.0` multiplies the seconds and bytes of the material that it names.
    """
    names = """
        KRK KNK KCK KPK KRKA KNKA KRAK KNAK KCKA KPKA KRKN KNKP KCKP KRKP KPKP KNKN KRKR KRNK KNNK
        KRRK KRKAA KNKAA
    """
    measured = {}
    for name in names.split():
        material = Material.parse(name)
        layout = Layout.of(material)
        placements = count_placements(layout)
        factor = changed.get(name, 1.0)
        seconds = typical_seconds(material) * factor
        measured[name] = Measured(
            name, "wxf", layout.slots, placements, seconds, seconds * 0.6, 0,
            round(placements * factor / 2), 0.9, 0.0, 1.0, 0,
        )  # fmt: skip
    wxf_ratios = {
        (Rules.NONE, False): CostRatio(0.5, 0.9),
        (Rules.NONE, True): CostRatio(0.25, 0.4),
    }
    return Measurements(measured, wxf_ratios, 0.6)


def test_tiny_files_and_short_builds_set_no_bounds() -> None:
    """Their bytes per slot and seconds per slot are mostly constant costs."""
    known = flat()
    tiny = replace(known.tables["KPKA"], placements=10, file_bytes=4000, cpu_seconds=0.001)
    others = {name: table for name, table in known.tables.items() if name != "KPKA"}
    expected, found = (
        Estimates(Rules.WXF, replace(known, tables=tables))._bounds
        for tables in (others, others | {"KPKA": tiny})
    )
    assert found == expected


def outcomes(first: float, second: float, entropy: float = 1.0) -> Traits:
    return Traits(-1.0, 0.0, Outcomes((first, second), entropy))


def test_measured_tables_have_their_measured_cost() -> None:
    for name, known in flat(KRKN=3.0).tables.items():
        estimates, material = Estimates(Rules.WXF, flat(KRKN=3.0)), Material.parse(name)
        assert estimates.cpu_seconds(material) == pytest.approx(known.cpu_seconds)
        assert estimates.disk_bytes(material) == known.file_bytes


def test_uniform_measurements_give_uniform_estimates() -> None:
    estimates = Estimates(Rules.WXF, flat())
    for material in (KRKNAA, KRNKN):
        placements = count_placements(Layout.of(material))
        assert estimates.disk_bytes(material) == pytest.approx(placements / 2, rel=0.1)
        assert estimates.cpu_seconds(material) == pytest.approx(typical_seconds(material), rel=0.1)


def test_other_rules_scale_the_cost_if_both_sides_attack() -> None:
    known = flat()
    wxf, none = Estimates(Rules.WXF, known), Estimates(Rules.NONE, known)
    for name, seconds, size in (("KRKN", 0.5, 0.9), ("KRNKR", 0.25, 0.4), ("KRKAA", 1, 1)):
        material = Material.parse(name)
        assert none.cpu_seconds(material) == pytest.approx(seconds * wxf.cpu_seconds(material))
        assert none.disk_bytes(material) == pytest.approx(size * wxf.disk_bytes(material), abs=1)


def test_wins_are_bounded_by_those_after_captures() -> None:
    # The rook's side takes the advisor, takes the knight, or loses its rook and is named second.
    traits = {
        "KRKN": outcomes(0.6, 0.2),
        "KRKA": outcomes(0.9, 0.0),
        "KNAK": outcomes(0.3, 0.1),
    }
    support = Support(KRKNA, traits)
    assert support.stronger == 0
    assert (support.strong.most, support.strong.least) == (0.6, 0.1)
    assert (support.weak.most, support.weak.least) == (0.3, 0.2)
    assert (support.strong.taking, support.weak.losing) == pytest.approx((0.75, 0.1))


def test_the_table_after_losing_a_defender_comes_first() -> None:
    traits = {
        "KRKN": Traits(-3.0, 0.1, Outcomes((0.5, 0.1), 0.2)),
        "KRKA": Traits(-1.0, 0.2, Outcomes((0.9, 0.0), 2.0)),
        "KNAK": Traits(-2.0, 0.3, Outcomes((0.3, 0.0), 3.0)),
    }
    support = Support(KRKNA, traits)
    density, rate, strong, weak, entropy = support.first_guess()
    assert (density, rate) == (-3.0, 0.3)
    assert entropy == pytest.approx(math.log(0.25))
    assert (strong, weak) == (support.strong.middle, support.weak.middle)
    # Without defenders the densest one is used.
    bare = Support(KRKN, {"KRK": traits["KRKA"], "KNK": traits["KNAK"]})
    assert bare.first_guess()[0] == -1.0


@pytest.mark.parametrize("stronger", [0, 1])
def test_traits_survive_conversion_to_numbers(stronger: int) -> None:
    traits = Traits(-2.0, 0.5, Outcomes((0.75, 0.25), 1.5))
    found = Traits.from_numbers(traits.numbers(stronger), stronger)
    assert found.outcomes.wins == traits.outcomes.wins
    assert found.outcomes.entropy == pytest.approx(1.5)
    assert (found.density, found.rate) == (-2.0, 0.5)


def cases(rng: np.random.Generator, number: int, features: int) -> NDArray[np.float64]:
    """Return random inputs of the cost regression, float64 (number, features + 12).

    Each of the `number` rows describes a material. The first `features` columns are normally
    distributed. The last 12 are the numbers of pieces of each kind and side, here all 1.
    """
    return np.hstack([rng.normal(size=(number, features)), np.ones((number, 12))])


def test_a_law_recovers_a_plane() -> None:
    rng = np.random.default_rng(1)
    known, asked = cases(rng, 300, 3), cases(rng, 20, 3)
    weights = np.array([[0.1, 0.3], [-0.1, 0.0], [0.05, 0.1]])
    regression = CostRegression(known, known[:, :3] @ weights, np.full((300, 2), 0.02))
    for features in asked:
        assert regression(features) == pytest.approx(features[:3] @ weights, abs=0.1)


def test_a_law_does_not_extrapolate() -> None:
    rng = np.random.default_rng(3)
    known = cases(rng, 50, 2)
    regression = CostRegression(known, known[:, :1], np.full((50, 1), 0.1))
    assert regression(known[0] + 100 * np.eye(14)[0]) == pytest.approx(known[:, 0].max())
    assert regression(known[0] - 100 * np.eye(14)[0]) == pytest.approx(known[:, 0].min())


def test_similar_armies_cost_alike() -> None:
    """The regression predicts similar costs for materials with similar armies.

    Half of the known materials differ from the others in one piece count, and in cost. The first
    two inputs are random and explain no cost.
    """
    rng = np.random.default_rng(5)
    known = cases(rng, 60, 2)
    known[:30, 2] = 5
    values = np.where(np.arange(60) < 30, 1.0, 0.0)[:, None]
    regression = CostRegression(known, values, np.full((60, 1), 0.05))
    assert regression(known[3] + 0.2 * np.eye(14)[0]) == pytest.approx(1.0, abs=0.15)
    assert regression(known[40] + 0.2 * np.eye(14)[0]) == pytest.approx(0.0, abs=0.15)


def test_a_case_without_a_value_does_not_affect_it() -> None:
    rng = np.random.default_rng(4)
    known, values, noise = cases(rng, 40, 2), rng.normal(size=(40, 2)), np.full((40, 2), 0.1)
    noise[:, 0] = np.inf
    noise[7, 1] = np.inf
    regression, changed = CostRegression(known, values, noise), values.copy()
    changed[7, 1] = 1000.0
    assert regression(known[0])[0] == 0.0, "nobody teaches the first value"
    assert (regression(known[7]) == CostRegression(known, changed, noise)(known[7])).all()


def finished(
    file_bytes: int, seconds: float = 0.0, outcomes: Outcomes | None = None
) -> FinishedTable:
    """Return a finished table of known seconds and outcomes, without files."""
    table = FinishedTable(TableName(KRKN, WXF, Metric.DTM), Path(), file_bytes)
    vars(table).update(seconds=lambda: seconds, outcomes=lambda: outcomes)
    return table


def test_a_present_table_improves_the_estimates_of_other_tables() -> None:
    placements = count_placements(Layout.of(KRKNA))
    there = {"KRKNA": finished(placements * 5, outcomes=Outcomes((0.9, 0.0), 1.0))}
    known = flat()
    estimates = Estimates(Rules.WXF, known, there)
    assert estimates.disk_bytes(KRKNA) == placements * 5
    assert estimates.disk_bytes(KRKNAA) > 3 * Estimates(Rules.WXF, known).disk_bytes(KRKNAA)


def test_the_builds_of_measured_tables_give_the_machine_speed() -> None:
    known = flat(KRKN=10.0, KNKP=10.0)
    usual = Estimates(Rules.WXF, known)

    def wall_per_cpu(**ratios: float) -> float:
        """Return the wall seconds per CPU second that are estimated from builds of tables.

        ratios : by material, the wall seconds that its build took per measured CPU second
        """
        there = {
            name: finished(1000, ratio * usual.cpu_seconds(Material.parse(name)))
            for name, ratio in ratios.items()
        }
        return Estimates(Rules.WXF, known, there).wall_per_cpu()

    assert wall_per_cpu(KRKN=4.0, KNKP=2.0) == pytest.approx(3.0)
    assert wall_per_cpu(KRKN=0.0) == known.wall_per_cpu, "no record says how long it took"
    assert wall_per_cpu(KRKNA=4.0) == known.wall_per_cpu, "its CPU seconds were never measured"
    assert wall_per_cpu(KRK=4.0) == known.wall_per_cpu, "it took too little time"


def test_a_plan_reads_only_tables_on_which_an_estimate_depends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = []
    monkeypatch.setattr(FinishedTable, "outcomes", lambda table: read.append(table.path))
    (tmp_path / "KRNCKRNC.wxf.dtm.xqt").write_bytes(bytes(100))
    plan([KRKN], WXF, tmp_path)
    assert not read, "KRKN is measured"
    plan([Material.parse("KRNCKRNC")], WXF, tmp_path)
    assert read == [tmp_path / "KRNCKRNC.wxf.dtm.xqt"]


def test_present_tables_have_the_rule_set_and_no_order_limit(tmp_path: Path) -> None:
    for name in (
        "KRK.wxf.dtm", "KNK.check.dtm", "KPK.wxf-o1.dtm", "KAK.wxf-nominor.dtm", "nonsense",
        "KCK.wxf.dtc",
    ):  # fmt: skip
        (tmp_path / f"{name}.xqt").write_bytes(bytes(100))
    times = {"build_seconds": 86400.0, "cpu_seconds": 2.5}  # of a build that was paused
    (tmp_path / "KRK.wxf.dtm.build.json").write_text(json.dumps(times))
    found = finished_tables(tmp_path, WXF)
    assert {name: (table.file_bytes, table.seconds()) for name, table in found.items()} == {
        "KRK": (100, 2.5),
        "KCK": (100, 0.0),
    }
    assert finished_tables(tmp_path / "missing", WXF) == {}


def test_a_plan_contains_supporting_tables_and_adds_up(tmp_path: Path) -> None:
    planned = plan([KRKNAA], WXF, tmp_path)
    assert [table.material.name for table in planned] == [m.name for m in KRKNAA.closure()]
    for table in planned:
        assert table.seconds == pytest.approx(table.cpu_seconds * measurements().wall_per_cpu)
        assert table.disk_bytes > 0


@pytest.mark.parametrize(
    "rules", [Rules.NONE, pytest.param(Rules.CHECK, marks=pytest.mark.certification), Rules.WXF]
)
def test_more_slots_never_cost_less(rules: Rules) -> None:
    """Predicted seconds, bytes and memory do not decrease along a chain of unmeasured materials.

    Each material of the chain has more slots in its index than the one before.
    """
    planned = {t.material.name: t for t in plan([Material.parse("KRNCPKRNCP")], RuleSet(rules))}
    chain = [planned[name] for name in ("KRPKRP", "KRNKRN", "KRNPKRNP", "KRNCPKRNCP")]
    assert [t.seconds for t in chain] == sorted(t.seconds for t in chain)
    assert [t.disk_bytes for t in chain] == sorted(t.disk_bytes for t in chain)
    assert [t.memory_bytes for t in chain] == sorted(t.memory_bytes for t in chain)


def test_the_smallest_tables_are_measured() -> None:
    assert {"KRK", "KNK", "KCK", "KPK"} <= set(measurements().tables)


@pytest.mark.parametrize("rules", [Rules.NONE, Rules.CHECK])
def test_other_rules_cost_hardly_more_than_wxf(rules: Rules) -> None:
    wxf_ratios = measurements().wxf_ratios
    for chasing in (False, True):
        assert 0.1 < wxf_ratios[rules, chasing].seconds < 1.1
        assert 0.1 < wxf_ratios[rules, chasing].file_bytes < 1.1
    # Chases take most of the time where protected rooks chase.
    assert wxf_ratios[Rules.NONE, True].seconds < wxf_ratios[Rules.NONE, False].seconds


def test_the_measurements_are_packaged() -> None:
    where, rows = read_measured()
    assert "cores" in where
    assert len({(row.material, row.rules) for row in rows}) == len(rows) > 500
    assert all(row.placements <= row.index_size for row in rows)


@pytest.mark.parametrize(
    "name", ["KRNCPKRNC", pytest.param("KRABKNAB", marks=pytest.mark.certification), "KPPPPPKAABB"]
)
def test_materials_unlike_any_measured_have_plausible_costs(name: str) -> None:
    """A table takes 0.0001 to 2.5 bytes per placement, and 10 ns to 20 µs of CPU time per slot.

    Tested are tables of more than a million slots. The bytes are those of both sides to move.
    """
    for table in plan([Material.parse(name)], WXF):
        if table.index_size > 1_000_000:
            assert 1e-4 < table.disk_bytes / table.placements < 2.5, table.material
            assert 1e-8 < table.cpu_seconds / table.index_size < 2e-5, table.material


def test_an_unreadable_table_is_still_counted(tmp_path: Path) -> None:
    (tmp_path / "KRNKRAABB.wxf.dtm.xqt").write_bytes(b"nonsense" * 1000)
    planned = {t.material.name: t for t in plan([Material.parse("KRNKRAABB")], WXF, tmp_path)}
    assert planned["KRNKRAABB"].disk_bytes == 8000


def test_an_empty_file_is_no_table(tmp_path: Path) -> None:
    (tmp_path / "KNCCKN.wxf.dtm.xqt").touch()
    material = Material.parse("KNCCKN")
    assert plan([material], WXF, tmp_path) == plan([material], WXF)


def test_planning_does_not_import_numba() -> None:
    planning = "tbgen.building.plan, tbgen.cli.plan"
    script = f"import sys, {planning}; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], cwd=ROOT).returncode == 0


def test_the_command_lists_tables_and_totals(tmp_path: Path) -> None:
    arguments = ["plan", "KRKN", "--rules", "wxf", "--tables", str(tmp_path), "--json"]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0
    shown = json.loads(result.output)
    assert [table["material"] for table in shown["tables"]] == ["KNK", "KRK", "KRKN"]
    assert shown["missing"] == 3
    assert shown["disk_bytes"] == sum(table["disk_bytes"] for table in shown["tables"])
    assert shown["memory_bytes"] == max(table["memory_bytes"] for table in shown["tables"])


def test_room_for_settled_positions_and_two_states() -> None:
    table = PlannedTable(KRKN, 1000, 900, 0, 0, 0, cpu_seconds=10.0, seconds=10.0)
    assert [table.scratch_bytes(seconds) for seconds in (20.0, 5.0)] == [700, 2300]
