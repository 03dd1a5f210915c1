"""Kill builders, packers, verifiers, dumps and servers at random moments; nothing is lost or stays.

A try is one process and one of KILL, TERM and INT, at a moment drawn evenly from the time that it
takes undisturbed. After each, every table that was finished is as it was, and a process that was
stopped (not killed) has said so and has left nothing. In the end of each round one undisturbed
build must come to the digests of a directory that nobody disturbed, with no stranger beside them.

    builder     one, or two on one directory of which one is hit
    parallel    `build --jobs 2`: the command itself, or any process that it has started
    compiling   a builder with an empty cache of kernels (one round of eight: it takes long)
    packer      of win-draw-loss files, beside the tables that they come from
    verifier, dump, server    none of them may change the tables

    python scripts/reliability/kills.py --count 500 --seed 1
"""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from campaign import (
    INTERRUPTED,
    OK,
    Budget,
    Ended,
    Started,
    Tally,
    complaint,
    contents,
    main,
    run,
    strangers,
    tables_of,
    tbgen,
)

MATERIAL = "KRKN"
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
ROUND = 4
"""Kills of builders in one directory before it is built to the end."""

LAST_WORD = re.compile(r"^(\d+)/\1 .* in [0-9.]+ s$| positions of ")
"""What a build or a dump says when all is done: a stop after that meets no program any more."""

COMPILING_EVERY = 8
"""Rounds of which one has no compiled kernels to begin with."""


class Site:
    """The commands of a campaign, how long each takes, and what a build comes to."""

    def __init__(self, folder: Path, rng: random.Random) -> None:
        self.folder, self.rng = folder, rng
        self.finished = folder / "finished"
        self.seconds = {}
        for _ in range(2):  # the first time, kernels may be compiled
            self._remember("build", run(self.build(self.finished, "--force")))
        self._remember("parallel", run(self.build(folder / "parallel", "--jobs", "2")))
        self._remember("verify", run(self.verify()))
        self._remember("dump", run(self.dump(folder / "timed.npy")))
        self.seconds["serve"] = 1.5
        self.expected = tables_of(self.finished)
        packed = self.with_tables(folder / "packed")
        self._remember("pack", run(self.pack(packed)))
        self.packed = tables_of(packed)

    def _remember(self, name: str, ended: Ended) -> None:
        if ended.status != OK:
            sys.exit(f"{name} fails undisturbed: {ended.stderr}")
        self.seconds[name] = ended.seconds

    def build(self, directory: Path, *options: str) -> list[str | bytes]:
        """Three tables, under the rules that need every kernel."""
        return tbgen("build", MATERIAL, "--rules", "wxf", "--tables", directory, *options)

    def verify(self) -> list[str | bytes]:
        """A proof of the largest of them."""
        return tbgen("verify", MATERIAL, "--tables", self.finished, "--rules", "wxf")

    def dump(self, out: Path) -> list[str | bytes]:
        """All its rows into an array, and a description beside it."""
        words = ("--tables", self.finished, "--rules", "wxf", "--format", "npy", "--out", out)
        return tbgen("dump", MATERIAL, *words)

    def pack(self, directory: Path) -> list[str | bytes]:
        """Win-draw-loss files of all tables of a directory."""
        return tbgen("pack", "--men", "4", "--rules", "wxf", "--tables", directory)

    def with_tables(self, directory: Path) -> Path:
        """A new directory that has the tables, and nothing else."""
        directory.mkdir()
        for name in self.expected:
            shutil.copyfile(self.finished / name, directory / name)
        return directory

    def serve(self) -> list[str | bytes]:
        """A server of the tables."""
        return tbgen("serve", "--tables", self.finished, "--rules", "wxf", "--port", "0",
                     "--no-open")  # fmt: skip


