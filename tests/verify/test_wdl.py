"""`tbgen verify --wdl`: proofs of win-draw-loss files, and errors found in them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from tbgen.cli import main
from tbgen.indexing import Material, Side
from tbgen.tables import Rules, Tablebase, TableFile, WdlFile
from tbgen.tables.outcomes import DRAW, LOSS, WIN
from tbgen.verify.wdl import verify_wdl
from tests.helpers.built import built
from tests.helpers.random_outcomes import Outcomes, write_outcomes


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    for path in built("KPKP").glob("*.xqt"):
        shutil.copy(path, tmp_path)
    result = CliRunner().invoke(main, ["pack", "--men", "4", "--tables", str(tmp_path)])
    assert result.exit_code == 0, result.output
    return tmp_path


def run(tables: Path, *arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["verify", "--wdl", *arguments, "--tables", str(tables)])
    return result.exit_code, result.output


def run_proof(tables: Path, material: str) -> int:
    return CliRunner().invoke(main, ["verify", material, "--tables", str(tables)]).exit_code


def report_on(tables: Path, material: str):
    with Tablebase.open(tables) as tablebase:
        return verify_wdl(tablebase, Material.parse(material), threads=2)


def rewritten(tables: Path, material: str, change) -> None:
    """Write a win-draw-loss file of a table, with changed outcomes.

    change : function that changes the outcomes in place, given as one plane per side to move

    The file's counts are those of the changed outcomes. It names the digest of the table.
    """
    path = tables / f"{material}.check.dtm.xqt"
    with TableFile(path) as table:
        digest = table.header.digest
        from tbgen.retrograde.outcomes import OutcomePlanes

        planes = OutcomePlanes(table, 1)
        outcomes: Outcomes = (planes.plane(0).copy(), planes.plane(1).copy())
    change(outcomes)
    write_outcomes(tables, material, outcomes, digest=digest, rules=Rules.CHECK)


def test_sound_files(tables: Path) -> None:
    status, out = run(tables, "KPKP", "KPK")
    assert status == 0
    assert "equal to KPKP.check.dtm.xqt (unproven), " in out
    assert run_proof(tables, "KPK") == 0
    assert "equal to KPK.check.dtm.xqt (proven), " in run(tables, "KPKP", "KPK")[1]
    status, out = run(tables, "KPKP", "--json")
    (entry,) = json.loads(out)["files"]
    assert entry["ok"]
    assert entry["compared"]
    assert entry["positions"] > 50_000


def test_a_file_without_its_table_is_consistent_but_not_proven(tables: Path) -> None:
    (tables / "KPKP.check.dtm.xqt").unlink()
    (tables / "KPK.check.wdl.xqt").unlink()  # captures then lead into the table
    report = report_on(tables, "KPKP")
    assert (report.ok, report.refuted, report.compared) == (False, False, False)
    status, out = run(tables, "KPKP")
    assert status == 1
    assert "not proven: consistent, but KPKP.check.dtm.xqt is missing or has another digest" in out


def test_the_source_is_opened_by_its_name_beside_a_table_of_another_metric(tables: Path) -> None:
    options = ["--rules", "check", "--metric", "dtc", "--tables", str(tables)]
    assert CliRunner().invoke(main, ["build", "KPK", *options]).exit_code == 0
    assert report_on(tables, "KPK").compared


@pytest.mark.parametrize(("code", "other"), [(WIN, DRAW), (DRAW, LOSS), (LOSS, WIN)])
def test_a_wrong_outcome_is_found(tables: Path, code: int, other: int) -> None:
    slots = []

    def change(outcomes: Outcomes) -> None:
        slots.append(int(np.flatnonzero(outcomes[Side.BLACK] == code)[7]))
        outcomes[Side.BLACK][slots[0]] = other

    rewritten(tables, "KPKP", change)
    report = report_on(tables, "KPKP")
    assert (report.ok, report.differing, report.problems) == (False, 1, ())
    assert report.inconsistent >= 1  # the position itself, or positions with a move to it
    assert run(tables, "KPKP")[0] == 1
    (tables / "KPKP.check.dtm.xqt").unlink()
    assert not report_on(tables, "KPKP").ok


def test_counts_are_recomputed(tables: Path) -> None:
    from tests.helpers.random_tables import with_statistics

    path = tables / "KPK.check.wdl.xqt"
    with WdlFile(path) as file:
        facts = file.statistics.to_json()
    facts["red_to_move"]["wins"] -= 1
    facts["red_to_move"]["draws"] += 1
    path.write_bytes(with_statistics(path.read_bytes(), json.dumps(facts).encode()))
    status, out = run(tables, "KPK")
    assert status == 3  # the digest covers the facts
    assert "digest" in out


def test_no_file(tables: Path) -> None:
    """The hint is a command that works, also if there are tables of both metrics."""
    (tables / "KPK.check.wdl.xqt").unlink()
    status, out = run(tables, "KPK")
    assert (status, "run: tbgen pack KPK --rules check --tables" in out) == (1, True)
    directory = ["--rules", "check", "--tables", str(tables)]
    build = ["build", "KPK", "--metric", "dtc", *directory]
    assert CliRunner().invoke(main, build).exit_code == 0
    assert "tbgen pack KPK --rules check --metric dtc --tables" in run(tables, "KPK")[1]
    pack = ["pack", "KPK", "--metric", "dtc", *directory]
    assert CliRunner().invoke(main, pack).exit_code == 0
    assert run(tables, "KPK")[0] == 0
