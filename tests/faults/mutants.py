"""Mutated table files in three readers: each gives a documented error, or the right values.

    valid tables  ->  tests/helpers/mutations.py  ->  python | numba | c  ->  errors, seconds, bytes

Every second mutant is a forgery: it has corrected checksums. Then values may differ, but no reader
may crash, hang, or allocate as much memory as the file claims to need. In the other mutants, which
stand for accidents, every value read must be the original one. The C reader runs under the address
and undefined behaviour sanitizers, from files and from memory.

    python -m tests.faults.mutants --count 100000 --only numba
"""

from __future__ import annotations

import struct
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tbgen.indexing import Material
from tbgen.indexing.layout import Layout
from tbgen.tables import Tablebase, TablebaseError, TableFile
from tests.faults.campaign import MIB, Budget, Tally, main, run
from tests.helpers.boards import exchanged, random_boards
from tests.helpers.cprograms import ADDRESSES, harness, missing_tool, records_of, results_of
from tests.helpers.mutations import mutants
from tests.helpers.random_tables import (
    Planes,
    agrees,
    random_planes,
    some_arrangements,
    spec_of,
    write,
)

TABLES = (("KPKA", 1, 30), ("KRK", 2, 600), ("KCK", 4, 5))
"""(material, bytes per code, maximum number of different codes); all kinds of blocks occur."""

MOST_SECONDS = 0.2
MOST_BYTES = 64 * MIB
_BOARDS = 100
_BATCH = 1000
_PATIENCE = 600.0
"""Timeout in seconds of a process that reads a batch, a thousand times the usual time."""


class Sound:
    """A table of random values, and its valid file, from which mutants are made.

    `data` is the file's content, `planes` the table's codes for each side to move. `boards` and
    `sides` are positions to probe, and their sides to move (0 Red, 1 Black). `material`, `width`
    and `distinct` are as in `TABLES`.
    """

    def __init__(self, folder: Path, material: str, width: int, distinct: int) -> None:
        spec = spec_of(material, width)
        red, black = random_planes(spec, 2, distinct)
        black[:700] = black.max()
        self.planes: Planes = red, black
        layout = Layout.of(spec.name.material)
        folder = folder / material
        folder.mkdir()
        self.path = write(folder, spec, self.planes, block_slots=700,
                          arrangements=some_arrangements(layout, 3))  # fmt: skip
        self.data = self.path.read_bytes()
        self.boards = random_boards(Material.parse(material), _BOARDS, 1)
        self.sides = np.arange(len(self.boards)) % 2


Read = Callable[[Sound], bool]
"""Function that reads the file of a `Sound` table. It returns whether all values read were correct,
and raises a documented error if it refuses the file.
"""