def hit(tally: Tally, site: Site, name: str, process: Started, seconds: float) -> None:
    """Stop a process at a random moment, and look at how it ends."""
    number = site.rng.choice(SIGNALS)
    moment = site.rng.uniform(0, seconds)
    time.sleep(moment)
    send(number, process.process.pid)
    look(tally, name, number, moment, process.wait())


def send(number: signal.Signals, pid: int) -> None:
    """Send a signal; not by `Popen.send_signal`, which would reap what has ended already."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def look(tally: Tally, name: str, number: signal.Signals, moment: float, ended: Ended) -> None:
    """How a process ended that was sent a signal: with a word, if it could say one."""
    tally.count("kills")
    tally.count(f"kills of {name} by {number.name}")
    if ended.status == OK:
        tally.count("kills that came too late")
        return
    if number == signal.SIGKILL:
        return
    if not reached_the_program(ended, number):
        tally.count("stops before or after the program")
        return
    wrong = complaint(ended, [INTERRUPTED])
    tally.expect(wrong is None, f"{name}, {number.name} after {moment:.2f} s: {wrong}")


def reached_the_program(ended: Ended, number: signal.Signals) -> bool:
    """Whether a stop came while the program ran, and not the interpreter before or after it.

    Without a handler a signal ends a process without a word, and Python has its own for Ctrl-C.
    """
    frames = re.findall(r'File "[^"]*/tbgen/([^"]+)"', ended.stderr)
    if ended.stderr.rstrip().endswith("KeyboardInterrupt"):
        return any(name != "__init__.py" for name in frames)
    said = ended.stderr.splitlines()[-1:]
    return ended.status != -number or not all(map(LAST_WORD.search, said))


def kept(tally: Tally, site: Site, directory: Path, before: dict[str, str], what: str) -> None:
    """Tables that were there are there, and all that are there are right."""
    now = tables_of(directory)
    tally.expect(before.items() <= now.items(), f"{what}: a finished table is lost or changed")
    tally.expect(now.items() <= site.expected.items(), f"{what}: a table is wrong")
    tally.count("tables looked at", len(now))


def builders(tally: Tally, site: Site, budget: Budget, directory: Path) -> None:
    """Hit builders in one directory a few times, then let one come to its end."""
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


def families(tally: Tally, site: Site, budget: Budget, directory: Path) -> None:
    """Hit a parallel build, or one of its processes; then let one come to its end."""
    for _ in budget.take_up_to(ROUND):
        before = tables_of(directory)
        number = site.rng.choice(SIGNALS)
        moment = site.rng.uniform(0, site.seconds["parallel"])
        process = Started(site.build(directory, "--jobs", "2"))
        time.sleep(moment)
        parent = process.process.pid
        family = [parent, *descendants(parent)]
        struck = site.rng.choice(family)
        send(number, struck)
        ended = process.wait()
        if struck == parent:
            look(tally, "parallel build", number, moment, ended)
        else:
            tally.count("kills")
            tally.count(f"kills of a worker by {number.name}")
            wrong = complaint(ended, [OK])
            tally.expect(wrong is None, f"worker, {number.name} after {moment:.2f} s: {wrong}")
        alive = still_there(family[1:])
        tally.expect(not alive, f"parallel build: processes {alive} outlive it")
        kept(tally, site, directory, before, "parallel build")
    last_build(tally, site, directory)


def descendants(parent: int) -> list[int]:
    """The processes that a process has started, and those that they have."""
    found: list[int] = []
    for children in Path(f"/proc/{parent}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in map(int, children.read_text().split()):
                found += [child, *descendants(child)]
    return found


def still_there(pids: list[int], patience: float = 5.0) -> list[int]:
    """Those of some processes that run, after some patience."""
    until = time.monotonic() + patience
    while True:
        left = [pid for pid in pids if is_running(pid)]
        if not left or time.monotonic() > until:
            return left
        time.sleep(0.05)


def is_running(pid: int) -> bool:
    """Whether a process is there, and not merely waiting to be reaped."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def last_build(tally: Tally, site: Site, directory: Path, cache: Path | None = None) -> None:
    """An undisturbed build: it ends well, with the right tables and nothing beside them."""
    environment = {} if cache is None else {"NUMBA_CACHE_DIR": str(cache)}
    wrong = complaint(run(site.build(directory), environment=environment), [OK])
    tally.expect(wrong is None, f"the build after: {wrong}")
    tally.expect(tables_of(directory) == site.expected, "the build after: other tables")
    left = strangers(directory)
    tally.expect(not left, f"the build after leaves {left}")
    tally.count("bytes left", sum((directory / name).stat().st_size for name in left))
    tally.count("builds after")


