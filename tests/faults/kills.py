"""Kill builders, packers, verifiers, dumps and servers at random moments; no data is lost or left.

A try is one process and one of the signals KILL, TERM and INT, at a moment drawn uniformly from the
undisturbed run time of the process. After each try every finished table is unchanged. A process
stopped by TERM or INT has reported it, except a server by TERM. At the end of each round (some
tries in one directory) an undisturbed run must give the digests of an undisturbed directory, and no
other files.

    builder     one, or two in one directory, of which one gets the signal
    compiling   a builder with an empty kernel cache (one round of eight: it takes long)
    packer      of win-draw-loss files, beside their tables
    index, fetch    write an index, or fetch from a directory with an index
    verifier, dump, server    none of them may change the tables

The part `boards` stops servers that build (`serve --demo`), in one directory per round: finished
tables stay and are right, and no builder outlives its server.

The part `sets` builds a set in one process, in two, or on two dask workers (the extra `cluster`),
with checkpoints as often as possible. KILL is sent to the builder or to one of its processes. If
the builder is killed, the next try resumes its build. If another process is killed, the build goes
on, and only the table of that process is delayed. Without the extra there are no dask workers and
no figures for them.

    python -m tests.faults.kills --count 500 --seed 1
    python -m tests.faults.kills --count 50 --only sets
"""

from __future__ import annotations

import contextlib
import importlib.util
import itertools
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

from tbgen.cli.workshop import FIRST_SET, RULES_MATERIAL
from tests.faults.campaign import (
    OK,
    REFUSED,
    Budget,
    Ended,
    Started,
    Tally,
    complaint,
    contents,
    main,
    run,
    tables_of,
    tbgen,
    unknown_files,
)
from tests.faults.killing import SIGNALS, alive_after, check_end, descendants, send

MATERIAL = "KRKN"
ROUND = 4
"""Largest number of signals in one directory before an undisturbed build completes it."""

SET = ("KRKNA", "KNKC")
"""Materials of a build of a set: with their supporting tables seven tables, of which one takes a
second.
"""

SAVED = ("--save-state", "0.000001")

WAYS = [("--jobs", "1"), ("--jobs", "2"), ("--jobs", "2")]
"""Options of `tbgen build` for a set, drawn uniformly; a repeated entry is more frequent."""

if importlib.util.find_spec("distributed"):
    WAYS.append(("--dask", "local:2"))

COMPILING_EVERY = 8
"""One round in this many starts with an empty kernel cache."""


class Site:
    """Finished tables for comparison, and the run time of each command without signals.

    `finished` is the directory of the tables. `expected` has the digests of the tables by file
    name, `packed` also those of their win-draw-loss files. `listed` is a directory with an index,
    from which `fetch` reads. `seconds` has run times by command.
    """

    def __init__(self, folder: Path, rng: random.Random) -> None:
        self.folder, self.rng = folder, rng
        self.finished = folder / "finished"
        self.seconds = {}
        for _ in range(2):  # the first time, kernels may be compiled
            self._remember("build", run(self.build(self.finished, "--force")))
        self._remember("verify", run(self.verify()))
        self._remember("dump", run(self.dump(folder / "timed.npz")))
        self.seconds["serve"] = 1.5
        self.expected = tables_of(self.finished)
        packed = self.with_tables(folder / "packed")
        self._remember("pack", run(self.pack(packed)))
        self.packed = tables_of(packed)
        self.listed = self.with_tables(folder / "listed")
        self._remember("index", run(self.index(self.listed)))
        self._remember("fetch", run(self.fetch(self.listed, folder / "timed")))

    def _remember(self, name: str, ended: Ended) -> None:
        if ended.status != OK:
            sys.exit(f"{name} fails undisturbed: {ended.stderr}")
        self.seconds[name] = ended.seconds

    def build(self, directory: Path, *options: str) -> list[str | bytes]:
        """Return the command that builds three tables, under rules that need every kernel."""
        return tbgen("build", MATERIAL, "--rules", "wxf", "--tables", directory, *options)

    def verify(self) -> list[str | bytes]:
        """Return the command that proves the largest of the three tables."""
        return tbgen("verify", MATERIAL, "--tables", self.finished, "--rules", "wxf")

    def dump(self, out: Path) -> list[str | bytes]:
        """Return the command that dumps all rows of the largest table as an archive of columns."""
        words = ("--tables", self.finished, "--rules", "wxf", "--format", "npz", "--out", out)
        return tbgen("dump", MATERIAL, *words)

    def pack(self, directory: Path) -> list[str | bytes]:
        """Return the command that writes win-draw-loss files of all tables of a directory."""
        return tbgen("pack", "--men", "4", "--rules", "wxf", "--tables", directory)

    def index(self, directory: Path) -> list[str | bytes]:
        """Return the command that writes the index of a directory."""
        return tbgen("index", "--tables", directory)

    def fetch(self, source: Path, directory: Path) -> list[str | bytes]:
        """Return the command that fetches all tables from the directory `source`, by its index."""
        words = ("--rules", "wxf", "--from", source, "--tables", directory)
        return tbgen("fetch", MATERIAL, *words)

    def with_tables(self, directory: Path) -> Path:
        """Copy the finished tables, and no other files, into a new directory, and return it."""
        directory.mkdir()
        for name in self.expected:
            shutil.copyfile(self.finished / name, directory / name)
        return directory

    def serve(self) -> list[str | bytes]:
        """Return the command that serves the tables."""
        return tbgen("serve", "--tables", self.finished, "--rules", "wxf", "--port", "0",
                     "--no-open")  # fmt: skip


