"""`tbgen engine`: the engine, for a GUI that uses UCI or UCCI."""

from __future__ import annotations

import click

from tbgen.cli.command import Command


@click.command(cls=Command)
@click.option(
    "--tables", metavar="DIR",
    help="The directory of the tables, empty for none. Default: $TBGEN_TABLES, else ./egtb.",
)  # fmt: skip
def engine(tables: str | None) -> None:
    """Play in a GUI: UCI or UCCI on stdin and stdout, as the first line chooses.

    The program tbgen-engine is the same (docs/engine.md).
    """
    from tbgen.engine.conversation import run

    run(tables)
