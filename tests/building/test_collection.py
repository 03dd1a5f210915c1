"""Builds of many tables at once: scheduling, killed processes and signals."""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from tbgen.building.builder import COMPILER_BYTES, TWO_COMPILERS_BYTES, Progress
from tbgen.building.collection import IDLE_WORKER_BYTES, Collection, jobs_worth, process_limits
from tbgen.building.sets import materials_of
from tbgen.cli import main
from tbgen.indexing import InputError, Material
from tbgen.scheduling.queue import Job, Start
from tbgen.scheduling.run import InProcess, LostError, Observer, PostponedError, run
from tbgen.tables import Metric, Rules
from tbgen.tables.errors import MissingTableError
from tbgen.tables.files import locked
from tbgen.tables.rule_sets import RuleSet
from tests.building.test_builder import digests
from tests.helpers.built import Builder

KRKN = Material.parse("KRKN")
NO_RULES = RuleSet(Rules.NONE)


def test_each_process_gets_the_memory_to_start() -> None:
    plenty = process_limits(2, 4 << 30)
    assert plenty.jobs == 2
    assert plenty.floor == TWO_COMPILERS_BYTES
    assert plenty.memory == (4 << 30) - IDLE_WORKER_BYTES
    few = process_limits(8, 3 * COMPILER_BYTES)
    assert few.jobs == 3
    assert few.floor == COMPILER_BYTES
    assert process_limits(4, 1 << 20).jobs == 1


def test_a_collection_lists_the_tables_to_build(tmp_path: Path) -> None:
    Builder(tmp_path, NO_RULES, Progress()).build([Material.parse("KNK")])
    jobs = Collection([KRKN], tmp_path, NO_RULES).jobs(threads=2, floor=1 << 40)
    assert [(job.key, job.needs, job.memory) for job in jobs] == [
        ("KRK", (), 1 << 40), ("KRKN", ("KNK", "KRK"), 1 << 40)
    ]  # fmt: skip
    assert all(job.seconds > 0 for job in jobs)
    anew = Collection([Material.parse("KNK")], tmp_path, NO_RULES, force=True)
    assert [job.key for job in anew.jobs(2)] == ["KNK"]
    assert not Collection([Material.parse("KNK")], tmp_path, NO_RULES).jobs(2)


def test_auto_starts_processes_only_for_long_work() -> None:
    assert jobs_worth([Job("a", seconds=1.0)], 8) == 1
    assert jobs_worth([Job("a", seconds=1e3), Job("b", seconds=1e3)], 8) == 8


def test_jobs_at_once_need_more_disk(tmp_path: Path) -> None:
    collection = Collection([KRKN], tmp_path, NO_RULES)
    one, two, many = (collection.require_disk(0, 2, jobs)[0] for jobs in (1, 2, 9))
    scratch = sorted(table.scratch_bytes() for table in collection.planned(2))
    assert two - one == scratch[-2]
    assert many - one == sum(scratch[:-1])


def test_only_unfinished_tables_are_sent_to_workers(tmp_path: Path) -> None:
    Builder(tmp_path, NO_RULES, Progress()).build([Material.parse("KRK")])
    collection = Collection([KRKN], tmp_path, NO_RULES)
    function = collection.table_builder(2)
    assert function.directory.is_absolute()
    sent = []

    def elsewhere(start: Start) -> object:
        sent.append(start.job.key)
        return function(start)

    jobs = collection.jobs(2, floor=TWO_COMPILERS_BYTES)
    outcome = collection.build(jobs, InProcess(elsewhere), Observer(), keep_going=False)
    assert sent == ["KNK", "KRKN"]
    assert {key: built.size is None for key, built in outcome.results.items()} == {
        "KRK": True, "KNK": False, "KRKN": False
    }  # fmt: skip
    assert len(digests(tmp_path)) == 3


def test_tables_above_a_damaged_finished_one_are_left_out(tmp_path: Path) -> None:
    Builder(tmp_path, NO_RULES, Progress()).build([Material.parse("KRK")])
    (tmp_path / "KRK.none.dtm.xqt").write_bytes(b"damaged")
    collection = Collection([Material.parse("KRAK"), Material.parse("KRAKN")], tmp_path, NO_RULES)
    executor = InProcess(collection.table_builder(2))
    jobs = collection.jobs(2, floor=TWO_COMPILERS_BYTES)
    outcome = collection.build(jobs, executor, Observer(), keep_going=True)
    assert list(outcome.failures) == ["KRK"]
    assert list(outcome.results) == ["KNK", "KNKA"]
    assert outcome.left_out == ["KRAK", "KRKN", "KRAKN"]


