"""`tbgen judge`: verdicts under the repetition rules, with reasons; no tables are read."""

from __future__ import annotations

import itertools
import os
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import click

from tbgen.cli import options
from tbgen.cli.command import Command, answer_lines, show_json
from tbgen.cli.streams import Line, pad, read_lines
from tbgen.indexing.errors import InputError, MoveTextError
from tbgen.indexing.rulesets import CHINESE
from tbgen.indexing.squares import square_name
from tbgen.notation import begins_with_moves, format_move, open_brackets, read_game, split_games
from tbgen.referee import (
    Diagram,
    Game,
    Judgement,
    Label,
    Rules,
    Verdict,
    chinese_verdict,
    judge_chinese,
    judge_game,
    repetition_verdict,
)

_COMMENT_LINES = 20
"""Lines after which a bracket that is still open is no comment."""


@click.command(cls=Command)
@click.argument("game", nargs=-1, required=True)
@options.rules_option(options.DEFAULT_RULES, judges=True)
@click.option(
    "--occurrences", type=click.IntRange(min=2), metavar="N", default=2,
    help="Judge once the position has stood on the board N times. Default: 2.",
)  # fmt: skip
@options.minor_chases_option(default=True)
@options.notation_option
@click.option("--tables", hidden=True, expose_value=False)  # ignored: no tables are read
@options.json_option
@click.pass_context
def judge(
    context: click.Context, game: tuple[str, ...], rules: str, occurrences: int,
    minor_chases: bool, notation: str, as_json: bool,
) -> None:  # fmt: skip
    """Judge the last position of a game, and label every ply.

    GAME is a FEN and the moves played from it, or only moves from the opening array; as h2e2 or in
    any notation that `convert` reads, with or without move numbers. If the last position has
    occurred before, the moves in between are judged: a side that checks on every move loses unless
    both do, one that chases one piece on every move loses to a side that does neither; equal
    conduct draws. Plies are check, chase (of which piece by which) or idle. If an earlier position
    had another verdict, the first one is named. No tables are needed. With --json moves are always
    ICCS.

    Under chinese the verdict is undecided unless a side surely must vary and does not: each of its
    moves checks or threatens mate by checks (kill), and the other side has an idle move. A move
    that may be a chase is open.

    GAME may also be a file, or - for standard input: PGN, a list of moves, or, if its first line
    with moves begins with a FEN, one game a line, as `FEN;MOVE MOVE ...`. Several games are
    answered in one line each; with --json in one object each with its number "line" or "game", a
    bad one by {"input","error","hint"} and the number.

    Exit status: 0 ok, 2 bad input.
    """
    judged = Rules.WXF if rules == CHINESE else Rules(rules)

    def judge_last(played: Game) -> Judgement:
        if rules == CHINESE:
            return judge_chinese(played, occurrences=occurrences)
        return judge_game(played, rules=judged, occurrences=occurrences)

    def repetition(played: Game) -> Verdict:
        if rules == CHINESE:
            return chinese_verdict(played, occurrences=occurrences)
        return repetition_verdict(played, rules=judged, occurrences=occurrences)

    def answer(text: str) -> _Answer:
        read = read_game(text, Diagram.from_fen)
        if read.fault is not None:
            ply, fault = len(read.moves) + 1, read.fault
            raise MoveTextError(f"ply {ply}: {fault.message}", fault.hint)
        played = Game(read.start, judged.chase_rules(minor_chases=minor_chases))
        first, times = None, Counter([read.start])
        for move in read.moves:
            played.push(move)
            times[played.last] += 1
            if first is None and times[played.last] >= occurrences:
                first = judge_last(played) if repetition(played) != Verdict.UNDECIDED else None
        last = judge_last(played)
        by_mate = last if last.verdict != Verdict.UNDECIDED else None
        return _Answer(last, first or by_mate)

    def answer_line(text: str) -> _Answer:
        if begins_with_moves(text):
            hint = "write FEN;MOVE MOVE ..., or the first FEN on a line of its own"
            raise InputError("the line does not begin with a FEN", hint)
        return answer(text)

    text = " ".join(game)
    if game[0] == "-" and len(game) > 1:
        raise click.UsageError("with - the moves are read from standard input too", context)
    if len(game) > 1 and os.path.isfile(game[0]):
        raise click.UsageError("one file is read at a time; join several: cat FILE...", context)
    if len(game) == 1 and os.path.isdir(text):
        raise InputError(
            f"{text!r} is a directory", "name a file of games, or give a FEN and moves"
        )
    if text == "-" or (len(game) == 1 and os.path.isfile(text)):
        games = _read(text)
        if not isinstance(games, list) or len(games) > 1:
            how = answer if isinstance(games, list) else answer_line
            context.exit(answer_lines(context, how, _show_line, _Answer.as_json, games))
        text = games[0].text
    elif len(text.split()) == 1 and os.path.splitext(text)[1] and not begins_with_moves(text):
        raise InputError(f"there is no file {text!r}", "name a file, or give a FEN and moves")
    if as_json:
        show_json(answer(text).as_json())
    else:
        _show(answer(text), notation)


