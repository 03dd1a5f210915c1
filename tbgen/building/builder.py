"""Build of tables in one process, one after another: solve, count the values, write the file.

    `work`  ->  a task  ->  lock, open supporting tables, solve, write  ->  the next task

A finished file is kept unless `Task.rebuild` is set. A file gets its name when complete, so an
interrupted build continues with the next missing table, or from the last checkpoint of a long one
(`states`). Builds that share a directory divide the work: each locks the table that it builds,
postpones locked tables, and uses finished ones. If the distances of a table exceed its code space
(`work`), it is solved again with the next choice of `work.attempts`.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tbgen.building.states import (
    STATE_SECONDS,
    StateFile,
    remove_older_state,
    remove_state,
    state_path,
)
from tbgen.building.work import Task, attempts, finished_table
from tbgen.indexing.layout import Layout
from tbgen.indexing.material import Material
from tbgen.indexing.rulesets import Rules
from tbgen.indexing.squares import Side
from tbgen.retrograde.memory import MemoryNeed, has_orders, memory_needed
from tbgen.rows.storage import DiskStorage, Storage
from tbgen.rows.workers import Meter
from tbgen.scheduling.queue import Job, Start
from tbgen.scheduling.run import PostponedError
from tbgen.system.allowance import Allowance, usable_memory
from tbgen.system.platform import import_permanently
from tbgen.tables.build_records import build_record_path, write_build_record
from tbgen.tables.codes import CodeSpace, LimitExceededError
from tbgen.tables.errors import MissingTableError, TablebaseError
from tbgen.tables.files import locked, remove_leftovers, remove_part
from tbgen.tables.header import TableSpec
from tbgen.tables.names import Metric, TableName
from tbgen.tables.palettes import Palette
from tbgen.tables.reader import TableFile
from tbgen.tables.rule_sets import RuleSet
from tbgen.tables.statistics import TableStatistics, longest_codes
from tbgen.tables.writer import write_table

if TYPE_CHECKING:
    from tbgen.retrograde.solution import CountedPlanes

MEMORY_MARGIN = 1.1
"""Safety factor for the planned memory of a table, since `--memory` is a strict limit."""

_CODE_ADDRESSES = 512 << 20
_THREAD_ADDRESSES = 72 << 20
"""Bytes of address space that a build needs besides the arrays: for code, and for each thread;
540 MiB were measured for two threads that compile.
"""

COMPILER_BYTES = 272 << 20
"""Minimum memory for compiling kernels in one process: 210 MiB measured, plus the code of LLVM."""

TWO_COMPILERS_BYTES = 512 << 20
"""Minimum memory for compiling kernels in two processes at once, which take 430 MiB together."""

_ON_DISK = "with its arrays on disk"

_REMEDIES = {
    "free memory": "close other programs, or build on a machine with more memory",
    "the requested memory": "allow more by --memory",
}
"""Advice to the user by the name of the tightest limit of memory (`Allowance.limit`)."""


class NotEnoughMemoryError(TablebaseError):
    """Raised if the memory allowed for a build is below the minimum of a table or of the compiler.

    `needed` and `available` are in bytes, of memory or of address space. `limit` names the limit
    that sets `available`; `hint` advises the user.
    """

    def __init__(
        self, material: str, needed: int, available: int, limit: str, *, how: str = _ON_DISK
    ) -> None:
        """Store the facts; `how` is the clause of the message that explains `needed`."""
        self.material = material
        self.needed = needed
        self.available = available
        self.limit = limit
        self.hint = _REMEDIES.get(limit, "raise this limit")
        super().__init__(
            f"{material} needs at least {_size(needed)} of memory to build, {how}, and may use "
            f"{_size(available)} ({limit})"
        )


def require_memory(
    material: str, least: int, allowed: Allowance, rules: Rules, *, ordered: bool
) -> None:
    """Raise `NotEnoughMemoryError` if less memory is `allowed` than a build must have.

    This is `COMPILER_BYTES` if `least` and `allowed` are below it and kernels must still be
    compiled, else `least`. The test for compiled kernels loads the compiler, so it is omitted if
    `least` exceeds what is allowed and the process has less than `COMPILER_BYTES`.

    least : bytes that solving the table takes with its arrays on disk
    ordered : whether the table needs the kernels of orders 1 and above (repetition rules)
    """
    available, how = allowed.memory, _ON_DISK
    loads = least <= available or usable_memory().memory >= COMPILER_BYTES
    if least < COMPILER_BYTES and available < COMPILER_BYTES and loads:
        kernels = import_permanently("tbgen.retrograde.warm_up")
        if not kernels.is_compiled(rules, ordered=ordered):
            least, how = COMPILER_BYTES, "as kernels are still to be compiled"
    if least > available:
        raise NotEnoughMemoryError(material, least, available, allowed.limit, how=how)


@dataclass(frozen=True, slots=True)
class Built:
    """Result of a task: the table, and its cost if it was built now."""

    name: TableName
    size: int | None = None
    """Bytes of the file; None if the table was already finished."""
    seconds: float = 0.0
    """Wall seconds, interrupted builds included; 0 if the table was already finished."""
    resumed_at: tuple[int, int] | None = None
    """Order and plies of the checkpoint from which a worker (`collection.TableBuilder`) resumed the
    build; None if the build began anew, or not in a worker.
    """


def jobs_of(work: Sequence[Task]) -> list[Job]:
    """Convert tasks to jobs, in order; the prerequisites of a job are its supporting tables."""
    return [
        Job(
            task.material.name,
            tuple(child.name for child in task.material.supporting()),
            payload=task,
        )
        for task in work
    ]


class Progress:
    """Receiver of reports on the progress of a build; methods do nothing unless overridden."""

    def table(self, name: TableName, finished: bool) -> None:
        """Called when the build reaches a table; `finished` means that it exists and is kept."""

    def phase(self, name: str, order: int, plies: int, settled: int) -> None:
        """Called when a phase such as "captures" begins, and after each ply of "propagation".

        order, plies : order and distance that the phase has reached; 0 in phases without them. Of
            the phase "resuming" they are those of the checkpoint
        settled : number of positions that were assigned a value since the last call
        """

    def note(self, text: str) -> None:
        """Called with a note on the current table, in one line."""

    def written(self, name: TableName, size: int, seconds: float) -> None:
        """Called when a table has been written: bytes of its file, wall seconds of its build."""


@dataclass
class Builder:
    """Builder of tables of one rule set in one directory; `progress` receives its reports.

    `threads` threads solve a table. `memory` limits the bytes used at once (0: free memory), within
    the limits of the process. A table that needs more keeps its arrays in unnamed files in
    `directory` while it is solved. `state_seconds` is the least time between two checkpoints,
    `math.inf` for none.
    """

    directory: Path
    rule_set: RuleSet
    progress: Progress
    _: KW_ONLY
    threads: int = 2
    memory: int = 0
    meter: Meter = field(default_factory=Meter)
    """Counter of the solver's sweeps and rows (`profile`), summed over all tables."""
    state_seconds: float = STATE_SECONDS

    def build_job(self, start: Start) -> Built:
        """Build a job's table, unless it is finished; remove its checkpoints and partial downloads.

        A checkpoint newer than a finished table stays: an interrupted rebuild has left it.

        Raises `NotEnoughMemoryError`, `MemoryError`, `OSError`, `PostponedError` if another build
        has locked the table, `TablebaseError` for a missing or unusable table, `InputError` for an
        unusable checkpoint, and `LimitExceededError` if a distance exceeds the widest codes.
        """
        task = start.job.payload
        assert isinstance(task, Task)
        self.directory.mkdir(parents=True, exist_ok=True)
        kept = finished_table(self.directory, task.material, self.rule_set, task.metric)
        # A finished table needs no lock in a directory that cannot be written.
        reads = kept is not None and not task.rebuild and not os.access(self.directory, os.W_OK)
        with contextlib.nullcontext() if reads else self._lock(task.material):
            finished = finished_table(self.directory, task.material, self.rule_set, task.metric)
            name = finished or self._name(task.material, task.metric or Metric.DTM)
            if finished is not None and not task.rebuild:
                # Raises an error if the finished table is damaged.
                TableFile(self._path(name), name=name).close()
                self.progress.table(name, True)
                if not reads:
                    remove_older_state(self.directory, name, self.progress.note)
                    remove_part(self._path(name))
                return Built(name)
            self.progress.table(name, False)
            built = self._build_table(task)
            # If the task names no metric, there may be a checkpoint of each metric.
            for metric in (built.name.metric,) if task.metric else Metric:
                remove_state(self.directory, self._name(task.material, metric))
            remove_part(self._path(built.name))
            return built

    def _name(self, material: Material, metric: Metric) -> TableName:
        return TableName(material, self.rule_set, metric)

    def _path(self, name: TableName) -> Path:
        return self.directory / name.filename

    def _build_table(self, task: Task) -> Built:
        """Solve a material in the first metric and codes that fit; write table and build record."""
        material = task.material
        support_dtm = all(
            finished_table(self.directory, child, self.rule_set, Metric.DTM)
            for child in material.supporting()
        )
        choices = attempts(task, self.rule_set, support_dtm)
        self._require_memory(material, choices[0][1])
        self._load_kernels(material)
        # The build record excludes the time for loading kernels.
        started, cpu_started = time.perf_counter(), time.process_time()
        for choice, codes in choices[self._first_choice(material, choices) :]:
            try:
                size, spent = self._solve_and_write(material, choice, codes)
            except LimitExceededError:
                if (choice, codes) == choices[-1]:
                    raise
                # The next choice may save its state under the same name, but cannot use this one.
                remove_state(self.directory, self._name(material, choice))
                continue
            seconds = spent[0] + time.perf_counter() - started
            name = self._name(material, choice)
            cpu_seconds = spent[1] + time.process_time() - cpu_started
            record = {"build_seconds": round(seconds, 4), "cpu_seconds": round(cpu_seconds, 4)}
            write_build_record(self._path(name), record)
            self.progress.written(name, size, seconds)
            return Built(name, size, seconds)
        raise AssertionError("the last attempt ends in a table or an error")

    def _require_memory(
        self, material: Material, codes: CodeSpace, width: int = 1
    ) -> tuple[MemoryNeed, int]:
        """Return the `MemoryNeed` of a table, and the bytes of memory allowed.

        width : bytes per slot of the solver's planes of captures
        """
        rules = self.rule_set.known_rules
        need = memory_needed(material, codes, rules, self.threads, width)
        allowed, ordered = usable_memory(self.memory), has_orders(material, rules)
        require_memory(material.name, need.least, allowed, rules, ordered=ordered)
        # Arrays on disk take address space, too.
        mapped = need.in_memory + _CODE_ADDRESSES + self.threads * _THREAD_ADDRESSES
        if mapped > allowed.addresses:
            raise NotEnoughMemoryError(
                material.name, mapped, allowed.addresses, "ulimit -v", how="counting mapped files"
            )
        return need, allowed.memory

    def _load_kernels(self, material: Material) -> None:
        """Compile or load the solver's kernels for arrays whose elements have one byte."""
        kernels = import_permanently("tbgen.retrograde.warm_up")
        from tbgen.compiling.jit import notify_before_compiling

        text = "compiling the solver, once on this machine: about 20 s"
        self.progress.phase("compile", 0, 0, 0)
        alone = usable_memory(self.memory).memory < TWO_COMPILERS_BYTES
        rules = self.rule_set.known_rules
        with notify_before_compiling(lambda: self.progress.note(text)):
            kernels.warm_up(rules, ordered=has_orders(material, rules), alone=alone)

    def _load_wide_kernels(self, phase: str, *palettes: Palette) -> None:
        """Compile or load the kernels for arrays with wider elements, if a palette needs them.

        phase : name of the current phase, which is reported again afterwards
        """
        if any(palette.dtype.itemsize > 1 for palette in palettes):
            self.progress.phase("compile", 0, 0, 0)
            import_permanently("tbgen.retrograde.warm_up").warm_up_wide()
            self.progress.phase(phase, 0, 0, 0)

    def _first_choice(self, material: Material, choices: list[tuple[Metric, CodeSpace]]) -> int:
        """Return the index of the last choice with a usable checkpoint, or 0.

        The build that saved the checkpoint had found all earlier choices too small.
        """
        for number, (metric, codes) in reversed(list(enumerate(choices))):
            name = self._name(material, metric)
            if number and state_path(self.directory, name).exists():
                with self._supporting_tables(material, metric) as supporting:
                    if self._state(TableSpec(name, codes), supporting).is_usable():
                        return number
        return 0

    def _state(self, spec: TableSpec, supporting: dict[str, TableFile]) -> StateFile:
        return StateFile(
            self.directory, spec, supporting.values(), self.state_seconds, self.progress.note
        )

    def _solve_and_write(
        self, material: Material, metric: Metric, codes: CodeSpace
    ) -> tuple[int, tuple[float, float]]:
        """Solve a table and write its file; return the file's bytes, and `StateFile.spent`."""
        from tbgen.retrograde.captures import capture_width
        from tbgen.retrograde.encoding import encode
        from tbgen.retrograde.solution import CountedPlanes
        from tbgen.retrograde.solve import solve

        name = self._name(material, metric)
        spec = TableSpec(name, codes)
        with self._supporting_tables(material, metric) as supporting:

            def open_table(child: Material) -> TableFile:
                return supporting[child.name]

            width = capture_width(Layout.of(material), open_table, codes, metric)
            need, available = self._require_memory(material, codes, width)
            storage = (
                Storage(self.directory)
                if need.in_memory * MEMORY_MARGIN <= available
                else DiskStorage(self.directory, available - need.working)
            )
            state = self._state(spec, supporting)
            with state.errors_of_state():
                solution = solve(
                    material,
                    open_table,
                    rule_set=self.rule_set,
                    metric=metric,
                    code_space=codes,
                    threads=self.threads,
                    storage=storage,
                    meter=self.meter,
                    report=self.progress.phase,
                    ready=lambda palette: self._load_wide_kernels("captures", palette),
                    checkpoint=state,
                )
        planes = CountedPlanes(solution)
        self.progress.phase("write", 0, 0, 0)
        self._load_wide_kernels("write", *solution.palettes)
        header = write_table(
            self._path(name), spec, planes.numbers_from, lambda: _statistics(name, planes),
            threads=self.threads, palettes=solution.palettes, encode=encode,
        )  # fmt: skip
        return header.file_size, state.spent

    @contextlib.contextmanager
    def _supporting_tables(
        self, material: Material, metric: Metric
    ) -> Iterator[dict[str, TableFile]]:
        """Context manager: yields the open supporting tables, by name of material.

        A DTM table needs DTM tables; any metric serves a DTC table.
        """
        opened = {}
        with contextlib.ExitStack() as files:
            for child in material.supporting():
                asked = Metric.DTM if metric == Metric.DTM else None
                name = finished_table(self.directory, child, self.rule_set, asked)
                if name is None:
                    raise MissingTableError(child.name, self.rule_set)
                opened[child.name] = files.enter_context(TableFile(self._path(name), name=name))
            yield opened

    @contextlib.contextmanager
    def _lock(self, material: Material) -> Iterator[None]:
        """Context manager: locks a material's tables, and removes files of killed builds."""
        written = set()
        for name in (self._name(material, metric) for metric in Metric):
            table, state = self._path(name), state_path(self.directory, name)
            written |= {table.name, build_record_path(table).name, state.name}
        with contextlib.ExitStack() as held:
            try:
                lock = self._name(material, Metric.DTM).lock
                held.enter_context(locked(self.directory / lock))
            except BlockingIOError as error:
                raise PostponedError(error.strerror) from None
            remove_leftovers(self.directory, written)
            yield


def _statistics(name: TableName, planes: CountedPlanes) -> TableStatistics:
    """Return a table's statistics, with a position of longest distance by side and order."""
    codes, layout = planes.solution.code_space, planes.solution.layout
    histograms = [planes.histogram(side) for side in Side]
    fens = {}
    for side in Side:
        for order, code in longest_codes(histograms[side], codes).items():
            position = layout.position(planes.first_slot(side, code), side)
            assert position is not None
            fens[order, side] = position.fen
    return TableStatistics.from_histograms(
        name, codes, layout.slots, histograms, fens, planes.solution.chase_patterns
    )


def _size(count: int) -> str:
    """Format bytes, rounded up to MiB (`213 MiB`), or to GiB from 10 GiB on (`1,024 GiB`)."""
    if count < 10 << 30:
        return f"{-(-count // (1 << 20)):,} MiB"
    return f"{-(-count // (1 << 30)):,} GiB"
