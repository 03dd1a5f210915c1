"""Builds that are interrupted, killed, short of memory, or concurrent."""

import fcntl
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tbgen.building.builder as builder_module
import tbgen.building.work as work_module
import tbgen.rows.storage as storage_module
from tbgen.building.builder import NotEnoughMemoryError, Progress
from tbgen.cli import main
from tbgen.indexing import Material
from tbgen.retrograde.memory import MemoryNeed, memory_needed
from tbgen.tables import Metric, Rules, TableFile
from tbgen.tables.codes import CodeSpace
from tbgen.tables.errors import MissingTableError, TablebaseError
from tbgen.tables.names import TableName
from tbgen.tables.palettes import Palette
from tbgen.tables.rule_sets import RuleSet
from tests.helpers.built import Builder, built
from tests.helpers.random_tables import with_statistics

KRKN = Material.parse("KRKN")
NO_RULES = RuleSet(Rules.NONE)


def digests(directory: Path) -> dict[str, bytes]:
    """Return the digest of every table by file name, without win-draw-loss files.

    Fails if temporary or lock files are left.
    """
    assert not [path for path in directory.iterdir() if path.name.endswith((".tmp", ".lock"))]
    tables = [path for path in directory.glob("*.xqt") if ".wdl." not in path.name]
    return {path.name: TableFile(path).header.digest for path in tables}


def command(directory: Path, *names: str) -> list[str]:
    return [sys.executable, "-m", "tbgen", "build", *names, "--rules", "none",
            "--tables", str(directory)]  # fmt: skip


def test_the_default_rules_are_wxf(tmp_path: Path) -> None:
    main(["build", "KNK", "--tables", str(tmp_path)], standalone_mode=False)
    assert [path.name for path in tmp_path.glob("*.xqt")] == ["KNK.wxf.dtm.xqt"]


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    directory = tmp_path_factory.mktemp("reference")
    Builder(directory, NO_RULES, Progress(), threads=1).build([Material.parse("KRKNA")])
    return digests(directory)


class _Interrupted(Progress):
    """Progress callback that raises `KeyboardInterrupt` when the third table is to be written."""

    def phase(self, name: str, order: int, plies: int, settled: int) -> None:
        if name == "write":
            self.writes = getattr(self, "writes", 0) + 1
            if self.writes == 3:
                raise KeyboardInterrupt


def test_ctrl_c_keeps_finished_tables_and_the_next_build_resumes(
    tmp_path: Path, reference: dict[str, bytes]
) -> None:
    with pytest.raises(KeyboardInterrupt):
        Builder(tmp_path, NO_RULES, _Interrupted()).build([Material.parse("KRKNA")])
    finished = digests(tmp_path)
    assert len(finished) == 2
    stamps = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*.xqt")}
    Builder(tmp_path, NO_RULES, Progress()).build([Material.parse("KRKNA")])
    assert digests(tmp_path) == reference, "the same digests for one thread and two"
    assert all(path.stat().st_mtime_ns == stamp for path, stamp in stamps.items())


def test_files_of_killed_builds_are_removed(tmp_path: Path) -> None:
    """A build removes temporary files that killed builds of its table have left, in either metric.

    They are removed even if the table is finished. Files of other tables and files with other names
    stay. A locked file also stays, since another process is writing it.
    """
    Builder(tmp_path, NO_RULES, Progress()).build([Material.parse("KRK")])
    finished = digests(tmp_path)
    left = [".KRK.none.dtm.xqt.1.tmp", ".KRK.none.dtc.xqt.4194304.tmp",
            ".KRK.none.dtm.build.json.77.tmp", ".KRK.none.dtm.lock"]  # fmt: skip
    others = [".KRK.none-o1.dtm.xqt.1.tmp", ".KRKN.none.dtm.xqt.1.tmp", ".KRK.none.dtm.xqt.tmp"]
    for name in (*left, *others):
        (tmp_path / name).write_text("half")
    with (tmp_path / ".KRK.none.dtm.xqt.2.tmp").open("w") as written:
        fcntl.flock(written, fcntl.LOCK_EX)
        Builder(tmp_path, NO_RULES, Progress()).build([Material.parse("KRK")])
        assert {path.name for path in tmp_path.iterdir()} == {
            *finished, *others, Path(written.name).name, "KRK.none.dtm.build.json"
        }  # fmt: skip


def test_a_build_removes_what_an_interrupted_download_of_its_table_has_left(tmp_path: Path) -> None:
    """It is removed once the table is built, and also if the table has been built before."""
    part, other = tmp_path / ".KRK.none.dtm.xqt.part", tmp_path / ".KPK.none.dtm.xqt.part"
    other.write_text("half")
    for _ in ("built", "present"):
        part.write_text("half")
        Builder(tmp_path, NO_RULES, Progress()).build([Material.parse("KRK")])
        assert not part.exists()
    assert other.exists()


