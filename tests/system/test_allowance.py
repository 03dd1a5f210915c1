"""Usable memory: free memory, and the limits of control groups and of the process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from tbgen.answers import failures
from tbgen.cli import main, verify
from tbgen.system import allowance, platform
from tbgen.system.allowance import Allowance, usable_memory
from tests.helpers.built import built

MIB = 1 << 20
PAGE = os.sysconf("SC_PAGE_SIZE")
GROUP = "the limit of the control group"

FIRST = "35 31 0:32 {top} /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
SECOND = "41 31 0:38 {top} /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw\n"
MEMBER_OF_FIRST = "9:name=systemd:/\n4:memory:{path}\n0::/\n"
MEMBER_OF_SECOND = "0::{path}\n"


def machine(root: Path, mounts: str, groups: str) -> Path:
    """Write, below `root`, the `/proc` files of a machine with 1000 MiB of available memory.

    The process in these files has 100 MiB of memory of its own. `mounts` and `groups` are lines of
    `mountinfo` and `cgroup`. Returns `root`.
    """
    own = root / "proc/self"
    own.mkdir(parents=True)
    (root / "proc/meminfo").write_text(f"MemTotal: 9999999 kB\nMemAvailable: {1000 * 1024} kB\n")
    pages = [MIB // PAGE * count for count in (500, 130, 30, 1, 0, 200, 0)]
    (own / "statm").write_text(" ".join(map(str, pages)))
    (own / "mountinfo").write_text("23 1 0:5 / / rw - ext4 /dev/root rw\n" + mounts)
    (own / "cgroup").write_text(groups)
    return root


def usable(root: Path, asked: int = 0) -> Allowance:
    """Return `usable_memory` of the machine whose files are below `root`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(platform, "ROOT", root)
        return usable_memory(asked)


