"""`tbgen probe`: the value of a position and of its moves."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from tbgen.answers.as_json import outcome_name, probe_answer
from tbgen.answers.mechanism import find_mechanism
from tbgen.cli import options
from tbgen.cli.command import Command, answer_lines, show_json
from tbgen.cli.lessons import show_next
from tbgen.cli.streams import pad
from tbgen.indexing import Position
from tbgen.notation import format_position, parse_position
from tbgen.play.tablebase import GameTablebase
from tbgen.tables import Metric

_METRIC_NAMES = {
    Metric.DTM.value: "distance to mate",
    Metric.DTC.value: "distance to mate or conversion",
    None: "no table needed",
}


@click.command(cls=Command)
@click.argument("position", nargs=-1, required=True)
@options.table_options
@options.notation_option
@click.option(
    "--explain/--no-explain", default=None,
    help="Follow best play to the deciding loop, and name the offence and its pieces. "
    "Default: yes for a single position, no with -.",
)  # fmt: skip
@options.json_option
@click.pass_context
def probe(
    context: click.Context,
    position: tuple[str, ...],
    selection: options.Selection,
    notation: str,
    explain: bool | None,
    as_json: bool,
) -> None:
    """Show the value of a position and of all its moves.

    POSITION is a FEN, Pai's string, the six-integer board code or a board of ten lines. With -
    every line of standard input is a position, and is answered in one line; with --json by one
    object with its number "line", a bad line by {"input","error","hint","line"}. The exit status is
    then the worst of any line.

    Values are those of Fang, Hsu & Hsu: 0 for a draw, or for a loss without a legal move; plies to
    mate or conversion at order 0; 255 minus plies at order 1 and above, where the repetition rules
    decide. A move shows the value of the position after it.

    Where the repetition rules decide, --explain, the default for a single position, follows best
    play to the loop, for 80 plies at most, to name the offence.

    Exit status: 0 ok, 1 missing table, 2 bad input, 3 corrupt file.
    """
    text = " ".join(position)
    with selection.open() as opened:
        if text == "-":
            answer_line = partial(_probe, opened, notation, explain is True)
            context.exit(answer_lines(context, answer_line, _show_line, dict))
        answer = _probe(opened, notation, explain is not False, text)
        if as_json:
            show_json(answer)
        else:
            _show(parse_position(text), answer)
            board = ("tbgen serve", "the board in a browser")
            if answer["outcome"] == "draw" or not answer["moves"]:  # it has no line
                show_next(board)
            else:
                show_next((f'tbgen line "{answer["fen"]}"', "best play to the end"), board)


def _probe(opened: GameTablebase, notation: str, explain: bool, text: str) -> dict[str, Any]:
    """Return the JSON answer for the position in `text`; `explain` names the deciding offence."""
    position = parse_position(text)
    result, moves = opened.probe_with_moves(position)
    mechanism = find_mechanism(opened, position) if explain else None
    return probe_answer(position, result, moves, notation, mechanism)


def _show_line(answer: dict[str, Any]) -> None:
    best = next((f"; best {move['move']}" for move in answer["moves"] if move["best"]), "")
    click.echo(f"{answer['fen']}  {answer['outcome']}: {answer['reason']}{best}")


def _show(position: Position, answer: dict[str, Any]) -> None:
    click.echo(format_position(position, "board"))
    click.echo(f"\n{answer['fen']}")
    option = "" if answer["minor_chases"] is not False else " without minor chases"
    rules = f"rules {answer['rules']}{option}, " if answer["rules"] else ""
    click.echo(f"{answer['material']}, {rules}{_METRIC_NAMES[answer['metric']]}")
    reason = "" if answer["reason"] == answer["outcome"] else f" {answer['reason']}."
    click.echo(f"\n{answer['side'].title()} to move: {answer['outcome']}.{reason}")
    if not answer["moves"]:
        return
    click.echo("\n  move      outcome  value  order  why")
    for move in answer["moves"]:
        known = move["outcome"] != outcome_name(None)
        value, order = (move["value"], move["order"]) if known else ("-", "-")
        click.echo(
            f"{'*' if move['best'] else ' '} {pad(move['move'], 10)}{move['outcome']:9}"
            f"{value:>5}  {order:>5}  {move['reason']}{', check' if move['check'] else ''}"
        )
    click.echo("\nvalue: of the position after the move, in plies at order 0, else 255 - plies")
