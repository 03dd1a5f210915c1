"""`tbgen index`: write an index of a directory of tables, for others to fetch."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from pathlib import Path

import click

from tbgen.building.packing import digest_of_values
from tbgen.cli import options
from tbgen.cli.command import Command, show_json
from tbgen.cli.materials import MaterialChoice, choice_arguments, require_tables
from tbgen.cli.streams import LiveLine
from tbgen.system.units import counted, format_bytes
from tbgen.tables.errors import MissingTableError


@click.command(cls=Command)
@choice_arguments
@options.tables_option
@click.option(
    "--values/--no-values", "with_values", default=True, show_default=True,
    help="Also compute the digest of the values of each table.",
)  # fmt: skip
@click.option(
    "--dense", is_flag=True,
    help="First remove the old index, and compress tables that are not dense yet to a tenth less, "
    "in about the time of building; digests stay.",
)  # fmt: skip
@options.threads_option
@options.json_option
def index(
    choice: MaterialChoice, tables: Path, with_values: bool, dense: bool, threads: int,
    as_json: bool,
) -> None:  # fmt: skip
    """Write index.json beside the tables: names, sizes, SHA-256 and digests.

    The index lists all tables, or only those selected.

    A server that serves the directory as files is then a source for `tbgen fetch`.

    Exit status: 0 ok, 1 missing table, 2 bad input, no such directory or no space, 3 a corrupt
    file.
    """
    # Imported here to keep `--help` fast.
    from tbgen.publishing.index import files_of, index_of, pack_all_densely, write_index

    asked = partial(digest_of_values, threads=threads) if with_values else None
    there = {name.material for _, name in files_of(tables)}
    only = set(choice.required(there, tables))
    require_tables(only)
    absent = sorted(material.name for material in only - there)
    if absent:
        raise MissingTableError(" ".join(absent), directories=[tables])
    with LiveLine() as line:
        if dense:
            pack_all_densely(tables, line.update, threads=threads, only=only)
        entries = index_of(tables, line.update, asked, threads=threads, only=only)
    path = write_index(tables, entries)
    if as_json:
        show_json({"index": str(path), "files": [asdict(entry) for entry in entries]})
        return
    total = sum(entry.bytes for entry in entries)
    click.echo(f"{path}: {counted(len(entries), 'file')}, {format_bytes(total)}")
