"""`tbgen judge`: verdicts under the repetition rules, with reasons.

    tbgen judge FEN MOVE...     one game
    tbgen judge -               one `FEN;MOVE MOVE ...` per line of standard input

Reads text, calls `tbgen.referee`, and prints. No tables are read.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from tbgen.cli import options
from tbgen.cli.command import Command, answer_lines, show_json
from tbgen.indexing import InputError
from tbgen.indexing.rulesets import CHINESE
from tbgen.indexing.squares import square_name
from tbgen.notation import parse_move
from tbgen.referee import Game, Judgement, Label, Rules, judge_chinese, judge_game
from tbgen.referee.diagram import Diagram


@click.command(cls=Command)
@click.argument("fen")
@click.argument("moves", nargs=-1)
@options.rules_option(options.DEFAULT_RULES, judges=True)
@click.option(
    "--occurrences", type=click.IntRange(min=2), metavar="N", default=2,
    help="Judge once the position has stood on the board N times. Default: 2.",
)  # fmt: skip
@options.minor_chases_option(default=True)
@options.tables_option
@options.json_option
@click.pass_context
def judge(
    context: click.Context, fen: str, moves: tuple[str, ...], rules: str, occurrences: int,
    minor_chases: bool, tables: Path, as_json: bool,
) -> None:  # fmt: skip
    """Judge the last position of a game, and label every ply.

    FEN is the first position, MOVES were played from it, as h2e2 or in any notation that `convert`
    reads. If the last position has occurred before, the moves in between are judged: checks on
    every move lose to anything else, chases of one piece on every move to anything milder; equal
    conduct draws. Plies are check, chase (of which piece by which) or idle. No tables are needed.

    Under chinese the verdict is undecided unless a side surely must vary and does not: each of its
    moves checks or threatens mate by checks (kill), and the other side has an idle move. A move
    that may be a chase is open.

    With - every line of standard input is one `FEN;MOVE MOVE ...`, answered in one line each; with
    --json in one object each, a bad line by {"input","error","hint"}.

    Exit status: 0 ok, 2 bad input.
    """

    judged = Rules.WXF if rules == CHINESE else Rules(rules)

    def answer(fen_text: str, texts: Sequence[str]) -> Judgement:
        game = _read_game(fen_text, texts, judged.chase_rules(minor_chases=minor_chases))
        if rules == CHINESE:
            return judge_chinese(game, occurrences=occurrences)
        return judge_game(game, rules=judged, occurrences=occurrences)

    def answer_line(line: str) -> Judgement:
        fen, _, moves = line.partition(";")
        return answer(fen, moves.replace(",", " ").split())

    def show_as_json(judgement: Judgement) -> None:
        show_json(judgement.as_json())

    if fen == "-":
        if moves:
            raise click.UsageError("with - the moves are read from standard input too", context)
        show = show_as_json if as_json else _show_line
        context.exit(answer_lines(context, answer_line, show))
    (show_as_json if as_json else _show)(answer(fen, moves))


def _read_game(fen: str, texts: Sequence[str], chase_rules: int) -> Game:
    """Parse and play the moves of a game; raises `InputError` with the number of a bad ply."""
    game = Game(Diagram.from_fen(fen), chase_rules)
    for ply, text in enumerate(texts, 1):
        try:
            game.push(parse_move(game.last, text))
        except InputError as error:
            raise type(error)(f"ply {ply}: {error.message}", error.hint) from None
    return game


def _show_line(judgement: Judgement) -> None:
    click.echo(f"{judgement.verdict.text}: {judgement.reason}")


def _show(judgement: Judgement) -> None:
    """Print the plies with their labels, then the verdict and the reason."""
    start = judgement.span[0] if judgement.span else len(judgement.plies)
    for number, ply in enumerate(judgement.plies):
        note = ""
        if ply.label == Label.CHASE:
            note = f"{_names(ply.chased)} by {_names(ply.by)}"
        mark = "*" if number >= start else " "
        side = ply.side.name.title()
        click.echo(f"{number + 1:4}{mark} {ply.move}  {side:5}  {ply.label:5}  {note}".rstrip())
    if judgement.span:
        red, black = judgement.levels
        click.echo(f"Judged: the plies marked *. Level of Red {red}, of Black {black}.")
    click.echo(f"Verdict: {judgement.verdict.text}")
    click.echo(f"{judgement.reason[0].upper()}{judgement.reason[1:]}.")


def _names(squares: tuple[int, ...]) -> str:
    """Return the names of squares, such as `c4, c6`."""
    return ", ".join(square_name(square) for square in squares)
