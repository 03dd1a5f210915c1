"""`tbgen judge`: who violates the repetition rules, and why.

    tbgen judge FEN MOVE...     one game
    tbgen judge -               one `FEN;MOVE MOVE ...` per line of standard input

Reads text, asks `tbgen.referee`, prints; imports no numba. Exit status 0, or 2 if anything read
was bad (the other lines are answered all the same).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable

import click

from tbgen.indexing.errors import InputError
from tbgen.indexing.move import Move
from tbgen.indexing.squares import square_name
from tbgen.referee import Judgement, Label, RuleSet
from tbgen.referee import judge as referee
from tbgen.referee.diagram import Diagram

BAD_INPUT = 2
"""Exit status for text that cannot be understood."""


@click.command(
    context_settings={"help_option_names": ["-h", "--help"]},
    short_help="Verdict on a repeated position, with each ply's label.",
)
@click.argument("fen")
@click.argument("moves", nargs=-1)
@click.option(
    "--rules",
    type=click.Choice([rules.label for rules in RuleSet], case_sensitive=False),
    default=RuleSet.WXF.label,
    show_default=True,
    help="What a side may not do for ever: nothing is forbidden, checks, or checks and chases.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per game.")
@click.option(
    "--occurrences",
    type=click.IntRange(min=2),
    default=2,
    show_default=True,
    help="Judge once the position has stood on the board this many times.",
)
@click.option(
    "--advisor-chases/--no-advisor-chases",
    default=True,
    show_default=True,
    help="Whether an advisor or elephant attacking a protected rook, knight or cannon chases it.",
)
@click.option("--tables", hidden=True, help="Accepted as on every command; the referee reads none.")
def judge(
    fen: str,
    moves: tuple[str, ...],
    rules: str,
    as_json: bool,
    occurrences: int,
    advisor_chases: bool,
    tables: str | None,
) -> None:
    """Judge the last position of a game: FEN, then the moves played from it (h2e2 ...).

    If that position has occurred before, each side's moves in between are judged: checks on
    every move lose against everything else, chases of one piece on every move lose against
    anything milder, equal conduct draws. With - as FEN, one `FEN;MOVE MOVE ...` is read per line
    of standard input. Exit status: 0, or 2 for bad input.
    """

    def answer(fen_text: str, move_texts: Iterable[str]) -> Judgement:
        return referee(
            Diagram.from_fen(fen_text),
            [Move.from_iccs(text) for text in move_texts],
            rules=RuleSet.parse(rules),
            occurrences=occurrences,
            minor_chases=advisor_chases,
        )

    status = 0
    if fen != "-":
        games = [(" ".join([fen, *moves]), fen, list(moves))]
    elif moves:
        raise click.UsageError("with -, games and their moves are read from standard input")
    else:
        games = [_split_line(line.decode(errors="replace")) for line in sys.stdin.buffer]
    for text, fen_text, move_texts in games:
        if not text:
            continue
        try:
            judgement = answer(fen_text, move_texts)
        except InputError as error:
            status = BAD_INPUT
            _report_error(text, error, as_json)
            continue
        if as_json:
            click.echo(json.dumps(judgement.as_json()))
        elif fen == "-":
            click.echo(f"{judgement.verdict.text}: {judgement.reason}")
        else:
            _print_game(judgement)
    sys.exit(status)


def _split_line(line: str) -> tuple[str, str, list[str]]:
    """The whole line, its FEN and its moves."""
    text = line.strip()
    fen, _, moves = text.partition(";")
    return text, fen, moves.replace(",", " ").split()


def _report_error(text: str, error: InputError, as_json: bool) -> None:
    """One line that says what is wrong and what to do about it."""
    if as_json:
        click.echo(json.dumps({"input": text, "error": str(error), "hint": error.hint}))
    else:
        hint = f" ({error.hint})" if error.hint else ""
        click.echo(f"Error: {error}{hint}", err=True)


def _print_game(judgement: Judgement) -> None:
    """The plies with their labels, then the verdict and the reason."""
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
    """`c4, c6`."""
    return ", ".join(square_name(square) for square in squares)
