"""`tbgen engine`: the engine, for a GUI that speaks UCI or UCCI."""

from __future__ import annotations

from pathlib import Path

import click

from tbgen.cli import options
from tbgen.cli.command import Command


@click.command(cls=Command)
@options.tables_option
def engine(tables: Path) -> None:
    """Play in a GUI: UCI or UCCI on stdin and stdout, whichever the first line says.

    The same as the program tbgen-engine, which GUIs can start without arguments (docs/engine.md).
    """
    from tbgen.engine.conversation import run

    run([tables] if tables.is_dir() else [])
