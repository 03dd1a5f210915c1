"""Building tables: each material of a closure, bottom-up, solved, counted and written.

A finished file is never touched again (unless forced), and an unfinished one has no name yet:
so an interrupted build continues where it stopped. Builds that share a directory lock the table
that each works on, and use what the other finished.

    auto metric    DTM if it fits a byte and all supporting tables have it, else DTC
    a table        wider codes where a byte does not hold the distances; nothing saturates
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from tbgen.build.plan import MemoryNeed, code_spaces, has_orders, memory_needed
from tbgen.indexing.material import Material
from tbgen.indexing.squares import Side
from tbgen.retrograde.storage import DiskStorage, Storage
from tbgen.tables.codes import CodeSpace, LimitExceededError
from tbgen.tables.errors import TablebaseError
from tbgen.tables.header import TableSpec
from tbgen.tables.names import Metric, Rules, RuleSet, TableName, write_build_record
from tbgen.tables.reader import TableFile
from tbgen.tables.statistics import TableStatistics, longest_codes
from tbgen.tables.writer import write_table

if TYPE_CHECKING:
    from tbgen.retrograde.solve import Solution

_MARGIN = 1.1
"""A table may need more than was planned; what was asked for is a promise."""


class NotEnoughMemoryError(TablebaseError):
    """A table does not fit in memory, even with its arrays on disk; facts as attributes, bytes.

    `needed` is the least that would do.
    """

    def __init__(self, material: str, needed: int, available: int) -> None:
        self.material = material
        self.needed = needed
        self.available = available
        super().__init__(
            f"{material} needs at least {_size(needed)} of memory to build, with its arrays on "
            f"disk, and may use {_size(available)}"
        )


class Progress(Protocol):
    """Who wants to know how a build goes on."""

    def table(self, number: int, total: int, name: TableName, finished: bool) -> None:
        """A table is begun, or found finished."""

    def phase(self, name: str, order: int, plies: int, settled: int) -> None:
        """A phase of the table at hand, and how many positions it settled."""

    def written(self, name: TableName, size: int, seconds: float) -> None:
        """A table has been written."""


@dataclass
class Builder:
    """Builds tables of one rule set into one directory.

    `orders` and `minor_chases` are those of `RuleSet`, `memory` the bytes used at once (0: what
    the machine has available). A table that needs more has its arrays on disk while it is solved,
    in files without names in `directory`; its bytes are the same.
    """

    directory: Path
    rules: Rules
    progress: Progress
    orders: int = 0
    threads: int = 2
    memory: int = 0
    force: bool = False
    minor_chases: bool = True
    _files: dict[str, TableFile] = field(default_factory=dict)
    _forced: set[str] = field(default_factory=set)

    def build(self, materials: list[Material], metric: Metric | None = None) -> None:
        """Build the closure of some materials; `metric` (None: auto) is for these alone.

        Raises `NotEnoughMemoryError`, `OSError`, `CorruptTableError`, and
        `LimitExceededError` where not even the widest codes hold a distance.
        """
        self.directory.mkdir(parents=True, exist_ok=True)
        wanted = {material.name for material in materials}
        closure: dict[str, Material] = {}
        for material in materials:
            for child in material.closure():
                closure.setdefault(child.name, child)
        ordered = sorted(closure.values(), key=lambda m: (m.men, m.name))
        for number, material in enumerate(ordered, 1):
            own_metric = metric if material.name in wanted else None
            with self._lock(material):
                finished = self._finished(material, own_metric)
                name = self._name(material, finished or own_metric or Metric.DTM)
                rebuild = self.force and material.name in wanted
                done = finished is not None and not rebuild
                self.progress.table(number, len(ordered), name, done)
                if not done:
                    self._build_table(material, own_metric)

    def _name(self, material: Material, metric: Metric) -> TableName:
        return TableName(material, self.rules, metric, self.orders, self.minor_chases)

    @property
    def rule_set(self) -> RuleSet:
        """What the values of the tables hold under."""
        return RuleSet(self.rules, self.orders, self.minor_chases)

    def _path(self, name: TableName) -> Path:
        return self.directory / name.filename

    def _finished(self, material: Material, metric: Metric | None) -> Metric | None:
        """The metric of a finished table: the one asked for, or any."""
        return finished_table(self.directory, material, self.rule_set, metric)

    def _open(self, material: Material, metric: Metric) -> TableFile:
        """The finished table of a supporting material.

        For a DTM table it must be DTM, and is built so if need be; else any will do.
        """
        found = self._finished(material, metric if metric == Metric.DTM else None)
        if found is None:
            with self._lock(material):
                self._build_table(material, Metric.DTM)
            found = Metric.DTM
        name = self._name(material, found)
        path = self._path(name)
        if path.name not in self._files:
            self._files[path.name] = TableFile(path, name=name)
        return self._files[path.name]

    def _build_table(self, material: Material, metric: Metric | None) -> None:
        """Solve a material in the first metric and codes that hold it, and write its table."""
        choices = self._choices(material, metric)
        self._need(material, choices[0][1])
        self._load_kernels(material, choices[0][1])
        # The record tells what the table cost, not what starting up did.
        started, cpu_started = time.perf_counter(), time.process_time()
        for choice, codes in choices:
            try:
                size = self._solve_and_write(material, choice, codes)
            except LimitExceededError:
                if (choice, codes) == choices[-1]:
                    raise
                continue
            seconds = time.perf_counter() - started
            name = self._name(material, choice)
            cpu_seconds = time.process_time() - cpu_started
            record = {"build_seconds": round(seconds, 4), "cpu_seconds": round(cpu_seconds, 4)}
            write_build_record(self._path(name), record)
            self.progress.written(name, size, seconds)
            return

    def _choices(self, material: Material, metric: Metric | None) -> list[tuple[Metric, CodeSpace]]:
        """The metrics and codes to try in turn."""
        short, long = code_spaces(material, self.rules)
        if metric is not None:
            return [(metric, short), (metric, long)]
        choices = [(Metric.DTC, short), (Metric.DTC, long)]
        children = [m for m in material.captures().values() if m.needs_table]
        if all(self._finished(child, Metric.DTM) for child in children):
            choices.insert(0, (Metric.DTM, short))
        return choices

    def _need(self, material: Material, codes: CodeSpace) -> tuple[MemoryNeed, int]:
        """The memory that a table needs, and what may be used; refuses what is impossible."""
        need = memory_needed(material, codes, self.rules, self.threads)
        available = self.memory or available_memory()
        if need.least > available:
            raise NotEnoughMemoryError(material.name, need.least, available)
        return need, available

    def _storage(self, material: Material, codes: CodeSpace) -> Storage:
        """In memory where that suffices, else on disk, beside the tables."""
        need, available = self._need(material, codes)
        if need.in_memory * _MARGIN <= available:
            return Storage()
        return DiskStorage(self.directory, available - need.working)

    def _load_kernels(self, material: Material, codes: CodeSpace) -> None:
        """Compile or load the kernels; only where something is to be solved."""
        _import_solver()
        from tbgen.retrograde.warm_up import warm_up

        self.progress.phase("compile", 0, 0, 0)
        warm_up(codes.width, self.rules, ordered=has_orders(material, self.rules))

    def _solve_and_write(self, material: Material, metric: Metric, codes: CodeSpace) -> int:
        """One attempt; returns the size of the file."""
        from tbgen.retrograde.encoding import encode
        from tbgen.retrograde.solve import solve

        storage = self._storage(material, codes)
        self._load_kernels(material, codes)
        solution = solve(
            material,
            lambda child: self._open(child, metric),
            rules=self.rules,
            orders=self.orders or None,
            minor_chases=self.minor_chases,
            metric=metric,
            code_space=codes,
            threads=self.threads,
            storage=storage,
            report=self.progress.phase,
        )
        name = self._name(material, metric)
        self.progress.phase("write", 0, 0, 0)
        header = write_table(
            self._path(name), TableSpec(name, codes), solution.codes_from,
            lambda: _statistics(name, solution),
            threads=self.threads, encode=encode,
        )  # fmt: skip
        return header.file_size

    @contextlib.contextmanager
    def _lock(self, material: Material) -> Iterator[None]:
        """Keep other builds off a table; they wait here, and then find it finished."""
        path = self.directory / f".{self._name(material, Metric.DTM)}.lock"
        while True:
            file = open(path, "w")  # noqa: SIM115 - closed below, or when found stale
            fcntl.flock(file, fcntl.LOCK_EX)
            # Whoever held the lock before has removed the file: then this lock guards nothing.
            with contextlib.suppress(FileNotFoundError):
                if path.stat().st_ino == os.fstat(file.fileno()).st_ino:
                    break
            file.close()
        try:
            yield
        finally:
            path.unlink(missing_ok=True)
            file.close()


@cache
def _import_solver() -> None:
    """Import the solver, and the compiler with it, and keep both from the collector of cycles.

    What they hold stays until the end. To look through it for garbage again and again, as it is
    loaded and whenever kernels are, takes a tenth of the processor time of a start.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        import tbgen.retrograde.warm_up  # noqa: F401
    finally:
        gc.freeze()
        if collecting:
            gc.enable()