@pytest.mark.parametrize("keep_going", [False, True])
def test_a_damaged_finished_table_stops_a_build_unless_it_is_to_keep_going(
    tmp_path: Path, keep_going: bool
) -> None:
    Builder(tmp_path, NO_RULES, Progress()).build([Material.parse("KRK"), Material.parse("KCK")])
    (tmp_path / "KCK.none.dtm.xqt").write_bytes(b"damaged")
    collection = Collection([Material.parse("KCK"), KRKN], tmp_path, NO_RULES)
    jobs = collection.jobs(2, floor=TWO_COMPILERS_BYTES)
    executor = InProcess(collection.table_builder(2))
    outcome = collection.build(jobs, executor, Observer(), keep_going=keep_going)
    assert list(outcome.failures) == ["KCK"]
    assert list(outcome.results) == (["KRK", "KNK", "KRKN"] if keep_going else [])
    assert sorted(outcome.left_out) == ([] if keep_going else ["KNK", "KRK", "KRKN"])


def test_workers_with_another_directory_are_detected(tmp_path: Path) -> None:
    here = Collection([Material.parse("KRK")], tmp_path / "here", NO_RULES)
    theirs = InProcess(replace(here.table_builder(1), directory=tmp_path / "theirs"))
    with pytest.raises(InputError, match=r"1 built table missing in .*here"):
        here.build(here.jobs(1, TWO_COMPILERS_BYTES), theirs, Observer(), keep_going=False)


def test_a_failure_is_reported_rather_than_a_missing_directory(tmp_path: Path) -> None:
    """A directory that is renamed during a build lacks its tables, but the failed job tells why."""
    here, away = tmp_path / "here", tmp_path / "away"
    collection = Collection([KRKN], here, NO_RULES)
    builder = collection.table_builder(1)

    def renamed(start: Start) -> object:
        if start.job.key == "KRKN":
            here.rename(away)
            raise OSError("no such directory any more")
        return builder(start)

    jobs = collection.jobs(1, TWO_COMPILERS_BYTES)
    outcome = collection.build(jobs, InProcess(renamed), Observer(), keep_going=False)
    assert list(outcome.failures) == ["KRKN"]
    assert sorted(outcome.results) == ["KNK", "KRK"]


def test_a_table_locked_by_another_build_is_deferred(tmp_path: Path) -> None:
    """A build defers a table that is locked, and builds other tables first.

    The lock of KNK is released when KRK is finished. KRKN needs both.
    """
    held = locked(tmp_path / ".KNK.none.dtm.lock")
    held.__enter__()
    order = []
    said = set()

    class Watch(Observer):
        def retried(self, start: Start, error: PostponedError | LostError) -> None:
            said.add(f"{start.job.key}: {error}")

        def finished(self, start: Start, result: object) -> None:
            order.append(start.job.key)
            if start.job.key == "KRK":
                held.__exit__(None, None, None)

    collection = Collection([KRKN], tmp_path, NO_RULES)
    builder = Builder(tmp_path, NO_RULES, Progress())
    executor = InProcess(builder.build_job)
    outcome = collection.build(collection.all_jobs, executor, Watch(), keep_going=False)
    assert order == ["KRK", "KNK", "KRKN"]
    assert said == {f"KNK: locked by process {os.getpid()} on {socket.gethostname()}"}
    assert not outcome.left_out


def test_keep_going_builds_all_that_do_not_need_a_failed_table(tmp_path: Path) -> None:
    """`--keep-going` builds all tables that do not need a failed one, and lists the others.

    KNK fails because its lock file is a broken link, which the build refuses to write.
    """
    (tmp_path / ".KNK.none.dtm.lock").symlink_to(tmp_path / "precious")
    command = ["build", "KRKN", "KCK", "--rules", "none", "--tables", str(tmp_path)]
    stopped = CliRunner().invoke(main, command)
    assert stopped.exit_code == 2
    assert "a link, which is not written through" in stopped.stderr
    going = CliRunner().invoke(main, [*command, "--keep-going", "--json"])
    answer = json.loads(going.stdout)
    assert going.exit_code == 2
    assert [table["table"].split(".")[0] for table in answer["tables"]] == ["KCK", "KRK"]
    assert [failed["input"] for failed in answer["failed"]] == ["KNK"]
    assert answer["left_out"] == ["KRKN"]
    assert "4 tables: 1 built, 1 present, 1 failed, 1 left out" in going.stderr