def hit(tally: Tally, site: Site, name: str, process: Started, seconds: float) -> None:
    """Send a random signal of `SIGNALS` to a process at a random moment, and check how it ends.

    name : kind of the process, for findings
    seconds : usual run time of the process; the moment lies within it
    """
    number = site.rng.choice(SIGNALS)
    moment = site.rng.uniform(0, seconds)
    time.sleep(moment)
    send(number, process.process.pid)
    check_end(tally, name, number, moment, process.wait())


def kept(tally: Tally, site: Site, directory: Path, before: dict[str, str], what: str) -> None:
    """Check that the tables finished before a signal are unchanged, and that all tables are right.

    before : digests of the tables that were finished before the signal, by file name
    what : name of the try, for findings
    """
    now = tables_of(directory)
    tally.expect(before.items() <= now.items(), f"{what}: a finished table is lost or changed")
    tally.expect(now.items() <= site.expected.items(), f"{what}: a table is wrong")
    tally.count("tables looked at", len(now))


def builders(tally: Tally, site: Site, budget: Budget, directory: Path) -> None:
    """Send signals to builders in one directory, one by one; then let a last build finish."""
    for _ in budget.take_up_to(ROUND):
        before = tables_of(directory)
        beside = Started(site.build(directory)) if site.rng.random() < 0.25 else None
        hit(tally, site, "builder", Started(site.build(directory)), site.seconds["build"])
        if beside is not None:
            tally.count("builders beside")
            wrong = complaint(beside.wait(), [OK])
            tally.expect(wrong is None, f"the builder beside: {wrong}")
        kept(tally, site, directory, before, "builder")
    last_build(tally, site, directory)


def last_build(tally: Tally, site: Site, directory: Path, cache: Path | None = None) -> None:
    """Check that an undisturbed build gives the right tables and no other files.

    cache : kernel cache of the build; None for the default
    """
    environment = {} if cache is None else {"NUMBA_CACHE_DIR": str(cache)}
    wrong = complaint(run(site.build(directory), environment=environment), [OK])
    tally.expect(wrong is None, f"the build after: {wrong}")
    tally.expect(tables_of(directory) == site.expected, "the build after: other tables")
    left = unknown_files(directory)
    tally.expect(not left, f"the build after leaves {left}")
    tally.count("bytes left", sum((directory / name).stat().st_size for name in left))
    tally.count("builds after")


def compiling(tally: Tally, site: Site, budget: Budget, directory: Path) -> None:
    """Send signals to builders that compile their kernels; then let a last build finish."""
    cache = directory.with_name("kernels")
    for _ in budget.take_up_to(2):
        command = site.build(directory)
        process = Started(command, environment={"NUMBA_CACHE_DIR": str(cache)})
        hit(tally, site, "compiler", process, 30.0)
        alive = outlived(cache)
        tally.expect(not alive, f"compiler: processes {alive} outlive it")
    last_build(tally, site, directory, cache)


def outlived(cache: Path, patience: float = 5.0) -> list[int]:
    """Return the ids of processes that are still alive with `cache` as their kernel cache.

    Waits up to `patience` seconds for them to end. Processes are recognized by `NUMBA_CACHE_DIR`.
    """
    sought = f"NUMBA_CACHE_DIR={cache}".encode()
    until = time.monotonic() + patience
    while True:
        found = []
        for entry in Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):
                if sought in entry.read_bytes():
                    found.append(int(entry.parent.name))
        if not found or time.monotonic() > until:
            return found
        time.sleep(0.05)


