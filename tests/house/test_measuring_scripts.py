"""Computations of the measuring scripts: goals, power laws, the plot, accuracy of the plan."""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from tests.helpers.built import built
from tests.helpers.paths import ROOT

sys.path.insert(0, str(ROOT / "scripts" / "measure"))

import bench_goals
import big_sets
import growth
import learn
import plan_accuracy
import plot_growth
from frame import MIB
from measuring import Measurement, Peer, Run, read_peer, sample

from tbgen.building.features import Outcomes
from tbgen.building.measured import Measured, Measurements, measurements, read_measured, rooks_chase
from tbgen.building.plan import plan
from tbgen.building.sets import materials_of
from tbgen.indexing import Material
from tbgen.indexing.rulesets import Rules
from tbgen.tables import TableFile, TableStatistics
from tbgen.tables.rule_sets import RuleSet

PEER_COLUMNS = "material,index_positions,user_cpu_s_wdl_dtc_and_dtm,wdl_bytes,dtc_bytes\n"


def measurement(cpu: float = 1.0, wall: float = 1.0, peak: int = 0) -> Measurement:
    return Measurement(Run(wall, cpu, peak), cpu, wall, 1000, 50 * MIB)


def rows() -> list[Measured]:
    """Return invented measurements of all tables of three to five men.

    A table has a byte for ten placements, and takes 20 ms and a microsecond for each slot.
    """
    found = []
    for material in materials_of((), 5):
        row = growth.row_of(material, Rules.WXF, measurement(), Outcomes((0.5, 0.25), 1.0), 3)
        seconds = 0.02 + 1e-6 * row.index_size
        found.append(
            replace(
                row,
                cpu_seconds=seconds,
                wall_seconds=seconds / 2,
                file_bytes=row.placements // 10,
            )
        )
    return found


def test_allowed_memory() -> None:
    assert bench_goals.allowed_memory(10_000_000, 7) == pytest.approx(26_000_000 + 7 + 160 * MIB)


def test_ratios_use_tables_measured_by_both() -> None:
    measured = {
        "KRKN": measurement(1, peak=100 * MIB),
        "KRKR": measurement(3),
        "KNKP": measurement(9),
    }
    slots = dict.fromkeys(measured, 1_000_000)
    peers = {"KRKN": Peer(20, 1_000_000, 1), "KRKR": Peer(20, 1_000_000, 1),
             "KNKP": Peer(None, 1_000_000, 1)}  # fmt: skip
    text = "\n".join(bench_goals.summary(measured, slots, peers))
    assert "4.00 of 40.00 scaled CPU seconds: 0.100 (goal 0.045)" in text
    assert "worst KRKR: 0.150" in text
    assert "not measured beside the other generator: KNKP" in text
    allowed = bench_goals.allowed_memory(1_000_000, 50 * MIB)
    assert f"worst KRKN: {100 * MIB / allowed:.2f}" in text


def test_own_goals_are_ratios() -> None:
    small = replace(measurement(6), table_cpu=5.0, table_wall=5.0)
    measured = {
        "KRNKR": replace(small, table_wall=5.5, table_cpu=9.9),
        "KRKN": small,  # too short for the goal
        "KRNKRC": replace(measurement(1200), table_wall=1000.0, table_cpu=1500.0),
    }
    slots = {"KRNKR": 30_000_000, "KRKN": 1, "KRNKRC": 3_000_000_000}
    text = "\n".join(bench_goals.own_goals(measured, slots, 2, studied=2.4))
    assert "KRNKR: 2.50 times the study's bare solve (goal 2.2)" in text
    assert "worst KRNKRC: 75% of 2 threads, 2 builds" in text
    assert "KRNKRC: 400 ns a slot, KRNKR: 200 ns: 2.00 (goal 2)" in text
    assert bench_goals.own_goals({"KRKN": small}, slots, 2, studied=None) == []


def test_a_padded_index_does_not_raise_the_allowed_memory() -> None:
    measured = {"KRKN": measurement(peak=300 * MIB)}
    padded = bench_goals.summary(measured, {"KRKN": 10**9}, {"KRKN": Peer(1, 10**6, 1)})
    tight = bench_goals.summary(measured, {"KRKN": 10**6}, {"KRKN": Peer(1, 10**6, 1)})
    assert padded == tight


