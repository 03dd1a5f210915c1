"""`tbgen plan`: the tables that a build needs, in order, with their costs; present ones marked."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from tbgen.building.plan import Totals, WorkerForecast, forecast_workers
from tbgen.building.plan import plan as plan_tables
from tbgen.building.work import finished_table
from tbgen.cli import options
from tbgen.cli.command import Command, show_json
from tbgen.cli.materials import material_arguments, require_tables
from tbgen.indexing import Material
from tbgen.system.units import counted, format_bytes, format_duration
from tbgen.tables.rule_sets import RuleSet


@click.command(cls=Command)
@material_arguments
@options.rule_set_options
@click.option(
    "--workers", type=click.IntRange(1, 100_000), metavar="N",
    help="Also simulate N workers of one thread each: time, memory, and disk used meanwhile.",
)  # fmt: skip
@options.json_option
def plan(
    wanted: list[Material], tables: Path, rule_set: RuleSet, workers: int | None, as_json: bool
) -> None:
    """Show what building MATERIAL... would take.

    Lists every table that is needed, supporting ones first: index slots, memory, and estimates of
    its file and time. A finished table has the size of its file, and is marked `present`. For large
    tables 95 % of the estimates are right within a factor of 1.5 in time and 2 in bytes.

    Exit status: 0 ok, 2 bad input.
    """
    require_tables(wanted)
    planned = plan_tables(wanted, rule_set, tables)
    entries: list[dict[str, Any]] = [
        {
            "material": table.material.name,
            "index_size": table.index_size,
            "placements": table.placements,
            "holes": table.index_size - table.placements,
            "memory_bytes": table.memory_bytes,
            "disk_bytes": table.disk_bytes,
            "cpu_seconds": round(table.cpu_seconds, 2),
            "seconds": round(table.seconds, 2),
            "present": finished_table(tables, table.material, rule_set) is not None,
        }
        for table in planned
    ]
    absent = [table for table, entry in zip(planned, entries, strict=True) if not entry["present"]]
    missing = [table for table in absent if table.is_supported]
    refused = [table.material.name for table in absent if not table.is_supported]
    if refused:
        names = ", ".join(refused[:4]) + (", ..." if len(refused) > 4 else "")
        click.echo(
            f"note: the totals leave out {names}: build refuses so many placements", err=True
        )
    total = Totals.of(missing, workers or 1)
    forecast = None if workers is None else forecast_workers(missing, workers)
    if as_json:
        answer = {
            "rules": str(rule_set.rules),
            "minor_chases": rule_set.choice,
            "orders_limit": rule_set.orders,
            "tables": entries,
        }
        counts = asdict(total) | {"seconds": round(total.seconds, 2)}
        answer |= {"missing": counts.pop("tables")} | counts
        show_json(answer | ({} if forecast is None else {"workers": asdict(forecast)}))
        return
    _show(entries, total)
    if forecast is not None:
        _show_forecast(forecast)


def _show(entries: list[dict[str, Any]], total: Totals) -> None:
    width = max(len(entry["material"]) for entry in entries)
    click.echo(f"{'material':{max(width, 8)}}  {'slots':>14}  {'holes':>6}  {'memory':>9}  "
               f"{'disk':>9}  {'time':>8}")  # fmt: skip
    for entry in entries:
        holes = f"{100 * entry['holes'] / entry['index_size']:.0f} %"
        time = "present" if entry["present"] else format_duration(entry["seconds"])
        click.echo(f"{entry['material']:{max(width, 8)}}  {entry['index_size']:14,}  {holes:>6}  "
                   f"{format_bytes(entry['memory_bytes']):>9}  "
                   f"{format_bytes(entry['disk_bytes']):>9}  {time:>8}")  # fmt: skip
    click.echo(f"{total.tables} of {counted(len(entries), 'table')} to build, {total}")


def _show_forecast(forecast: WorkerForecast) -> None:
    found = forecast.simulation
    click.echo(
        f"{counted(forecast.workers, 'worker')} of one thread: {format_duration(found.seconds)}, "
        f"the longest chain alone {format_duration(found.longest_path)}; "
        f"{100 * found.busy:.0f} % busy"
    )
    for each in forecast.classes:
        limit = "more than that"
        if each.memory_bytes is not None:
            limit = f"at most {format_bytes(each.memory_bytes)}"
        click.echo(f"  of memory {limit:>18}: {counted(each.tables, 'table'):>12}, "
                   f"{format_duration(each.seconds):>6} of one worker")  # fmt: skip
