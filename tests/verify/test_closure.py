"""Proofs of a table with its supporting tables: skipped ones, refuted ones, and interruptions.

A proof is skipped if a certificate, a file that records an earlier proof of the table, is valid.
Tests with several processes: `python -m pytest tests/verify/test_closure.py -m certification`.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tbgen.cli import main
from tbgen.cli.proofs import print_compiling
from tbgen.indexing import Material, Side
from tbgen.tables import Metric, MissingTableError, Rules, RuleSet, TableFile, TableName
from tbgen.tables.certificates import certificate_path, read_certificate
from tbgen.tables.proofs import Proofs, find_in_directory
from tbgen.verify.files import FileProof, plan
from tests.helpers.built import built
from tests.helpers.certificates import name_of
from tests.verify.test_certify import wrong_values

CLOSURE = ["KNK", "KRK", "KRKN"]


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    """Directory with KRKN and its supporting tables, without certificates."""
    return Path(shutil.copytree(built("KRKN", rules="none"), tmp_path / "tables"))


@pytest.fixture(scope="module")
def proven_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Directory with KRKN and its supporting tables, proven once; tests must not change it."""
    directory = tmp_path_factory.mktemp("proven") / "tables"
    shutil.copytree(built("KRKN", rules="none"), directory)
    result = run(directory, "KRKN")
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[-1] == "3 tables: 3 proven"
    return directory


@pytest.fixture
def proven(proven_once: Path, tmp_path: Path) -> Path:
    """Copy of `proven_once` that a test may change; its files have new time stamps."""
    return Path(shutil.copytree(proven_once, tmp_path / "p", copy_function=shutil.copy))


def run(tables: Path, *arguments: str) -> Result:
    command = ["verify", *arguments, "--closure", "--jobs", "1", "--tables", str(tables)]
    return CliRunner().invoke(main, command)


def settled(tables: Path, *arguments: str, status: int = 0) -> dict[str, str | None]:
    """Run `tbgen verify`, which must exit with `status`; return by material how it was settled.

    `proof` means proven or refuted by this run, `certificate` that one was valid, None neither.
    """
    result = run(tables, *arguments, "--json")
    assert result.exit_code == status, result.output
    answer = json.loads(result.stdout)
    assert answer["ok"] == (status == 0)
    return {table["material"]: table["by"] for table in answer["tables"]}


def statuses(tables: Path) -> dict[str, str]:
    proofs = Proofs(find_in_directory(tables))
    rule_set = RuleSet(Rules.NONE)
    return {
        material: str(proofs.status(TableName(Material.parse(material), rule_set, Metric.DTM)))
        for material in CLOSURE
    }


def test_everything_is_proven_bottom_up(proven_once: Path) -> None:
    assert set(statuses(proven_once).values()) == {"proven"}


def test_certified_tables_are_read_and_not_proven(proven: Path) -> None:
    assert settled(proven, "KRKN") == dict.fromkeys(CLOSURE, "certificate")
    # The bytes were checked, so the time stamps are stored.
    for material in CLOSURE:
        table = proven / f"{material}.none.dtm.xqt"
        assert certificate_path(table).stat().st_mtime_ns == table.stat().st_mtime_ns
    assert run(proven, "KRKN").stdout.splitlines() == [
        *(f"{material} (none, dtm): proven, by its certificate" for material in CLOSURE),
        "3 tables: 0 proven, 3 proven by certificate",
    ]


def test_force_repeats_proofs(proven: Path) -> None:
    path = certificate_path(proven / "KRK.none.dtm.xqt")
    path.write_text(path.read_text().replace('"method": "', '"method": "old '))
    assert settled(proven, "KRK") == {"KRK": "certificate"}
    assert settled(proven, "KRK", "--force") == {"KRK": "proof"}
    found = read_certificate(proven / "KRK.none.dtm.xqt")
    assert found is not None
    assert not found.method.startswith("old ")


