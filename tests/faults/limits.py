"""Commands with too little memory do their work, or report the lack in one line.

    addresses   `ulimit -v`, from the size of an interpreter up to plenty
    data        `ulimit -d`, the same
    group       a control group's limit: exceeding it kills, so a build must page or refuse
    files       `ulimit -f`: the size of a file

A try is a command and a limit, drawn uniformly in the logarithm. A build that succeeded has the
right tables, and one that failed has left no incomplete file.

    python -m tests.faults.limits --count 200 --only addresses
"""

from __future__ import annotations

import contextlib
import os
import random
import resource
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.faults.campaign import (
    MIB,
    OK,
    REFUSED,
    Budget,
    Tally,
    complaint,
    main,
    run,
    tables_of,
    tbgen,
    unknown_files,
)
from tests.helpers.commands import restore_signals

KRK = "3k5/9/9/9/9/9/9/9/9/R3K4 w"


class Commands:
    """Commands by name (`all`), and the digests of tables that a build must give (`expected`).

    `finished` is a directory with these tables; `build` and `fetch` write to `directory`.
    """

    def __init__(self, folder: Path) -> None:
        self.finished, self.directory = folder / "finished", folder / "tables"
        ended = run(self._build(self.finished))
        if ended.status != OK:
            sys.exit(f"it fails undisturbed: {ended.stderr}")
        self.expected = tables_of(self.finished)
        if run(tbgen("index", "--tables", self.finished)).status != OK:
            sys.exit("the finished tables cannot be listed")
        # A copy, since a later proof writes another certificate than listed.
        listed = shutil.copytree(self.finished, folder / "listed")
        there = ("--tables", self.finished, "--rules", "wxf")
        self.all = {
            "build": self._build(self.directory),
            "ls": tbgen("ls", *there),
            "probe": tbgen("probe", KRK, *there),
            "verify": tbgen("verify", "KRK", *there),
            "dump": tbgen("dump", "KRK", *there, "--out", folder / "rows.csv"),
            "plan": tbgen("plan", "KRNKR", *there),
            "convert": tbgen("convert", KRK),
            "judge": tbgen("judge", KRK, "a0a1"),
            "index": tbgen("index", "--tables", self.finished),
            "pack": tbgen("pack", "KRKN", "--force", *there),
            "fetch": tbgen(
                "fetch",
                "KRKN",
                "--rules",
                "wxf",
                "--from",
                listed,
                "--tables",
                self.directory,
            ),
            "diagram": tbgen("diagram", KRK),
            "engine": tbgen("engine", *there[:2]),
        }

    def _build(self, directory: Path) -> list[str | bytes]:
        return tbgen("build", "KRKN", "--rules", "wxf", "--tables", directory)

    def try_one(self, tally: Tally, name: str, limit: str, prepare: Callable[[], None]) -> None:
        """Run the command `name` under a limit, and check its end and the files that it leaves.

        limit : description of the limit, for findings
        prepare : function that sets the limit in the child process
        """
        shutil.rmtree(self.directory, ignore_errors=True)
        ended = run(self.all[name], prepare=prepare)
        tally.count("commands")
        tally.count("refused", ended.status == REFUSED)
        what = f"{name}, {limit}"
        wrong = complaint(ended, [OK, REFUSED])
        tally.expect(wrong is None, f"{what}: {wrong}")
        if not self.directory.exists():
            makes = name in ("build", "fetch") and ended.status == OK
            tally.expect(not makes, f"{what}: there is nothing")
            return
        now = tables_of(self.directory)
        # A partly fetched file stays for the next attempt.
        left = [left for left in unknown_files(self.directory) if not left.endswith(".part")]
        tally.expect(not left, f"{what}: {left} stay")
        tally.expect(now.items() <= self.expected.items(), f"{what}: a table is wrong")
        tally.expect(ended.status != OK or now == self.expected, f"{what}: a table is missing")


@contextlib.contextmanager
def _commands() -> Iterator[Commands]:
    with tempfile.TemporaryDirectory(prefix="tbgen-limits-") as folder:
        yield Commands(Path(folder))


def _limited(
    tally: Tally, budget: Budget, seed: int, which: int, least: float, most: float, unit: int
) -> None:
    """Run random commands under limits of one kind.

    which : a resource of the module `resource`
    least, most : range of the limits in units; a limit is drawn uniformly in the logarithm
    unit : number of bytes in a unit
    """
    rng = random.Random(seed)
    with _commands() as commands:
        while budget.take():
            limit = round(least * (most / least) ** rng.random())
            tally.largest("largest", limit)

            def prepare(limit: int = limit * unit) -> None:
                restore_signals()
                resource.setrlimit(which, (limit, limit))

            name = rng.choice(list(commands.all))
            commands.try_one(tally, name, f"at most {limit}", prepare)


def addresses(tally: Tally, budget: Budget, seed: int) -> None:
    """Limit address space, from 20 MiB, in which an interpreter starts, to 3000 MiB."""
    _limited(tally, budget, seed, resource.RLIMIT_AS, 20, 3000, MIB)


def data(tally: Tally, budget: Budget, seed: int) -> None:
    """Limit data segments, from 10 to 1000 MiB."""
    _limited(tally, budget, seed, resource.RLIMIT_DATA, 10, 1000, MIB)


def files(tally: Tally, budget: Budget, seed: int) -> None:
    """Limit the size of files that a command writes, from 1 to 1000 KiB."""
    _limited(tally, budget, seed, resource.RLIMIT_FSIZE, 1, 1000, 1024)


def group(tally: Tally, budget: Budget, seed: int) -> None:
    """Limit the memory of a control group, from 60 to 600 MiB, if this user may make one."""
    rng = random.Random(seed)
    folder, name = _new_group()
    try:
        with _commands() as commands:
            while budget.take():
                limit = round(60 * (600 / 60) ** rng.random())
                (folder / name).write_text(str(limit * MIB))

                def prepare() -> None:
                    restore_signals()
                    (folder / "cgroup.procs").write_text(str(os.getpid()))

                commands.try_one(tally, rng.choice(["build", "verify", "plan", "dump"]),
                                 f"a group of {limit} MiB", prepare)  # fmt: skip
    finally:
        folder.rmdir()


def _new_group() -> tuple[Path, str]:
    """Make a control group of either version; return its folder, and its limit file's name."""
    mounts = Path("/sys/fs/cgroup")
    for top, name in ((mounts / "memory", "memory.limit_in_bytes"), (mounts, "memory.max")):
        folder = top / f"tbgen-{os.getpid()}"
        with contextlib.suppress(OSError):
            folder.mkdir()
            if (folder / name).exists():
                return folder, name
            folder.rmdir()
    sys.exit("no control group for memory can be made here")


PARTS = {"addresses": addresses, "data": data, "files": files, "group": group}

if __name__ == "__main__":
    main("limits", __doc__, PARTS, 200)
