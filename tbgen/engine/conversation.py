"""The conversation with a GUI: lines from stdin, lines to stdout.

The first line decides the protocol: `ucci`, else UCI. GUIs start a program without arguments, so
tables are found in $TBGEN_TABLES, else in ./egtb, until the GUI names others. Lines may end with
CR LF. The end of input ends the program.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

from tbgen.engine.dialogue import Dialogue
from tbgen.engine.ucci import Ucci
from tbgen.engine.uci import Uci

DEFAULT_TABLES = "egtb"


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
    """Where tables are looked for unless somebody says otherwise; nowhere if there are none."""
    named = os.environ.get("TBGEN_TABLES")
    if named:
        return (Path(named),)
    return (Path(DEFAULT_TABLES),) if Path(DEFAULT_TABLES).is_dir() else ()


def run(directories: Iterable[Path]) -> None:
    """Converse with whoever started the program, and end it."""
    with contextlib.suppress(BrokenPipeError, KeyboardInterrupt):
        converse(sys.stdin, sys.stdout, directories)
    # Kernels may still be compiling in the background; nobody waits for them.
    sys.stdout.flush()
    os._exit(0)


def main() -> None:
    """The program `tbgen-engine`."""
    run(default_directories())