class _Answer(NamedTuple):
    """Judgement of a game's last position, and of the first position that has a verdict."""

    last: Judgement
    first: Judgement | None
    """None if every position is undecided."""

    def as_json(self) -> dict[str, Any]:
        """Return the object of `--json`; its member `decided` describes `first`, or is None."""
        first = self.first
        decided = first and {
            "ply": len(first.plies),
            "verdict": first.verdict.text,
            "reason": first.reason,
        }
        return self.last.as_json() | {"decided": decided}

    @property
    def earlier(self) -> str:
        """Ply, verdict and reason of `first` as text; empty without one, or if `last` agrees."""
        if self.first is None or self.first.verdict == self.last.verdict:
            return ""
        return f"at ply {len(self.first.plies)}: {self.first.verdict.text}: {self.first.reason}"


def _read(name: str) -> list[Line] | Iterator[Line]:
    """Return the games in the file `name`, or in standard input if `name` is "-".

    The result is an iterator of lines, each a game. But if the first line with a tag, a move number
    or a move begins with one, it is a list of games of several lines. Of standard input, only lines
    up to the second with more than a comment are tested. Lines with a common bracket count as one.
    """
    if name == "-":
        lines = read_lines()
    else:
        with open(name, "rb") as file:
            lines = iter(list(read_lines(file)))
    known: list[Line] = []
    begins: bool | None = None
    parts = opened = 0
    joined: list[str] = []
    for line in lines:
        known.append(line)
        found = begins_with_moves(line.text)
        if not joined or found is False or line.text.startswith("["):  # else within a comment
            begins = found
        joined.append(line.text)
        opened += open_brackets(line.text)
        if opened <= 0:
            parts += name == "-" and bool(split_games("\n".join(joined)))
            opened, joined = 0, []
        if begins is not None or parts > 1 or len(joined) > _COMMENT_LINES:
            break
    if not known and name != "-":
        raise InputError(f"there is no game in {name}", "write a FEN and moves into it")
    lines = itertools.chain(known, lines)
    if not begins:
        return lines
    text = "\n".join(line.read() for line in lines)
    games = split_games(text) or [text]
    return [Line(number, game, kind="game") for number, game in enumerate(games, 1)]


def _show_line(found: _Answer) -> None:
    earlier = f"; {found.earlier}" if found.earlier else ""
    click.echo(f"{found.last.verdict.text}: {found.last.reason}{earlier}")


def _show(found: _Answer, notation: str) -> None:
    judgement = found.last
    start = judgement.span[0] if judgement.span else len(judgement.plies)
    position, width = judgement.position, 4 if notation == "iccs" else 8
    for number, ply in enumerate(judgement.plies):
        note = ""
        if ply.label == Label.CHASE:
            note = " by ".join(", ".join(map(square_name, each)) for each in (ply.chased, ply.by))
        mark = "*" if number >= start else " "
        move, side = pad(format_move(position, ply.move, notation), width), ply.side.name.title()
        click.echo(f"{number + 1:4}{mark} {move}  {side:5}  {ply.label:5}  {note}".rstrip())
        position = position.after(*ply.move)
    if judgement.span:
        red, black = judgement.levels
        click.echo(f"Judged: the plies marked *. Level of Red {red}, of Black {black}.")
    click.echo(f"Verdict: {judgement.verdict.text}")
    click.echo(f"{judgement.reason[0].upper()}{judgement.reason[1:]}.")
    if found.earlier:
        click.echo(f"{found.earlier[0].upper()}{found.earlier[1:]}.")