def test_the_option_no_certificate_writes_no_file(tables: Path) -> None:
    before = sorted(tables.iterdir())
    assert settled(tables, "KRK", "--no-certificate") == {"KRK": "proof"}
    assert sorted(tables.iterdir()) == before


@pytest.mark.parametrize("certificate", ["gone", "garbage", "another"])
def test_tables_without_a_valid_certificate_are_proven(proven: Path, certificate: str) -> None:
    path = certificate_path(proven / "KRK.none.dtm.xqt")
    if certificate == "gone":
        path.unlink()
    elif certificate == "garbage":
        path.write_bytes(b"\xff" * 100_000)
    else:
        shutil.copy(certificate_path(proven / "KNK.none.dtm.xqt"), path)
    assert settled(proven, "KRKN") == {
        "KNK": "certificate", "KRK": "proof", "KRKN": "certificate",
    }  # fmt: skip
    assert set(statuses(proven).values()) == {"proven"}


def test_tables_that_need_a_refuted_one_are_not_tried(proven: Path) -> None:
    wrong_values(proven, "KRK")
    assert settled(proven, "KRKN", status=1) == {"KNK": "certificate", "KRK": "proof", "KRKN": None}
    result = run(proven, "KRKN")
    assert result.exit_code == 1
    assert "KRK (none, dtm): REFUTED" in result.stdout
    assert "KRKN (none, dtm): not tried, a supporting table is not proven" in result.stdout
    assert result.stdout.splitlines()[-1] == (
        "3 tables: 0 proven, 1 proven by certificate, 1 refuted, 1 left out"
    )


def test_tables_that_need_a_damaged_one_are_not_tried(proven: Path) -> None:
    path = proven / "KRK.none.dtm.xqt"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    result = run(proven, "KRKN", "--json")
    assert result.exit_code == 3
    entries = {table["material"]: table for table in json.loads(result.stdout)["tables"]}
    assert [entry["ok"] for entry in entries.values()] == [True, False, False]
    assert "damaged" in entries["KRK"]["error"]
    assert "KRK.none.dtm.xqt" in result.stderr


def test_other_tables_are_proven_if_a_chosen_one_is_truncated(tables: Path) -> None:
    with (tables / "KRK.none.dtm.xqt").open("r+b") as file:
        file.truncate(100)
    result = run(tables)
    assert result.exit_code == 3
    assert result.stdout.splitlines()[-1] == "3 tables: 1 proven, 1 failed, 1 left out"
    alone = CliRunner().invoke(main, ["verify", "KNK", "KRK", "--tables", str(tables)])
    assert (alone.exit_code, alone.stdout) == (3, "")


def test_a_missing_table_is_reported_first(tables: Path) -> None:
    (tables / "KRK.none.dtm.xqt").unlink()
    result = run(tables, "KRKN")
    assert result.exit_code == 1
    assert "tbgen build KRK --rules none" in result.stderr
    assert not list(tables.glob("*.proof.json"))


def test_all_missing_tables_are_reported_in_one_line(tmp_path: Path) -> None:
    """A plan for several tables names all missing supporting tables in one error.

    The present KNKP is a supporting table of KNKPA; tables that only KNKP needs are named, too.
    """
    names = [name_of(f"{material}.none.dtm") for material in ("KRKN", "KNKPA", "KNKP")]
    for name in names:
        (tmp_path / name.filename).touch()
    with pytest.raises(MissingTableError) as caught:
        plan(find_in_directory(tmp_path), names[:2])
    assert caught.value.material == "KNK KPK KRK KNKA KPAK"


def test_a_changed_supporting_table_requires_new_proofs(proven: Path) -> None:
    """A table is proven again if its certificate names another digest of a supporting table.

    A digest also changes if the same values are stored in other bytes, as in another arrangement.
    """
    certificate = certificate_path(proven / "KRKN.none.dtm.xqt")
    krk = read_certificate(proven / "KRK.none.dtm.xqt")
    assert krk is not None
    certificate.write_text(certificate.read_text().replace(krk.digest, "0" * 32))
    assert statuses(proven)["KRKN"] == "proven but for KRK (changed)"
    assert settled(proven, "KRKN")["KRKN"] == "proof"
    assert statuses(proven)["KRKN"] == "proven"


