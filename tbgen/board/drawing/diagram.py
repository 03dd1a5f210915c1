"""Position as SVG: the board with lines, river and coordinates, its pieces, and marks.

    file a..i  ->  x = 0, 100 .. 800      rank 9..0  ->  y = 0, 100 .. 900      (Red below)
    marks      last move, arrows (best move, checks, chases), links on pieces, discs (`Point`)

Characters and coordinates are drawn as strokes, without a font; short texts on discs are SVG text.
The style sheet of a page colours its pictures; a standalone picture has its own. Pieces are
symbols, defined once per page.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from html import escape
from itertools import product
from math import hypot

from tbgen.board.drawing.pieces import even_path, piece_id, piece_path, strokes_path
from tbgen.board.language.i18n import text
from tbgen.board.language.words import piece_name, point_name
from tbgen.indexing import Move, PieceType, Position, Side, as_position
from tbgen.indexing.position import LETTERS_BY_CODE
from tbgen.indexing.squares import FILES, LETTERS, SQUARES, piece_code, piece_kind, square_name
from tbgen.notation.naming import file_number

WIDTH, HEIGHT = 960, 1074
VIEW_BOX = f"-80 -84 {WIDTH} {HEIGHT}"
"""View box of a diagram, in picture units: two neighbouring squares are 100 apart."""

_MARKED = (
    *((file, rank) for file in (1, 7) for rank in (2, 7)),
    *((file, rank) for file in (0, 2, 4, 6, 8) for rank in (3, 6)),
)
"""Squares with corner marks, as (file, rank): those of cannons and pawns in the opening array."""


def place(square: int, flip: bool) -> tuple[int, int]:
    """Return x and y of a square in picture units; with `flip`, Black is below."""
    rank, file = divmod(square, FILES)
    return (100 * (8 - file), 100 * rank) if flip else (100 * file, 100 * (9 - rank))


def empty_board(flip: bool, notation: str) -> str:
    """Return the SVG of wood, lines, river and coordinates; `flip` and `notation` as in `Look`."""
    return _ground() + _coordinates(flip, notation)


_GRID = (
    "".join(f"M0 {y}H800" for y in range(0, 1000, 100))
    + "".join(f"M{x} 0V400M{x} 500V900" for x in range(100, 800, 100))
    + "M0 0V900M800 0V900"
    + "M300 0L500 200M500 0L300 200M300 900L500 700M500 900L300 700"
)
"""SVG path of the board's lines; the inner files stop at the river. The palaces come last."""


@cache
def _ground() -> str:
    """Return the SVG of wood, lines, and 楚河 (river of Chu) 漢界 (border of Han) in the river."""
    corners = river = ""
    for file, rank in _MARKED:
        x, y = place(FILES * rank + file, False)
        for dx, dy in product((-1, 1), (-1, 1)):
            if 0 <= x + 50 * dx <= 800:
                corners += f"M{x + 28 * dx} {y + 10 * dy}H{x + 10 * dx}V{y + 28 * dy}"
    for x, name in zip((140, 250, 550, 660), "楚河漢界", strict=True):
        heavy, thin = strokes_path((name, 0, 0, 100, 100))
        river += (
            f'<g transform="translate({x} 450) scale(.62)"><path d="{heavy}"/>'
            f'<path class="thin" d="{thin}"/></g>'
        )
    return (
        '<rect class="wood" x="-80" y="-84" width="960" height="1074" rx="18"/>'
        '<rect class="frame" x="-54" y="-54" width="908" height="1008" rx="6"/>'
        f'<path class="line" d="{_GRID}"/><path class="line" d="{corners}"/>'
        f'<g class="river">{river}</g>'
    )