def compiling(tally: Tally, site: Site, budget: Budget, directory: Path) -> None:
    """Hit a builder whose kernels are not compiled; the next one compiles what is missing."""
    cache = directory.with_name("kernels")
    for _ in budget.take_up_to(2):
        command = site.build(directory)
        process = Started(command, environment={"NUMBA_CACHE_DIR": str(cache)})
        hit(tally, site, "compiler", process, 30.0)
        alive = outlived(cache)
        tally.expect(not alive, f"compiler: processes {alive} outlive it")
    last_build(tally, site, directory, cache)


def outlived(cache: Path, patience: float = 5.0) -> list[int]:
    """Processes that still compile into a folder of a cache, after some patience."""
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
    """Hit packers in one directory a few times, then let one come to its end."""
    site.with_tables(directory)
    for _ in budget.take_up_to(ROUND // 2):
        hit(tally, site, "packer", Started(site.pack(directory)), site.seconds["pack"])
        now = tables_of(directory)
        tally.expect(site.expected.items() <= now.items(), "packer: a table is lost or changed")
        tally.expect(now.items() <= site.packed.items(), "packer: a file is wrong")
    wrong = complaint(run(site.pack(directory)), [OK])
    tally.expect(wrong is None, f"the packer after: {wrong}")
    tally.expect(tables_of(directory) == site.packed, "the packer after: other files")
    left = strangers(directory)
    tally.expect(not left, f"the packer after leaves {left}")


def readers(tally: Tally, site: Site, budget: Budget, folder: Path) -> None:
    """Hit processes that only read tables: the directory stays as it is, to the byte."""
    before = contents(site.finished)
    out = folder / "rows.npy"
    commands = {"dump": site.dump(out), "verify": site.verify(), "serve": site.serve()}
    for _ in budget.take_up_to(ROUND // 2):
        name = site.rng.choice(list(commands))
        hit(tally, site, name, Started(commands[name]), site.seconds[name])
        tally.expect(contents(site.finished) == before, f"{name}: the directory has changed")
    wrong = complaint(run(site.dump(out)), [OK])
    tally.expect(wrong is None, f"the dump after: {wrong}")
    rows = sorted(path.name for path in folder.iterdir() if path.is_file())
    tally.expect(rows == ["rows.npy", "rows.npy.json"], f"the dump after: {rows}")


def processes(tally: Tally, budget: Budget, seed: int) -> None:
    """Rounds of builders, of one process or several, with packers and readers in between."""
    with tempfile.TemporaryDirectory(prefix="tbgen-kills-") as name:
        site = Site(Path(name), random.Random(seed))
        for number in itertools.count(1):
            folder = Path(name) / f"round{number}"
            folder.mkdir()
            if number % COMPILING_EVERY == 0:
                compiling(tally, site, budget, folder / "tables")
            elif number % 2:
                builders(tally, site, budget, folder / "tables")
            else:
                families(tally, site, budget, folder / "tables")
            packers(tally, site, budget, folder / "packed")
            readers(tally, site, budget, folder)
            if budget.spent:
                return


PARTS = {"processes": processes}

if __name__ == "__main__":
    main("kills", __doc__, PARTS, 500)