def test_options_that_go_with_closure(tables: Path) -> None:
    for option in (["--jobs", "2"], ["--force"]):
        command = ["verify", "KRK", *option, "--tables", str(tables)]
        result = CliRunner().invoke(main, command)
        assert result.exit_code == 2
        assert "--closure" in result.stderr


def test_number_of_jobs(proven: Path) -> None:
    for jobs, status in (("auto", 0), ("1", 0), ("0", 2), ("many", 2)):
        command = ["verify", "KNK", "--closure", "--jobs", jobs, "--tables", str(proven)]
        result = CliRunner().invoke(main, command)
        assert result.exit_code == status, result.output
        assert (f"'{jobs}' is no number of processes; write auto" in result.stderr) == (status == 2)


@pytest.mark.parametrize("option", [[], ["--closure", "--jobs", "1"]])
@pytest.mark.parametrize("terminal", [False, True])
def test_compilation_is_announced(
    tables: Path, monkeypatch: pytest.MonkeyPatch, option: list[str], terminal: bool
) -> None:
    """`tbgen verify` announces the compilation of its kernels once, on a terminal or not."""
    from tbgen.compiling import jit
    from tbgen.verify import verify_file

    def compiling(*arguments: Any, **options: Any) -> FileProof:
        jit._begin_compiling()
        return verify_file(*arguments, **options)

    monkeypatch.setattr("tbgen.verify.verify_file", compiling)
    monkeypatch.setattr("tbgen.verify.files.verify_file", compiling)
    print_compiling.cache_clear()
    monkeypatch.setattr("click.testing._NamedTextIOWrapper.isatty", lambda stream: terminal)
    command = ["verify", "KNK", "KRK", *option, "--tables", str(tables)]
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 0, result.output
    assert result.stderr.count("compiling the kernels of proofs, once on this machine") == 1


# -- the plan ---------------------------------------------------------------------------------


def test_a_plan_lists_each_table_once_after_its_supporting_tables() -> None:
    jobs = plan(lambda name: Path(name.filename), map(name_of, ["KRNKR.wxf.dtm", "KRKN.wxf.dtm"]))
    keys = [job.key for job in jobs]
    wanted = {material.name for material in Material.parse("KRNKR").closure()}
    assert sorted(keys) == sorted(f"{material}.wxf.dtm" for material in wanted)
    for place, job in enumerate(jobs):
        assert set(job.needs) <= set(keys[:place])
    assert set(jobs[-1].needs) == {"KRNK.wxf.dtm", "KRKR.wxf.dtm", "KRKN.wxf.dtm"}


def test_a_certificate_is_checked_faster_than_a_proof(tables: Path) -> None:
    find, name = find_in_directory(tables), name_of("KRK.none.dtm")
    path = find(name)
    assert path is not None
    (proof,) = plan(find, [name])
    certificate_path(path).touch()
    (check,), (forced,) = plan(find, [name]), plan(find, [name], force=True)
    assert check.seconds < proof.seconds == forced.seconds


def test_a_plan_uses_the_metric_of_the_files() -> None:
    present = {"KRKN.none.dtc", "KRK.none.dtc", "KNK.none.dtm"}

    def find(name: TableName) -> Path | None:
        return Path(name.filename) if str(name) in present else None

    jobs = plan(find, [name_of("KRKN.none.dtc")])
    assert [job.key for job in jobs] == ["KNK.none.dtm", "KRK.none.dtc", "KRKN.none.dtc"]
    present.remove("KRK.none.dtc")
    with pytest.raises(MissingTableError):
        plan(find, [name_of("KRKN.none.dtc")])


