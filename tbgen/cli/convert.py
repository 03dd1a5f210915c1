"""`tbgen convert`: positions and moves from any notation into any other; reads no tables."""

from __future__ import annotations

import itertools
from typing import Any

import click

from tbgen.cli.command import Command, answer_lines, show_json
from tbgen.cli.options import json_option, notation_option
from tbgen.cli.streams import read_lines
from tbgen.indexing import Side
from tbgen.indexing.errors import InputError
from tbgen.notation import (
    MOVE_NOTATIONS,
    POSITION_STYLES,
    format_move,
    format_position,
    is_fairy,
    parse_move,
    read_position,
)
from tbgen.notation.positions import is_board_line
from tbgen.rules import check_legal

_BOARD_LINES = 20
"""Maximum number of lines of a board, with names and blank lines."""

_SIDES = click.Choice([side.name.lower() for side in Side])


@click.command(cls=Command)
@click.argument("position", nargs=-1, required=True)
@click.option("--to", "style", type=click.Choice(POSITION_STYLES), help="Notation. Default: fen.")
@click.option("--side", type=_SIDES, help="The side to move, in place of POSITION's.")
@click.option(
    "--viewpoint", type=_SIDES,
    help="The side at the bottom of a board; for pai, black appends ':'. Default: as POSITION.",
)  # fmt: skip
@click.option("--move", "moves", multiple=True, help="A move to convert; repeat it for a line.")
@notation_option
@click.option(
    "--read", "read_as", type=click.Choice(MOVE_NOTATIONS),
    help="Notation of --move, where its text is ambiguous (fairy: ranks 1 to 10).",
)  # fmt: skip
@json_option
@click.pass_context
def convert(
    context: click.Context, position: tuple[str, ...], style: str | None, side: str | None,
    viewpoint: str | None, moves: tuple[str, ...], notation: str, read_as: str | None,
    as_json: bool,
) -> None:  # fmt: skip
    """Write a position, or moves from it, in another notation.

    POSITION is a FEN, Pai's string, the six-integer board code or a board of ten lines. With -
    standard input has a board, or one position a line; each line is answered in turn, and the exit
    status is the worst. With --move the moves are played one after the other, and the answer is
    their text in --notation; --to then also writes the last position.

    Exit status: 0 ok, 2 bad input.
    """

    read_as = read_as or ("fairy" if is_fairy(moves) else None)

    def answer(text: str) -> dict[str, Any]:
        read = read_position(text, Side[side.upper()] if side else None)
        seen_from = Side[viewpoint.upper()] if viewpoint else read.viewpoint
        current = read.position
        if moves:
            check_legal(current)
        written = []
        for move_text in moves:
            move = parse_move(current, move_text, read_as)
            texts = {name: format_move(current, move, name) for name in MOVE_NOTATIONS}
            written.append({"input": move_text, "text": texts[notation], **texts})
            current = current.after(*move)
        return {
            "input": text,
            "from": read.style,
            "to": style or "fen",
            "text": format_position(current, style or "fen", seen_from),
            "fen": current.fen,
            "material": current.material.name,
            "side": current.side.name.lower(),
            "viewpoint": seen_from.name.lower(),
            "moves": written,
        }

    def show(found: dict[str, Any]) -> None:
        if as_json:
            show_json(found)
            return
        if moves:
            click.echo(" ".join(move["text"] for move in found["moves"]))
        if style or not moves:
            click.echo(found["text"])

    text = " ".join(position)
    if text == "-":
        lines = read_lines()
        first = next(lines, None)
        every = itertools.chain([] if first is None else [first], lines)
        if first is not None and not is_board_line(first.read()):
            context.exit(answer_lines(context, answer, show, dict, every))
        text = "\n".join(line.read() for line in itertools.islice(every, _BOARD_LINES))
        if next(lines, None) is not None:
            raise InputError("standard input has too many lines for a board", "give one board")
    show(answer(text))
