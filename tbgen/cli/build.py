"""`tbgen build`: build tables and everything they need."""

from __future__ import annotations

import os
from pathlib import Path

import click

from tbgen.building.builder import Builder
from tbgen.cli import options
from tbgen.cli.command import Command, show_json
from tbgen.cli.lessons import show_next
from tbgen.cli.progress import BuildProgress
from tbgen.indexing import Material
from tbgen.tables.names import Metric, Rules, RuleSet


@click.command(cls=Command)
@click.argument("materials", nargs=-1, required=True, metavar="MATERIAL...")
@options.tables_option
@options.rules_option(options.DEFAULT_RULES)
@options.minor_chases_option(default=True)
@click.option(
    "--metric",
    type=click.Choice(["auto", "dtm", "dtc"]),
    default="auto",
    help="Distance to mate, to conversion, or (auto) the former where it fits one byte.",
)
@click.option(
    "--orders", type=click.IntRange(min=0), default=0, metavar="N",
    help="At most N orders of repetition. Default: until nothing changes.",
)  # fmt: skip
@click.option(
    "--threads", type=click.IntRange(min=1), default=os.cpu_count() or 1, show_default="all cores"
)
@click.option(
    "--memory", type=options.Size(), default=0, metavar="SIZE",
    help="Use at most this much, as in 2GiB. Default: what is available.",
)  # fmt: skip
@click.option("--force", is_flag=True, help="Build MATERIAL... again even if finished.")
@options.json_option
def build(
    materials: tuple[str, ...],
    tables: Path,
    rules: str,
    minor_chases: bool,
    metric: str,
    orders: int,
    threads: int,
    memory: int,
    force: bool,
    as_json: bool,
) -> None:
    """Build the tables of MATERIAL..., and first those that captures lead to.

    Finished tables are kept, so that an interrupted build goes on where it stopped; nothing is
    ever half written. Several builds may share a directory.

    Exit status: 0 ok, 2 bad input, no space or not enough memory, 130 interrupted.
    """
    wanted = [Material.parse(name) for name in materials]
    rule_set = RuleSet(Rules(rules), orders, minor_chases)
    with BuildProgress() as progress:
        builder = Builder(tables, rule_set, progress, threads=threads, memory=memory, force=force)
        builder.build(wanted, None if metric == "auto" else Metric(metric))
    if as_json:
        answer = {
            "directory": str(tables),
            "rules": rules,
            "minor_chases": rule_set.choice,
            "tables": progress.tables,
        }
        show_json(answer)
        return
    show_next(
        (f"tbgen verify {' '.join(materials)}", "proves them from the rules"),
        (f"tbgen stats {wanted[0]}", "counts, and the longest wins, ready for probe"),
        ("tbgen serve", "the board in a browser"),
    )
