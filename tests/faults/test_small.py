"""The fault campaigns at a small size, and tests that they detect deliberate faults.

Campaigns that start many processes are certifications:

    .venv/bin/python -m pytest -m certification tests/faults
"""

from __future__ import annotations

import errno
import os
import resource
import sys
import tomllib
from contextlib import closing
from pathlib import Path

import pytest

from tests.helpers.commands import restore_signals
from tests.helpers.paths import ROOT

sys.path.insert(0, str(ROOT / "scripts" / "certify"))

import dependencies
import versions

from tests.faults import directories, disks, kills, limits, mutants, oddities, texts
from tests.faults.campaign import OK, REFUSED, Budget, Tally, complaint, run, tbgen
from tests.faults.faulty import HALF, Disk, missing_tool
from tests.faults.limits import KRK
from tests.faults.warm import Warm


def findings(part: object, count: int, seed: int = 3) -> list[str]:
    """Run a part of a campaign with `count` tries; return its findings (violated expectations)."""
    tally = Tally("small")
    part(tally, Budget(count, None), seed)  # type: ignore[operator]
    assert sum(tally.counts.values()) >= count
    return tally.findings


# -- text and table files --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("part", "count"), [(texts.functions, 4000), (texts.commands, 150)], ids=["functions", "words"]
)
def test_mutated_texts(part: object, count: int) -> None:
    slow = [line for line in findings(part, count) if not line.endswith(" s")]
    assert not slow  # only the campaign on an idle machine measures time


def test_a_failing_reader_of_text_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(text: str) -> None:
        raise IndexError("a bug")

    monkeypatch.setattr(texts, "readers", lambda: {"fails": (fails, ValueError)})
    assert len(findings(texts.functions, 2)) == 2


def test_mutated_tables() -> None:
    slow = [line for line in findings(mutants.python, 150) if not line.endswith(" s")]
    assert not slow


def test_a_reader_of_tables_without_checks_is_found() -> None:
    seen: dict[Path, bytes] = {}

    def believes(sound: mutants.Sound) -> bool:
        return seen.setdefault(sound.path, sound.data) == sound.path.read_bytes()

    def part(tally: Tally, budget: Budget, seed: int) -> None:
        mutants.in_this_process(tally, budget, seed, believes)

    assert len(findings(part, 6)) == 3  # every mutant that is an accident


READER_IN_C = """
import os, struct, sys
stream = sys.stdin.buffer
records, = struct.unpack("<i", stream.read(4))
stream.read(91 * records)
while length := stream.read(4):
    data = stream.read(*struct.unpack("<i", length))
    if data == b"crash":
        os.abort()
    microseconds, kib = {b"slow": (300_000, 0), b"big": (0, 70_000)}.get(data, (0, 0))
    found = struct.pack("<5i", 0, 0, data == b"wrong", microseconds, kib)
    sys.stdout.buffer.write(found)
    sys.stdout.buffer.flush()
"""
"""Stand-in for the C reader, with deliberate faults: the content of a file, such as `crash`, sets
its behaviour.
"""


def test_faults_of_a_reader_in_c_name_the_file(tmp_path: Path) -> None:
    program = tmp_path / "reader"
    program.write_text(f"#!{sys.executable}\n{READER_IN_C}")
    program.chmod(0o755)
    sound = mutants.Sound(tmp_path, *mutants.TABLES[1])
    tally = Tally("small")
    names = (b"good", b"crash", b"wrong", b"slow", b"crash", b"big", b"good")
    mutants.in_c(tally, program, sound, [(name, False) for name in names], 9)
    told = [found.split("mutant ")[1] for found in tally.findings]
    assert [int(line.split()[0]) for line in told] == [1, 2, 3, 4, 5]
    for line, part in zip(told, ("exit status -6", "a wrong value", "0.30 s", "-6", "68 MiB"),
                          strict=True):  # fmt: skip
        assert part in line
    mutants.in_c(Tally("small"), program, sound, [(b"wrong", True)], 9)
    sound.data = b"crash"
    with pytest.raises(SystemExit, match="crashes the C reader, status -6"):
        mutants.in_c(Tally("small"), program, sound, [(b"good", False)], 9)


# -- disks -----------------------------------------------------------------------------------

WRITE = """
import sys
import tomllib
from pathlib import Path
from tbgen.answers.failures import describe
from tbgen.tables.files import replacing
try:
    with replacing(Path(sys.argv[1])) as file:
        for number in range(3):
            file.write(bytes([number]) * 9000)
except OSError as error:
    sys.exit(f"error: {describe(error).message}")
"""

only_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can be another user")
no_gcc = pytest.mark.skipif(missing_tool() is not None, reason=str(missing_tool()))


@no_gcc
def test_files_are_complete_or_missing(tmp_path: Path) -> None:
    disk, folder = Disk(tmp_path), tmp_path / "disk"
    target = folder / "file"
    command: list[str | bytes] = [sys.executable, "-c", WRITE, str(target)]
    whole = b"".join(bytes([number]) * 9000 for number in range(3))
    folder.mkdir()
    ended, calls = disk.calls(command, folder, ("write",))
    assert (ended.status, target.read_bytes()) == (OK, whole)
    assert calls >= 3
    for kinds, at, error, lasts in (
        (("write",), 2, errno.ENOSPC, True), (("write",), calls, errno.EIO, False),
        (("write",), 1, HALF, False), (("sync",), 1, errno.EIO, False),
        (("rename",), 1, errno.EIO, False),
    ):  # fmt: skip
        target.write_bytes(b"before")
        environment = disk.environment(folder, kinds, at, error, lasts=lasts)
        ended = run(command, environment=environment)
        assert [path.name for path in folder.iterdir()] == ["file"]
        assert target.read_bytes() == (whole if error == HALF else b"before")
        assert (ended.status == OK) == (error == HALF)
        assert ended.stderr.startswith("error: ") == (error != HALF)
        assert len(ended.stderr.splitlines()) == int(error != HALF)