@pytest.mark.parametrize(
    "name",
    [
        ".KRK.none.dtm.lock",
        f".KRK.none.dtm.xqt.{os.getpid()}.tmp",
        "KRK.none.dtm.build.json",
        "KRK.none.dtm.xqt",
    ],
    ids=["lock", "temporary", "record", "table"],
)
def test_nothing_is_written_through_a_link(tmp_path: Path, name: str) -> None:
    precious, tables = tmp_path / "precious", tmp_path / "tables"
    precious.write_text("precious")
    tables.mkdir()
    (tables / name).symlink_to(tmp_path / ("nowhere" if name.endswith(".xqt") else "precious"))
    if name.endswith(".lock"):
        with pytest.raises(OSError, match="a link, which is not written through"):
            Builder(tables, NO_RULES, Progress()).build([Material.parse("KRK")])
    else:
        Builder(tables, NO_RULES, Progress()).build([Material.parse("KRK")])
        made = {"KRK.none.dtm.xqt", "KRK.none.dtm.build.json"}
        assert {path.name for path in tables.iterdir() if not path.is_symlink()} == made
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["precious"]
    assert precious.read_text() == "precious"


def test_two_builds_share_a_directory(tmp_path: Path, reference: dict[str, bytes]) -> None:
    builds = [
        subprocess.Popen(command(tmp_path, "KRKNA"), stderr=subprocess.DEVNULL) for _ in range(2)
    ]
    assert [build.wait() for build in builds] == [0, 0]
    assert digests(tmp_path) == reference


def test_a_table_that_does_not_fit_reports_its_needs(tmp_path: Path) -> None:
    with pytest.raises(NotEnoughMemoryError, match=r"needs at least \d+ MiB") as caught:
        Builder(tmp_path, NO_RULES, Progress(), memory=1 << 20).build([KRKN])
    assert caught.value.needed > caught.value.available == 1 << 20
    assert not digests(tmp_path)


def test_a_limit_of_addresses_counts_mapped_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = builder_module.usable_memory()._replace(addresses=1 << 20)
    monkeypatch.setattr(builder_module, "usable_memory", lambda *arguments: few)
    with pytest.raises(NotEnoughMemoryError, match=r"counting mapped files.*ulimit -v"):
        Builder(tmp_path, NO_RULES, Progress()).build([KRKN])


@pytest.mark.parametrize("rules", [Rules.NONE, Rules.WXF])
def test_arrays_on_disk_give_equal_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rules: Rules
) -> None:
    """A build with all arrays on disk gives the tables of a build in memory.

    Pages are released after every range of leads.
    """
    in_memory = digests(built("KRKN", rules=rules))
    monkeypatch.setattr(storage_module, "_ON_DISK_FROM", 1)
    need = MemoryNeed(in_memory=1 << 50, least=0, working=1 << 40)
    monkeypatch.setattr(builder_module, "memory_needed", lambda *arguments: need)
    Builder(tmp_path, RuleSet(rules), Progress()).build([KRKN])
    assert digests(tmp_path) == in_memory


@pytest.mark.certification
def test_a_build_stays_within_its_memory(tmp_path: Path) -> None:
    """The peak memory of a build with `--memory` is at most the given limit.

    The limit is half way between the least memory for KRNKR and all that the build could use.
    """
    Builder(tmp_path, NO_RULES, Progress()).build([Material.parse("KRNK"), Material.parse("KRKR"),
                                                    Material.parse("KRKN")])  # fmt: skip
    need = memory_needed(Material.parse("KRNKR"), CodeSpace(1), Rules.NONE)
    limit = (need.least + need.in_memory) // 2
    process = subprocess.Popen([*command(tmp_path, "KRNKR"), "--memory", str(limit)])
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0
    assert usage.ru_maxrss * 1024 <= limit < need.in_memory


def test_auto_chooses_dtc_if_a_byte_does_not_hold_dtm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = CodeSpace(1, 8), CodeSpace(2, 16383)
    monkeypatch.setattr(work_module, "code_spaces", lambda material, rules: short)
    Builder(tmp_path, NO_RULES, Progress()).build([KRKN])
    # A mate of KRKN takes up to 26 plies; eight half-distances hold 14.
    assert (tmp_path / "KNK.none.dtm.xqt").exists()
    assert (tmp_path / "KRKN.none.dtc.xqt").exists()
    assert not (tmp_path / "KRKN.none.dtm.xqt").exists()


def test_an_explicit_metric_widens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    short = CodeSpace(1, 8), CodeSpace(2, 16383)
    monkeypatch.setattr(work_module, "code_spaces", lambda material, rules: short)
    Builder(tmp_path, NO_RULES, Progress()).build([KRKN], Metric.DTM)
    table = TableFile(tmp_path / "KRKN.none.dtm.xqt")
    assert table.code_space == CodeSpace(2, 16383)
    assert table.statistics.max_distance == 26