def _coordinates(flip: bool, notation: str) -> str:
    """Return the SVG of files and ranks, or of each side's file numbers; empty for notation ""."""
    if not notation:
        return ""
    columns = [(file, place(file, flip)[0]) for file in range(FILES)]
    if notation in ("iccs", "fairy"):
        first = 1 if notation == "fairy" else 0
        files = (_label(x, 970, "abcdefghi"[file]) for file, x in columns)
        ranks = (_label(-67, place(FILES * rank, flip)[1], str(rank + first)) for rank in range(10))
        return "".join((*files, *ranks))
    found = ""
    for side in Side:
        numerals = "123456789" if notation == "wxf" or side == Side.BLACK else "一二三四五六七八九"
        y = 970 if (side == Side.RED) != flip else -69
        for file, x in columns:
            found += _label(x, y, numerals[file_number(side, file) - 1])
    return found


def _label(x: int, y: int, name: str) -> str:
    """Return the SVG of a file or rank `name`, centred on (x, y); the digits of 10 are smaller."""
    scale = 0.22 if len(name) == 1 else 0.17
    left = x - 30 * scale * (len(name) - 1)
    return "".join(
        f'<path class="coordinate" transform="translate({left + 60 * scale * number:g} {y}) '
        f'scale({scale})" d="{even_path(character)}"/>'
        for number, character in enumerate(name)
    )


BOARDS = {
    "wood": ("#eed7a6", "#5b3a1a", "#7a5a34", "#2f7d32"),
    "paper": ("#fbf8f0", "#47525e", "#55606c", "#2f7d32"),
    "slate": ("#47525a", "#c6d2d8", "#d5dfe3", "#8fe39a"),
}
"""Four colours by board: wood; lines; river characters and coordinates; arrows of best moves."""


def style(board: str) -> str:
    """Return the CSS of a standalone picture; `board` is one of `BOARDS`."""
    wood, line, character, best = BOARDS[board]
    return f"""
.wood{{fill:{wood}}}.frame{{fill:none;stroke:{line};stroke-width:3}}
.line{{stroke:{line};stroke-width:3;fill:none}}
.river path,.coordinate{{fill:none;stroke:{character};stroke-width:8;stroke-linecap:round}}
.river .thin{{stroke-width:5}}.coordinate{{stroke-width:10;stroke-linejoin:round}}
.disc{{fill:#fbf0d5;stroke:#b9945a;stroke-width:2}}.shade{{fill:#000;opacity:.28}}
.rim{{fill:none;stroke-width:3}}
.glyph{{fill:none;stroke-width:10;stroke-linecap:round;stroke-linejoin:round}}.thin{{stroke-width:7}}
.red .rim,.red .glyph{{stroke:#b01818}}.black .rim,.black .glyph{{stroke:#1c1c1c}}
.last{{fill:none;stroke:#2769c4;stroke-width:6;opacity:.75}}
.arrow{{opacity:.8}}.arrow.best{{fill:{best}}}.arrow.check{{fill:#c62828}}
.arrow.chase{{fill:#d9730d}}
"""


@dataclass(frozen=True, slots=True)
class Arrow:
    """Arrow from one square to another; `kind` is "best", "check" or "chase"."""

    source: int
    target: int
    kind: str


@dataclass(frozen=True, slots=True)
class Point:
    """Link on a square, shown as a disc with a short text, in the colour of `outcome` if any."""

    href: str
    outcome: str = ""
    label: str = ""


@dataclass(frozen=True)
class Marks:
    """Marks on a diagram.

    links : addresses to which pieces link, by the piece's square
    selected : square of the selected piece
    targets : discs by square, where the selected piece can move to; in the editor, where the chosen
        piece can be placed, or a piece removed
    arrows : best move, checks, chases
    heat : discs of a heat map, by square, with the position's value if a chosen piece stood there
    checked : square of a king in check
    bad : squares of a malformed rank, in the editor
    """

    last: Move | None = None
    links: Mapping[int, str] = field(default_factory=dict)
    selected: int | None = None
    targets: Mapping[int, Point] = field(default_factory=dict)
    arrows: Collection[Arrow] = ()
    heat: Mapping[int, Point] = field(default_factory=dict)
    checked: int | None = None
    bad: Collection[int] = ()