def by_python(sound: Sound) -> bool:
    """Read all parts of a table file by the Python reader; return whether all codes are right.

    The parts are single codes, planes (all codes of a side to move), statistics and checksums.
    """
    right = True
    with TableFile(sound.path) as file:
        for side, plane in enumerate(sound.planes):
            slots = np.arange(side, len(plane), max(1, len(plane) // 50))
            right &= all(plane[s] in (0, file.code(side, s)) for s in slots[::10].tolist())
            right &= agrees(file.codes(side, slots), plane[slots])
            right &= agrees(file.plane(side), plane)
        _ = file.statistics
        file.check()
    return right


class ByNumba:
    """Reader by numba kernels, a `Read` function: probes the `boards` of a table in kernels."""

    def __init__(self) -> None:
        self._known: dict[Path, tuple[NDArray[np.int8], NDArray[np.int64]]] = {}

    def __call__(self, sound: Sound) -> bool:
        """Return whether all results equal those of the first call, made with the valid file."""
        from tbgen.probing import NumbaTables

        with Tablebase.open(sound.path.parent) as tablebase:
            found = NumbaTables(tablebase).probe_boards(sound.boards, sound.sides)
        known = self._known.setdefault(sound.path, found)
        return all((a == b).all() for a, b in zip(found, known, strict=True))


def _files(tally: Tally, budget: Budget, sound: Sound, seed: int) -> Iterator[tuple[bytes, bool]]:
    """Yield mutants of a table's file while tries are left: (bytes, True for a forgery)."""
    for data, forgery in mutants(sound.data, 1 << 62, seed):
        if not budget.take():
            return
        tally.count("mutants")
        tally.count("forgeries", forgery)
        yield data, forgery


@contextmanager
def _measured(tally: Tally, what: str) -> Iterator[None]:
    """Record the CPU seconds of the `with` block, and the memory that it needs in addition.

    Too much of either is a finding. `what` names the try.
    """
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak of resident memory
    before, begun = _peak(), time.process_time()
    yield
    _account(tally, what, time.process_time() - begun, _peak() - before)


def _account(tally: Tally, what: str, seconds: float, grown: int) -> None:
    tally.largest("most_cpu_seconds", seconds)
    tally.largest("most_mib", grown / MIB)
    tally.expect(seconds <= MOST_SECONDS, f"{what}: {seconds:.2f} s")
    tally.expect(grown <= MOST_BYTES, f"{what}: {grown / MIB:.0f} MiB")


def _peak() -> int:
    status = Path("/proc/self/status").read_text("ascii")
    return 1024 * int(status.split("VmHWM:")[1].split()[0])


def in_this_process(tally: Tally, budget: Budget, seed: int, read: Read) -> None:
    """Read mutants of the tables `TABLES` by one of Python's readers, in this process."""
    with tempfile.TemporaryDirectory(prefix="tbgen-mutants-") as folder:
        tables = [Sound(Path(folder), *table) for table in TABLES]
        for sound in tables:
            tally.expect(read(sound) and read(sound), f"{sound.path.name} is not sound")
        while not budget.spent:
            seed += 1
            for sound in tables:
                files = _files(tally, budget, sound, seed)
                for number, (data, forgery) in zip(range(_BATCH), files, strict=False):
                    sound.path.write_bytes(data)
                    what = f"mutant {number} of {sound.path.name}, seed {seed}"
                    _read_one(tally, sound, read, what, forgery)


def _read_one(tally: Tally, sound: Sound, read: Read, what: str, forgery: bool) -> None:
    try:
        with _measured(tally, what):
            try:
                right = read(sound)
            except TablebaseError:
                tally.count("refused")
                return
    except Exception as error:  # any other exception is a finding
        tally.finding(f"{what}: {type(error).__name__}: {error}")
        return
    tally.expect(right or forgery, f"{what}: a wrong value")


def python(tally: Tally, budget: Budget, seed: int) -> None:
    """Test the plain Python reader."""
    in_this_process(tally, budget, seed, by_python)


def numba(tally: Tally, budget: Budget, seed: int) -> None:
    """Test the probes inside numba kernels."""
    in_this_process(tally, budget, seed, ByNumba())


def c(tally: Tally, budget: Budget, seed: int) -> None:
    """Test the C reader of contrib, in batches, from files and from memory."""
    lacking = missing_tool()
    if lacking is not None:
        sys.exit(f"the C reader cannot be compiled: {lacking}")
    with tempfile.TemporaryDirectory(prefix="tbgen-mutants-") as name:
        folder = Path(name)
        program = harness("sanitized", *ADDRESSES)
        tables = [Sound(folder, *table) for table in TABLES]
        while not budget.spent:
            seed += 1
            for sound in tables:
                files = _files(tally, budget, sound, seed)
                batch = [found for _, found in zip(range(_BATCH), files, strict=False)]
                in_c(tally, program, sound, batch, seed)


def in_c(
    tally: Tally, program: Path, sound: Sound, batch: list[tuple[bytes, bool]], seed: int
) -> None:
    """Let a process of the C reader read a batch of mutants, and judge its results.

    After a crash, which is a finding, another process reads the rest.

    program : path of the compiled harness (tests/helpers/cprograms.py)
    batch : mutants as from `_files`
    """
    done = 0
    while done < len(batch):
        done += _until_a_crash(tally, program, sound, batch, seed, done)


def _until_a_crash(
    tally: Tally, program: Path, sound: Sound, batch: list[tuple[bytes, bool]], seed: int, done: int
) -> int:
    """Let one process of the C reader read mutants from number `done` on, and judge its results.

    The process ends at a crash, which is a finding, or after the last mutant. Returns the number of
    mutants read, a crashing one included. A crash at the valid file, which comes first, ends the
    campaign. Parameters are as in `in_c`.
    """
    half = len(sound.boards) // 2
    records = records_of(sound.boards[:half], 0) + records_of(exchanged(sound.boards[half:]), 0)
    files = [(sound.data, False), *batch[done:]]
    stream = [struct.pack("<i", len(sound.boards)), records]
    stream += [struct.pack("<i", len(data)) + data for data, _ in files]
    command = [str(program), "mutants", "none", "100000", str(sound.path)]
    ended = run(command, stdin=b"".join(stream), patience=_PATIENCE)
    results = results_of(ended.stdout).tolist()
    if not results:
        sys.exit(f"{sound.path.name} crashes the C reader, status {ended.status}: {ended.stderr}")
    names = [f"{sound.path.name}, sound, seed {seed}"]
    names += [f"mutant {n} of {sound.path.name}, seed {seed}" for n in range(done, len(batch))]
    # After a crash there are fewer results than files.
    for (status, _, others, microseconds, kib), (_, forgery), what in zip(
        results, files, names, strict=False
    ):
        tally.count("refused", status != 0)
        tally.expect(forgery or not others, f"{what}: a wrong value")
        _account(tally, what, microseconds / 1e6, kib * 1024)
    if len(results) < len(files):
        what = names[len(results)]
        tally.finding(f"{what}: exit status {ended.status}: {ended.stderr[:300]}")
    return min(len(results), len(files) - 1)


PARTS = {"python": python, "numba": numba, "c": c}

if __name__ == "__main__":
    main("mutants", __doc__, PARTS, 100_000)