def test_a_plan_states_the_memory_of_each_proof(tables: Path) -> None:
    """A proof needs 2.5 times the bytes of its table's planes, and those of its supporting tables.

    The rest of a process is the same for all proofs.
    """
    jobs = plan(find_in_directory(tables), [name_of("KRKN.none.dtm")])
    sizes = {}
    for job in jobs:
        with TableFile(tables / f"{job.key}.xqt") as file:
            sizes[job.key] = len(Side) * file.header.slots * file.code_space.width
    besides = {
        job.memory - sizes[job.key] * 5 // 2 - sum(sizes[other] for other in job.needs)
        for job in jobs
    }
    assert len(besides) == 1
    assert besides.pop() > 0


# -- processes --------------------------------------------------------------------------------


def start(tables: Path, *arguments: str) -> subprocess.Popen[str]:
    """Start `tbgen verify` on KRKN and its supporting tables, with two processes."""
    command = [sys.executable, "-m", "tbgen", "verify", "KRKN", "--closure", "--jobs", "2",
               "--tables", str(tables), *arguments]  # fmt: skip
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip


def whole(tables: Path) -> set[str]:
    """Return the materials that have a certificate; fail unless each certificate proves its table.

    Fails also if files besides tables and certificates are left.
    """
    names = {path.name for path in tables.iterdir()}
    assert all(name.startswith("K") for name in names), names
    found = {name.partition(".")[0] for name in names if name.endswith(".proof.json")}
    for material in found:
        certificate = read_certificate(tables / f"{material}.none.dtm.xqt")
        assert certificate is not None
        assert statuses(tables)[material].startswith("proven")
    return found


@pytest.mark.parametrize(
    "stop",
    [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.certification)],
)
def test_a_signal_leaves_complete_certificates(tables: Path, stop: signal.Signals) -> None:
    process = start(tables)
    while process.poll() is None and not list(tables.glob("K*.proof.json")):
        time.sleep(0.01)
    process.send_signal(stop)
    _, stderr = process.communicate(timeout=60)
    found = whole(tables)
    # Usually KRKN is not proven yet, but the test does not depend on it.
    if process.returncode:
        said = [line for line in stderr.splitlines() if not line.startswith("compiling ")]
        assert (process.returncode, said) == (130, ["error: interrupted"])
    assert found
    again = settled(tables, "KRKN")
    assert {material for material, by in again.items() if by == "certificate"} == found
    assert whole(tables) == set(CLOSURE)


@pytest.mark.certification
def test_two_processes_prove_the_same(tables: Path, proven_once: Path) -> None:
    process = start(tables, "--json")
    stdout, stderr = process.communicate(timeout=120)
    assert process.returncode == 0, stderr
    answer: dict[str, Any] = json.loads(stdout)
    assert [table["material"] for table in answer["tables"]] == CLOSURE
    assert {table["proof"]["status"] for table in answer["tables"]} == {"proven"}
    for material in CLOSURE:
        ours, theirs = (
            read_certificate(directory / f"{material}.none.dtm.xqt")
            for directory in (tables, proven_once)
        )
        assert ours is not None
        assert theirs is not None
        assert (ours.digest, ours.supporting) == (theirs.digest, theirs.supporting)


@pytest.mark.certification
def test_a_table_is_retried_after_a_killed_process(tables: Path) -> None:
    process = start(tables)
    killed = False
    while process.poll() is None and not killed:
        for entry in Path("/proc").iterdir():
            with_parent = entry / "stat"
            try:
                fields = with_parent.read_text().rpartition(")")[2].split()
                command = (entry / "cmdline").read_bytes()
            except (OSError, ValueError):
                continue
            if int(fields[1]) == process.pid and b"scheduling.processes" in command:
                os.kill(int(entry.name), signal.SIGKILL)
                killed = True
        time.sleep(0.02)
    _, stderr = process.communicate(timeout=300)
    assert killed
    assert process.returncode == 0, stderr
    assert "SIGKILL; trying again with more memory" in stderr
    assert whole(tables) == set(CLOSURE)
