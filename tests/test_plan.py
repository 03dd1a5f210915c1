"""What a build will cost: estimates from measured tables, and from those that are there."""

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

from tbgen.build.costs import FIT
from tbgen.build.estimate import (
    QUANTITIES,
    Estimates,
    Fit,
    Measured,
    Present,
    Share,
    present_tables,
)
from tbgen.build.features import Outcomes, Support, Traits, usual_seconds
from tbgen.build.kriging import Cases, Kriging, Scales
from tbgen.build.plan import plan
from tbgen.cli import main
from tbgen.indexing import Material
from tbgen.indexing.census import count_placements
from tbgen.indexing.layout import Layout
from tbgen.tables.names import Rules

ROOT = Path(__file__).resolve().parent.parent

SCALES = Scales(0.1, 0.3, 0.3, 1.0, 1.0, 1.0)

KRKN, KRKNA, KRKNAA, KRNKR, KRNKN = (
    Material.parse(name) for name in ("KRKN", "KRKNA", "KRKNAA", "KRNKR", "KRNKN")
)


def flat_fit(**changed: float) -> Fit:
    """Half a byte for each placement, and the usual seconds, or `changed` times that."""
    names = """
        KRK KNK KCK KPK KRKA KNKA KRAK KNAK KCKA KPKA KRKN KNKP KCKP KRKP KPKP KNKN KRKR KRNK KNNK
        KRRK KRKAA KNKAA
    """
    measured = {}
    for name in names.split():
        material = Material.parse(name)
        placements = count_placements(Layout.of(material))
        factor = changed.get(name, 1.0)
        measured[name] = Measured(
            usual_seconds(material) * factor,
            round(placements * factor / 2),
            0.9,
            0.0,
            1.0,
            placements,
        )
    shares = {Rules.NONE: (Share(0.5, 0.9), Share(0.25, 0.4))}
    return Fit(dict.fromkeys(QUANTITIES, (SCALES, SCALES)), shares, 0.6, measured)


def outcomes(first: float, second: float, entropy: float = 1.0) -> Traits:
    return Traits(-1.0, 0.0, Outcomes((first, second), entropy))


def test_measured_tables_cost_what_was_measured() -> None:
    for name, known in flat_fit(KRKN=3.0).measured.items():
        estimates, material = Estimates(Rules.WXF, flat_fit(KRKN=3.0)), Material.parse(name)
        assert estimates.cpu_seconds(material) == pytest.approx(known.cpu_seconds)
        assert estimates.disk_bytes(material) == known.file_bytes


def test_where_all_tables_are_alike_so_are_others() -> None:
    estimates = Estimates(Rules.WXF, flat_fit())
    for material in (KRKNAA, KRNKN):
        placements = count_placements(Layout.of(material))
        assert estimates.disk_bytes(material) == pytest.approx(placements / 2, rel=0.1)
        assert estimates.cpu_seconds(material) == pytest.approx(usual_seconds(material), rel=0.1)


def test_other_rules_take_their_share_where_both_sides_attack() -> None:
    fit = flat_fit()
    wxf, none = Estimates(Rules.WXF, fit), Estimates(Rules.NONE, fit)
    for name, seconds, size in (("KRKN", 0.5, 0.9), ("KRNKR", 0.25, 0.4), ("KRKAA", 1, 1)):
        material = Material.parse(name)
        assert none.cpu_seconds(material) == pytest.approx(seconds * wxf.cpu_seconds(material))
        assert none.disk_bytes(material) == pytest.approx(size * wxf.disk_bytes(material), abs=1)


def test_what_a_side_wins_lies_between_a_piece_less_and_a_piece_more() -> None:
    # The rook's side takes the advisor, the knight, or loses its rook: then it is named last.
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
    assert support.density == -3.0
    assert support.rate == 0.3
    assert support.entropy == pytest.approx(math.log(0.25))
    # Without defenders the densest stands for it.
    bare = Support(KRKN, {"KRK": traits["KRKA"], "KNK": traits["KNAK"]})
    assert bare.density == -1.0


def cases(rng: np.random.Generator, number: int) -> Cases:
    armies = rng.integers(0, 3, (number, 2, 6)).astype(float)
    return Cases(armies, rng.normal(size=(number, 2)), rng.normal(size=(number, 1)))


def test_kriging_finds_a_plane_again() -> None:
    rng = np.random.default_rng(1)
    known, asked = cases(rng, 300), cases(rng, 20)
    weights = np.array([0.5, -0.2])
    learned = Kriging(known, known.linear @ weights, np.full(300, 0.05), SCALES)
    assert learned(asked) == pytest.approx(asked.linear @ weights, abs=0.05)


def test_kriging_repeats_what_similar_armies_had_whichever_side_has_them() -> None:
    rng = np.random.default_rng(2)
    known = cases(rng, 100)
    values = known.armies[:, :, 0].sum(axis=1)
    learned = Kriging(known, values, np.full(100, 0.01), replace(SCALES, common=2.0, slopes=0.0))
    exchanged = Cases(known.armies[:, ::-1], known.linear, known.local)
    assert learned(exchanged) == pytest.approx(values, abs=0.05)


