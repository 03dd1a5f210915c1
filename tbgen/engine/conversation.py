"""Main loop of the engine: commands from stdin, answers to stdout.

The first line that is not empty selects the protocol: UCCI if it is `ucci`, else UCI. Tables are
read from `--tables`, else from $TBGEN_TABLES, else from ./egtb if it exists, until the GUI sets
other directories. The end of input ends the program.

Lines are decoded as UTF-8, else in the encoding of the locale, with invalid bytes as surrogate
escapes: file names keep their bytes. Characters that stdout cannot encode are written as escapes.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from tbgen import __version__
from tbgen.answers import failures
from tbgen.compiling import ignore_environment
from tbgen.engine.protocol import EngineProtocol
from tbgen.engine.ucci import Ucci
from tbgen.engine.uci import Uci
from tbgen.tables.names import DEFAULT_TABLES

MAX_LINE = 1 << 20
"""Maximum bytes of a line with its end."""


def converse(
    lines: Iterable[str | None], write: Callable[[str], None], directories: Iterable[Path] = ()
) -> None:
    """Execute command lines until `quit` or the end of input; then stop the search.

    After the first command, kernels are loaded in the background.

    lines : input lines; None for a line of more than `MAX_LINE` bytes
    write : function that writes a line, given without its end; called from several threads
    directories : directories of tables, until the GUI sets others
    """
    protocol: EngineProtocol | None = None
    for line in lines:
        command = None if line is None else line.strip()
        if protocol is None and command == "":
            continue
        is_first = protocol is None
        protocol = protocol or (Ucci if command == "ucci" else Uci)(write, tuple(directories))
        if command is None:
            protocol.refuse(f"a line of more than {MAX_LINE} bytes: ignored")
        elif not protocol.handle(command):
            return
        if is_first:
            protocol.thinker.resources.load()
    if protocol is not None:
        protocol.do_quit([])


def lines_of(stream: BinaryIO, encoding: str) -> Iterator[str | None]:
    """Yield the decoded lines of a stream with their ends; drop byte order marks of UTF-8.

    Yields None in place of a line of more than `MAX_LINE` bytes.

    encoding : encoding of lines that are not UTF-8; bytes that it cannot decode become surrogates
    """
    while line := stream.readline(MAX_LINE):
        if len(line) == MAX_LINE and not line.endswith(b"\n"):
            while line and not line.endswith(b"\n"):
                line = stream.readline(MAX_LINE)
            yield None
            continue
        try:
            yield line.decode("utf-8-sig")
        except UnicodeDecodeError:
            yield line.decode(encoding, "surrogateescape")


def run(tables: str | None) -> None:
    """Run the engine on stdin and stdout, then end the process.

    tables : directory of tables, empty for none; None for $TBGEN_TABLES, else ./egtb if it exists

    An error of reading or writing, in any thread, ends the process, too (`_end`).
    """
    if tables is None:
        present = Path(DEFAULT_TABLES).is_dir()
        tables = os.environ.get("TBGEN_TABLES") or (DEFAULT_TABLES if present else "")
    directories = [Path(tables)] if tables else []
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    lock = threading.Lock()

    def write(text: str) -> None:
        with lock:
            try:
                sys.stdout.write(text + "\n")
                sys.stdout.flush()
            except OSError as error:
                _end(error)

    try:
        converse(lines_of(sys.stdin.buffer, sys.stdin.encoding), write, directories)
    except KeyboardInterrupt:
        pass
    except OSError as error:
        _end(error)
    _end()


def _end(error: OSError | None = None) -> None:
    """End the process at once, since other threads may be compiling kernels.

    Exits with status 0 without an error, or if the reader of the output has gone.
    """
    if error is None or isinstance(error, BrokenPipeError):
        os._exit(failures.OK)
    failure = failures.expected(error)
    with contextlib.suppress(OSError):
        print(f"error: {failure.message}\nhint: {failure.hint}", file=sys.stderr, flush=True)
    os._exit(failure.status)


def main() -> None:
    """Entry point of the program `tbgen-engine`."""
    if sys.stdin is None or sys.stdout is None:
        sys.exit("error: standard input or output is closed")
    parser = argparse.ArgumentParser("tbgen-engine", description="Play in a GUI: UCI or UCCI.")
    parser.add_argument(
        "--tables", metavar="DIR", help="the directory of the tables; empty for none"
    )
    parser.add_argument("--version", action="version", version=f"tbgen {__version__}")
    tables = parser.parse_args().tables
    ignore_environment()
    run(tables)
