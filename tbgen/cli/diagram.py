"""`tbgen diagram`: a position as a picture, drawn by the board's own code; reads no tables."""

from __future__ import annotations

from pathlib import Path

import click

from tbgen.board.drawing import bitmap
from tbgen.board.drawing.diagram import Look, Marks, draw
from tbgen.board.drawing.pieces import PIECE_SETS
from tbgen.cli.command import Command, show_json
from tbgen.cli.options import json_option
from tbgen.cli.streams import position_text
from tbgen.indexing import InputError
from tbgen.notation import MOVE_NOTATIONS, parse_move, parse_position
from tbgen.notation.moves import language_of
from tbgen.rules import check_legal
from tbgen.tables.files import writing


@click.command(cls=Command)
@click.argument("position", nargs=-1, required=True)
@click.option(
    "--out", "-o", type=click.Path(path_type=Path), metavar="FILE",
    help="FILE.svg or FILE.png. Default: SVG on stdout.",
)  # fmt: skip
@click.option("--last", metavar="MOVE", help="Play MOVE first, and mark it.")
@click.option("--flip", is_flag=True, help="Draw Black below.")
@click.option(
    "--pieces", type=click.Choice(PIECE_SETS), default=PIECE_SETS[0],
    help="Chinese characters, the letters of a FEN, or pictures. Default: zh.",
)  # fmt: skip
@click.option(
    "--notation", type=click.Choice(MOVE_NOTATIONS), default=MOVE_NOTATIONS[0],
    help="Names of files and ranks as in these moves, and labels in their language. Default: iccs.",
)  # fmt: skip
@click.option(
    "--width", type=click.IntRange(40, 8000), metavar="N",
    help="Width in pixels. Default: 480 for PNG; an SVG fills its container.",
)  # fmt: skip
@json_option
def diagram(
    position: tuple[str, ...],
    out: Path | None,
    last: str | None,
    flip: bool,
    pieces: str,
    notation: str,
    width: int | None,
    as_json: bool,
) -> None:
    """Draw a position.

    POSITION as for convert. PNG needs resvg (pip install 'tbgen[png]'). Pieces and board are
    drawn for this project and need no font; pictures may be used like the program.

    Exit status: 0 ok, 2 bad input.
    """
    if as_json and out is None:
        raise click.UsageError("--out is needed with --json")
    if out is not None and out.suffix.lower() not in (".svg", ".png"):
        raise InputError(f"{out} is neither .svg nor .png", "name the file accordingly")
    shown, marks = parse_position(position_text(position)), Marks()
    if last is not None:
        check_legal(shown)
        move = parse_move(shown, last)
        shown, marks = shown.after(*move), Marks(move)
    look = Look(flip=flip, pieces=pieces, notation=notation, language=language_of(notation))
    picture = draw(shown, look, marks, alone=True, width=width)
    if out is None:
        click.echo(picture)
        return
    png = out.suffix.lower() == ".png"
    data = bitmap.png(picture, width or 480) if png else (picture + "\n").encode()
    with writing(out) as file:
        file.write(data)
    if as_json:
        show_json({"fen": shown.fen, "format": out.suffix[1:].lower(), "out": str(out)})
