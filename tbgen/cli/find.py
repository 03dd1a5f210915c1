"""`tbgen find`: the positions of a table that meet conditions."""

from __future__ import annotations

import csv
import shutil
import sys
import tempfile
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from tbgen.answers import failures
from tbgen.cli import options
from tbgen.cli.command import Command
from tbgen.cli.streams import json_text
from tbgen.finding.query import SORTS, read_range
from tbgen.indexing import Material
from tbgen.notation import MOVE_NOTATIONS, parse_material
from tbgen.notation.moves import language_of
from tbgen.play.mainline import Ending

# Numba and the tables package are imported when a table is searched.
if TYPE_CHECKING:
    from tbgen.finding.search import Search
    from tbgen.play.tablebase import GameTablebase

COLUMNS = ("fen", "side", "outcome", "order", "plies", "slot", "length")
"""Columns of CSV (`length` only for studies), and fields of a position in JSON."""


@click.command(cls=Command)
@click.argument("material")
@click.option("--turn", type=click.Choice(["red", "black"]), help="The side to move.")
@click.option("--outcome", type=click.Choice(["win", "draw", "loss"]), help="For the side to move.")
@click.option("--order", metavar="N", help="Order of the value: 2, 1-3 or 1-.")
@click.option("--plies", metavar="N", help="Plies of a win or loss: 30, 20-40 or 20-.")
@click.option("--only", is_flag=True, help="Exactly one move, of several, keeps the win or draw.")
@click.option("--zugzwang", is_flag=True, help="Either side does worse if it is to move.")
@click.option("--differs", is_flag=True, help="Another rule set present changes the outcome.")
@click.option("--study", is_flag=True, help="One move wins, also after every longest defence.")
@click.option(
    "--loop", type=click.Choice(["check", "chase"]),
    help="The loser by repetition has just begun this offence; the winner is to move.",
)  # fmt: skip
@click.option(
    "--at",
    "pieces",
    multiple=True,
    metavar="R@e5",
    help="A piece on a square; r is Black's. Repeat it, or write R@e5,k@d9.",
)
@click.option(
    "--sort", type=click.Choice(SORTS),
    help="Smallest first, or with - largest first. Default: by side and slot.",
)  # fmt: skip
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="At most N. Default: all.")
@click.option("--after", metavar="FEN", help="Resume behind this position of an earlier search.")
@click.option("--count", "counted", is_flag=True, help="Print only the number of positions.")
@click.option(
    "--format", "style", type=click.Choice(["fen", "csv", "pgn"]),
    help="A FEN per line, CSV with values, or PGN with best play. Default: fen.",
)  # fmt: skip
@click.option(
    "--notation", type=click.Choice(MOVE_NOTATIONS),
    help="Moves of --format pgn, with Chinese comments for zh and zh-hant. Default: iccs.",
)  # fmt: skip
@options.table_options
@options.json_option
def find(
    material: str, order: str | None, plies: str | None, selection: options.Selection,
    style: str | None, notation: str | None, counted: bool, as_json: bool, **asked: Any,
) -> None:  # fmt: skip
    """List all positions of a table that meet conditions.

    Mirror images count once; Red has the stronger army, as in the table's name. Without --sort,
    positions are sorted by side to move and slot (docs/format.md): an interrupted search resumes
    with --after and its last FEN. CSV has the columns fen, side, outcome for the side to move (1,
    0, -1), order, plies, slot; with --study also length, the plies of the unique line.

    Exit status: 0 ok, 1 missing table, 2 bad input, 3 corrupt file.
    """
    if style and (as_json or counted):
        raise click.UsageError(f"use only one of --format and {'--json' if as_json else '--count'}")
    if notation and style != "pgn":
        raise click.UsageError("--notation needs --format pgn")
    wanted = parse_material(material)
    from tbgen.compiling.jit import notify_before_compiling
    from tbgen.finding.search import find as search

    tell = partial(click.echo, "compiling the search, once on this machine: about 10 s", err=True)
    with selection.open() as opened, notify_before_compiling(tell):
        orders = None if order is None else read_range(order, "orders")
        lengths = None if plies is None else read_range(plies, "plies")
        found = search(material, opened, orders=orders, plies=lengths, **asked)
        if as_json:
            _write_json(wanted, opened, found.count() if counted else found)
        elif counted:
            click.echo(found.count())
        elif style == "csv":
            _write_csv(found)
        elif style == "pgn":
            if not _write_pgn(found, opened, notation or MOVE_NOTATIONS[0]):
                click.get_current_context().exit(failures.FINDINGS)
        else:
            sys.stdout.writelines(f"{each.fen}\n" for each in found)


def _write_csv(found: Search) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    columns = COLUMNS if found.query.study else COLUMNS[:-1]
    writer.writerow(columns)
    for each in found:
        numbers = (int(each.position.side), int(each.outcome), each.order, each.plies or 0)
        row = (each.fen, *numbers, each.slot, each.length)
        writer.writerow(row[: len(columns)])


def _write_pgn(found: Search, tables: GameTablebase, notation: str) -> bool:
    """Write best play from each position as PGN; return False if a table is missing for a line."""
    from tbgen.board.knowledge.games import game_text
    from tbgen.board.knowledge.store import TableStore

    store = TableStore(tables)
    language = language_of(notation)
    is_complete = True
    for each in found:
        sys.stdout.write(f"{game_text(store, [each.position], [], notation, language)}\n")
        is_complete = is_complete and store.line(each.position).ending != Ending.UNKNOWN
    return is_complete


def _write_json(material: Material, tables: GameTablebase, found: Search | int) -> None:
    """Write one JSON object: the positions of a search, or only their number.

    Nothing is written before the search has ended, so that an error leaves only its own object.
    """
    rules = tables.table_name(material).rule_set
    head = {"material": material.name, "rules": str(rules.rules), "minor_chases": rules.choice}
    start, out = json_text(head)[:-1], sys.stdout
    if isinstance(found, int):
        out.write(f'{start}, "positions": null, "count": {found}}}\n')
        return
    count = 0
    with tempfile.SpooledTemporaryFile(1 << 24, "w+", encoding="utf-8") as kept:
        for count, each in enumerate(found, 1):
            values = (
                each.fen, each.position.side.name.lower(), each.outcome.name.lower(), each.order,
                each.plies, each.slot, each.length,
            )  # fmt: skip
            entry = dict(zip(COLUMNS, values, strict=True))
            kept.write((", " if count > 1 else "") + json_text(entry))
        kept.seek(0)
        out.write(f'{start}, "positions": [')
        shutil.copyfileobj(kept, out)
    out.write(f'], "count": {count}}}\n')