@dataclass(frozen=True)
class Look:
    """Display settings of a board.

    flip : whether Black is below
    pieces : one of `PIECE_SETS`
    notation : move notation whose coordinates are shown, "" for none
    board : one of `BOARDS`
    language : language of the labels for screen readers, a key of `language.i18n.LANGUAGES`
    """

    flip: bool = False
    pieces: str = "zh"
    notation: str = "iccs"
    board: str = "wood"
    language: str = "en"


def draw(
    position: Position,
    look: Look,
    marks: Marks | None = None,
    *,
    alone: bool = False,
    width: int | None = None,
) -> str:
    """Return the SVG of a position; with `alone` it contains its own colours and symbols.

    `width` is in pixels; without it the picture fills its container.
    """
    marks = marks or Marks()
    space = ' xmlns="http://www.w3.org/2000/svg"' if alone else ' tabindex="0"'
    inside = f"<style>{style(look.board)}</style>{symbols(look.pieces)}" if alone else ""
    size = f' width="{width}" height="{width * HEIGHT // WIDTH}"' if width else ""
    turn = text(look.language, "to_move", side=position.side)
    label = f"{text(look.language, 'board')}{text(look.language, 'colon')}{turn}"
    parts = [
        f'<svg{space} class="board {look.board}" viewBox="{VIEW_BOX}"{size} role="group" '
        f'aria-label="{escape(label)}" data-flip="{int(look.flip)}" '
        f'data-fen="{position_address(position)}">{inside}',
        empty_board(look.flip, look.notation),
    ]
    for square, css, radius in (
        *((square, "last", 50) for square in marks.last or ()),
        (marks.checked, "checked", 58),
        (marks.selected, "selected", 51),
        *((square, "bad", 52) for square in marks.bad),
    ):
        if square is not None:
            x, y = place(square, look.flip)
            parts.append(f'<circle class="{css}" cx="{x}" cy="{y}" r="{radius}"/>')
    parts += [
        '<g class="pieces">',
        *(_piece(code, square, look, marks) for code, square in position.pieces()),
        "</g>",
        *(draw_arrow(arrow, look.flip) for arrow in marks.arrows),
    ]
    for square, point in sorted(marks.heat.items()):
        parts.append(_disc(square, "heat", point, look))
    for square, point in sorted(marks.targets.items()):
        kind = "take" if position.board[square] else "go"
        parts.append(_disc(square, f"target {kind}", point, look))
    return "".join([*parts, "</svg>"])


@lru_cache(64)
def position_address(position: Position) -> str:
    """Format a position for addresses: board and side of its FEN, joined by `_`; cached."""
    return "_".join(position.fen.split()[:2])


def picture(position: Position | str, *, width: int = 320) -> str:
    """Return the standalone SVG of a position or a FEN, as notebooks show it.

    `width` is in pixels. Raises `PositionError` for a malformed FEN.
    """
    return draw(as_position(position), Look(), alone=True, width=width)


def thumbnail(position: Position, look: Look, arrows: Collection[Arrow] = ()) -> str:
    """Return a small SVG of a position, hidden from screen readers.

    The page must contain the definitions that `symbols` returns with `with_board`.
    """
    drawn = ""
    for code, square in position.pieces():
        x, y = place(square, look.flip)
        placed = f"translate({x} {y}) scale(1.25)"
        drawn += f'<use href="#{piece_id(code)}" transform="{placed}"/>'
    drawn += "".join(draw_arrow(arrow, look.flip) for arrow in arrows)
    return (
        f'<svg class="board mini {look.board}" viewBox="{VIEW_BOX}" aria-hidden="true">'
        f'<use href="#empty-board"/>{drawn}</svg>'
    )


