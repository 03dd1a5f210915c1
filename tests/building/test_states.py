"""Checkpoints of tables: a build resumes from one that is valid and fits its inputs."""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tbgen.building import states
from tbgen.building.builder import Progress, jobs_of
from tbgen.building.collection import Collection
from tbgen.building.states import StateFile, state_path
from tbgen.building.work import work_for
from tbgen.cli.progress import SetProgress
from tbgen.indexing import InputError, Material
from tbgen.scheduling.forecast import Forecast
from tbgen.scheduling.queue import Start
from tbgen.scheduling.run import InProcess, run
from tbgen.tables import CodeSpace, Metric, Rules, TableFile
from tbgen.tables.build_records import read_build_record
from tbgen.tables.codes import LimitExceededError
from tbgen.tables.header import TableSpec
from tbgen.tables.names import TableName
from tbgen.tables.rule_sets import RuleSet
from tbgen.tables.writer import write_table
from tests.building.test_builder import digests
from tests.helpers.built import Builder, built

CHECK = RuleSet(Rules.CHECK)
KRKN = TableName(Material.parse("KRKN"), CHECK, Metric.DTM)
SPEC = TableSpec(KRKN, CodeSpace(2))
PARTS = [b"head", b"", b"x" * 100_000, b""]


@pytest.fixture
def supporting() -> Iterator[list[TableFile]]:
    with TableFile(built("KRKN") / "KRK.check.dtm.xqt") as krk:
        yield [krk]


def state(directory: Path, supporting: list[TableFile], spec: TableSpec = SPEC) -> StateFile:
    return StateFile(directory, spec, supporting, every=0.0)


def left(found: StateFile) -> list[bytes] | None:
    parts = found.load()
    assert found.is_usable() == (parts is not None)
    return None if parts is None else list(parts)


def test_round_trip(tmp_path: Path, supporting: list[TableFile]) -> None:
    assert left(state(tmp_path, supporting)) is None
    first = state(tmp_path, supporting)
    first.save([b"other"])
    first.save(iter(PARTS))
    assert [path.name for path in tmp_path.iterdir()] == [".KRKN.check.dtm.state"]
    again = state(tmp_path, supporting)
    assert left(again) == PARTS
    assert 0 <= again.spent[0] < 100
    again.save(PARTS)
    assert again.spent[0] <= json.loads(first.path.open("rb").readline())["spent"][0]


def test_a_state_of_another_build_is_ignored(
    tmp_path: Path, supporting: list[TableFile], monkeypatch: pytest.MonkeyPatch
) -> None:
    state(tmp_path, supporting).save(PARTS)
    with TableFile(built("KRKN") / "KNK.check.dtm.xqt") as knk:
        assert left(state(tmp_path, [*supporting, knk])) is None
        assert left(state(tmp_path, [knk])) is None
    assert left(state(tmp_path, supporting, TableSpec(KRKN, CodeSpace(1)))) is None
    assert left(state(tmp_path, supporting, TableSpec(KRKN, CodeSpace(2, 99)))) is None
    monkeypatch.setattr("tbgen.compiling.folder.source_digest", lambda: "another program")
    assert left(state(tmp_path, supporting)) is None
    monkeypatch.undo()
    assert left(state(tmp_path, supporting)) == PARTS
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert left(state(tmp_path, supporting)) is None


def test_damaged_states_are_ignored(tmp_path: Path, supporting: list[TableFile]) -> None:
    found = state(tmp_path, supporting)
    found.save(PARTS)
    whole = found.path.read_bytes()
    rng = np.random.default_rng(1)
    for at in [0, 1, len(whole) - 1, *rng.integers(len(whole), size=40).tolist()]:
        changed = bytearray(whole)
        changed[at] ^= 1 << int(rng.integers(8))
        found.path.write_bytes(changed)
        assert left(found) is None
        found.path.write_bytes(whole[:at])
        assert left(found) is None
    found.path.write_bytes(whole + b"\0")
    assert left(found) is None
    for identity in (b"", b"[1]", b"{}", b'{"spent": 1}', b'{"spent": [null, 1]}', b"[" * 9000):
        content = identity + b"\n"
        found.path.write_bytes(content + sha256(content).digest())
        assert left(found) is None
    found.path.unlink()
    found.path.mkdir()
    with pytest.raises(OSError, match="not a regular file"):
        found.load()


def test_a_failed_save_keeps_the_previous_state(
    tmp_path: Path, supporting: list[TableFile]
) -> None:
    def parts() -> Iterator[bytes]:
        yield b"new"
        raise OSError("no more")

    found = state(tmp_path, supporting)
    found.save(PARTS)
    with pytest.raises(OSError, match="no more"):
        found.save(parts())
    assert left(found) == PARTS
    assert len(list(tmp_path.iterdir())) == 1


