"""Builds that are interrupted, killed, short of memory, or not alone."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import tbgen.build.builder as builder_module
import tbgen.retrograde.storage as storage_module
from tbgen.build.builder import Builder, NotEnoughMemoryError
from tbgen.build.plan import MemoryNeed, memory_needed
from tbgen.cli import main
from tbgen.indexing import Material
from tbgen.tables import Metric, Rules, TableFile
from tbgen.tables.codes import CodeSpace
from tests.built import Silence

KRKN = Material.parse("KRKN")


def digests(directory: Path) -> dict[str, bytes]:
    """The digest of every table, by file name; nothing half-written may lie around."""
    assert not [path for path in directory.iterdir() if path.name.endswith((".tmp", ".lock"))]
    return {path.name: TableFile(path).header.digest for path in directory.glob("*.xqt")}


def command(directory: Path, *names: str) -> list[str]:
    return [sys.executable, "-m", "tbgen", "build", *names, "--rules", "none",
            "--tables", str(directory)]  # fmt: skip


def test_perpetual_chase_loses_unless_other_rules_are_asked_for(tmp_path: Path) -> None:
    main(["build", "KNK", "--tables", str(tmp_path)], standalone_mode=False)
    assert [path.name for path in tmp_path.glob("*.xqt")] == ["KNK.wxf.dtm.xqt"]


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    directory = tmp_path_factory.mktemp("reference")
    Builder(directory, Rules.NONE, Silence(), threads=1).build([Material.parse("KRKNA")])
    return digests(directory)


class _Interrupted(Silence):
    """Ctrl-C in the middle of one table."""

    def phase(self, name: str, order: int, plies: int, settled: int) -> None:
        if name == "write":
            self.writes = getattr(self, "writes", 0) + 1
            if self.writes == 3:
                raise KeyboardInterrupt


def test_ctrl_c_keeps_finished_tables_and_the_next_build_goes_on(
    tmp_path: Path, reference: dict[str, bytes]
) -> None:
    with pytest.raises(KeyboardInterrupt):
        Builder(tmp_path, Rules.NONE, _Interrupted()).build([Material.parse("KRKNA")])
    finished = digests(tmp_path)
    assert len(finished) == 2
    stamps = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*.xqt")}
    Builder(tmp_path, Rules.NONE, Silence()).build([Material.parse("KRKNA")])
    assert digests(tmp_path) == reference, "the same digests for one thread and two"
    assert all(path.stat().st_mtime_ns == stamp for path, stamp in stamps.items())


def test_a_killed_build_leaves_whole_tables(tmp_path: Path, reference: dict[str, bytes]) -> None:
    process = subprocess.Popen(command(tmp_path, "KRKNA"), stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while not list(tmp_path.glob("KRKA.*.xqt")) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    for path in tmp_path.glob("*.xqt"):
        TableFile(path).check()
    subprocess.run(command(tmp_path, "KRKNA"), check=True, stderr=subprocess.DEVNULL)
    found = {path.name: TableFile(path).header.digest for path in tmp_path.glob("*.xqt")}
    assert found == reference


def test_two_builds_share_a_directory(tmp_path: Path, reference: dict[str, bytes]) -> None:
    builds = [
        subprocess.Popen(command(tmp_path, "KRKNA"), stderr=subprocess.DEVNULL) for _ in range(2)
    ]
    assert [build.wait() for build in builds] == [0, 0]
    assert digests(tmp_path) == reference


def test_a_table_that_does_not_fit_says_how_much_it_needs(tmp_path: Path) -> None:
    with pytest.raises(NotEnoughMemoryError, match=r"needs at least \d+ MiB") as caught:
        Builder(tmp_path, Rules.NONE, Silence(), memory=1 << 20).build([KRKN])
    assert caught.value.needed > caught.value.available == 1 << 20
    assert not digests(tmp_path)


@pytest.mark.parametrize("rules", [Rules.NONE, Rules.WXF])
def test_arrays_on_disk_do_not_show_in_the_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rules: Rules
) -> None:
    """Every array on disk, and all pages released after every range."""
    memory, disk = tmp_path / "memory", tmp_path / "disk"
    Builder(memory, rules, Silence()).build([KRKN])
    monkeypatch.setattr(storage_module, "_ON_DISK_FROM", 1)
    need = MemoryNeed(in_memory=1 << 50, least=0, working=1 << 40)
    monkeypatch.setattr(builder_module, "memory_needed", lambda *arguments: need)
    Builder(disk, rules, Silence()).build([KRKN])
    assert digests(disk) == digests(memory)


@pytest.mark.certification
def test_a_build_keeps_within_its_memory(tmp_path: Path) -> None:
    """KRPKR takes 190 MiB in memory."""
    Builder(tmp_path, Rules.NONE, Silence()).build([Material.parse("KRPK"), Material.parse("KRKR"),
                                                    Material.parse("KRKP")])  # fmt: skip
    need = memory_needed(Material.parse("KRPKR"), CodeSpace(1), Rules.NONE)
    limit = (need.least + need.in_memory) // 2
    process = subprocess.Popen([*command(tmp_path, "KRPKR"), "--memory", str(limit)])
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0
    assert usage.ru_maxrss * 1024 <= limit < need.in_memory


def test_auto_takes_dtc_where_a_byte_does_not_hold_dtm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = CodeSpace(1, 8), CodeSpace(2, 16383)
    monkeypatch.setattr(builder_module, "code_spaces", lambda material, rules: short)
    Builder(tmp_path, Rules.NONE, Silence()).build([KRKN])
    # A mate of KRKN takes up to 26 plies; eight half-distances hold 14.
    assert (tmp_path / "KNK.none.dtm.xqt").exists()
    assert (tmp_path / "KRKN.none.dtc.xqt").exists()
    assert not (tmp_path / "KRKN.none.dtm.xqt").exists()


def test_an_explicit_metric_widens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    short = CodeSpace(1, 8), CodeSpace(2, 16383)
    monkeypatch.setattr(builder_module, "code_spaces", lambda material, rules: short)
    Builder(tmp_path, Rules.NONE, Silence()).build([KRKN], Metric.DTM)
    table = TableFile(tmp_path / "KRKN.none.dtm.xqt")
    assert table.code_space == CodeSpace(2, 16383)
    assert table.statistics.max_distance == 26
