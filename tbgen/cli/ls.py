"""`tbgen ls`: the tables in a directory, with what tells one from another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tbgen.answers import failures
from tbgen.cli import options
from tbgen.cli.command import Command, show_failure, show_json
from tbgen.cli.wdl import list_outcomes
from tbgen.tables import TableFile, TableName


@click.command(cls=Command)
@options.table_options
@options.json_option
@click.pass_context
def ls(
    context: click.Context,
    selection: options.Selection,
    as_json: bool,
) -> None:
    """The tables present.

    Win-draw-loss files are counted at the end; --json lists them in `wdl`.

    Two tables of one digest hold the same values. A file that cannot be read is listed with its
    error.

    Exit status: 0 ok, 2 no such directory, 3 a corrupt file.
    """
    worst = failures.OK
    entries: list[dict[str, Any]] = []
    rule_sets: list[str] = []
    choice = selection.choice
    # What is removed meanwhile, or a link to nowhere, is not there.
    present = (path for path in selection.directory.iterdir() if path.exists())
    named = [(TableName.parse(path.name), path) for path in present]
    for name, path in sorted(
        ((name, path) for name, path in named if name is not None),
        key=lambda found: (found[0].material.men, found[1].name),
    ):
        if not choice.admits(name.rule_set) or selection.metric not in (None, name.metric):
            continue
        entry = {
            "material": name.material.name,
            "rules": str(name.rules),
            "minor_chases": name.rule_set.choice,
            "orders_limit": name.orders or None,
            "metric": str(name.metric),
            "bytes_on_disk": path.stat().st_size,
            "digest": None,
            "file": path.name,
        }
        try:
            with TableFile(path, name=name) as file:
                entry["digest"] = file.header.digest.hex()
        except Exception as error:
            failure = failures.describe(error)
            if failure is None:
                raise
            entry |= {"error": failure.message, "hint": failure.hint}
            worst = max(worst, failure.status)
            show_failure(failure)
        entries.append(entry)
        rule_sets.append(str(name.rule_set))
    outcomes, status = list_outcomes(selection)
    if as_json:
        show_json({"directory": str(selection.directory), "tables": entries, "wdl": outcomes})
    else:
        _show(selection.directory, entries, rule_sets)
        if outcomes:
            total = sum(entry["bytes_on_disk"] for entry in outcomes)
            click.echo(f"{len(outcomes)} win-draw-loss files, {total:,} bytes")
    context.exit(max(worst, status))


def _show(tables: Path, entries: list[dict[str, Any]], rule_sets: list[str]) -> None:
    """A list to read; of each entry its rule set as file names have it."""
    if not entries:
        click.echo(f"no tables in {tables}", err=True)
        return
    width = max(len(entry["material"]) for entry in entries)
    rules = max(9, *map(len, rule_sets))
    head = f"{'material':{max(width, 8)}}  {'rules':{rules}}  metric"
    click.echo(f"{head}{'bytes':>16}  digest")
    for entry, rule_set in zip(entries, rule_sets, strict=True):
        click.echo(
            f"{entry['material']:{max(width, 8)}}  {rule_set:{rules}}  {entry['metric']:6}"
            f"{entry['bytes_on_disk']:>16,}  {entry['digest'] or 'unreadable'}"
        )
    total = sum(entry["bytes_on_disk"] for entry in entries)
    click.echo(f"{len(entries)} tables, {total:,} bytes")
