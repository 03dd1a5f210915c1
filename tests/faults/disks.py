"""A disk that is full or broken, at every single call: one clear line, no incomplete file.

    every call of a kind   x   an error   ->   the command   ->   the same command, undisturbed

A first run counts the calls of a command on files of the tables (or of the kernel cache). Each
following try makes one of these calls fail, or, as on a full disk, all calls from one on. The
command may continue, or end with one clear line. In both cases all tables are right and no other
files remain. Then the command runs again without faults. It must give the same digests as a run
that was never disturbed. This second run is skipped if an earlier second run has already succeeded
from equal files.

Tries are forks of an interpreter with everything loaded (warm.py), which saves three quarters of
the time. In the part `kernels`, which tests loading, forks have only numba, and the build needs few
kernels, since many tries compile all of them. The part `ways` compares forks with new processes.

    python -m tests.faults.disks --count 2000
"""

from __future__ import annotations

import contextlib
import errno
import functools
import hashlib
import json
import os
import random
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from tbgen.compiling.folder import find_kernel_folder
from tests.faults.campaign import (
    CORRUPT,
    FINDINGS,
    OK,
    REFUSED,
    Budget,
    Ended,
    Part,
    Tally,
    complaint,
    main,
    run,
    tables_of,
    tbgen,
    unknown_files,
)
from tests.faults.faulty import HALF, Disk, missing_tool
from tests.faults.warm import Warm


class Fault(NamedTuple):
    """Failure to simulate: kinds of calls that fail, as faults.c lists them, and the error number.

    One call fails; with `lasts`, later ones of these kinds, too. Error `HALF`: half is written.
    """

    calls: tuple[str, ...]
    error: int
    lasts: bool = False

    def __str__(self) -> str:
        """Format as `ENOSPC from write` or `EIO at sync`."""
        name = "half" if self.error == HALF else errno.errorcode[self.error]
        return f"{name} {'from' if self.lasts else 'at'} {'/'.join(self.calls)}"


ALLOCATION = Fault(("allocate",), errno.EOPNOTSUPP)
"""Fault in the allocation of an array on disk, the first call on its file."""

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
    """A command during which the disk fails, and the check of the files that it leaves.

    Only calls on files below the path `under` can fail. `reset` restores the initial files, and
    `environment` has variables to add for the command.
    """

    command: list[str | bytes]
    under: Path
    reset: Callable[[], None]
    check: Callable[[Ended], str | None]
    """Function (command's result) that returns text on wrong files; None if all are right."""
    touched: tuple[Path, ...]
    """Directories that the command writes to."""
    environment: Mapping[str, str] = {}
    loads: bool = False
    """True if faults are to occur while kernels are loaded, so that forks must not have them."""


class Bench(NamedTuple):
    """A job, the disk that fails for it, and the function that runs the job's command.

    The function starts a new process, or a fork of the warm interpreter.
    """

    disk: Disk
    job: Job
    run: Callable[..., Ended]

    def calls(self, fault: Fault) -> int:
        """Run the command without faults; return the number of calls that `fault` can make fail."""
        job = self.job
        job.reset()
        ended, calls = self.disk.calls(
            job.command, job.under, fault.calls, self.run, **job.environment
        )
        if ended.status != OK:
            sys.exit(f"it fails undisturbed: {ended.stderr}")
        return calls

    def disturbed(self, fault: Fault, at: int) -> Ended:
        """Run the command from its initial state; call number `at` (from 1) of the kinds fails."""
        job = self.job
        job.reset()
        faults = self.disk.environment(job.under, fault.calls, at, fault.error, lasts=fault.lasts)
        return self.run(job.command, environment={**job.environment, **faults})

    def undisturbed(self) -> Ended:
        """Run the command without faults on the files that are there."""
        return self.run(self.job.command, environment=self.job.environment)


@contextlib.contextmanager
def benches(make: Callable[[Path], Job]) -> Iterator[tuple[Bench, Bench]]:
    """Yield two benches of the job `make(folder)`: one runs new processes, the other one forks."""
    lacking = missing_tool()
    if lacking is not None:
        sys.exit(f"no disk can be made to fail here: {lacking}")
    with tempfile.TemporaryDirectory(prefix="tbgen-disks-") as name:
        disk, job = Disk(Path(name)), make(Path(name))
        job.reset()
        modules, commands = (("numba", "numpy"), []) if job.loads else ((), [job.command])
        with contextlib.closing(Warm(modules, commands, disk.harmless)) as warm:
            yield Bench(disk, job, run), Bench(disk, job, warm.run)


def inject(make: Callable[[Path], Job], tally: Tally, budget: Budget, seed: int) -> None:
    """Run a job's command once for each fault and each call that this fault can make fail.

    Tries these cases in random order until the budget is used up. `make(folder)` returns the job.
    """
    with benches(make) as (_, bench):
        cases = []
        for fault in FAULTS:
            calls = bench.calls(fault)
            tally.count("arrays on disk", calls if fault == ALLOCATION else 0)
            cases += [(fault, at) for at in range(1, calls + 1)]
        tally.count("calls", len(cases))
        random.Random(seed).shuffle(cases)
        mended: set[object] = set()
        for fault, at in cases:
            if not budget.take():
                return
            _try(tally, bench, fault, at, mended)


