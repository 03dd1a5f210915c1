"""`tbgen dump`: a table, or a sample of it, as CSV or as a NumPy array."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tbgen.cli import options
from tbgen.cli.command import Command, show_json
from tbgen.indexing import Material

if TYPE_CHECKING:
    from tbgen.dump import Rows
    from tbgen.tables import TableFile


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
@click.option("--seed", type=int, default=0, help="Chooses the sample. Default: 0.")
@options.table_options
@options.json_option
def dump(
    material: str,
    style: str,
    out: Path | None,
    sample: int | None,
    seed: int,
    tables: Path,
    rules: str | None,
    minor_chases: bool | None,
    orders: int | None,
    metric: str | None,
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
    wanted = Material.parse(material)
    # Legality is compiled: numba is loaded here only.
    from tbgen import dump as dumping

    with options.open_tables(tables, rules, minor_chases, orders, metric) as opened:
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
        temporary = out.with_name(f".{out.name}.{os.getpid()}.tmp")
        try:
            if style == "csv":
                with temporary.open("w", encoding="ascii") as stream:
                    dumping.write_csv(file.layout, chunks, stream)
            else:
                _write_array(temporary, file, chunks, rows)
            temporary.replace(out)
        finally:
            temporary.unlink(missing_ok=True)
        answer: dict[str, Any] = dumping.description(file, rows)
    if style == "npy":
        beside = out.with_name(out.name + ".json")
        beside.write_text(json.dumps(answer, indent=2) + "\n", encoding="ascii")
    if as_json:
        show_json(answer | {"out": str(out)})
    else:
        click.echo(f"{rows:,} positions of {wanted} in {out}", err=True)


def _write_array(path: Path, file: TableFile, chunks: Iterator[Rows], rows: int) -> None:
    """Write rows as one structured array, through a memory map, so that any table fits."""
    import numpy as np

    from tbgen.dump import row_type

    array = np.lib.format.open_memmap(path, mode="w+", dtype=row_type(file.layout), shape=(rows,))
    at = 0
    for chunk in chunks:
        array[at : at + len(chunk)] = chunk
        at += len(chunk)
    array.flush()
