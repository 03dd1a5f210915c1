"""`tbgen engine`: the engine, for a GUI that uses UCI or UCCI."""

from __future__ import annotations

from pathlib import Path

import click

from tbgen.cli import options
from tbgen.cli.command import Command


@click.command(cls=Command)
@options.tables_option
def engine(tables: Path) -> None:
    """Play in a GUI: UCI or UCCI on stdin and stdout, as the first line chooses.

    The program tbgen-engine is the same (docs/engine.md).
    """
    from tbgen.engine.conversation import run
    from tbgen.tables.names import DEFAULT_TABLES

    absent = tables == Path(DEFAULT_TABLES) and not tables.is_dir()
    run([] if absent else [tables])
