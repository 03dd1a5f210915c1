"""Measure the cost of building tables, with one process for each build.

    read_peer(path)      ->    costs of another generator, by material
    BuildBench           ->    directory of tables:
        .prepare(material)         build the supporting tables and compile the kernels
        .measure(material)         Measurement: CPU and wall seconds, peak memory, file size
    sample(tables)       ->    random legal positions of tables, for measurements of probing
    c_nanoseconds(...)   ->    time of the C reader on such positions

The seconds of a process include the start of the interpreter and the loading of the kernels. The
build record beside a table has the seconds of the table alone.
"""

from __future__ import annotations

import argparse
import csv
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from frame import ROOT, c_program

from tbgen.building.work import finished_table
from tbgen.indexing import Material, Position, PositionError, Side
from tbgen.indexing.errors import MaterialError
from tbgen.indexing.layout import Layout
from tbgen.indexing.rulesets import Rules
from tbgen.rules import check_legal
from tbgen.tables import Tablebase, TableFile, read_build_record
from tbgen.tables.rule_sets import RuleSet


def parse_material(text: str) -> Material:
    """Parse a material on the command line, as a type for argparse."""
    try:
        return Material.parse(text)
    except MaterialError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


class Run(NamedTuple):
    """Cost of one process: wall and CPU (user and system) seconds, peak resident bytes."""

    wall: float
    cpu: float
    peak: int


