"""`tbgen fetch`: fetch tables from an address, checked against an index."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tbgen.answers import failures
from tbgen.cli import options
from tbgen.cli.command import Command, show_failure, show_json
from tbgen.cli.materials import material_arguments, require_tables
from tbgen.cli.streams import LiveLine
from tbgen.indexing import InputError, Material
from tbgen.indexing.material import needed_materials
from tbgen.system.units import counted, format_bytes
from tbgen.tables.rule_sets import RuleSet

if TYPE_CHECKING:
    from tbgen.publishing.index import Entry
    from tbgen.publishing.sources import Source


@click.command(cls=Command)
@material_arguments
@click.option(
    "--from", "addresses", multiple=True, required=True, metavar="URL|DIR",
    help="A folder with an index.json; repeat it for more folders with the same files.",
)  # fmt: skip
@click.option(
    "--index", "index_file", type=click.Path(path_type=Path), metavar="FILE",
    help="The index to check files against. Default: index.json of the first source that has one.",
)  # fmt: skip
@options.rule_set_options
@options.metric_option
@options.json_option
@click.pass_context
def fetch(
    ctx: click.Context, wanted: list[Material], addresses: tuple[str, ...], index_file: Path | None,
    tables: Path, rule_set: RuleSet, metric: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Fetch the tables of MATERIAL..., and those that captures lead to.

    A file gets its name only if its bytes have the SHA-256 in the index. A partial download is
    continued, from the same source or the next. You must trust the source of the index.
    Certificates, too, are only statements of their publisher; `verify --closure --force` proves
    the tables on this machine.

    Exit status: 0 ok, 1 a file could not be fetched, or the index lacks a table, 2 bad input, no
    valid index or no space.
    """
    from tbgen.publishing.fetching import FetchError, date_certificate, fetch_index, require_room
    from tbgen.publishing.index import MAX_INDEX, read_index
    from tbgen.publishing.sources import source_of
    from tbgen.tables.certificates import PROOF_SUFFIX

    require_tables(wanted)
    sources = [source_of(address) for address in addresses]
    if index_file is not None:
        with index_file.open("rb") as file:
            entries = read_index(file.read(MAX_INDEX + 1), index_file)
    else:
        try:
            entries = fetch_index(sources)
        except FetchError as error:
            raise InputError(str(error.strerror), error.hint) from None
    needed = set(needed_materials(wanted))
    chosen, listed = _chosen(entries, needed, rule_set, metric, tables)
    missing = sorted(material.name for material in needed - listed)
    tables.mkdir(parents=True, exist_ok=True)
    require_room(chosen, tables)
    answer: dict[str, Any] = {"directory": str(tables), "fetched": [], "present": [], "failed": []}
    hints: set[str] = set()
    try:
        with LiveLine() as line:
            for number, entry in enumerate(chosen, 1):
                label = f"{number}/{len(chosen)} {entry.file}"
                done, failure = _fetch_one(entry, sources, tables, line, label)
                answer[done].append(failure.to_json(entry.file) if failure else entry.file)
                table = entry.table.filename
                if table in answer["fetched"] or table in answer["present"]:
                    date_certificate(tables / table)
                if failure and failure.hint not in hints:  # each hint once, for any number of files
                    hints.add(failure.hint)
                    line.print(f"hint: {failure.hint}")
    except KeyboardInterrupt:
        present = len(answer["fetched"]) + len(answer["present"])
        kept = f"{present} of {counted(len(chosen), 'file')} complete"
        raise KeyboardInterrupt(f"{kept}; the same command resumes within the next one") from None
    answer["missing"] = missing
    if missing:
        names = ", ".join(missing[:8]) + (", ..." if len(missing) > 8 else "")
        hint = "name a folder that has them with --from, or build them with tbgen build"
        what = f"the index lists no table of {names} under the rules '{rule_set}'"
        show_failure(failures.Failure(failures.FINDINGS, what, hint))
    counts = {name: len(found) for name, found in answer.items() if isinstance(found, list)}
    said = [f"{count} {name}" for name, count in counts.items() if count]
    size = sum(entry.bytes for entry in chosen if entry.file in answer["fetched"])
    click.echo(", ".join(said) + (f"; {format_bytes(size)}" if size else ""), err=True)
    if any(file.endswith(PROOF_SUFFIX) for file in answer["fetched"]):
        click.echo(
            "note: the fetched certificates are statements of their publisher; "
            "tbgen verify --closure --force proves the tables here", err=True,
        )  # fmt: skip
    if as_json:
        show_json(answer)
    ctx.exit(failures.FINDINGS if answer["failed"] or missing else failures.OK)


def _chosen(
    entries: list[Entry], needed: set[Material], rule_set: RuleSet, metric: str | None,
    tables: Path,
) -> tuple[list[Entry], set[Material]]:  # fmt: skip
    """Return the entries to fetch, and the materials whose tables are listed.

    A certificate is fetched after its table, if that is listed or in the directory `tables`. Of
    tables of both metrics, only that of `metric` is fetched; both if it is None.
    """
    named = [
        (entry, table)
        for entry in entries
        if (table := entry.table).material in needed and table.rule_set == rule_set
    ]
    listed = {table for entry, table in named if entry.file == table.filename}
    preferred = {table.material for table in listed if table.metric == metric}
    chosen = [
        entry
        for entry, table in named
        if (table in listed or (tables / table.filename).exists())
        and (table.metric == metric or table.material not in preferred)
    ]
    chosen.sort(key=lambda entry: (entry.table.filename, entry.file != entry.table.filename))
    return chosen, {table.material for table in listed}


def _fetch_one(
    entry: Entry, sources: list[Source], tables: Path, line: LiveLine, label: str
) -> tuple[str, failures.Failure | None]:
    """Fetch the file of an index entry unless it is present; `line` shows progress and errors.

    label : beginning of the lines that report progress

    Returns ("fetched", None), ("present", None), or ("failed", failure).
    """
    from tbgen.publishing.fetching import FetchError
    from tbgen.publishing.fetching import fetch as fetch_file

    try:
        fetched = fetch_file(
            entry, sources, tables, lambda count: line.update(f"{label}: {format_bytes(count)}")
        )
    except FetchError as error:
        why, hint = str(error.strerror), error.hint
    except BlockingIOError as error:
        why, hint = f"the table is {error.strerror}", "run it again when that has ended"
    else:
        if fetched:
            line.print(f"{label}: {format_bytes(entry.bytes)}")
        return ("fetched" if fetched else "present"), None
    failure = failures.Failure(failures.FINDINGS, f"{entry.file}: {why}", hint)
    line.print(f"error: {failure.message}")
    return "failed", failure
