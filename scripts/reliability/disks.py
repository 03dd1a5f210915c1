"""A disk that is full or broken, at every single call: a clear line, and nothing half-written.

    every call of a kind   x   an error   ->   the command   ->   the same command, undisturbed

A first run counts the calls that a command makes on files of the tables (or of the kernels' cache);
then each of them fails, one in each try. The command may go on without what failed, or end in one
clear line; either way all tables that are there are right and nothing else is, and the next run
comes to the digests of an undisturbed one. `full` fails from one call on, as a full disk does.

    python scripts/reliability/disks.py --count 1000
"""

from __future__ import annotations

import errno
import random
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent))

from campaign import (
    CORRUPT,
    FINDINGS,
    OK,
    REFUSED,
    Budget,
    Tally,
    complaint,
    main,
    run,
    strangers,
    tables_of,
    tbgen,
)
from faulty import HALF, Disk, missing_tool

from tbgen.compiling.folder import find_kernel_folder


class Fault(NamedTuple):
    """What fails: the kinds of calls, the error, and whether all that follow fail, too."""

    calls: tuple[str, ...]
    error: int
    lasts: bool = False

    def __str__(self) -> str:
        """`ENOSPC from write`, `EIO at sync`."""
        name = "half" if self.error == HALF else errno.errorcode[self.error]
        return f"{name} {'from' if self.lasts else 'at'} {'/'.join(self.calls)}"


ALLOCATION = Fault(("allocate",), errno.EOPNOTSUPP)
"""What an array on disk begins with."""

FAULTS = (
    Fault(("write", "allocate", "truncate"), errno.ENOSPC, lasts=True),
    Fault(("write",), errno.EIO),
    Fault(("write",), HALF),
    Fault(("sync",), errno.EIO),
    Fault(("rename",), errno.EIO),
    Fault(("open",), errno.EMFILE),
    Fault(("open", "mkdir"), errno.EACCES, lasts=True),
    Fault(("read",), errno.EIO),
    Fault(("lock",), errno.ENOLCK),
    Fault(("unlink",), errno.EIO),
    Fault(("list",), errno.EACCES),
    ALLOCATION,
    Fault(("map",), errno.ENOMEM),
)


class Job(NamedTuple):
    """A command, where its calls are counted, and what must hold after it has failed."""

    command: list[str | bytes]
    under: Path
    reset: Callable[[], None]
    check: Callable[[bool], str | None]
    """What is wrong in the directory; told whether the command has come to its end."""


def cases(tally: Tally, disk: Disk, job: Job, rng: random.Random) -> list[tuple[Fault, int]]:
    """Every call of every kind that the command makes, in random order."""
    found = []
    for fault in FAULTS:
        job.reset()
        ended, calls = disk.calls(job.command, job.under, fault.calls)
        if ended.status != OK:
            sys.exit(f"it fails undisturbed: {ended.stderr}")
        tally.count("arrays on disk", calls if fault == ALLOCATION else 0)
        found += [(fault, at) for at in range(1, calls + 1)]
    rng.shuffle(found)
    tally.count("calls", len(found))
    return found


def inject(tally: Tally, budget: Budget, job: Job, seed: int, folder: Path) -> None:
    """Let the calls of a command fail, one after the other."""
    lacking = missing_tool()
    if lacking is not None:
        sys.exit(f"no disk can be made to fail here: {lacking}")
    disk = Disk(folder)
    for fault, at in cases(tally, disk, job, random.Random(seed)):
        if not budget.take():
            return
        what = f"{fault}, call {at}"
        job.reset()
        environment = disk.environment(job.under, fault.calls, at, fault.error, lasts=fault.lasts)
        ended = run(job.command, environment=environment)
        tally.count("faults")
        tally.count(f"faults {fault}")
        tally.count("refused", ended.status != OK)
        wrong = complaint(ended, [OK, FINDINGS, REFUSED, CORRUPT])
        tally.expect(wrong is None, f"{what}: {wrong}")
        wrong = job.check(ended.status == OK)
        # What cannot be removed may stay, until the next run, and so may a lock that others hold.
        if wrong is not None and not {"unlink", "lock"} & {*fault.calls}:
            tally.finding(f"{what}: {wrong}")
        wrong = complaint(run(job.command), [OK]) or job.check(True)
        tally.expect(wrong is None, f"{what}, the next run: {wrong}")


def _directory_check(
    directory: Path, expected: dict[str, str], may_stay: str | None = None
) -> Callable[[bool], str | None]:
    """All tables are right, and nothing else is there but, until it is finished, some files.

    may_stay : how their names end
    """

    def check(finished: bool) -> str | None:
        if not directory.exists():
            return "there is no directory" if finished else None
        now, left = tables_of(directory), strangers(directory)
        if may_stay is not None and not finished:
            left = [name for name in left if not name.endswith(may_stay)]
        if left:
            return f"{left} stay"
        if finished and now != expected:
            return "tables are missing or other ones"
        return None if now.items() <= expected.items() else "a table is wrong"

    return check


def _builder(folder: Path, *options: str) -> Job:
    """A build of three tables; what it comes to is what it came to without the options."""
    directory = folder / "tables"
    command = tbgen("build", "KRKN", "--rules", "wxf", "--tables", directory)
    wrong = complaint(run(command), [OK])
    if wrong is not None:
        sys.exit(f"it fails undisturbed: {wrong}")

    def reset() -> None:
        shutil.rmtree(directory, ignore_errors=True)

    return Job([*command, *options], directory, reset,
               _directory_check(directory, tables_of(directory)))  # fmt: skip


