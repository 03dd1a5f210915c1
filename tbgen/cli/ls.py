"""`tbgen ls`: the tables of a directory, with digests and proofs."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import partial
from typing import Any

import click

from tbgen.answers import failures
from tbgen.building.packing import checked_digest
from tbgen.cli import options
from tbgen.cli.command import Command, show_failure, show_json
from tbgen.cli.materials import MaterialChoice, choice_arguments
from tbgen.cli.streams import LiveLine
from tbgen.indexing.errors import printable
from tbgen.system.platform import usable_cores
from tbgen.system.units import counted
from tbgen.tables import TableFile, TableName, WdlFile, WdlName
from tbgen.tables.names import SUFFIX, parse_name
from tbgen.tables.proofs import Proofs, ProofState, ProofStatus, find_in_directory


@click.command(cls=Command)
@choice_arguments
@options.check_option
@partial(options.table_options, metric_option=options.only_metric_option)
@options.json_option
@click.pass_context
def ls(
    context: click.Context, choice: MaterialChoice, check: bool, selection: options.Selection,
    as_json: bool,
) -> None:  # fmt: skip
    """List the tables present: all, or those selected.

    Tables with equal digests have equal values. A stated digest is read from the header. With
    --check each file is read whole, the digest is computed, and --json also has the digest of the
    values alone. The state of the proof follows from the certificates that `verify` has written; a
    table modified after its certificate is read whole for this. A file that cannot be read is
    listed with its error. Win-draw-loss files are counted at the end; --json lists them in `wdl`.

    Exit status: 0 ok, 2 bad input, no such directory or an unreadable file, 3 a corrupt file.
    """
    entries: list[dict[str, Any]] = []
    shown: list[tuple[str, ProofStatus]] = []
    outcomes: list[dict[str, Any]] = []
    statuses = [failures.OK]
    proofs = Proofs(find_in_directory(selection.directory))
    # A file removed before its turn, or a broken link, is skipped.
    present = [path for path in selection.directory.iterdir() if path.exists()]
    named = [(name, path) for path in present if (name := parse_name(path.name))]
    chosen = set(choice.among({name.material for name, _ in named}))
    selected = [
        (name, path) for name, path in named
        if name.material in chosen and selection.choice.admits(name.rule_set)
    ]  # fmt: skip
    selected.sort(key=lambda found: (found[0].material.men, found[1].name))
    with LiveLine() as line:
        for number, (name, path) in enumerate(selected, 1):
            line.update(f"{number} of {len(selected)}: {path.name}")
            try:
                size = path.stat().st_size
            except FileNotFoundError:
                continue
            entry: dict[str, Any]
            if isinstance(name, WdlName):
                entry = {"file": path.name, "bytes_on_disk": size, "digest": None}
                with _errors_in(entry, statuses, line), WdlFile(path, name=name) as found:
                    if check:
                        found.check(threads=usable_cores())
                    source = found.statistics.source.file
                    entry |= {"digest": found.header.digest.hex(), "source": source}
                outcomes.append(entry)
            elif selection.metric in (None, name.metric):
                entry = name.to_json() | {"bytes_on_disk": size, "digest": None, "checked": check}
                entry |= {"values": None, "file": path.name}
                status = ProofStatus(None)
                with _errors_in(entry, statuses, line):
                    with TableFile(path, name=name) as file:
                        if check:
                            entry["values"] = checked_digest(file, threads=usable_cores()).hex()
                        entry["digest"] = file.header.digest.hex()
                    status = proofs.status(name)
                entries.append(entry | {"proof": status.to_json()})
                shown.append((str(name.rule_set), status))
    if as_json:
        show_json({"directory": str(selection.directory), "tables": entries, "wdl": outcomes})
    else:
        if entries:
            _show(entries, shown, "digest" if check else "stated digest")
        elif any(isinstance(name, TableName) for name, _ in named):
            click.echo(f"{selection.directory} has tables, but none of those selected", err=True)
        else:
            click.echo(f"no tables in {selection.directory}", err=True)
        if outcomes:
            total = sum(entry["bytes_on_disk"] for entry in outcomes)
            click.echo(f"{counted(len(outcomes), 'win-draw-loss file')}, {total:,} bytes")
    others = [path.name for path in present if path.suffix.lower() == SUFFIX]
    strange = sorted(name for name in others if parse_name(name) is None)
    if strange:
        files = f"{counted(len(strange), 'file')} whose name is no table's"
        click.echo(printable(f"note: {files}: {', '.join(strange[:4])}"), err=True)
    context.exit(max(statuses))


@contextlib.contextmanager
def _errors_in(entry: dict[str, Any], statuses: list[int], line: LiveLine) -> Iterator[None]:
    """Context manager: prints an expected exception, and adds it to `entry` and `statuses`."""
    try:
        yield
    except Exception as error:
        failure = failures.expected(error)
        entry |= {"error": failure.message, "hint": failure.hint}
        statuses.append(failure.status)
        line.clear()
        show_failure(failure)


def _show(
    entries: list[dict[str, Any]], shown: list[tuple[str, ProofStatus]], heading: str
) -> None:
    """Print a line for each table, then the totals.

    shown : (rule set as text, state of the proof) of each table
    heading : title of the column of digests
    """
    width = max(8, *(len(entry["material"]) for entry in entries))
    rules = max(9, *(len(rule_set) for rule_set, _ in shown))
    click.echo(f"{'material':{width}}  {'rules':{rules}}  metric{'bytes':>16}  {heading:32}  proof")
    for entry, (rule_set, status) in zip(entries, shown, strict=True):
        digest = entry["digest"] or "unreadable"
        click.echo(
            f"{entry['material']:{width}}  {rule_set:{rules}}  {entry['metric']:6}"
            f"{entry['bytes_on_disk']:>16,}  {digest:32}  {status}"
        )
    total = sum(entry["bytes_on_disk"] for entry in entries)
    proven = sum(status.state == ProofState.PROVEN for _, status in shown)
    click.echo(f"{counted(len(entries), 'table')}, {proven} of them proven, {total:,} bytes")