def inject_paging(tally: Tally, budget: Budget, seed: int) -> None:
    """Inject faults into the job `paging`; if no array was on disk, that is a finding."""
    inject(paging, tally, budget, seed)
    tally.expect(tally.counts["arrays on disk"] > 0, "no array was on disk")


def _try(tally: Tally, bench: Bench, fault: Fault, at: int, mended: set[object]) -> None:
    """Run a command with one failing call, check its files, and run it again without faults.

    at : number of the failing call among those of the fault's kinds, from 1
    mended : states of the files from which a second run has succeeded; updated. From an equal
        state the command is not run again
    """
    what = f"{fault}, call {at}"
    ended = bench.disturbed(fault, at)
    tally.count("faults")
    tally.count(f"faults {fault}")
    tally.count("refused", ended.status != OK)
    wrong = complaint(ended, [OK, FINDINGS, REFUSED, CORRUPT])
    tally.expect(wrong is None, f"{what}: {wrong}")
    wrong = bench.job.check(ended)
    # Files that cannot be removed, and locks held by others, may stay until the next run.
    if wrong is not None and not {"unlink", "lock"} & {*fault.calls}:
        tally.finding(f"{what}: {wrong}")
    left = _what_is_in(bench.job.touched)
    if left in mended:
        return
    ended = bench.undisturbed()
    tally.count("next runs")
    wrong = complaint(ended, [OK]) or bench.job.check(ended)
    tally.expect(wrong is None, f"{what}, the next run: {wrong}")
    if wrong is None:
        mended.add(left)


def _what_is_in(directories: tuple[Path, ...]) -> object:
    """Return the set of (path, form) of everything below some directories, to compare two states.

    The form of a file is its digest, of a JSON file its keys; None for directories and links.
    """
    return frozenset(
        (str(path), _form(path)) for directory in directories for path in directory.rglob("*")
    )


def _form(path: Path) -> str | None:
    if not path.is_file() or path.stat().st_nlink > 1:  # a linked kernel, which was not rewritten
        return None
    data = path.read_bytes()
    with contextlib.suppress(ValueError):
        if path.suffix == ".json":
            return ",".join(json.loads(data))
    return hashlib.sha256(data).hexdigest()


def ways(tally: Tally, budget: Budget, seed: int) -> None:
    """Check that forks make as many calls as new processes, and end alike after a failing call."""
    rng = random.Random(seed)
    for name, make in JOBS.items():
        with benches(make) as both:
            for fault in FAULTS:
                if not budget.take():
                    return
                what = f"{name}, {fault}"
                own, forked = (bench.calls(fault) for bench in both)
                tally.count("calls", own)
                tally.expect(own == forked, f"{what}: {own} calls, {forked} in a fork")
                if not own:
                    continue
                at = rng.randint(1, own)
                own_end, forked_end = (_end(bench, fault, at) for bench in both)
                tally.count("faults")
                tally.expect(
                    own_end == forked_end, f"{what}, call {at}: {own_end}, in a fork {forked_end}"
                )


def _end(bench: Bench, fault: Fault, at: int) -> tuple[object, ...]:
    """Run a job's command with one failing call; return its exit status, messages, and file names.

    Process ids in names are replaced, so that runs can be compared.
    """
    ended = bench.disturbed(fault, at)
    said = [line for line in ended.stderr.splitlines() if line.startswith(("error", "note"))]
    names = sorted(os.listdir(bench.job.under)) if bench.job.under.is_dir() else []
    said, names = (
        [re.sub(r"[0-9]+\.tmp", "PID.tmp", text) for text in each] for each in (said, names)
    )
    return ended.status, said, names


def _directory_check(
    directory: Path, expected: dict[str, str], may_stay: str | None = None
) -> Callable[[Ended], str | None]:
    """Return a check, as `Job.check`, that tables are right and no other files are left.

    After a failure, tables may be missing. Those that exist must have the right digests.

    expected : digests of the tables, by file name
    may_stay : suffix of other files that are allowed after a failure
    """

    def check(ended: Ended) -> str | None:
        finished = ended.status == OK
        if not directory.exists():
            return "there is no directory" if finished else None
        now, left = tables_of(directory), unknown_files(directory)
        if may_stay is not None and not finished:
            left = [name for name in left if not name.endswith(may_stay)]
        if left:
            return f"{left} stay"
        if finished and now != expected:
            return "tables are missing or other ones"
        return None if now.items() <= expected.items() else "a table is wrong"

    return check


def _builder(
    folder: Path, *options: str, of: tuple[str, str] = ("KRKN", "wxf"), may_stay: str | None = None
) -> Job:
    """Return the job of building a material and its supporting tables with options.

    Its tables must equal those of a build without the options, which is run first.

    of : the material and the rules
    may_stay : as in `_directory_check`
    """
    directory = folder / "tables"
    command = tbgen("build", of[0], "--rules", of[1], "--tables", directory)
    _succeed(command)

    def reset() -> None:
        shutil.rmtree(directory, ignore_errors=True)

    check = _directory_check(directory, tables_of(directory), may_stay)
    return Job([*command, *options], directory, reset, check, (directory,))


