"""`tbgen convert`: a position or a move from any notation into any other.

Positions go through `tbgen.notation.positions`, moves through `tbgen.notation.moves`. Tables are
not involved.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from tbgen.indexing import InputError, Side
from tbgen.notation import (
    MOVE_NOTATIONS,
    POSITION_STYLES,
    format_move,
    format_position,
    parse_move,
    read_position,
)

_SIDES = click.Choice([side.name.lower() for side in Side])


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("position")
@click.option("--to", "style", type=click.Choice(POSITION_STYLES), help="Default: fen.")
@click.option("--side", type=_SIDES, help="The side to move, whatever POSITION says.")
@click.option(
    "--viewpoint",
    type=_SIDES,
    help="The side at the bottom of a board; for pai, black appends ':'. Default: as POSITION.",
)
@click.option("--move", "moves", multiple=True, help="A move to convert; repeat it for a line.")
@click.option(
    "--notation", type=click.Choice(MOVE_NOTATIONS), default="iccs", help="How to write moves."
)
@click.option(
    "--read",
    "read_as",
    type=click.Choice(MOVE_NOTATIONS),
    help="How moves are written, where their text does not show it (fairy: ranks 1 to 10).",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
@click.pass_context
def convert(
    context: click.Context,
    position: str,
    style: str | None,
    side: str | None,
    viewpoint: str | None,
    moves: tuple[str, ...],
    notation: str,
    read_as: str | None,
    as_json: bool,
) -> None:
    """Write POSITION, or moves from it, in another notation.

    POSITION is a FEN, Pai's string, the six-integer board code or a board of ten lines; - reads
    it from standard input. With --move the answer is the moves' text in --notation, played one
    after the other; --to then writes the position after them.

    Exit status: 0 ok, 2 bad input.
    """
    text = sys.stdin.read() if position == "-" else position
    try:
        answer = _convert(text, style, side, viewpoint, moves, notation, read_as)
    except InputError as error:
        _fail(context, text, error, as_json)
        return
    if as_json:
        click.echo(json.dumps(answer, ensure_ascii=False))
        return
    if moves:
        click.echo(" ".join(move["text"] for move in answer["moves"]))
    if style or not moves:
        click.echo(answer["text"])


def _convert(
    text: str,
    style: str | None,
    side: str | None,
    viewpoint: str | None,
    moves: tuple[str, ...],
    notation: str,
    read_as: str | None,
) -> dict[str, Any]:
    """Everything there is to say, as the JSON object says it."""
    read = read_position(text, Side[side.upper()] if side else None)
    seen_from = Side[viewpoint.upper()] if viewpoint else read.viewpoint
    current = read.position
    written = []
    for move_text in moves:
        move = parse_move(current, move_text, read_as)
        written.append(
            {
                "input": move_text,
                "text": format_move(current, move, notation),
                **{name: format_move(current, move, name) for name in MOVE_NOTATIONS},
            }
        )
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


def _fail(context: click.Context, text: str, error: InputError, as_json: bool) -> None:
    """Say what is wrong with the input, in one line and a hint; exit status 2."""
    if as_json:
        answer = {"input": text, "error": str(error), "hint": error.hint}
        click.echo(json.dumps(answer, ensure_ascii=False))
    else:
        click.echo(f"error: {error}", err=True)
        if error.hint:
            click.echo(f"hint: {error.hint}", err=True)
    context.exit(2)