def symbols(pieces: str, *, with_board: bool = False) -> str:
    """Return the SVG definitions of the fourteen pieces, to which diagrams refer.

    pieces : one of `PIECE_SETS`
    with_board : whether to define an empty board, too, for thumbnails
    """
    found = []
    for side, kind in product(Side, PieceType):
        heavy, thin = piece_path(side, kind, pieces)
        found.append(
            f'<g id="{piece_id(piece_code(side, kind))}" class="{side.name.lower()}">'
            f'<circle class="shade" cx="2" cy="5" r="46"/><circle class="disc" r="45"/>'
            f'<circle class="rim" r="38"/>'
            f'<g transform="scale({0.58 if pieces == "zh" else 0.46})">'
            f'<path class="glyph" d="{heavy}"/><path class="glyph thin" d="{thin}"/></g></g>'
        )
    if with_board:
        found.append(f'<g id="empty-board">{empty_board(False, "")}</g>')
    return f"<defs>{''.join(found)}</defs>"


@cache
def names_of_pieces(language: str) -> str:
    """Return names of pieces and squares, and separators, for the page's script, as JSON."""
    codes = (piece_code(side, kind) for side in Side for kind in PieceType)
    names = {
        "pieces": {LETTERS_BY_CODE[code]: piece_name(code, language) for code in codes},
        "points": {square_name(each): point_name(each, language) for each in range(SQUARES)},
        "stop": text(language, "list_stop"),
        "colon": text(language, "colon"),
    }
    return json.dumps(names, separators=(",", ":"), ensure_ascii=False)


def _piece(code: int, square: int, look: Look, marks: Marks) -> str:
    """Return the SVG of a piece on a square, as a link if `marks` has an address for the square."""
    x, y = place(square, look.flip)
    stop = text(look.language, "list_stop")
    name = f"{piece_name(code, look.language)}{stop}{point_name(square, look.language)}"
    use = (
        f'<use href="#{piece_id(code)}" transform="translate({x} {y})" '
        f'data-square="{square_name(square)}" data-code="{LETTERS[piece_kind(code)]}"'
    )
    if square in marks.links:
        label = f"{name}{stop}{text(look.language, 'may_move')}"
        href = escape(marks.links[square])
        return f'<a href="{href}" tabindex="-1" aria-label="{escape(label)}">{use}/></a>'
    return f'{use} role="img" aria-label="{escape(name)}"/>'


def draw_arrow(arrow: Arrow, flip: bool) -> str:
    """Return the SVG of an arrow; `flip` as in `place`."""
    (x0, y0), (x1, y1) = place(arrow.source, flip), place(arrow.target, flip)
    length = hypot(x1 - x0, y1 - y0) or 1
    ux, uy = (x1 - x0) / length, (y1 - y0) / length
    tip = 12 if arrow.kind == "best" else 26
    begin, neck, end = 24, length - tip - 34, length - tip
    corners = (
        (begin, -7), (neck, -9), (neck, -24), (end, 0), (neck, 24), (neck, 9), (begin, 7)
    )  # fmt: skip
    points = " ".join(
        f"{x0 + along * ux - off * uy:.0f},{y0 + along * uy + off * ux:.0f}"
        for along, off in corners
    )
    return f'<polygon class="arrow {arrow.kind}" points="{points}"/>'


def _disc(square: int, css: str, point: Point, look: Look) -> str:
    """Return the SVG of a disc in a link, whose classes are `css` and `point.outcome`."""
    x, y = place(square, look.flip)
    name = point_name(square, look.language)
    if point.outcome:
        name += text(look.language, "colon") + text(look.language, point.outcome)
    size = ' class="long"' if len(point.label) > 2 else ""
    shown = f'<text y="10"{size}>{escape(point.label)}</text>' if point.label else ""
    return (
        f'<a class="{css} {point.outcome}" href="{escape(point.href)}" '
        f'aria-label="{escape(f"{name} {point.label}".strip())}" transform="translate({x} {y})">'
        f'<circle r="31"/>{shown}</a>'
    )