def _succeed(command: list[str | bytes], environment: Mapping[str, str] | None = None) -> None:
    """Run a command that prepares the tries; end the campaign if it fails."""
    wrong = complaint(run(command, environment=environment), [OK])
    if wrong is not None:
        sys.exit(f"it fails undisturbed: {wrong}")


def build(folder: Path) -> Job:
    """Return the job of building three tables."""
    return _builder(folder)


def paging(folder: Path) -> Job:
    """Return the job of a build with so little memory that arrays are on disk."""
    return _builder(folder, "--memory", "150MiB", "--threads", "1")


def states(folder: Path) -> Job:
    """Return the job of a build with very frequent checkpoints, which may stay after a failure."""
    return _builder(folder, "--save-state", "0.000001", may_stay=".state")


def dump(folder: Path) -> Job:
    """Return the job of dumping a table as an archive of columns: a complete file, or none."""
    _builder(folder)
    out = folder / "out"
    words = ("--rules", "wxf", "--tables", folder / "tables", "--format", "npz")

    def reset() -> None:
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()

    def check(ended: Ended) -> str | None:
        names = sorted(path.name for path in out.iterdir())
        whole = ["rows.npz"]
        return None if names == whole or (ended.status != OK and not names) else f"{names}"

    return Job(tbgen("dump", "KRK", *words, "--out", out / "rows.npz"), out, reset, check, (out,))


def pack(folder: Path) -> Job:
    """Return the job of writing a win-draw-loss file beside its table."""
    return _deriver(folder, "pack", "KRK", "--rules", "wxf")


def verify(folder: Path) -> Job:
    """Return the job of proving a table; if the certificate cannot be written, a note says so."""
    return _deriver(folder, "verify", "KRK", "--rules", "wxf")


def index(folder: Path) -> Job:
    """Return the job of writing the index of a directory."""
    return _deriver(folder, "index")


def _deriver(folder: Path, *words: str) -> Job:
    """Return the job of a command that writes files beside a copy of the tables.

    If the command succeeds, each file of an undisturbed run must exist, or be named in a note.
    """
    _builder(folder)
    tables, directory = folder / "tables", folder / "derived"
    command = tbgen(*words, "--tables", directory)

    def reset() -> None:
        shutil.rmtree(directory, ignore_errors=True)
        shutil.copytree(tables, directory)

    reset()
    _succeed(command)
    # A certificate has the time of its proof, so only its name is compared.
    names, expected = {path.name for path in directory.iterdir()}, tables_of(directory)
    whole = _directory_check(directory, expected)

    def check(ended: Ended) -> str | None:
        notes = [line for line in ended.stderr.splitlines() if line.startswith("note: ")]
        missing = names - {path.name for path in directory.iterdir()}
        unsaid = [name for name in missing if not any(name in note for note in notes)]
        return whole(ended) or (f"{unsaid} are missing" if unsaid and ended.status == OK else None)

    return Job(command, directory, reset, check, (directory,))


def fetch(folder: Path) -> Job:
    """Return the job of fetching tables; received bytes may stay for the next fetch."""
    _builder(folder)
    tables, directory = folder / "tables", folder / "fetched"
    _succeed(tbgen("index", "--tables", tables, "--no-values"))

    def reset() -> None:
        shutil.rmtree(directory, ignore_errors=True)

    command = tbgen("fetch", "KRKN", "--rules", "wxf", "--from", tables, "--tables", directory)
    check = _directory_check(directory, tables_of(tables), may_stay=".part")
    return Job(command, directory, reset, check, (directory,))


def kernels(folder: Path) -> Job:
    """Return the job of a build with a kernel cache on the broken disk.

    Faults occur in the cache only, which a build can do without.
    """
    job = _builder(folder, of=("KRK", "none"))
    found = find_kernel_folder()
    if found is None:
        sys.exit("there is no cache of kernels that could be damaged")
    filled, cache = folder / "filled", folder / "kernels"
    shutil.copytree(found, filled)
    _succeed(job.command, {"NUMBA_CACHE_DIR": str(filled)})

    def reset() -> None:
        job.reset()
        shutil.rmtree(cache, ignore_errors=True)
        # Hard links, since no command may write into a file of the cache.
        shutil.copytree(filled, cache, copy_function=os.link)

    environment = {"NUMBA_CACHE_DIR": str(cache), "TMPDIR": str(folder)}
    touched = *job.touched, cache
    return Job(job.command, cache, reset, job.check, touched, environment, loads=True)


JOBS = {
    "build": build, "paging": paging, "states": states, "dump": dump, "pack": pack,
    "verify": verify, "index": index, "fetch": fetch, "kernels": kernels,
}  # fmt: skip

PARTS: dict[str, Part] = {
    **{name: functools.partial(inject, make) for name, make in JOBS.items()},
    "paging": inject_paging, "ways": ways,
}  # fmt: skip

if __name__ == "__main__":
    main("disks", __doc__, PARTS, 2000)