def test_keep_going_counts_finished_tables_that_need_a_damaged_one(tmp_path: Path) -> None:
    Builder(tmp_path, NO_RULES, Progress()).build([KRKN])
    (tmp_path / "KRK.none.dtm.xqt").write_bytes(b"")
    command = ["build", "KRKN", "KRKA", "--keep-going", "--rules", "none", "--json"]
    result = CliRunner().invoke(main, [*command, "--tables", str(tmp_path)])
    answer = json.loads(result.stdout)
    assert result.exit_code == 3
    assert [table["table"] for table in answer["tables"]] == ["KNK.none.dtm", "KRKN.none.dtm"]
    assert [failed["input"] for failed in answer["failed"]] == ["KRK"]
    assert answer["left_out"] == ["KRKA"]
    assert "4 tables: 2 present, 1 failed, 1 left out" in result.stderr


def test_a_table_short_of_memory_is_retried_with_more(tmp_path: Path) -> None:
    function = Collection([KRKN], tmp_path, NO_RULES).table_builder(1)
    tried = []

    def elsewhere(start: Start) -> object:
        tried.append(start.memory)
        return function(start)

    executor = InProcess(elsewhere, memory=1 << 33)
    (task,) = Collection([Material.parse("KNK")], tmp_path, NO_RULES).work
    outcome = run([Job("KNK", memory=1 << 20, payload=task)], executor, Observer())
    assert tried == [1 << 20, 1 << 21, 1 << 33]
    assert not outcome.failures


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--jobs", "0"), "is no number of processes"),
        (("--jobs", "many"), "is no number of processes"),
        (("--jobs", "2", "--dask", "local:2"), "use only one of"),
        (("--memory", "1GiB", "--dask", "10.0.0.1:8786"), "dask workers declare theirs"),
    ],
)
def test_invalid_options(options: tuple[str, ...], said: str) -> None:
    result = CliRunner().invoke(main, ["build", "KRK", *options])
    assert result.exit_code == 2
    assert said in result.stderr