def first(folder: Path, limit: int, used: int, files: int = 0) -> None:
    """Write the files of a control group of version 1; numbers are in MiB.

    files : page cache of the group, which can be freed
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "memory.limit_in_bytes").write_text(f"{limit * MIB}\n")
    (folder / "memory.usage_in_bytes").write_text(f"{used * MIB}\n")
    stat = f"inactive_file 0\ntotal_inactive_file {files * MIB}\ntotal_active_file 0\n"
    (folder / "memory.stat").write_text(stat)


def second(folder: Path, limit: int | str, used: int, files: int = 0, high: str = "max") -> None:
    """Write the files of a control group of version 2; numbers are in MiB.

    files : page cache of the group, which can be freed
    high : content of `memory.high`, in bytes or `max`
    """
    folder.mkdir(parents=True, exist_ok=True)
    limit = limit if isinstance(limit, str) else str(limit * MIB)
    (folder / "memory.max").write_text(f"{limit}\n")
    (folder / "memory.high").write_text(f"{high}\n")
    (folder / "memory.current").write_text(f"{used * MIB}\n")
    stat = f"anon {used * MIB}\ninactive_file 0\nactive_file {files * MIB}\n"
    (folder / "memory.stat").write_text(stat)


def test_without_limits_free_and_own_memory_is_usable(tmp_path: Path) -> None:
    found = usable(machine(tmp_path, "", ""))
    assert found == (1100 * MIB, "free memory", sys.maxsize)


def test_on_other_systems_all_memory_is_usable(tmp_path: Path) -> None:
    assert usable(tmp_path).memory == PAGE * os.sysconf("SC_PHYS_PAGES")


@pytest.mark.parametrize(
    ("top", "path", "at"),
    [
        ("/", "/job/7", "job/7"),
        ("/docker/7", "/docker/7", ""),  # a container that sees the host's path
        ("/docker/7", "/docker/7/job", "job"),
        ("/docker/7", "/docker/77", ""),
        ("/", "/../../job", ""),  # a group above what is mounted
    ],
)
def test_groups_of_version_one(tmp_path: Path, top: str, path: str, at: str) -> None:
    mounts, groups = FIRST.format(top=top), MEMBER_OF_FIRST.format(path=path)
    root = machine(tmp_path, mounts, groups)
    mounted = root / "sys/fs/cgroup/memory"
    first(mounted, 1 << 43, 9999)
    first(mounted / at, limit=300, used=250, files=40)
    assert usable(root)[:2] == ((300 - 250 + 40 + 100) * MIB, GROUP)


def test_groups_of_version_two(tmp_path: Path) -> None:
    root = machine(tmp_path, SECOND.format(top="/"), MEMBER_OF_SECOND.format(path="/a/b"))
    outer, inner = root / "sys/fs/cgroup/a", root / "sys/fs/cgroup/a/b"
    second(outer, "max", 600)
    second(inner, "max", 250)
    assert usable(root).limit == "free memory"
    second(outer, 700, 600, files=10)
    assert usable(root)[:2] == ((700 - 600 + 10 + 100) * MIB, GROUP)
    second(inner, 800, 250, high=str(270 * MIB))
    assert usable(root)[:2] == ((270 - 250 + 100) * MIB, GROUP)
    second(inner, 100, 250)
    assert usable(root)[:2] == (0, GROUP)


def test_a_requested_amount_replaces_free_memory_but_no_limit(tmp_path: Path) -> None:
    root = machine(tmp_path, SECOND.format(top="/"), MEMBER_OF_SECOND.format(path="/"))
    assert usable(root, 5000 * MIB)[:2] == (5000 * MIB, "the requested memory")
    second(root / "sys/fs/cgroup", 700, 600)
    assert usable(root, 5000 * MIB)[:2] == (200 * MIB, GROUP)
    assert usable(root, 150 * MIB)[:2] == (150 * MIB, "the requested memory")


def test_limits_of_the_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, limits = machine(tmp_path, "", ""), {"RLIMIT_DATA": 300 * MIB}
    monkeypatch.setattr(allowance, "resource_limit", lambda name: limits.get(name, sys.maxsize))
    assert usable(root) == ((300 - 200 + 100) * MIB, "ulimit -d", sys.maxsize)
    limits["RLIMIT_AS"] = 550 * MIB
    assert usable(root) == ((550 - 500 + 100) * MIB, "ulimit -v", 550 * MIB)


@pytest.mark.parametrize(
    ("limit", "name", "table"),
    [("-d 120000", "ulimit -d", "KRKN"), ("-v 600000", "ulimit -v", "KNK")],
)
def test_a_build_with_too_little_memory_is_refused(
    tmp_path: Path, limit: str, name: str, table: str
) -> None:
    build = f"ulimit {limit}; exec {sys.executable} -m tbgen build KRKN --tables tables"
    result = subprocess.run(
        ["sh", "-c", build], cwd=tmp_path, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True, text=True,
    )  # fmt: skip
    assert result.returncode == 2
    assert f"{table} needs at least" in result.stderr
    assert f"({name})" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("limits", "named"),
    [
        ((), ""),
        (("RLIMIT_AS",), ", or raise the limit that was set (ulimit -v)"),
        (("RLIMIT_DATA",), ", or raise the limit that was set (ulimit -d)"),
        (("RLIMIT_DATA", "RLIMIT_AS"), ", or raise the limit that was set (ulimit -v, ulimit -d)"),
    ],
)
def test_memory_errors_name_the_limits_that_were_set(
    monkeypatch: pytest.MonkeyPatch, limits: tuple[str, ...], named: str
) -> None:
    limit_of = dict.fromkeys(limits, MIB)
    monkeypatch.setattr(failures, "resource_limit", lambda name: limit_of.get(name, sys.maxsize))
    assert failures.expected(MemoryError()).hint == f"close other programs{named}"


def test_kernels_are_not_compiled_without_memory(tmp_path: Path) -> None:
    build = [
        sys.executable,
        "-m",
        "tbgen",
        "build",
        "KRK",
        "--memory",
        "200M",
        "--tables",
        "tables",
    ]
    empty = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "NUMBA_CACHE_DIR": ""}
    result = subprocess.run(
        build, cwd=tmp_path, env={**os.environ, **empty}, capture_output=True, text=True
    )
    assert result.returncode == 2
    assert "KRK needs at least 272 MiB" in result.stderr
    assert "kernels are still to be compiled, and may use 200 MiB (the req" in result.stderr


@pytest.mark.parametrize("options", [(), ("--closure",)])
def test_a_proof_that_would_be_killed_is_refused(
    monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    few = Allowance(verify.KERNELS_BYTES - 1, GROUP, sys.maxsize)
    monkeypatch.setattr(verify, "usable_memory", lambda asked=0: few)
    tables = ("--rules", "check", "--tables", str(built("KRK")))
    result = CliRunner().invoke(main, ["verify", "KRK", *tables, *options])
    assert result.exit_code == 2
    assert result.stderr.startswith("error: there is not enough memory\n")
