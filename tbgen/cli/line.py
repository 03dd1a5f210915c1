"""`tbgen line`: best play of both sides, to mate or to the loop that is forced."""

from __future__ import annotations

from typing import Any

import click

from tbgen.answers import failures
from tbgen.answers.as_json import line_answer
from tbgen.cli import options
from tbgen.cli.command import Command, show_json
from tbgen.cli.streams import position_text
from tbgen.notation import parse_position
from tbgen.play.mainline import Ending


@click.command(cls=Command)
@click.argument("position", nargs=-1, required=True)
@click.option("--plies", type=click.IntRange(min=1), metavar="N", help="Stop after N plies.")
@options.table_options
@options.notation_option
@options.json_option
@click.pass_context
def line(
    context: click.Context,
    position: tuple[str, ...],
    plies: int | None,
    selection: options.Selection,
    notation: str,
    as_json: bool,
) -> None:
    """Show best play of both sides to the end.

    Without --plies, the line goes on through conversions until mate, stalemate or a missing table,
    or until a forced loop, which is shown once. A draw forces nothing, and has no line. POSITION as
    for convert.

    Exit status: 0 ok, 1 missing table, 2 bad input, 3 corrupt file.
    """
    with selection.open() as opened:
        found = opened.mainline(parse_position(position_text(position)), plies)
    answer = line_answer(found, notation)
    if as_json:
        show_json(answer)
    else:
        _show(answer)
    if found.ending == Ending.UNKNOWN:
        context.exit(failures.FINDINGS)


def _show(answer: dict[str, Any]) -> None:
    """Print a line of best play: numbered moves, then the forced loop as a part of its own."""
    click.echo(f"{answer['fen']}\n{answer['reason']}.")
    moves, loop_start = answer["moves"], answer["loop_start"]
    before = moves if loop_start is None else moves[:loop_start]
    _show_moves(before, 0)
    if loop_start is not None:
        click.echo("then for ever:")
        _show_moves(moves[loop_start:], loop_start)
    click.echo(f"{answer['end']}.")


def _show_moves(moves: list[dict[str, Any]], first: int) -> None:
    """Print moves, two in a row, with numbers; `first` is the number of moves before them."""
    rows: list[str] = []
    for number, move in enumerate(moves, first):
        text = move["move"] + ("+" if move["check"] else "")
        if number % 2 == 0 or not rows:
            gap = "" if number % 2 == 0 else " ..."
            rows.append(f"{number // 2 + 1:>4}.{gap} {text}")
        else:
            rows[-1] += f"  {text}"
    for row in rows:
        click.echo(row)