def test_kriging_goes_nowhere_beyond_what_was_learned() -> None:
    rng = np.random.default_rng(3)
    known = cases(rng, 50)
    values = known.linear[:, 0]
    learned = Kriging(known, values, np.full(50, 0.1), replace(SCALES, slopes=5.0))
    far = Cases(known.armies, known.linear * 100, known.local)
    assert learned(far).max() == values.max()
    assert learned(far).min() == values.min()


def test_what_is_left_out_is_what_a_fit_without_it_says() -> None:
    rng = np.random.default_rng(4)
    known = cases(rng, 40)
    values, noise = rng.normal(size=40), np.full(40, 0.3)
    # The columns are scaled as in the whole: keep both means and deviations.
    errors, variance = Kriging(known, values, noise, SCALES).left_out()
    kept = np.arange(40) != 7
    learned = Kriging(known.where(kept), values[kept], noise[kept], SCALES)
    found = values[7] - learned(known.where(~kept))[0]
    assert errors[7] == pytest.approx(found, abs=0.1)
    assert (variance > 0.09).all()


def test_a_table_that_is_there_tells_about_others_and_about_the_machine() -> None:
    placements = count_placements(Layout.of(KRKNA))
    there = {"KRKNA": Present(placements * 5, 0.0, Outcomes((0.9, 0.0), 1.0))}
    fit = flat_fit()
    estimates = Estimates(Rules.WXF, fit, there)
    assert estimates.disk_bytes(KRKNA) == placements * 5
    assert estimates.disk_bytes(KRKNAA) > 3 * Estimates(Rules.WXF, fit).disk_bytes(KRKNAA)
    assert estimates.wall_per_cpu() == fit.wall_per_cpu, "no record says how long it took"
    there["KRKNA"] = Present(1000, seconds=4 * estimates.cpu_seconds(KRKNA))
    there["KRKNAA"] = Present(1000, seconds=2 * estimates.cpu_seconds(KRKNAA))
    assert Estimates(Rules.WXF, fit, there).wall_per_cpu() == pytest.approx(3.0)


def test_small_tables_do_not_tell_about_the_machine() -> None:
    there = {"KRK": Present(3600, seconds=9.0)}
    assert Estimates(Rules.WXF, flat_fit(), there).wall_per_cpu() == 0.6


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
    for table in planned:
        assert table.seconds == pytest.approx(table.cpu_seconds * FIT.wall_per_cpu)
        assert table.disk_bytes > 0


@pytest.mark.parametrize("rules", list(Rules))
def test_more_slots_never_cost_less(rules: Rules) -> None:
    """Along chains of unmeasured materials that differ in attackers of equal worth for both."""
    planned = {t.material.name: t for t in plan([Material.parse("KRNCPKRNCP")], rules)}
    chain = [planned[name] for name in ("KRPKRP", "KRNKRN", "KRNPKRNP", "KRNCPKRNCP")]
    assert [t.seconds for t in chain] == sorted(t.seconds for t in chain)
    assert [t.disk_bytes for t in chain] == sorted(t.disk_bytes for t in chain)
    assert [t.memory_bytes for t in chain] == sorted(t.memory_bytes for t in chain)


def test_every_capture_ends_in_a_measured_table() -> None:
    assert {"KRK", "KNK", "KCK", "KPK"} <= set(FIT.measured)


@pytest.mark.parametrize("rules", [Rules.NONE, Rules.CHECK])
def test_other_rules_never_take_much_more_than_those_with_the_most(rules: Rules) -> None:
    for share in FIT.shares[rules]:
        assert 0.1 < share.seconds < 1.1
        assert 0.1 < share.file_bytes < 1.1
    # Where rooks chase with help, chases take most of the time.
    others, chasing = FIT.shares[Rules.NONE]
    assert chasing.seconds < others.seconds


@pytest.mark.parametrize("name", ["KRNCPKRNC", "KRABKNAB", "KPPPPPKAABB"])
def test_materials_far_from_all_measured_ones_have_sane_costs(name: str) -> None:
    """At most two bytes a placement, both sides to move together; no slot for nothing."""
    for table in plan([Material.parse(name)], Rules.WXF):
        if table.index_size > 1_000_000:
            assert 1e-4 < table.disk_bytes / table.placements < 2.5, table.material
            assert 1e-8 < table.cpu_seconds / table.index_size < 2e-5, table.material


def test_a_table_that_cannot_be_read_is_still_counted(tmp_path: Path) -> None:
    (tmp_path / "KRNKRAABB.wxf.dtm.xqt").write_bytes(b"nonsense" * 1000)
    planned = {t.material.name: t for t in plan([Material.parse("KRNKRAABB")], Rules.WXF, tmp_path)}
    assert planned["KRNKRAABB"].disk_bytes == 8000


def test_planning_loads_no_compiler() -> None:
    script = "import sys, tbgen.build.estimate, tbgen.build.costs; sys.exit('numba' in sys.modules)"
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
