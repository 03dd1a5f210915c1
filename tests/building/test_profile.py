"""Profiles: counts do not depend on threads, and costs add up."""

import json
from pathlib import Path

import pytest

from tbgen.building.builder import Progress
from tbgen.building.profile import PhaseCost, Profile, total
from tbgen.cli import main
from tbgen.indexing import Material
from tbgen.tables import Rules, TableFile
from tbgen.tables.rule_sets import RuleSet
from tests.helpers.built import Builder


def profiles(directory: Path, threads: int) -> list[list[PhaseCost]]:
    """Build KRKN and its supporting tables KRK and KNK; return the costs of each table's phases."""
    found: list[list[PhaseCost]] = []
    builder = Builder(directory, RuleSet(Rules.CHECK), Progress(), threads=threads)
    builder.progress = Profile(Progress(), builder.meter, found.append)
    builder.build([Material.parse("KRKN")])
    return found


def test_sweeps_and_rows_do_not_depend_on_threads(tmp_path: Path) -> None:
    one, two = (profiles(tmp_path / str(threads), threads) for threads in (1, 2))
    counts = [
        [[(s.phase, s.order, s.sweeps, s.rows, s.settled) for s in costs] for costs in found]
        for found in (one, two)
    ]
    assert counts[0] == counts[1]
    assert len(counts[0]) == 3


def test_decided_positions_were_settled(tmp_path: Path) -> None:
    costs = profiles(tmp_path, 1)[-1]
    with TableFile(tmp_path / "KRKN.check.dtm.xqt") as file:
        statistics = file.statistics
        sides = statistics.red_to_move, statistics.black_to_move
        decided = sum(counts.wins + counts.losses for counts in sides)
    # If kings and defenders are their own mirror image, both images are settled.
    assert decided <= sum(cost.settled for cost in costs) <= 2 * decided
    orders = [cost.order for cost in costs if cost.phase == "checks"]
    assert orders == list(range(1, len(orders) + 1))
    swept = [cost for cost in costs if cost.phase == "checks" or cost.settled]
    assert all(cost.sweeps for cost in swept)


def test_the_total_excludes_compilation() -> None:
    costs = [
        PhaseCost("compile", 0, 9.0, 9.0),
        PhaseCost("a", 1, 2.0, 1.0, 3, 4, 5),
        PhaseCost("b", 2, 2.0, 3.0),
    ]
    whole = total(costs)
    assert (whole.seconds, whole.cpu_seconds, whole.sweeps, whole.rows) == (4.0, 4.0, 3, 4)
    assert whole.busy(threads=2) == 0.5


def test_a_build_prints_and_returns_its_profile(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["build", "KNK", "--tables", str(tmp_path), "--profile", "--json"]
    main(words, standalone_mode=False)
    out, err = capsys.readouterr()
    (table,) = json.loads(out)["tables"]
    assert table["profile"][-1]["phase"] == "all"
    assert [line.split()[0] for line in err.splitlines()[-len(table["profile"]) :]] == [
        cost["phase"] for cost in table["profile"]
    ]
