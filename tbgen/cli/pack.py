"""`tbgen pack`: win-draw-loss files of finished tables."""

from __future__ import annotations

from pathlib import Path

import click

from tbgen.building.packing import pack_table
from tbgen.cli import options
from tbgen.cli.command import Command, show_json
from tbgen.cli.materials import MaterialChoice, choice_arguments, require_tables
from tbgen.indexing import InputError
from tbgen.publishing.bundle import bundled_names, write_bundle
from tbgen.system.units import counted


@click.command(cls=Command)
@choice_arguments
@click.option(
    "--plain", is_flag=True,
    help="Store uncompressed blocks, for memory mapping: 0.4 bytes a slot.",
)  # fmt: skip
@click.option("--force", is_flag=True, help="Replace files that are present.")
@click.option(
    "--out", "-o", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
    help="Write to DIR; add an index, digests, a licence, a README and an archive of its files.",
)  # fmt: skip
@options.threads_option
@options.table_options
@options.json_option
def pack(
    choice: MaterialChoice,
    plain: bool,
    force: bool,
    out: Path | None,
    threads: int,
    selection: options.Selection,
    as_json: bool,
) -> None:
    """Write win-draw-loss files of the tables of MATERIAL..., beside them or in --out.

    They contain outcomes without distances, in a sixth to a fiftieth of the bytes, for engines that
    probe inside their search. If such a file is present, outcomes are read from it. A file that was
    derived from the same table, with blocks of the same kind, is kept, except with --force.

    Materials must be named, or selected by --men or --attackers.

    Exit status: 0 ok, 1 missing table, 2 bad input or no space, 3 corrupt file.
    """
    if not choice:
        raise InputError("nothing to pack", "name materials, or select them by --men 5")
    archive, bundled = None, 0
    with selection.open() as opened:
        wanted = choice.required(selection.present(opened), selection.directory)
        require_tables(wanted)
        if out is not None:
            bundled_names(out, opened.rule_set)  # raises an error before anything is packed
            out.mkdir(parents=True, exist_ok=True)
        files = []
        for material in wanted:
            table = opened.table(material)
            target = out or table.path.parent
            packed = pack_table(table, target, threads=threads, plain=plain, force=force)
            files.append(packed)
            if not as_json:
                share = f"1/{packed.source_size / packed.size:.1f} of its table"
                how = "present" if packed.kept else share
                click.echo(f"{packed.name.filename}: {packed.size:,} bytes, {how}")
        if out is not None:
            archive, bundled = write_bundle(out, opened.rule_set, threads=threads)
    if as_json:
        show_json({
            "directory": str(out or selection.directory),
            "files": [
                {
                    "file": packed.name.filename,
                    "bytes_on_disk": packed.size,
                    "source": packed.source.filename,
                    "source_bytes": packed.source_size,
                    "written": not packed.kept,
                }
                for packed in files
            ],
            "archive": str(archive) if archive else None,
        })  # fmt: skip
    elif archive is not None:
        click.echo(f"{archive}: {counted(bundled, 'file')}, {archive.stat().st_size:,} bytes")