def packers(tally: Tally, site: Site, budget: Budget, directory: Path) -> None:
    """Send signals to processes that write win-draw-loss files; then let a last one finish.

    The processes run one after another in one directory.
    """
    site.with_tables(directory)
    for _ in budget.take_up_to(ROUND // 2):
        hit(tally, site, "packer", Started(site.pack(directory)), site.seconds["pack"])
        now = tables_of(directory)
        tally.expect(site.expected.items() <= now.items(), "packer: a table is lost or changed")
        tally.expect(now.items() <= site.packed.items(), "packer: a file is wrong")
    wrong = complaint(run(site.pack(directory)), [OK])
    tally.expect(wrong is None, f"the packer after: {wrong}")
    tally.expect(tables_of(directory) == site.packed, "the packer after: other files")
    left = unknown_files(directory)
    tally.expect(not left, f"the packer after leaves {left}")


def publishers(tally: Tally, site: Site, budget: Budget, folder: Path) -> None:
    """Send signals to processes that write an index or fetch; then let one of each finish."""
    mirror, fetched = site.with_tables(folder / "mirror"), folder / "fetched"
    commands = {"index": site.index(mirror), "fetch": site.fetch(site.listed, fetched)}
    for _ in budget.take_up_to(ROUND // 2):
        name = site.rng.choice(list(commands))
        hit(tally, site, name, Started(commands[name]), site.seconds[name])
        tally.expect(tables_of(mirror) == site.expected, f"{name}: the mirror has changed")
        now = tables_of(fetched)
        tally.expect(now.items() <= site.expected.items(), f"{name}: a fetched table is wrong")
    for name, command in commands.items():
        wrong = complaint(run(command), [OK])
        tally.expect(wrong is None, f"the {name} after: {wrong}")
    tally.expect(contents(mirror) == contents(site.listed), "the index after: another one")
    tally.expect(contents(fetched) == site.expected, "the fetch after: other files")
    for directory in (mirror, fetched):
        left = unknown_files(directory)
        tally.expect(not left, f"{directory.name}: {left} stay")


def readers(tally: Tally, site: Site, budget: Budget, folder: Path) -> None:
    """Send signals to dumps, verifiers and servers; the tables must stay unchanged."""
    out = folder / "rows.npz"
    commands = {"dump": site.dump(out), "verify": site.verify(), "serve": site.serve()}
    for _ in budget.take_up_to(ROUND // 2):
        name = site.rng.choice(list(commands))
        before = contents(site.finished)
        hit(tally, site, name, Started(commands[name]), site.seconds[name])
        if name != "verify":
            tally.expect(contents(site.finished) == before, f"{name}: the directory has changed")
            continue
        # The next proof replaces a certificate, complete or not.
        wrong = complaint(run(commands[name]), [OK])
        tally.expect(wrong is None, f"the verifier after: {wrong}")
        tally.expect(tables_of(site.finished) == site.expected, "verify: a table has changed")
        left = unknown_files(site.finished)
        tally.expect(not left, f"the verifier after leaves {left}")
    wrong = complaint(run(site.dump(out)), [OK])
    tally.expect(wrong is None, f"the dump after: {wrong}")
    rows = sorted(path.name for path in folder.iterdir() if path.is_file())
    tally.expect(rows == ["rows.npz"], f"the dump after: {rows}")


def processes(tally: Tally, budget: Budget, seed: int) -> None:
    """Run rounds of signals to builders, packers, publishers (index, fetch), and readers."""
    with tempfile.TemporaryDirectory(prefix="tbgen-kills-") as name:
        site = Site(Path(name), random.Random(seed))
        for number in itertools.count(1):
            folder = Path(name) / f"round{number}"
            folder.mkdir()
            if number % COMPILING_EVERY:
                builders(tally, site, budget, folder / "tables")
            else:
                compiling(tally, site, budget, folder / "tables")
            packers(tally, site, budget, folder / "packed")
            publishers(tally, site, budget, folder)
            readers(tally, site, budget, folder)
            if budget.spent:
                return


def build_of_set(directory: Path, *how: str) -> list[str | bytes]:
    """Return the command that builds the set of materials `SET` with more options, `how`."""
    words = ("--rules", "wxf", "--tables", directory, *SAVED, *how)
    return tbgen("build", *SET, *words)


def sets(tally: Tally, budget: Budget, seed: int) -> None:
    """Run rounds of builds of `SET`, killed one after another in a directory until one finishes."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="tbgen-sets-") as name:
        finished = Path(name) / "finished"
        for _ in range(2):  # the first time, kernels may be compiled
            ended = run(build_of_set(finished, "--force"))
            if ended.status != OK:
                sys.exit(f"the set fails undisturbed: {ended.stderr}")
        expected = tables_of(finished)
        for number in itertools.count(1):
            directory = Path(name) / f"round{number}"
            while budget.take() and not killed_once(tally, rng, directory, ended.seconds):
                now = tables_of(directory)
                tally.expect(now.items() <= expected.items(), "a table of the set is wrong")
            wrong = complaint(run(build_of_set(directory)), [OK])
            tally.expect(wrong is None, f"the build after: {wrong}")
            tally.expect(tables_of(directory) == expected, "the build after: other tables")
            tally.expect(not unknown_files(directory), f"left: {unknown_files(directory)}")
            tally.count("rounds")
            if budget.spent:
                return


def killed_once(tally: Tally, rng: random.Random, directory: Path, seconds: float) -> bool:
    """Build a set, and kill the builder or one of its processes; return whether the build finished.

    The moment lies in the first `seconds`, or shortly after a checkpoint.
    """
    way = rng.choice(WAYS)
    before = tables_of(directory)
    builder = Started(build_of_set(directory, *way))
    pid = builder.process.pid
    if rng.random() < 0.5:
        # Most of the run time is spent outside of building: wait until a table is being built.
        until_saved(directory, pid)
        time.sleep(rng.uniform(0, 0.3))
    else:
        time.sleep(rng.uniform(0, seconds))
    others = descendants(pid)
    victim = rng.choice([pid, *others])
    saved = any(directory.glob(".*.state"))
    with contextlib.suppress(ProcessLookupError):
        os.kill(victim, signal.SIGKILL)
    ended = builder.wait()
    tally.count("kills")
    tally.count(f"kills of {'a builder' if victim == pid else 'its processes'}, {way[0]}")
    tally.count("kills that came too late", victim == pid and ended.status == OK)
    tally.count("kills beside a saved state", saved)
    if victim == pid:
        ended_so = ended.status in (OK, -signal.SIGKILL)
        tally.expect(ended_so, f"{' '.join(way)}: it ended by itself: {complaint(ended, [])}")
    else:
        # A dask worker that is killed while it starts is an error of one line.
        wrong = complaint(ended, [OK, REFUSED] if way[0] == "--dask" else [OK])
        tally.expect(wrong is None, f"{' '.join(way)}, one of its processes killed: {wrong}")
    alive = alive_after(others)
    tally.expect(not alive, f"{' '.join(way)}: processes {alive} outlive the builder")
    now = tables_of(directory)
    tally.expect(before.items() <= now.items(), "a finished table of the set is lost or changed")
    return ended.status == OK


def until_saved(directory: Path, pid: int) -> None:
    """Wait until a new checkpoint of some table is saved, or the builder has ended."""

    def saved() -> set[tuple[str, int]]:
        found = set()
        for path in directory.glob(".*.state"):
            with contextlib.suppress(FileNotFoundError):
                found.add((path.name, path.stat().st_mtime_ns))
        return found

    before = saved()
    while saved() <= before:
        # Without reaping the builder: `Started.wait` does that.
        if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
            return
        time.sleep(0.002)


def boards(tally: Tally, budget: Budget, seed: int) -> None:
    """Run rounds of servers that build in one directory, each stopped at a random moment."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="tbgen-boards-") as name:
        finished = Path(name) / "finished"
        for _ in range(2):  # the first time, kernels may be compiled
            ended = run(tbgen("build", *FIRST_SET, "--tables", finished, "--force"))
            if ended.status != OK:
                sys.exit(f"the set fails undisturbed: {ended.stderr}")
        expected = tables_of(finished)
        for number in itertools.count(1):
            directory = Path(name) / f"round{number}"
            for _ in budget.take_up_to(ROUND):
                _stop_a_board(tally, rng, directory, ended.seconds)
                now = tables_of(directory)
                known = {table: digest for table, digest in now.items() if table in expected}
                tally.expect(known.items() <= expected.items(), "a table of a board is wrong")
            wrong = complaint(run(tbgen("build", *FIRST_SET, "--tables", directory)), [OK])
            tally.expect(wrong is None, f"the build after: {wrong}")
            tally.expect(expected.items() <= tables_of(directory).items(), "a table is missing")
            # The last table of a demo takes long, and is not built in the end.
            left = [
                entry
                for entry in unknown_files(directory)
                if not entry.startswith(f".{RULES_MATERIAL}.")
            ]
            tally.expect(not left, f"left: {left}")
            tally.count("rounds")
            if budget.spent:
                return


def _stop_a_board(tally: Tally, rng: random.Random, directory: Path, seconds: float) -> None:
    """Start a server that builds tables, stop it within `seconds`, and check its builders' end."""
    command = tbgen("serve", "--demo", "--tables", directory, "--port", "0", "--no-open")
    number, moment, before = rng.choice(SIGNALS), rng.uniform(0, seconds), tables_of(directory)
    server = Started(command)
    time.sleep(moment)
    others = descendants(server.process.pid)
    send(number, server.process.pid)
    check_end(tally, "board", number, moment, server.wait())
    alive = alive_after(others)
    tally.expect(not alive, f"board, {number.name}: processes {alive} outlive it")
    tally.expect(before.items() <= tables_of(directory).items(), "a finished table is lost")


PARTS = {"processes": processes, "sets": sets, "boards": boards}

if __name__ == "__main__":
    main("kills", __doc__, PARTS, 500)