def test_planes_of_two_bytes_give_equal_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planes, arrays of one code per slot, give equal table files with one byte or two per code.

    In memory a plane has palette indices, numbers of the codes that occur. Their type is patched to
    uint16.
    """
    narrow, wide = built("KRKN", rules=Rules.WXF), tmp_path
    phases: list[str] = []
    watch = Progress()
    monkeypatch.setattr(watch, "phase", lambda name, *_: phases.append(name))
    monkeypatch.setattr(Palette, "dtype", np.dtype(np.uint16))
    Builder(wide, RuleSet(Rules.WXF), watch).build([KRKN])
    assert phases.count("compile") > len(list(wide.glob("*.xqt"))), "no kernels of their own"
    for path in narrow.glob("*.dtm.xqt"):
        assert (wide / path.name).read_bytes() == path.read_bytes()


def test_statistics_that_omit_a_value_are_refused(tmp_path: Path) -> None:
    Builder(tmp_path, NO_RULES, Progress()).build([Material.parse("KNK"), Material.parse("KRK")])
    path = tmp_path / "KNK.none.dtm.xqt"
    with TableFile(path) as file:
        told = json.loads(file.metadata())
    left_out, kept = [line for line in told["histogram"] if line["outcome"] == "loss"][:2]
    told["histogram"].remove(left_out)
    kept["positions"] += left_out["positions"]
    path.write_bytes(with_statistics(path.read_bytes(), json.dumps(told).encode()))
    with pytest.raises(TablebaseError, match="KNK has a value that its statistics do not count"):
        Builder(tmp_path, NO_RULES, Progress()).build([KRKN])
    assert not list(tmp_path.glob("KRKN*"))


class _Tables(Progress):
    """Progress that records the tables announced, found finished, and written."""

    def __init__(self) -> None:
        self.announced: list[str] = []
        self.found: list[str] = []
        self.made: list[str] = []

    def table(self, name: TableName, finished: bool) -> None:
        self.announced.append(str(name))
        if finished:
            self.found.append(str(name))

    def written(self, name: TableName, size: int, seconds: float) -> None:
        begun = self.announced[-1].split(".")[0]
        assert name.material.name == begun, "no table is built in the middle of another"
        self.made.append(str(name))


def test_a_dtm_table_builds_its_dtm_supporting_tables(tmp_path: Path) -> None:
    """A build in distance to mate builds its supporting tables in that metric.

    A present table of KNK in distance to conversion does not replace the one needed.
    """
    Builder(tmp_path, NO_RULES, Progress()).build([Material.parse("KNK")], Metric.DTC)
    watched = _Tables()
    Builder(tmp_path, NO_RULES, watched).build([KRKN], Metric.DTM)
    assert watched.announced == ["KNK.none.dtm", "KRK.none.dtm", "KRKN.none.dtm"]
    assert watched.made == watched.announced


def test_a_finished_table_of_any_metric_is_kept(tmp_path: Path) -> None:
    Builder(tmp_path, NO_RULES, Progress()).build([Material.parse("KNK")], Metric.DTC)
    watched = _Tables()
    Builder(tmp_path, NO_RULES, watched).build([KRKN])
    assert watched.found == ["KNK.none.dtc"]
    assert (tmp_path / "KRKN.none.dtc.xqt").exists(), "what it needs is not all DTM"
    assert not (tmp_path / "KRKN.none.dtm.xqt").exists()


def test_finished_tables_need_no_write_permission(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path) -> None:
        raise PermissionError(path)

    Builder(tmp_path, NO_RULES, Progress()).build([Material.parse("KRK")])
    monkeypatch.setattr("tbgen.building.builder.os.access", lambda path, mode: False)
    monkeypatch.setattr("tbgen.building.builder.locked", refuse)
    Builder(tmp_path, NO_RULES, Progress()).build([Material.parse("KRK")])
    with pytest.raises(PermissionError):
        Builder(tmp_path, NO_RULES, Progress()).build([Material.parse("KNK")])


def test_a_table_removed_during_a_build_is_missing(tmp_path: Path) -> None:
    class Vanishing(_Tables):
        def table(self, name: TableName, finished: bool) -> None:
            super().table(name, finished)
            if name.material == KRKN:
                (tmp_path / "KNK.none.dtm.xqt").unlink()

    watched = Vanishing()
    with pytest.raises(MissingTableError, match="tbgen build KNK --rules none"):
        Builder(tmp_path, NO_RULES, watched).build([KRKN], Metric.DTM)
    assert "KRKN.none.dtm" not in watched.made


def test_files_are_closed_after_a_build(tmp_path: Path) -> None:
    Builder(tmp_path, NO_RULES, Progress()).build([KRKN])
    opened = {os.path.realpath(entry.path) for entry in os.scandir("/proc/self/fd")}
    assert not [path for path in opened if path.startswith(str(tmp_path))]