def start_build(directory: Path, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tbgen", "build", "--men", "4", "--tables", str(directory)]
    return subprocess.Popen([*command, *options], stderr=subprocess.PIPE, text=True)


def children(pid: int) -> list[int]:
    """List the ids of the child processes of a process, except of those that have ended."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == pid and fields[0] != "Z":
                found.append(int(entry.name))
    return found


def tables_in(directory: Path) -> int:
    return len(list(directory.glob("*.xqt")))


def wait_for_tables(directory: Path, number: int, build: subprocess.Popen[str]) -> None:
    while tables_in(directory) < number and build.poll() is None:
        time.sleep(0.02)


@pytest.fixture(scope="module")
def four_men(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, bytes]]:
    directory = tmp_path_factory.mktemp("four-men")
    Builder(directory, RuleSet(Rules.WXF), Progress()).build(materials_of((), 4))
    return digests(directory)


@pytest.mark.certification
@pytest.mark.parametrize("seed", range(3))
def test_killed_processes_are_replaced(
    tmp_path: Path, four_men: dict[str, bytes], seed: int
) -> None:
    build, chance = start_build(tmp_path, "--jobs", "2"), random.Random(seed)
    for number in sorted(chance.sample(range(1, 38), 4)):
        wait_for_tables(tmp_path, number, build)
        for pid in chance.sample(children(build.pid), 1):
            os.kill(pid, signal.SIGKILL)
    _, said = build.communicate()
    assert build.returncode == 0, said
    assert digests(tmp_path) == four_men


@pytest.mark.certification
@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_stop_signals_end_all_processes(
    tmp_path: Path, four_men: dict[str, bytes], stop: signal.Signals
) -> None:
    """After a stop signal all processes of a build end, and a new build completes the set.

    SIGKILL ends only the parent; its workers then end by themselves.
    """
    build = start_build(tmp_path, "--jobs", "2")
    wait_for_tables(tmp_path, 10, build)
    processes = children(build.pid)
    assert processes
    build.send_signal(stop)
    _, said = build.communicate()
    while any(Path(f"/proc/{pid}").exists() for pid in processes):
        time.sleep(0.05)
    if stop != signal.SIGKILL:
        errors = [line for line in said.splitlines() if line.startswith("error: ")]
        assert (build.returncode, errors) == (130, ["error: interrupted"])
    assert "Traceback" not in said
    digests(tmp_path)
    again = start_build(tmp_path, "--jobs", "2")
    _, said = again.communicate()
    assert again.returncode == 0, said
    assert digests(tmp_path) == four_men


@pytest.mark.certification
def test_builds_of_many_processes_share_a_directory(
    tmp_path: Path, four_men: dict[str, bytes]
) -> None:
    builds = [start_build(tmp_path, "--jobs", "2") for _ in range(2)]
    said = [build.communicate()[1] for build in builds]
    assert [build.returncode for build in builds] == [0, 0], said
    assert digests(tmp_path) == four_men
    made = sum(line.count(" in ") for text in said for line in text.splitlines() if "/40 " in line)
    assert made == 40, "each table is built by one of them"


@pytest.mark.certification
def test_killed_dask_workers_are_replaced(tmp_path: Path, four_men: dict[str, bytes]) -> None:
    pytest.importorskip("distributed")
    from tbgen.scheduling.cluster import Cluster

    collection = Collection(materials_of((), 4), tmp_path, RuleSet(Rules.WXF))
    function = collection.table_builder(1)
    killed: list[int] = []

    with Cluster(function, "local:2", memory=2 << 30, floor=TWO_COMPILERS_BYTES) as cluster:

        class Killer(Observer):
            def finished(self, start: Start, result: object) -> None:
                if len(killed) < 2 and tables_in(tmp_path) >= (8, 25)[len(killed)]:
                    killed.append(next(iter(cluster._client.run(os.getpid).values())))
                    os.kill(killed[-1], signal.SIGKILL)

        outcome = collection.build(collection.jobs(1), cluster, Killer(), keep_going=False)
    assert not outcome.failures
    assert not outcome.left_out
    assert len(killed) == 2
    assert digests(tmp_path) == four_men


@pytest.mark.certification
def test_dask_reports_the_error_of_a_table(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    from tbgen.scheduling.cluster import Cluster

    collection = Collection([KRKN], tmp_path, NO_RULES, Metric.DTM)
    function = collection.table_builder(1)
    (job,) = (job for job in collection.jobs(1) if job.key == "KRKN")
    with Cluster(function, "local:1", memory=1 << 30, floor=TWO_COMPILERS_BYTES) as cluster:
        outcome = run([job], cluster, Observer())
    error = outcome.failures["KRKN"]
    assert isinstance(error, MissingTableError)
    assert error.material in ("KNK", "KRK")


def test_a_local_cluster_that_does_not_start_is_an_error_of_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A dask error at the start of a local cluster becomes an `InputError` of one line."""
    distributed = pytest.importorskip("distributed")
    from tbgen.scheduling.cluster import Cluster

    def fail(**options: object) -> None:
        raise RuntimeError("Nanny failed to start.")

    monkeypatch.setattr(distributed, "LocalCluster", fail)
    with pytest.raises(InputError, match=r"the processes of local:2 do not start: Nanny failed"):
        Cluster(print, "local:2", memory=1 << 30, floor=1)


@pytest.mark.parametrize("address", ["", "nonsense", "10.0.0.1", "tcp://", "local:0", "local:x"])
def test_an_invalid_cluster_address_is_refused_at_once(address: str) -> None:
    """An invalid address of a dask cluster raises `InputError` within seconds.

    Without this check dask would look up the name, and print a traceback when interrupted.
    """
    pytest.importorskip("distributed")
    from tbgen.scheduling.cluster import Cluster

    begun = time.monotonic()
    with pytest.raises(InputError, match=r"is no (address of a dask scheduler|cluster)"):
        Cluster(print, address, memory=1 << 30, floor=1)
    assert time.monotonic() - begun < 10