def test_a_full_disk_skips_a_save(tmp_path: Path, supporting: list[TableFile]) -> None:
    def parts() -> Iterator[bytes]:
        yield b"new"
        raise OSError(errno.ENOSPC, "full")

    said: list[str] = []
    found = StateFile(tmp_path, SPEC, supporting, 0.0, said.append)
    found.save(PARTS)
    found.save(parts())
    assert left(found) == PARTS
    assert len(said) == 1
    assert "its state is not saved: full (--save-state 0 saves none)" in said[0]
    found.path.write_bytes(b"damaged")
    assert found.load() is None
    assert "is damaged, or of another version, and is not used" in said[1]


def test_a_solved_table_keeps_its_state_on_a_full_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A build whose table does not fit on the disk resumes from its last state."""
    monkeypatch.setattr(states, "SAVING_SHARE", np.inf)

    def full(path: Path, *arguments: Any, **options: Any) -> Any:
        if path.name == KRKN.filename:
            raise OSError(errno.ENOSPC, "full", str(path))
        return write_table(path, *arguments, **options)

    builder = Builder(tmp_path, CHECK, Progress(), state_seconds=0.0)
    with monkeypatch.context() as patch:
        patch.setattr("tbgen.building.builder.write_table", full)
        with pytest.raises(OSError, match="full"):
            builder.build([KRKN.material])
    assert state_path(tmp_path, KRKN).exists()
    builder.build([KRKN.material])
    assert digests(tmp_path).items() >= digests(built("KRKN")).items()
    assert not state_path(tmp_path, KRKN).exists()


def test_the_state_of_another_build_stays(tmp_path: Path) -> None:
    """A finished table leaves the states of another metric, and of an interrupted rebuild."""
    notes: list[str] = []
    progress = Progress()
    progress.note = notes.append  # type: ignore[method-assign]
    builder = Builder(tmp_path, CHECK, progress)
    to_conversion = replace(KRKN, metric=Metric.DTC)
    builder.build([KRKN.material], Metric.DTC)
    newer, other = (state_path(tmp_path, name) for name in (to_conversion, KRKN))
    for path in (newer, other):
        path.write_bytes(b"state")
    builder.build([KRKN.material])
    assert newer.exists()
    assert other.exists()
    assert notes == [f"{newer.name} (5 B) is newer: --force resumes a rebuild, or remove the file"]


def test_saving_takes_a_small_share_of_the_time(
    tmp_path: Path, supporting: list[TableFile], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(states.time, "monotonic", lambda: now[0])
    found = StateFile(tmp_path, SPEC, supporting, every=300.0)
    kept = 0

    def slow() -> Iterator[bytes]:
        now[0] += 20.0
        yield b""

    while now[0] < 36_000:
        now[0] += 1.0
        if found.is_due():
            found.save(slow())
            kept += 1
    assert 20 * kept <= 36_000 * 0.026
    assert kept > 36_000 / 900


class Killed(BaseException):
    """Exception in place of a kill signal: no `except Exception` of the build can handle it."""


class KillAfter(Progress):
    """Progress callback that records phases, and raises `Killed` at the `steps`-th phase."""

    def __init__(self, steps: int) -> None:
        self.steps = steps
        self.phases: list[str] = []

    def phase(self, name: str, order: int, plies: int, settled: int) -> None:
        self.phases.append(name)
        self.steps -= 1
        if not self.steps:
            raise Killed


@pytest.mark.parametrize("metric", [None, Metric.DTC])
def test_a_killed_build_resumes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, metric: Metric | None
) -> None:
    monkeypatch.setattr(states, "SAVING_SHARE", np.inf)
    expected, seed = built("KRKN", metric=metric), random.Random(1)
    ended, rounds, began = False, 0, []
    while not ended:
        watch = KillAfter(seed.randint(20, 60))
        builder = Builder(tmp_path, CHECK, watch, threads=1 + rounds % 2, state_seconds=0.0)
        try:
            builder.build([KRKN.material], metric)
            ended = True
        except Killed:
            rounds += 1
        began.append("resuming" in watch.phases)
    assert rounds >= 2
    assert any(began)
    assert digests(tmp_path) == digests(expected)
    assert not list(tmp_path.glob(".*"))
    record = read_build_record(tmp_path / f"KRKN.check.{metric or 'dtm'}.xqt")
    assert record["cpu_seconds"] > 0


def test_wrong_parts_with_a_correct_checksum_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(states, "SAVING_SHARE", np.inf)
    Builder(tmp_path, CHECK, Progress()).build([Material.parse("KRK"), Material.parse("KNK")])
    with pytest.raises(Killed):
        Builder(tmp_path, CHECK, KillAfter(20), state_seconds=0.0).build([KRKN.material])
    path = state_path(tmp_path, KRKN)
    identity, rest = path.read_bytes()[:-32].split(b"\n", 1)
    size = int.from_bytes(rest[:8], "little")
    zeroed = rest[: size + 40] + bytes(len(rest) - size - 40)
    for parts in (
        b"", b"\2" + bytes(7) + b"[]", rest[: size + 8], rest[:-50], rest + rest, zeroed,
        rest + bytes(8), bytes(7) + b"\x10" + rest,
    ):  # fmt: skip
        content = identity + b"\n" + parts
        path.write_bytes(content + sha256(content).digest())
        with pytest.raises(InputError, match=r"^\.KRKN\.check\.dtm\.state is no usable") as error:
            Builder(tmp_path, CHECK, Progress()).build([KRKN.material])
        assert error.value.hint == f"remove {path}, and build again"


def test_a_build_resumes_with_its_last_metric(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A resumed build continues in the metric of its checkpoint.

    The first build could not store distances to mate, so it had started again with distances
    to conversion. The resumed build does not try distance to mate again.
    """
    import tbgen.retrograde.solve as solve_module

    monkeypatch.setattr(states, "SAVING_SHARE", np.inf)
    solve, tried = solve_module.solve, []

    def too_long_to_mate(material: Material, *arguments: object, **options: object) -> object:
        tried.append((material.name, options["metric"]))
        if material == KRKN.material and options["metric"] == Metric.DTM:
            raise LimitExceededError("too long")
        return solve(material, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(solve_module, "solve", too_long_to_mate)
    Builder(tmp_path, CHECK, Progress()).build([Material.parse("KRK"), Material.parse("KNK")])
    with pytest.raises(Killed):
        Builder(tmp_path, CHECK, KillAfter(15), state_seconds=0.0).build([KRKN.material])
    assert state_path(tmp_path, TableName(KRKN.material, CHECK, Metric.DTC)).exists()
    del tried[:]
    Builder(tmp_path, CHECK, Progress()).build([KRKN.material])
    assert tried == [("KRKN", Metric.DTC)]
    assert digests(tmp_path)["KRKN.check.dtc.xqt"]


def test_wider_codes_begin_without_the_state_of_narrower_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table whose distances exceed its codes is solved again; no note calls its state damaged."""
    monkeypatch.setattr(states, "SAVING_SHARE", np.inf)
    spaces = CodeSpace(2, 5), CodeSpace(4)
    monkeypatch.setattr("tbgen.building.work.code_spaces", lambda material, rules: spaces)
    said: list[str] = []
    watch = Progress()
    monkeypatch.setattr(watch, "note", said.append)
    Builder(tmp_path, CHECK, watch, state_seconds=0.0).build([KRKN.material], Metric.DTM)
    with TableFile(tmp_path / KRKN.filename) as file:
        assert file.code_space == spaces[1]
    assert not any("damaged" in text for text in said)
    assert not list(tmp_path.glob(".*"))


def test_resuming_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A build in this process reports at the start that it resumes, one in a worker at the end."""
    monkeypatch.setattr(states, "SAVING_SHARE", np.inf)
    here, by_workers = tmp_path / "here", tmp_path / "by_workers"
    Builder(here, CHECK, Progress()).build([Material.parse("KRK"), Material.parse("KNK")])
    with pytest.raises(Killed):
        Builder(here, CHECK, KillAfter(15), state_seconds=0.0).build([KRKN.material])
    shutil.copytree(here, by_workers)
    with SetProgress(3, Forecast((), 1), by_workers=False) as progress:
        builder = Builder(here, CHECK, progress)
        jobs = jobs_of(work_for([KRKN.material], None, force=False))
        run(jobs, InProcess(builder.build_job), progress)
    said = capsys.readouterr().err
    assert "\n3/3 KRKN.check.dtm: resumes from its saved state: order 0, ply 3\n" in f"\n{said}"
    collection = Collection([KRKN.material], by_workers, CHECK)
    start = Start(collection.jobs(1)[-1], memory=1 << 30, jobs_at_once=1, remaining_path=0.0)
    with SetProgress(1, Forecast((), 1), by_workers=True) as watching:
        watching.started(start)
        watching.finished(start, collection.table_builder(1)(start))
    assert "resumed from a saved state: order 0, ply 3\n" in capsys.readouterr().err


def test_a_state_beside_a_finished_table_is_removed(tmp_path: Path) -> None:
    Builder(tmp_path, CHECK, Progress()).build([Material.parse("KRK")])
    leftover = tmp_path / ".KRK.check.dtm.state"
    leftover.write_bytes(b"of a build that was killed when it had finished")
    os.utime(leftover, ns=(0, 0))
    (tmp_path / "..KRK.check.dtm.state.99999999.tmp").write_bytes(b"half")
    Builder(tmp_path, CHECK, Progress()).build([Material.parse("KRK")])
    assert not list(tmp_path.glob(".*"))
