"""Main loop of the engine: commands from stdin, answers to stdout.

The first line selects the protocol: `ucci`, else UCI. GUIs start an engine without arguments. So
tables are read from $TBGEN_TABLES, else from ./egtb, until the GUI sets another directory. Lines
may end with CR LF. The end of input ends the program.

Lines are decoded as UTF-8, else in the encoding of the locale, with invalid bytes as surrogate
escapes: file names keep their bytes. Characters that stdout cannot encode are written as escapes.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, TextIO

from tbgen.answers import failures
from tbgen.compiling import ignore_environment
from tbgen.engine.protocol import EngineProtocol
from tbgen.engine.ucci import Ucci
from tbgen.engine.uci import Uci

DEFAULT_TABLES = "egtb"

MAX_LINE = 1 << 20
"""Maximum bytes read as one line."""


def converse(lines: Iterable[str], out: TextIO, directories: Iterable[Path] = ()) -> None:
    """Execute command lines until `quit` or the end of input; `directories` hold tables."""
    lock = threading.Lock()

    def write(text: str) -> None:
        with lock:
            out.write(text + "\n")
            out.flush()

    protocol: EngineProtocol | None = None
    for line in lines:
        command = line.strip()
        is_first = protocol is None
        if protocol is None:
            if not command:
                continue
            protocol = (Ucci if command == "ucci" else Uci)(write, tuple(directories))
        if not protocol.handle(command):
            return
        if is_first:
            protocol.thinker.prepare()
    if protocol is not None:
        protocol.do_quit([])


def default_directories() -> tuple[Path, ...]:
    """Return the table directories used until a GUI sets others; empty if there are none."""
    named = os.environ.get("TBGEN_TABLES")
    if named:
        return (Path(named),)
    return (Path(DEFAULT_TABLES),) if Path(DEFAULT_TABLES).is_dir() else ()


def lines_of(stream: BinaryIO, encoding: str) -> Iterator[str]:
    """Yield the decoded lines of a stream; `encoding` is that of the locale."""
    while line := stream.readline(MAX_LINE):
        try:
            yield line.decode()
        except UnicodeDecodeError:
            yield line.decode(encoding, "surrogateescape")


def run(directories: Iterable[Path]) -> None:
    """Run the engine on stdin and stdout, then end the process.

    Raises `OSError` if reading or writing fails, except for a closed pipe, which ends the process.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    with contextlib.suppress(BrokenPipeError, KeyboardInterrupt):
        converse(lines_of(sys.stdin.buffer, sys.stdin.encoding), sys.stdout, directories)
        sys.stdout.flush()
    # End without waiting for kernels that still compile in the background.
    os._exit(0)


def main() -> None:
    """Entry point of the program `tbgen-engine`."""
    if sys.stdin is None or sys.stdout is None:
        sys.exit("error: standard input or output is closed")
    ignore_environment()
    try:
        run(default_directories())
    except OSError as error:
        failure = failures.expected(error)
        print(f"error: {failure.message}", file=sys.stderr, flush=True)
        os._exit(failure.status)
