"""The conversation with a GUI: lines from stdin, lines to stdout.

The first line decides the protocol: `ucci`, else UCI. GUIs start a program without arguments, so
tables are found in $TBGEN_TABLES, else in ./egtb, until the GUI names others. Lines may end with
CR LF. The end of input ends the program.

Text may be anything: lines are UTF-8, else what the locale says, and bytes that are neither stay
what they are in the names of files. What stdout cannot write has escapes.
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
from tbgen.engine.dialogue import Dialogue
from tbgen.engine.ucci import Ucci
from tbgen.engine.uci import Uci

DEFAULT_TABLES = "egtb"

MAX_LINE = 1 << 20
"""Bytes of a line that are read at once: no command is longer."""


def converse(lines: Iterable[str], out: TextIO, directories: Iterable[Path] = ()) -> None:
    """Answer lines until `quit` or their end; `directories` have tables."""
    lock = threading.Lock()

    def write(text: str) -> None:
        with lock:
            out.write(text + "\n")
            out.flush()

    dialogue: Dialogue | None = None
    for line in lines:
        command = line.strip()
        if dialogue is None:
            if not command:
                continue
            protocol = Ucci if command == "ucci" else Uci
            dialogue = protocol(write, tuple(directories))
            if command in ("uci", "ucci"):
                dialogue.greet()
                command = ""
            dialogue.thinker.prepare()
        if not dialogue.handle(command):
            return
    if dialogue is not None:
        dialogue.do_quit([])


def default_directories() -> tuple[Path, ...]:
    """Directories of tables unless others are named; none if there are none."""
    named = os.environ.get("TBGEN_TABLES")
    if named:
        return (Path(named),)
    return (Path(DEFAULT_TABLES),) if Path(DEFAULT_TABLES).is_dir() else ()


def lines_of(stream: BinaryIO, encoding: str) -> Iterator[str]:
    """The lines of a stream; `encoding` is that of the locale."""
    while line := stream.readline(MAX_LINE):
        try:
            yield line.decode()
        except UnicodeDecodeError:
            yield line.decode(encoding, "surrogateescape")


def run(directories: Iterable[Path]) -> None:
    """Converse with whoever started the program, and end it; raises `OSError`."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    with contextlib.suppress(BrokenPipeError, KeyboardInterrupt):
        converse(lines_of(sys.stdin.buffer, sys.stdin.encoding), sys.stdout, directories)
        sys.stdout.flush()
    # Kernels may still be compiling in the background; nobody waits for them.
    os._exit(0)


def main() -> None:
    """The program `tbgen-engine`."""
    if sys.stdin is None or sys.stdout is None:
        sys.exit("error: standard input or output is closed")
    ignore_environment()
    try:
        run(default_directories())
    except OSError as error:
        failure = failures.expected(error)
        print(f"error: {failure.message}", file=sys.stderr, flush=True)
        os._exit(failure.status)