def build(tally: Tally, budget: Budget, seed: int) -> None:
    """Building three tables."""
    with tempfile.TemporaryDirectory(prefix="tbgen-disks-") as name:
        inject(tally, budget, _builder(Path(name)), seed, Path(name))


def paging(tally: Tally, budget: Budget, seed: int) -> None:
    """The same with so little memory that arrays are on disk."""
    with tempfile.TemporaryDirectory(prefix="tbgen-disks-") as name:
        job = _builder(Path(name), "--memory", "150MiB", "--threads", "1")
        inject(tally, budget, job, seed, Path(name))
        tally.expect(tally.counts["arrays on disk"] > 0, "no array was on disk")


def dump(tally: Tally, budget: Budget, seed: int) -> None:
    """A table as an array, and its description beside it."""
    with tempfile.TemporaryDirectory(prefix="tbgen-disks-") as name:
        folder = Path(name)
        _builder(folder)
        out = folder / "out"
        words = ("--rules", "wxf", "--tables", folder / "tables", "--format", "npy")
        command = tbgen("dump", "KRK", *words, "--out", out / "rows.npy")

        def reset() -> None:
            shutil.rmtree(out, ignore_errors=True)
            out.mkdir()

        def check(finished: bool) -> str | None:
            names = sorted(path.name for path in out.iterdir())
            whole = ["rows.npy", "rows.npy.json"]
            return None if names == whole or (not finished and not names) else f"{names}"

        inject(tally, budget, Job(command, out, reset, check), seed, folder)


def states(tally: Tally, budget: Budget, seed: int) -> None:
    """Building with the state of each table saved as often as may be."""
    with tempfile.TemporaryDirectory(prefix="tbgen-disks-") as name:
        job = _builder(Path(name), "--save-state", "0.000001")
        inject(tally, budget, job, seed, Path(name))


def pack(tally: Tally, budget: Budget, seed: int) -> None:
    """Win-draw-loss files beside tables."""
    _derive(tally, budget, seed, "pack", "KRK", "--rules", "wxf")


def verify(tally: Tally, budget: Budget, seed: int) -> None:
    """A proof, and its certificate."""
    _derive(tally, budget, seed, "verify", "KRK", "--rules", "wxf")


def index(tally: Tally, budget: Budget, seed: int) -> None:
    """A list of the directory for others."""
    _derive(tally, budget, seed, "index")


def _derive(tally: Tally, budget: Budget, seed: int, *words: str) -> None:
    """Let the calls of a command fail that adds to a directory; its tables stay what they are."""
    with tempfile.TemporaryDirectory(prefix="tbgen-disks-") as name:
        _builder(Path(name))
        command = tbgen(*words, "--tables", Path(name) / "derived")
        inject(tally, budget, _deriver(Path(name), command), seed, Path(name))


def _deriver(folder: Path, command: list[str | bytes]) -> Job:
    """A command on a copy of the tables; what it adds is what it added undisturbed."""
    tables, directory = folder / "tables", folder / "derived"

    def reset() -> None:
        shutil.rmtree(directory, ignore_errors=True)
        shutil.copytree(tables, directory)

    reset()
    wrong = complaint(run(command), [OK])
    if wrong is not None:
        sys.exit(f"it fails undisturbed: {wrong}")
    # A certificate tells how long the proof took: its name must be there, whatever is in it.
    names, expected = {path.name for path in directory.iterdir()}, tables_of(directory)
    whole = _directory_check(directory, expected)

    def check(finished: bool) -> str | None:
        missing = names - {path.name for path in directory.iterdir()} if finished else set()
        return whole(finished) or (f"{missing} are missing" if missing else None)

    return Job(command, directory, reset, check)


def fetch(tally: Tally, budget: Budget, seed: int) -> None:
    """Fetching tables: what has come stays, as a part, and the next fetch goes on."""
    with tempfile.TemporaryDirectory(prefix="tbgen-disks-") as name:
        folder = Path(name)
        _builder(folder)
        tables, directory = folder / "tables", folder / "fetched"
        if run(tbgen("index", "--tables", tables, "--no-values")).status != OK:
            sys.exit("there is no index to fetch by")
        command = tbgen("fetch", "KRKN", "--rules", "wxf", "--from", tables, "--tables", directory)
        check = _directory_check(directory, tables_of(tables), may_stay=".part")

        def reset() -> None:
            shutil.rmtree(directory, ignore_errors=True)

        inject(tally, budget, Job(command, directory, reset, check), seed, folder)


def kernels(tally: Tally, budget: Budget, seed: int) -> None:
    """Building with a cache of kernels on the broken disk: it is never needed."""
    with tempfile.TemporaryDirectory(prefix="tbgen-disks-") as name:
        folder = Path(name)
        job = _builder(folder)
        filled = find_kernel_folder().path
        if filled is None:
            sys.exit("there is no cache of kernels that could be damaged")
        cache = folder / "kernels"
        command = [b"/usr/bin/env", f"NUMBA_CACHE_DIR={cache}", *job.command]

        def reset() -> None:
            job.reset()
            shutil.rmtree(cache, ignore_errors=True)
            shutil.copytree(filled, cache)

        inject(tally, budget, Job(command, cache, reset, job.check), seed, folder)


PARTS = {
    "build": build, "paging": paging, "states": states, "dump": dump, "pack": pack,
    "verify": verify, "index": index, "fetch": fetch, "kernels": kernels,
}  # fmt: skip

if __name__ == "__main__":
    main("disks", __doc__, PARTS, 1000)
