"""`tbgen ls`: the tables in a directory, with what tells one from another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tbgen.cli import errors, options
from tbgen.cli.command import Command, show_failure, show_json
from tbgen.tables import Rules, RuleSet, TableFile, TableName


@click.command(cls=Command)
@options.table_options
@options.json_option
@click.pass_context
def ls(
    context: click.Context,
    tables: Path,
    rules: str | None,
    minor_chases: bool | None,
    orders: int | None,
    metric: str | None,
    as_json: bool,
) -> None:
    """The tables present.

    Two tables of one digest hold the same values. A file that cannot be read is listed with its
    error.

    Exit status: 0 ok, 2 no such directory, 3 a corrupt file.
    """
    worst = errors.OK
    entries: list[dict[str, Any]] = []
    named = [(TableName.parse(path.name), path) for path in tables.iterdir()]
    for name, path in sorted(
        ((name, path) for name, path in named if name is not None),
        key=lambda found: (found[0].material.men, found[1].name),
    ):
        if (
            rules not in (None, str(name.rules))
            or minor_chases not in (None, name.minor_chases)
            or orders not in (None, name.orders)
            or metric not in (None, str(name.metric))
        ):
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
            with TableFile(path) as file:
                entry["digest"] = file.header.digest.hex()
        except Exception as error:
            failure = errors.describe(error)
            if failure is None:
                raise
            entry |= {"error": failure.message, "hint": failure.hint}
            worst = max(worst, failure.status)
            show_failure(failure)
        entries.append(entry)
    if as_json:
        show_json({"directory": str(tables), "tables": entries})
    else:
        _show(tables, entries)
    context.exit(worst)


def _show(tables: Path, entries: list[dict[str, Any]]) -> None:
    """A list to read."""
    if not entries:
        click.echo(f"no tables in {tables}", err=True)
        return
    width = max(len(entry["material"]) for entry in entries)
    rule_sets = [
        str(RuleSet(Rules(e["rules"]), e["orders_limit"] or 0, e["minor_chases"] is not False))
        for e in entries
    ]
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
