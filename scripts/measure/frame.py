"""Shared parts of the measuring scripts: arguments, timing, printed tables, processes.

    arguments(doc)        parser of a command line; the module's docstring is its --help
    timed(work)           CPU seconds and result of a call; `cpu_seconds` returns the seconds only
    best_seconds(work)    least CPU seconds of several calls
    by_turns(ways, n)     cheapest result of each way in n rounds
    PrintedTable          table of figures, printed line by line
    tbgen(...)            run a command of this checkout in a process
    serving(tables)       run `tbgen serve` in a process
    tables_or_krkn(...)   the tables of --tables, or KRKN built in a temporary directory
    c_program(...)        build a C program from sources of this checkout

Commands run in the interpreter of the script.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from tbgen.indexing.rulesets import Rules

ROOT = Path(__file__).resolve().parents[2]
MIB = 1 << 20
RUNS = 5

Key = TypeVar("Key")
Result = TypeVar("Result")


def arguments(
    doc: str | None, *, tables: str | None = None, rules: str | None = None
) -> argparse.ArgumentParser:
    """Return a command-line parser whose --help is the docstring of a script.

    tables : help of an optional --tables; "required" if it must be given; None for no such option
    rules : default of --rules, empty if it has no default; None for no such option
    """
    parser = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    if tables == "required":
        parser.add_argument("--tables", type=Path, required=True, metavar="DIR")
    elif tables is not None:
        parser.add_argument("--tables", type=Path, metavar="DIR", help=tables)
    if rules is not None:
        choices = [str(rules) for rules in Rules]
        parser.add_argument("--rules", choices=choices, default=rules or None)
    return parser


def timed(work: Callable[[], Result]) -> tuple[float, Result]:
    """Return the CPU seconds of this process during a call, and the result of the call."""
    started = time.process_time()
    result = work()
    return time.process_time() - started, result


def cpu_seconds(work: Callable[[], object]) -> float:
    """Return the CPU seconds that a call takes."""
    return timed(work)[0]


def best_seconds(work: Callable[[], object]) -> float:
    """Return the least CPU seconds of `RUNS` calls, after a first call that is not measured."""
    work()
    return min(cpu_seconds(work) for _ in range(RUNS))


def by_turns(
    ways: Mapping[Key, Callable[[], Result]], rounds: int, seconds: Callable[[Result], float]
) -> dict[Key, Result]:
    """Measure several ways to do a task in rounds, so that all run under similar load.

    Each round runs every way once. Returns the cheapest result of each way.

    ways : function that does the task and returns a result, by the way's key
    seconds : function that returns the cost of a result
    """
    results = [{name: run() for name, run in ways.items()} for _ in range(rounds)]
    return {name: min((result[name] for result in results), key=seconds) for name in ways}


class PrintedTable:
    """Table printed to stdout line by line; None prints as a dash."""

    def __init__(self, **columns: str) -> None:
        """Print the titles of the columns.

        columns : format of each column, as `>8.2f`, by its title with `_` for a space; a column of
            text has no precision, one of large numbers has a comma
        """
        self._formats = list(columns.values())
        self._print([title.replace("_", " ") for title in columns], self._widths())

    def row(self, *values: float | str | None) -> None:
        """Print a line of values, one for each column."""
        widths = self._widths()
        formats = [
            width if isinstance(value, str) or value is None else full
            for value, full, width in zip(values, self._formats, widths, strict=True)
        ]
        self._print(["-" if value is None else value for value in values], formats)

    def _widths(self) -> list[str]:
        return [full.rstrip("dfx%").split(".")[0].rstrip(",") for full in self._formats]

    @staticmethod
    def _print(values: list[Any], formats: list[str]) -> None:
        cells = (format(value, full) for value, full in zip(values, formats, strict=True))
        print(" ".join(cells).rstrip(), flush=True)


def tbgen(*words: str | Path) -> str:
    """Run a command of this checkout and return its output; a failure ends the script."""
    command = [sys.executable, "-m", "tbgen", *map(str, words)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"tbgen {' '.join(map(str, words))}: {done.stderr}")
    return done.stdout


class Server(NamedTuple):
    """A running `tbgen serve`; `pid` is its process."""

    url: str
    port: int
    pid: int


@contextmanager
def serving(tables: Path, *options: str) -> Iterator[Server]:
    """Serve tables on a free port while the context is open; `options` are of `tbgen serve`."""
    command = [sys.executable, "-m", "tbgen", "serve", "--no-open", "--json", "--port", "0"]
    process = subprocess.Popen(
        [*command, "--tables", str(tables.resolve()), *options],
        cwd=ROOT, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        url = json.loads(process.stdout.readline())["url"]
        yield Server(url, int(url.rstrip("/").rsplit(":", 1)[1]), process.pid)
    finally:
        process.terminate()
        process.wait(10)


@contextmanager
def tables_or_krkn(tables: Path | None, rules: str) -> Iterator[Path]:
    """Yield the folder `tables`, else a temporary one with KRKN and its supporting tables."""
    if tables is not None:
        yield tables
        return
    with tempfile.TemporaryDirectory() as folder:
        tbgen("build", "KRKN", "--rules", rules, "--tables", folder)
        yield Path(folder)


def c_program(folder: Path, *sources: str) -> Path:
    """Compile `sources` of this checkout by gcc, with libzstd; return the program in `folder`."""
    program = folder / "program"
    files = [str(ROOT / source) for source in sources]
    command = ["gcc", "-std=c99", "-O2", "-pthread", *files, "-lzstd", "-o", str(program)]
    subprocess.run(command, check=True)
    return program