def _statistics(name: TableName, solution: Solution) -> TableStatistics:
    """The statistics of a table, and positions that show its longest distances."""
    codes, layout = solution.code_space, solution.layout
    histograms = [solution.histogram(side) for side in Side]
    fens = {}
    for side in Side:
        for order, code in longest_codes(histograms[side], codes).items():
            position = layout.position(solution.find(side, code), side)
            assert position is not None
            fens[order, side] = position.fen
    return TableStatistics.from_histograms(
        name, codes, layout.slots, histograms, fens, solution.chase_patterns
    )


def finished_table(
    directory: Path, material: Material, rule_set: RuleSet, metric: Metric | None = None
) -> Metric | None:
    """The metric of a finished table: the one asked for, or any; None if there is none."""
    rules, orders, minor = rule_set.rules, rule_set.orders, rule_set.minor_chases
    assert rules is not None
    for candidate in Metric if metric is None else (metric,):
        name = TableName(material, rules, candidate, orders, minor)
        if (directory / name.filename).exists():
            return candidate
    return None


def available_memory() -> int:
    """The bytes that can be had without swapping."""
    with contextlib.suppress(OSError), open("/proc/meminfo") as file:
        for line in file:
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _size(count: int) -> str:
    """`213 MiB`, rounded up: what is enough."""
    return f"{-(-count // (1 << 20))} MiB"