def test_names_in_the_peers_file_become_canonical(tmp_path: Path) -> None:
    path = tmp_path / "peer.csv"
    path.write_text(PEER_COLUMNS + "KRKRN,100,8,30,40\nKRNKRA,200,,3,4\n")
    assert read_peer(path) == {"KRNKR": Peer(8, 100, 70), "KRNKRA": Peer(None, 200, 7)}
    assert read_peer(path)["KRNKR"].scaled(0.5).cpu == 4
    assert read_peer(path)["KRNKRA"].scaled(0.5).cpu is None


@pytest.mark.parametrize("text", [None, "material\nKRK\n", PEER_COLUMNS + "KRK,x,1,1,1\n"])
def test_a_bad_peers_file_is_an_error_of_one_line(tmp_path: Path, text: str | None) -> None:
    path = tmp_path / "peer.csv"
    if text is not None:
        path.write_text(text)
    with pytest.raises(SystemExit) as caught:
        read_peer(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_study_is_an_error_of_one_line(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="--yardstick takes"):
        bench_goals.yardstick(tmp_path / "bulk2.py")


def test_a_power_law_is_recovered() -> None:
    sizes = [10.0, 100.0, 5000.0]
    factor, exponent = growth.fit_power(sizes, [3 * size**1.25 for size in sizes])
    assert (factor, exponent) == (pytest.approx(3), pytest.approx(1.25))


@pytest.mark.parametrize(("sizes", "costs"), [([5, 5], [1, 2]), ([1, 2], [0, 1]), ([3], [1])])
def test_a_power_law_needs_two_sizes(sizes: list[float], costs: list[float]) -> None:
    with pytest.raises(ValueError, match="two different sizes"):
        growth.fit_power(sizes, costs)


def test_round_trip_of_measurements(tmp_path: Path) -> None:
    listed, path, again = rows(), tmp_path / "a.csv", tmp_path / "b.csv"
    growth.write_growth(path, "a date, a machine", listed)
    growth.write_growth(again, "a date, a machine", listed[::-1])
    assert path.read_bytes() == again.read_bytes()
    where, read = growth.read_growth(path)
    assert where == "a date, a machine"
    assert set(read) == set(listed)


@pytest.mark.parametrize("change", ["KRK,wxf,4050\n", "KRK,wxf,4050" + ",x" * 9, "\udcff"])
def test_bad_measurements_are_an_error_of_one_line(tmp_path: Path, change: str) -> None:
    path = tmp_path / "measured.csv"
    growth.write_growth(path, "a date, a machine", rows())
    with path.open("a", encoding="utf-8", errors="surrogateescape") as file:
        file.write(change)
    with pytest.raises(SystemExit) as caught:
        growth.read_growth(path)
    assert "\n" not in str(caught.value)
    assert "no measurements can be read there" in str(caught.value)


def test_measurements_without_a_long_build_end_a_script(tmp_path: Path) -> None:
    path = tmp_path / "measured.csv"
    growth.write_growth(path, "a date, a machine", [])
    with pytest.raises(SystemExit, match="no table under wxf took more than"):
        growth.read_measurements(path)


def test_without_tables_there_are_no_positions() -> None:
    with pytest.raises(SystemExit, match="no tables are in the directory"):
        sample([], 3)


def test_every_material_of_three_and_four_men() -> None:
    assert [m.name for m in materials_of((), 3)] == ["KCK", "KNK", "KPK", "KRK"]
    names = [m.name for m in materials_of((), 4) if m.men == 4]
    # Pairs on one side but for AA, AB, BB; and an attacker against any piece.
    assert len(names) == 18 + 18
    assert "KRRK" in names
    assert "KRKR" in names


def panels() -> list[plot_growth.Panel]:
    seconds = {"KRK": 0.5, "KRPKR": 20.0, "KRNKR": 200.0}
    ours = [
        replace(row, cpu_seconds=seconds[row.material]) for row in rows() if row.material in seconds
    ]
    peers = {"KR<K>": Peer(5.0, 4050, 100), "KRNKR": Peer(400.0, 32_805_000, 100)}
    return plot_growth.panels_of(ours, peers)


def test_the_plot_has_every_point_and_its_laws() -> None:
    seconds, sizes, orders = panels()
    counts = [[len(series.points) for series in panel.series] for panel in (seconds, sizes, orders)]
    assert counts == [[3, 2], [3, 2], [2]]
    # The law goes through the two larger tables; one table gives no law.
    exponent = math.log(200.0 / 20.0) / math.log(32_805_000 / 20_047_500)
    described = plot_growth.described(panels())
    assert f"tbgen: slots^{exponent:.2f}, 2 tables" in described
    assert "other generator: slots^" not in described


def test_cost_of_an_order() -> None:
    points = [(0, 100.0), (10, 150.0), (20, 200.0)]
    (law,) = plot_growth.slope_law(plot_growth.Series("tbgen", points))
    assert law.label == "100 + 5.0 for each order, 3 tables"
    assert law.at(4) == pytest.approx(120)
    assert plot_growth.slope_law(plot_growth.Series("tbgen", points[:1])) == []


def test_default_materials_include_supporting_tables() -> None:
    chosen = plot_growth.chosen([], Rules.WXF)
    names = {material.name for material in chosen}
    for material in chosen:
        assert {needed.name for needed in material.closure()} <= names
    assert {m.name for m in materials_of((), 5)} <= names
    assert names >= set(plot_growth.COMPARED.split())
    both_kinds = {rooks_chase(m) for m in plot_growth.chosen([], Rules.NONE)}
    assert both_kinds == {False, True}


def test_a_material_contains_those_after_captures() -> None:
    larger = Material.parse("KRNKRA")
    assert all(plan_accuracy.contains(larger, smaller) for smaller in larger.closure())
    # Captures may change which side is named first.
    assert plan_accuracy.contains(Material.parse("KRAKNN"), Material.parse("KNNK"))
    assert not plan_accuracy.contains(larger, Material.parse("KRRKA"))
    assert not plan_accuracy.contains(Material.parse("KRNK"), Material.parse("KRKN"))


def test_shares_are_medians_of_tables_measured_under_both_rules() -> None:
    listed = []
    for name, seconds, size in (("KRKN", 0.5, 1.0), ("KNKP", 0.7, 0.8), ("KRNKR", 0.25, 0.5)):
        wxf = growth.row_of(
            Material.parse(name), Rules.WXF, measurement(), Outcomes((0.5, 0.5), 1.0), 0
        )
        none = replace(wxf, rules="none", cpu_seconds=seconds, file_bytes=round(1000 * size))
        listed += [wxf, none]
    shares = Measurements.of(listed).wxf_ratios
    assert set(shares) == {(Rules.NONE, False), (Rules.NONE, True)}
    others, chasing = shares[Rules.NONE, False], shares[Rules.NONE, True]
    assert (others.seconds, others.file_bytes) == (0.6, 0.9)
    assert (chasing.seconds, chasing.file_bytes) == (0.25, 0.5)


def test_a_material_left_out_is_predicted_from_the_others() -> None:
    listed = rows()
    chosen = [row for row in listed if row.material in ("KRKNA", "KNPKC", "KCCAK")]
    # All densities are equal, and all rates nearly.
    for row, seconds, size in plan_accuracy.left_out(chosen, Measurements.of(listed)):
        assert size == pytest.approx(row.file_bytes, rel=0.05)
        assert seconds == pytest.approx(row.cpu_seconds, rel=0.2)


def test_left_out_tables_do_not_affect_predictions() -> None:
    """A table with unusual compression is not predicted by its own measurement."""
    listed = [
        replace(row, file_bytes=row.file_bytes * 9) if row.material == "KRKNA" else row
        for row in rows()
    ]
    known = Measurements.of(listed)
    row = known.tables["KRKNA"]
    ((_, _, size),) = plan_accuracy.left_out([row], known)
    assert size < row.file_bytes / 8
    (beyond,) = (
        size for row, _, size in plan_accuracy.beyond(4, listed, known) if row.material == "KRKNA"
    )
    assert beyond < row.file_bytes / 8


def test_factors_count_both_ways() -> None:
    assert plan_accuracy.factor(2, 1) == plan_accuracy.factor(1, 2) == 2
    assert plan_accuracy.share([1.0, 1.5, 1.6, 3.0]) == "2 of 4 (50 %), the worst 3.00"


@cache
def predictions() -> tuple[list[float], list[float]]:
    """Return the errors, as factors, of predictions for one in five `wxf` tables that are not tiny.

    A table is predicted as by `left_out`, without its own measurement and those of tables that
    depend on it. Returns the errors of seconds, then of bytes.
    """
    _, measured = read_measured()
    large = [
        row
        for row in measured
        if row.rules == Rules.WXF
        and row.cpu_seconds >= plan_accuracy.LEAST_SECONDS
        and row.file_bytes >= plan_accuracy.LEAST_BYTES
    ]
    found = list(plan_accuracy.left_out(large[::5], measurements()))
    seconds = [plan_accuracy.factor(planned, row.cpu_seconds) for row, planned, _ in found]
    return seconds, [plan_accuracy.factor(planned, row.file_bytes) for row, _, planned in found]


@pytest.mark.certification
@pytest.mark.parametrize("which", [0, 1], ids=["seconds", "bytes"])
def test_tables_that_were_not_measured_are_planned_within_the_goal(which: int) -> None:
    factors = predictions()[which]
    assert len(factors) > 30
    assert sum(value <= plan_accuracy.FACTOR for value in factors) >= 0.85 * len(factors)
    assert sum(value <= plan_accuracy.BYTES_FACTOR for value in factors) >= 0.95 * len(factors)


def test_learning_from_the_records_of_a_run() -> None:
    """Only tables that the file lacks are added, with the seconds of the file's machine.

    The machine of the run has half the speed, so the seconds of its tables are halved.
    """
    known = rows()
    run = [replace(row, cpu_seconds=2 * row.cpu_seconds, wall_seconds=0.0) for row in known]
    measured = [row for row in known if row.material not in ("KRKNA", "KRNKR")]
    assert learn.speed_factor(run, measured) == pytest.approx(2)
    assert learn.speed_factor(run, []) == 1
    added = {row.material: row for row in learn.additional(run, measured)}
    expected = {row.material: row for row in known if row.material in ("KRKNA", "KRNKR")}
    assert added.keys() == expected.keys()
    for material, row in expected.items():
        assert added[material].cpu_seconds == pytest.approx(row.cpu_seconds, abs=1e-4)
        assert added[material].wall_seconds == pytest.approx(row.wall_seconds, abs=1e-4)
        assert added[material].file_bytes == row.file_bytes


def test_records_are_rows_of_measurements() -> None:
    recorded = {row.material: row for row in learn.recorded(built("KRKN", rules="wxf"))}
    row, measured = recorded["KRKN"], measurements().tables["KRKN"]
    assert row.cpu_seconds > 0
    assert replace(
        row, cpu_seconds=measured.cpu_seconds, wall_seconds=measured.wall_seconds,
        peak_bytes=measured.peak_bytes, file_bytes=measured.file_bytes,
    ) == measured  # fmt: skip


def test_a_row_has_the_highest_order_even_if_orders_are_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class WithGaps(TableFile):
        @property
        def statistics(self) -> TableStatistics:
            found = super().statistics
            doubled = tuple(replace(each, order=2 * each.order) for each in found.orders)
            return replace(found, orders=doubled)

    highest = measurements().tables["KRKN"].orders
    assert highest
    monkeypatch.setattr(learn, "TableFile", WithGaps)
    recorded = {row.material: row for row in learn.recorded(built("KRKN", rules="wxf"))}
    assert recorded["KRKN"].orders == 2 * highest


def test_workers_with_little_memory_leave_out_dependent_tables() -> None:
    planned = plan(
        [Material.parse("KRNKR"), Material.parse("KRKNA")], RuleSet(Rules.WXF), threads=1
    )
    everything, on_disk = big_sets.jobs_within(planned, 1 << 40)
    assert ([job.key for job in everything], on_disk) == ([t.material.name for t in planned], 0)
    largest = max(table.memory_bytes for table in planned)
    some, on_disk = big_sets.jobs_within(planned, largest - 1)
    assert (len(some), on_disk) == (len(planned), 1)
    assert some[-1].seconds == pytest.approx(2 * everything[-1].seconds)
    assert big_sets.jobs_within(planned, 1) == ([], 0)
