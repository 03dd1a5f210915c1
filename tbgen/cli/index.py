"""`tbgen index`: list a directory of tables for others to fetch."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from tbgen.answers.units import size
from tbgen.cli import options
from tbgen.cli.command import Command, show_json


@click.command(cls=Command)
@options.tables_option
@options.json_option
def index(tables: Path, as_json: bool) -> None:
    """Write index.json beside the tables: names, sizes, SHA-256 and digests.

    Any server that serves the directory as files is a source then, for `tbgen fetch`.

    Exit status: 0 ok, 2 no such directory, 3 a corrupt file.
    """
    # Hashing and files only where they are asked for: `--help` loads neither.
    from tbgen.publishing.index import index_of, write_index

    entries = index_of(tables)
    path = write_index(tables, entries)
    if as_json:
        show_json({"index": str(path), "files": [asdict(entry) for entry in entries]})
        return
    total = sum(entry.bytes for entry in entries)
    click.echo(f"{path}: {len(entries)} files, {size(total)}")
