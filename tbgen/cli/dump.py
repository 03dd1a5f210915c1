"""`tbgen dump`: a table, or a sample of it, as CSV or as a NumPy array."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tbgen.cli import options
from tbgen.cli.command import Command, show_json
from tbgen.indexing import Material

# Numba, through the rows, and the tables are loaded when a table is dumped.
if TYPE_CHECKING:
    from tbgen.probing.dump import Rows


@click.command(cls=Command)
@click.argument("material")
@click.option(
    "--format",
    "style",
    type=click.Choice(["csv", "npy"]),
    default="csv",
    help="csv has FENs; npy squares, and a description in FILE.json. Default: csv.",
)
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Default: stdout.")
@click.option("--sample", type=click.IntRange(min=1), metavar="N", help="N random positions.")
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, help="Chooses the sample. Default: 0."
)
@options.table_options
@options.json_option
def dump(
    material: str,
    style: str,
    out: Path | None,
    sample: int | None,
    seed: int,
    selection: options.Selection,
    as_json: bool,
) -> None:
    """Every legal position of a table with its value, or a sample of them.

    Mirror images are written once, Red has the pieces that the material names first. Columns:
    slot (docs/format.md), side to move (0 Red, 1 Black), fen or squares, outcome for the side to
    move (1, 0, -1), order, plies, value (plies, or 255 - plies at order k). --json describes what
    was written, on stdout.

    Exit status: 0 ok, 1 missing table, 2 bad input, 3 corrupt file.
    """
    if out is None and (style == "npy" or as_json):
        raise click.UsageError(f"--out is needed with {'--json' if as_json else '--format npy'}")
    if out is not None and (out.is_dir() or not out.absolute().parent.is_dir()):
        what = "a directory" if out.is_dir() else "in a directory that is missing"
        raise click.BadParameter(f"{out} is {what}; name a file", param_hint="'--out'")
    wanted = Material.parse(material)
    # Legality is compiled: numba is loaded here only.
    from tbgen.probing import dump as dumping
    from tbgen.tables.files import replacing, replacing_both

    with selection.open() as opened:
        file = opened.table(wanted)
        legal = file.statistics.legal
        chunks: Iterator[Rows]
        if sample is None:
            chunks, rows = dumping.all_rows(file), legal
        else:
            chosen = dumping.sampled_rows(file, sample, seed)
            chunks, rows = iter([chosen]), len(chosen)
        if out is None:
            dumping.write_csv(file.layout, chunks, sys.stdout)
            return
        answer: dict[str, Any] = dumping.description(file, rows)
        if style == "npy":
            with replacing_both(out, out.with_name(f"{out.name}.json")) as (stream, beside):
                # First: a description for which there is no room is refused before the work.
                beside.write((json.dumps(answer, indent=2) + "\n").encode("ascii"))
                beside.flush()
                dumping.write_array(file.layout, rows, chunks, stream)
        else:
            with replacing(out) as stream:
                text = io.TextIOWrapper(stream, "ascii")
                dumping.write_csv(file.layout, chunks, text)
                text.detach()
    if as_json:
        show_json(answer | {"out": str(out)})
    else:
        click.echo(f"{rows:,} positions of {wanted} in {out}", err=True)