@no_gcc
@pytest.mark.certification
def test_a_fork_behaves_like_a_new_process(tmp_path: Path) -> None:
    """A fork of the warm interpreter has its own streams, exit status, variables and faults."""
    disk, out = Disk(tmp_path), tmp_path / "disk" / "board.svg"
    out.parent.mkdir()
    commands = (tbgen("convert", KRK, "--to", "six"), tbgen("diagram", "nonsense"))
    draw = tbgen("diagram", KRK, "--out", out)
    with closing(Warm((), [tbgen("convert", KRK)], disk.harmless)) as warm:
        for command in commands:
            own, forked = run(command), warm.run(command)
            assert forked[:3] == own[:3]
        faults = disk.environment(out.parent, ("rename",), 1, errno.EIO)
        own, forked = (how(draw, environment=faults) for how in (run, warm.run))
        assert forked[:3] == own[:3]
        assert forked.status == REFUSED
        assert warm.run(draw).status == OK
        assert out.exists()
        assert warm.run(draw, patience=0.0).status is None


# -- memory ----------------------------------------------------------------------------------


@pytest.mark.parametrize("mib", [24, 70, 90, 110])
def test_too_few_addresses_for_numpy_is_one_line(tmp_path: Path, mib: int) -> None:
    """With too little address space for numpy, tbgen ends with one error line of its own.

    Without a check by tbgen, numpy's BLAS would end the process with another message.
    """

    def prepare() -> None:
        restore_signals()
        resource.setrlimit(resource.RLIMIT_AS, (mib << 20, mib << 20))

    ended = run(tbgen("ls", "--tables", tmp_path), prepare=prepare)
    assert complaint(ended, [REFUSED]) is None
    assert "there is not enough memory" in ended.stderr


# -- dependencies ----------------------------------------------------------------------------


def test_licences_of_dependencies() -> None:
    needed = [package for package in dependencies.packages() if package.needed]
    assert {"numpy", "numba", "zstandard", "click", "tqdm", "llvmlite"} <= {p.name for p in needed}
    assert not [p for p in needed if not dependencies.is_permissive(p.licence)]


def test_every_dependency_has_a_tested_lowest_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert set(versions.EXTRAS) == set(project["optional-dependencies"])
    lowest = versions.lower_ends(*versions.EXTRAS)
    names = [each.partition("==")[0] for each in lowest]
    assert len(set(names)) == len(names), "an extra and `dev` disagree"
    assert {"click==8.2", "numba==0.60", "mkdocs==1.6"} <= set(lowest)
    assert all((ROOT / test).exists() for test in (*versions.QUICK_TESTS, *versions.EXTRAS_TESTS))


@pytest.mark.parametrize(
    ("licence", "good"),
    [
        ("MIT", True), ("GPL-3.0-or-later", False), ("GPL-2.0-only OR MIT", True),
        ("MPL-2.0 AND MIT", True), ("BSD-3-Clause AND GPL-3.0-only", False), ("not stated", False),
        ("(MIT OR LGPL-3.0) AND GPL-3.0-only", False), ("ISC AND (GPL-2.0 OR (MIT AND BSD))", True),
        ("Mozilla Public License 2.0 (MPL 2.0)", True),
    ],
)  # fmt: skip
def test_permissive_licences(licence: str, good: bool) -> None:
    assert dependencies.is_permissive(licence) == good


# -- what starts many processes --------------------------------------------------------------


@pytest.mark.certification
@pytest.mark.parametrize(
    ("part", "count"),
    [
        (kills.processes, 12), (kills.sets, 8), (kills.boards, 4), (texts.lines, 10_000),
        (mutants.numba, 600), pytest.param(mutants.c, 600, marks=no_gcc),
        (limits.addresses, 20), (limits.data, 10), (limits.files, 10),
        (directories.together, 2), (directories.vanishing, 10), (directories.forbidden, 10),
        pytest.param(directories.foreign, 12, marks=only_root),
        (oddities.places, 30), (oddities.streams, 40), (oddities.damage, 4),
    ],
    ids=lambda value: f"{value.__module__} {value.__name__}" if callable(value) else str(value),
)  # fmt: skip
def test_processes(part: object, count: int) -> None:
    assert not findings(part, count)


@pytest.mark.certification
@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("build", 20), ("paging", 20), ("states", 10), ("dump", 26), ("pack", 20), ("verify", 34),
        ("index", 20), ("fetch", 20), ("kernels", 20), ("ways", len(disks.FAULTS)),
    ],
)  # fmt: skip
@no_gcc
def test_disks(name: str, count: int) -> None:
    assert not findings(disks.PARTS[name], count)


@pytest.mark.certification
@pytest.mark.parametrize("name", ["abuse", "flat"])
def test_servers(name: str) -> None:
    pytest.importorskip("uvicorn", reason="the extra `web` is not installed")
    from tests.faults import servers

    assert not findings(servers.PARTS[name], 300)