def run(*command: str, **environment: str) -> Run:
    """Run a tbgen command, and return its cost; a failure ends the script with tbgen's message.

    environment : variables to add; PYTHONDONTWRITEBYTECODE is removed, so bytecode is cached
    """
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "tbgen", *command],
        cwd=ROOT,
        env={**kept, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    message = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"tbgen {' '.join(command)}: {message.decode()}")
    wall = time.perf_counter() - started
    return Run(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


EVERY_KERNEL = "KNAKN"
"""Smallest material whose build and proof call every kernel: either side may chase for ever."""


def build_anew(rules: Rules, material: str = EVERY_KERNEL, **environment: str) -> Run:
    """Build a table in an empty folder, with additional variables; return the process's cost."""
    with tempfile.TemporaryDirectory() as tables:
        where = ("--rules", str(rules), "--tables", tables)
        return run("build", material, *where, **environment)


@cache
def compile_kernels(rules: Rules) -> None:
    """Compile the kernels of builds by building `EVERY_KERNEL`, once for each rule set."""
    build_anew(rules)


@dataclass(frozen=True)
class Measurement:
    """Costs of building a table: of the whole process, and as its build record has them.

    `table_cpu` and `table_wall` are seconds from the record, without the start of the process.
    """

    process: Run
    table_cpu: float
    table_wall: float
    file_bytes: int
    supporting_bytes: int
    """Total size of the files of the supporting tables."""


@dataclass(frozen=True)
class BuildBench:
    """Directory in which tables of one rule set are built with `threads` threads, and measured."""

    tables: Path
    rules: Rules
    threads: int

    def run(self, command: str, name: str, *options: str, **environment: str) -> Run:
        """Run `tbgen build` or `tbgen verify` on the table `name`; return the process's cost."""
        where = ("--rules", str(self.rules), "--tables", str(self.tables.resolve()))
        threads = ("--threads", str(self.threads))
        return run(command, name, *where, *threads, *options, **environment)

    def path(self, material: Material) -> Path:
        """Return the path of a material's table, which has been built."""
        name = finished_table(self.tables, material, RuleSet(self.rules))
        assert name is not None, material.name
        return self.tables / name.filename

    def prepare(self, material: Material) -> list[Material]:
        """Compile the kernels, build missing supporting tables; return all supporting materials."""
        compile_kernels(self.rules)
        supporting = material.supporting()
        for child in supporting:
            if finished_table(self.tables, child, RuleSet(self.rules)) is None:
                self.run("build", child.name)
        return supporting

    def measure(self, material: Material, repeat: int = 1) -> Measurement:
        """Build a table `repeat` times, each in a process of its own.

        Before, compiles the kernels and builds missing supporting tables (`prepare`). Returns the
        cost of the build with the least CPU seconds.
        """
        supporting = self.prepare(material)
        measurements = []
        for _ in range(repeat):
            used = self.run("build", material.name, "--force")
            path = self.path(material)
            record = read_build_record(path)
            measurements.append(
                Measurement(
                    used,
                    record["cpu_seconds"],
                    record["build_seconds"],
                    path.stat().st_size,
                    sum(self.path(child).stat().st_size for child in supporting),
                )
            )
        return min(measurements, key=lambda m: m.process.cpu)


@dataclass(frozen=True)
class Peer:
    """Cost of building one material with another generator; `index_size` is in slots."""

    cpu: float | None
    """CPU seconds, None if they were not measured."""
    index_size: int
    file_bytes: int
    """Size of the other generator's files: outcomes, and distances to conversion."""

    def scaled(self, factor: float) -> Peer:
        """Return the cost on a machine on which everything takes `factor` times as long."""
        return self if self.cpu is None else replace(self, cpu=self.cpu * factor)


def read_peer(path: Path) -> dict[str, Peer]:
    """Read the costs of another generator, by canonical material name; a bad file ends the script.

    CSV with the columns material, index_positions, user_cpu_s_wdl_dtc_and_dtm, wdl_bytes and
    dtc_bytes.
    """
    peers = {}
    try:
        with path.open(newline="") as file:
            for row in csv.DictReader(file):
                seconds = row["user_cpu_s_wdl_dtc_and_dtm"]
                peers[Material.parse(row["material"]).name] = Peer(
                    float(seconds) if seconds else None,
                    int(row["index_positions"]),
                    int(row["wdl_bytes"]) + int(row["dtc_bytes"]),
                )
    except (OSError, ValueError, KeyError) as error:
        sys.exit(f"{path}: no costs of another generator can be read there ({error!r})")
    return peers


@contextmanager
def build_bench(options: argparse.Namespace) -> Iterator[BuildBench]:
    """Yield a `BuildBench` in the folder of `options.tables`, or in a temporary folder."""
    with tempfile.TemporaryDirectory() as folder:
        yield BuildBench(options.tables or Path(folder), Rules(options.rules), options.threads)


def random_positions(layouts: Sequence[Layout], rng: random.Random) -> Iterator[Position]:
    """Yield random legal positions of random layouts without end, half with exchanged colours.

    Without layouts the script ends.
    """
    if not layouts:
        sys.exit("no tables are in the directory of --tables under these rules; build some")
    while True:
        layout = rng.choice(layouts)
        position = layout.position(rng.randrange(layout.slots), rng.choice(list(Side)))
        if position is None:
            continue
        try:
            check_legal(position)
        except PositionError:
            continue
        yield position.swapped() if rng.random() < 0.5 else position


def tables_of(tablebase: Tablebase) -> list[TableFile]:
    """Return the tables of a tablebase that have its rule set."""
    rule_set = tablebase.rule_set
    names = [name for name in tablebase.available() if name.rule_set == rule_set]
    return [tablebase.table(name.material) for name in names]


def sample(tables: Sequence[TableFile], count: int) -> list[Position]:
    """Draw `count` random legal positions of tables; equal arguments give equal positions."""
    layouts = [table.layout for table in tables]
    return list(islice(random_positions(layouts, random.Random(1)), count))


def records(positions: Sequence[Position]) -> bytes:
    """Return positions as input of the C programs: side to move, then ninety piece codes."""
    return b"".join(bytes([position.side]) + position.board for position in positions)


def c_nanoseconds(
    tables: Sequence[TableFile], rules: str, cache_bytes: int, positions: Sequence[Position]
) -> float:
    """Return the mean CPU nanoseconds of a probe by contrib/xqprobe.c, over five rounds.

    cache_bytes : size of the reader's cache of blocks

    Needs gcc and libzstd-dev.
    """
    contrib = ("contrib/xqprobe.c", "contrib/xqgame.c")
    with tempfile.TemporaryDirectory() as folder:
        program = c_program(Path(folder), "tests/probing/xqprobe_harness.c", *contrib)
        output = subprocess.run(
            [program, "bench", rules, str(cache_bytes), *(table.path for table in tables)],
            input=records(positions), capture_output=True, check=True,
        )  # fmt: skip
    return float(output.stdout)
