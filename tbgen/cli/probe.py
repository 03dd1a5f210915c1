"""`tbgen probe`: the value of a position, and what every legal move leads to."""

from __future__ import annotations

from typing import Any

import click

from tbgen.answers import failures
from tbgen.answers.as_json import outcome_name, probe_answer
from tbgen.answers.mechanism import find_mechanism
from tbgen.cli import options
from tbgen.cli.command import Command, show_failure, show_json, show_traceback, tables_option
from tbgen.cli.lessons import show_next
from tbgen.cli.streams import read_lines
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
    "--explain/--no-explain",
    default=None,
    help="Follow best play to the deciding loop, and name who checks or chases whom. "
    "Default: for a single position, not with -.",
)
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
    every line of standard input is a position, answered in one line each; with --json in one
    object each, a bad line by {"input","error","hint"}, and the exit status is the worst.

    Values are those of Fang, Hsu & Hsu: 0 a draw (or, lost, no legal move), plies to mate or
    conversion at order 0, 255 minus plies at order 1 and above, where the repetition rules decide.
    A move shows the value of the position after it.

    Where the repetition rules decide, best play is followed to the loop, for 80 plies at most, to
    name the offence.

    Exit status: 0 ok, 1 missing table, 2 bad input, 3 corrupt file.
    """
    text = " ".join(position)
    with selection.open() as opened:
        if text == "-":
            context.exit(_probe_lines(context, opened, notation, explain is True, as_json))
        answer = _probe(opened, text, notation, explain is not False)
        if as_json:
            show_json(answer)
        else:
            _show(parse_position(text), answer)
            _suggest(answer)


def _probe(opened: GameTablebase, text: str, notation: str, explain: bool) -> dict[str, Any]:
    """Return the answer for one position."""
    position = parse_position(text)
    result, moves = opened.probe_with_moves(position)
    mechanism = find_mechanism(opened, position) if explain else None
    return probe_answer(position, result, moves, notation, mechanism)


def _probe_lines(
    context: click.Context, opened: GameTablebase, notation: str, explain: bool, as_json: bool
) -> int:
    """Answer every line of standard input; returns the worst exit status."""
    worst = failures.OK
    for line in read_lines():
        try:
            answer = _probe(opened, line.read(), notation, explain)
        except BrokenPipeError:
            raise
        except Exception as error:
            failure = failures.describe(error, tables_option(context))
            if failure is None:
                raise
            show_traceback()
            worst = max(worst, failure.status)
            if as_json:
                show_json(failure.to_json(line.text))
            else:
                show_failure(failure, f"line {line.number}: ")
            continue
        if as_json:
            show_json(answer)
        else:
            click.echo(_summary(answer))
    return worst


def _summary(answer: dict[str, Any]) -> str:
    """Return an answer as one line."""
    best = f"; best {answer['moves'][0]['move']}" if answer["moves"] else ""
    return f"{answer['fen']}  {answer['outcome']}: {answer['reason']}{best}"


def _show(position: Position, answer: dict[str, Any]) -> None:
    """Print an answer."""
    click.echo(format_position(position, "board"))
    click.echo(f"\n{answer['fen']}")
    option = "" if answer["minor_chases"] is not False else " without minor chases"
    rules = f"rules {answer['rules']}{option}, " if answer["rules"] else ""
    click.echo(f"{answer['material']}, {rules}{_METRIC_NAMES[answer['metric']]}")
    click.echo(f"\n{answer['side'].title()} to move: {answer['outcome']}. {answer['reason']}.")
    if not answer["moves"]:
        return
    click.echo("\n  move      outcome  value  order  why")
    for move in answer["moves"]:
        known = move["outcome"] != outcome_name(None)
        value, order = (move["value"], move["order"]) if known else ("-", "-")
        click.echo(
            f"{'*' if move['best'] else ' '} {_pad(move['move'], 10)}{move['outcome']:9}"
            f"{value:>5}  {order:>5}  {move['reason']}{', check' if move['check'] else ''}"
        )
    click.echo("\nvalue: of the position after the move, in plies at order 0, else 255 - plies")


def _suggest(answer: dict[str, Any]) -> None:
    """Return the command to try next: a draw forces nothing, and has no line."""
    board = ("tbgen serve", "the board in a browser")
    if answer["outcome"] == "draw" or not answer["moves"]:
        show_next(board)
    else:
        show_next((f'tbgen line "{answer["fen"]}"', "best play to the end"), board)


def _pad(text: str, width: int) -> str:
    """`text` in so many columns of a terminal; Chinese characters take two each."""
    return text + " " * (width - sum(2 if ord(c) > 0x2E7F else 1 for c in text))
