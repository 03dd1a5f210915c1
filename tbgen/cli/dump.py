"""`tbgen dump`: a table, or a sample of it, as columns: CSV, NumPy's archive or Parquet."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tbgen.cli import options
from tbgen.cli.command import Command, show_json
from tbgen.notation import parse_material
from tbgen.system.units import counted

# Numba and the tables package are imported when a table is dumped.
if TYPE_CHECKING:
    from tbgen.probing.columns import TableColumns

_FORMATS = ("csv", "npz", "parquet")


@click.command(cls=Command)
@click.argument("material")
@click.option(
    "--format", "style", type=click.Choice(_FORMATS),
    help="npz has an array per column; parquet needs pyarrow. Default: the suffix of FILE, or csv.",
)  # fmt: skip
@click.option(
    "--out", "-o", type=click.Path(path_type=Path), metavar="FILE", help="Default: -, stdout."
)
@click.option("--sample", type=click.IntRange(min=1), metavar="N", help="N random positions.")
@click.option(
    "--seed", type=click.IntRange(min=0), metavar="N", help="Seed of --sample. Default: 0."
)
@options.table_options
@options.json_option
def dump(
    material: str,
    style: str | None,
    out: Path | None,
    sample: int | None,
    seed: int | None,
    selection: options.Selection,
    as_json: bool,
) -> None:
    """Write every legal position of a table with its value, or a sample of them, as columns.

    Mirror images are written once; Red has the stronger army, as in the table's name. Columns:
    slot (docs/format.md), side to move (0 Red, 1 Black), the square of each piece (9 * rank +
    file), outcome for the side to move (1, 0, -1), order, plies. --json describes what was
    written, on stdout; `tbgen find` writes FENs.

    Exit status: 0 ok, 1 missing table, 2 bad input or no space, 3 corrupt file.
    """
    if seed is not None and sample is None:
        raise click.UsageError("--seed needs --sample")
    out = None if out == Path("-") else out
    style = style or _format_of(out)
    if out is None and (style != "csv" or as_json):
        what = "--json" if as_json else f"--format {style}"
        raise click.UsageError(f"--out is needed with {what}")
    if out is not None and (out.is_dir() or not out.absolute().parent.is_dir()):
        what = "a directory" if out.is_dir() else "in a directory that is missing"
        raise click.BadParameter(f"{out} is {what}; name a file", param_hint="'--out'")
    wanted = parse_material(material)
    # Imported late, with numba, which compiles the test of legality.
    from tbgen.probing import columns
    from tbgen.probing import dump as dumping
    from tbgen.tables.files import writing

    with selection.open() as opened:
        file = opened.table(wanted)
        parts: Iterator[TableColumns]
        if sample is None:
            parts, rows = columns.all_columns(file), file.statistics.legal
        else:
            chosen = columns.sampled_columns(file, sample, seed or 0)
            parts, rows = iter([chosen]), chosen.rows
        if out is None:
            dumping.write_csv(parts, sys.stdout)
            return
        described = dumping.description(file, rows)
        with writing(out) as stream:
            if style == "npz":
                dumping.write_npz(parts, described, stream, out.absolute().parent)
            elif style == "parquet":
                dumping.write_parquet(parts, described, stream)
            else:
                text = io.TextIOWrapper(stream, "ascii")
                dumping.write_csv(parts, text)
                text.detach()
    if as_json:
        show_json(described | {"out": str(out)})
    else:
        click.echo(f"{counted(rows, 'position')} of {wanted} in {out}", err=True)


def _format_of(out: Path | None) -> str:
    """Return the format that a file's suffix names; `csv` without file or suffix."""
    suffix = "" if out is None else out.suffix.lower().removeprefix(".")
    if suffix not in ("", *_FORMATS):
        known = ", ".join(f".{style}" for style in _FORMATS)
        message = f"{out} has none of the suffixes {known}; name it so, or choose a --format"
        raise click.BadParameter(message, param_hint="'--out'")
    return suffix or "csv"
