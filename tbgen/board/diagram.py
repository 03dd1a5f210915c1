"""A position as SVG: the board, its pieces, the last move, and links on the squares.

    file a..i  ->  x = 0, 100 .. 800      rank 9..0  ->  y = 0, 100 .. 900      (Red below)

Squares are the crossings of the lines. The colours of a picture on a page are the style sheet's;
one that stands alone brings its own.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from html import escape

from tbgen.board.pieces import piece_id, piece_path
from tbgen.indexing import Move, Position, Side
from tbgen.indexing.squares import FILES, LETTERS, PieceType, piece_code, square_name

_VIEW_BOX = "-80 -80 960 1060"
_PALACES = "M300 0L500 200M500 0L300 200M300 900L500 700M500 900L300 700"

STYLE = """
.wood{fill:#f0d9a8}.line{stroke:#5b3a1a;stroke-width:3;fill:none}
.disc{fill:#fdf3dc;stroke-width:4}.red .disc,.red .glyph{stroke:#b01818}
.black .disc,.black .glyph{stroke:#1c1c1c}
.glyph{fill:none;stroke-width:8;stroke-linecap:round;stroke-linejoin:round}
.coordinate{font:26px sans-serif;fill:#7a5a34;text-anchor:middle}
.last{fill:#3a7bd5;opacity:.35}
"""
"""Colours of a picture that stands alone."""


@dataclass(frozen=True)
class Marks:
    """What a diagram shows beside the position.

    `last` is the move that led here. `links` are addresses by square, `labels` what a reader of
    the screen is told of them; `selected` and `targets` are squares of a move being made.
    """

    last: Move | None = None
    links: Mapping[int, str] = field(default_factory=dict)
    labels: Mapping[int, str] = field(default_factory=dict)
    selected: int | None = None
    targets: Collection[int] = ()


def place(square: int, flip: bool) -> tuple[int, int]:
    """Where a square is in the picture."""
    rank, file = divmod(square, FILES)
    return (100 * (8 - file), 100 * rank) if flip else (100 * file, 100 * (9 - rank))


def draw(
    position: Position,
    *,
    flip: bool = False,
    pieces: str = "zh",
    marks: Marks | None = None,
    standalone: bool = False,
    all_symbols: bool = False,
    width: int | None = None,
) -> str:
    """The picture; `all_symbols` also defines pieces that are not on the board.

    `width` is in pixels; without it a picture is as wide as the place that it is shown in.
    """
    marks = marks or Marks()
    used = {code for code in position.board if code}
    if all_symbols:
        used = {piece_code(side, kind) for side in Side for kind in PieceType}
    space = ' xmlns="http://www.w3.org/2000/svg"' if standalone else ""
    style = f"<style>{STYLE}</style>" if standalone else ""
    size = f' width="{width}" height="{width * 1060 // 960}"' if width else ""
    return "".join(
        [
            f'<svg{space} class="board" viewBox="{_VIEW_BOX}"{size} role="group" '
            f'aria-label="{escape(position.fen)}" data-flip="{int(flip)}">{style}<defs>',
            *(_symbol(code, pieces) for code in sorted(used)),
            f'</defs><rect class="wood" x="-80" y="-80" width="960" height="1060" rx="16"/>'
            f'<path class="line" d="{_grid()}"/>',
            *_coordinates(flip),
            *_marks(marks, flip),
            '<g class="pieces">',
            *(_piece(code, square, flip, marks) for code, square in position.pieces()),
            "</g>",
            *_targets(position, marks, flip),
            "</svg>",
        ]
    )


def _grid() -> str:
    """The lines of the board; the files stop at the river."""
    ranks = "".join(f"M0 {y}H800" for y in range(0, 1000, 100))
    files = "".join(f"M{x} 0V400M{x} 500V900" for x in range(100, 800, 100))
    return f"{ranks}{files}M0 0V900M800 0V900{_PALACES}"


def _coordinates(flip: bool) -> list[str]:
    """The names of files and ranks."""
    texts = []
    for file in range(FILES):
        x, _ = place(file, flip)
        texts.append(f'<text class="coordinate" x="{x}" y="972">{"abcdefghi"[file]}</text>')
    for rank in range(10):
        _, y = place(FILES * rank, flip)
        texts.append(f'<text class="coordinate" x="-66" y="{y + 9}">{rank}</text>')
    return texts


def _symbol(code: int, pieces: str) -> str:
    """The definition of a piece, drawn around the origin."""
    side, kind = Side(code >> 3), PieceType((code & 7) - 1)
    scale = 0.48 if pieces == "latin" else 0.58
    return (
        f'<g id="{piece_id(code)}" class="{side.name.lower()}"><circle class="disc" r="45"/>'
        f'<circle class="disc rim" r="38"/>'
        f'<path class="glyph" transform="scale({scale})" d="{piece_path(side, kind, pieces)}"/></g>'
    )


def _marks(marks: Marks, flip: bool) -> list[str]:
    """The squares of the last move, and the one selected."""
    found = []
    for square in marks.last or ():
        x, y = place(square, flip)
        found.append(f'<circle class="last" cx="{x}" cy="{y}" r="53"/>')
    if marks.selected is not None:
        x, y = place(marks.selected, flip)
        found.append(f'<circle class="selected" cx="{x}" cy="{y}" r="50"/>')
    return found


def _piece(code: int, square: int, flip: bool, marks: Marks) -> str:
    """A piece; a link if it can be chosen."""
    x, y = place(square, flip)
    name = square_name(square)
    use = (
        f'<use href="#{piece_id(code)}" transform="translate({x} {y})" '
        f'data-square="{name}" data-code="{LETTERS[(code & 7) - 1]}"/>'
    )
    if square in marks.links and square not in marks.targets:
        label = escape(marks.labels.get(square, name))
        return f'<a href="{escape(marks.links[square])}" aria-label="{label}">{use}</a>'
    return use


def _targets(position: Position, marks: Marks, flip: bool) -> list[str]:
    """Where the selected piece may go, as links."""
    found = []
    for square in sorted(marks.targets):
        x, y = place(square, flip)
        kind = "take" if position.board[square] else "go"
        label = escape(marks.labels.get(square, square_name(square)))
        found.append(
            f'<a class="target {kind}" href="{escape(marks.links[square])}" aria-label="{label}">'
            f'<circle cx="{x}" cy="{y}" r="{46 if kind == "take" else 18}"/></a>'
        )
    return found
