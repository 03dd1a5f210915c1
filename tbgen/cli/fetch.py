"""`tbgen fetch`: fetch tables from an address, checked against an index."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tbgen.answers import failures
from tbgen.answers.units import size
from tbgen.building.work import needed_materials
from tbgen.cli import options
from tbgen.cli.command import Command, show_failure, show_json
from tbgen.cli.materials import material_arguments
from tbgen.cli.progress import BuildProgress
from tbgen.indexing import Material
from tbgen.indexing.rulesets import Rules
from tbgen.tables.names import RuleChoice

if TYPE_CHECKING:
    from tbgen.publishing.index import Entry
    from tbgen.publishing.sources import Source


@click.command(cls=Command)
@material_arguments
@click.option(
    "--from", "addresses", multiple=True, required=True, metavar="URL|DIR",
    help="A folder with an index.json; given again, more that have the same files.",
)  # fmt: skip
@click.option(
    "--index", "index_file", type=click.Path(path_type=Path), metavar="FILE",
    help="The index to check files against. Default: that of the first source that has one.",
)  # fmt: skip
@options.tables_option
@options.rules_option(options.DEFAULT_RULES)
@options.minor_chases_option(default=True)
@click.option("--orders", type=click.IntRange(min=0), default=0, help="Limit the orders.")
@options.metric_option
@options.json_option
@click.pass_context
def fetch(
    ctx: click.Context,
    wanted: list[Material],
    addresses: tuple[str, ...],
    index_file: Path | None,
    tables: Path,
    rules: str,
    minor_chases: bool,
    orders: int,
    metric: str | None,
    as_json: bool,
) -> None:
    """Fetch the tables of MATERIAL..., and those that captures lead to.

    MATERIAL is one as in KRNKR, a pattern as in 'KR*KN*', the set table1, or @FILE, which lists any
    of these; --men 5 alone is every material of at most five men.

    A file gets its name when its bytes have the SHA-256 that the index says; what was cut is
    continued, from the same source or the next. Whom you have the index from, you must trust.

    Exit status: 0 ok, 1 something was not to be had, 2 bad input.
    """
    from tbgen.publishing.fetching import fetch_index
    from tbgen.publishing.index import read_index_file
    from tbgen.publishing.sources import source_of

    sources = [source_of(address) for address in addresses]
    if index_file is not None:
        entries = read_index_file(index_file)
    else:
        entries = fetch_index(sources)
    needed = {material.name for material in needed_materials(wanted)}
    choice = RuleChoice(Rules(rules), orders, minor_chases)
    chosen = [
        entry
        for entry in entries
        if entry.table.material.name in needed
        and choice.admits(entry.table.rule_set)
        and metric in (None, entry.table.metric)
    ]
    missing = sorted(needed - {entry.table.material.name for entry in chosen})
    tables.mkdir(parents=True, exist_ok=True)
    answer: dict[str, Any] = {"directory": str(tables), "fetched": [], "present": [], "failed": []}
    with BuildProgress() as line:
        for number, entry in enumerate(chosen, 1):
            label = f"{number}/{len(chosen)} {entry.file}"
            done, failure = _fetch_one(entry, sources, tables, line, label)
            answer[done].append(failure or entry.file)
    answer["missing"] = missing
    if missing:
        names = ", ".join(missing[:8]) + (", ..." if len(missing) > 8 else "")
        show_failure(failures.Failure(failures.FINDINGS, f"the index lists no table of {names}"))
    counts = {name: len(found) for name, found in answer.items() if isinstance(found, list)}
    click.echo(", ".join(f"{count} {name}" for name, count in counts.items() if count), err=True)
    if as_json:
        show_json(answer)
    ctx.exit(failures.FINDINGS if answer["failed"] or missing else failures.OK)


def _fetch_one(
    entry: Entry, sources: list[Source], tables: Path, line: BuildProgress, label: str
) -> tuple[str, dict[str, str] | None]:
    """Return the result for a file: `fetched`, `present` or `failed`; and the failure."""
    from tbgen.publishing.fetching import FetchError
    from tbgen.publishing.fetching import fetch as fetch_file

    try:
        fetched = fetch_file(
            entry, sources, tables, lambda count: line.live(f"{label}: {size(count)}")
        )
    except (FetchError, BlockingIOError) as error:
        busy = isinstance(error, BlockingIOError)
        why = "a build, or another fetch, is at the table" if busy else str(error.strerror)
        failure = failures.Failure(failures.FINDINGS, f"{entry.file}: {why}")
        line.say(f"error: {failure.message}")
        return "failed", failure.to_json(entry.file)
    if fetched:
        line.say(f"{label}: {size(entry.bytes)}")
    return ("fetched" if fetched else "present"), None
