"""Editor: any arrangement of pieces, legal or not, and its faults.

    text  ->  Sketch (a board that may be illegal)  ->  picture, changes as links, faults

Changes are links to the changed arrangement. Without scripts the visitor chooses a piece or the
eraser in the palette, and then a link on a square. Typed text is kept even if it is malformed. A
legal position is shown with its outcome.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from html import escape
from itertools import product
from urllib.parse import urlencode

from tbgen.board.drawing.diagram import Marks, Point, draw, position_address
from tbgen.board.drawing.pieces import piece_id
from tbgen.board.knowledge.store import TableStore
from tbgen.board.language.error_messages import localise_error
from tbgen.board.language.i18n import text
from tbgen.board.language.words import piece_name, point_name
from tbgen.board.web.http import Answer
from tbgen.board.web.layout import board_page, details, hidden_fields, link
from tbgen.board.web.verdict import headline
from tbgen.board.web.view import View, position_text
from tbgen.indexing import PieceType, Position, PositionError, Side
from tbgen.indexing.material import MAX_COUNT
from tbgen.indexing.position import LETTER_ALIASES, LETTERS_BY_CODE
from tbgen.indexing.squares import (
    EMPTY,
    FILES,
    LETTERS,
    RANKS,
    SQUARES,
    area,
    piece_code,
    piece_kind,
    piece_side,
)
from tbgen.notation import format_position, read_position
from tbgen.rules import check_legal
from tbgen.rules.attacks import in_check, kings_face

ERASER = "x"
"""Choice of the palette that removes pieces."""

_AREA_FAULTS = {
    PieceType.KING: "fault_area_king",
    PieceType.ADVISOR: "fault_area_advisor",
    PieceType.ELEPHANT: "fault_area_elephant",
    PieceType.PAWN: "fault_area_pawn",
}
"""Key of the message on a piece outside its area, by type; other pieces may stand anywhere."""

_KINGS = "3k5/9/9/9/9/9/9/9/9/4K4"
"""First field of a FEN of the two kings."""


@dataclass(frozen=True)
class Sketch(Position):
    """Arrangement of pieces that may be illegal: 90 piece codes, and the side to move."""

    def __post_init__(self) -> None:
        """Check nothing, unlike `Position`; `faults` lists what is illegal."""

    def checked(self) -> Position:
        """Return the legal position; raises `PositionError` if it is illegal."""
        position = Position(self.board, self.side)
        check_legal(position)
        return position

    def faults(self, language: str) -> list[str]:
        """Return the faults of the arrangement as texts in a language."""
        found = []
        counts = Counter(code for code, _ in self.pieces())
        for code, square in self.pieces():
            side, kind = Side(piece_side(code)), PieceType(piece_kind(code))
            if square not in area(side, kind):
                name, point = piece_name(code, language), point_name(square, language)
                found.append(text(language, _AREA_FAULTS[kind], piece=name, square=point))
        for side, kind in product(Side, PieceType):
            code, limit, king = piece_code(side, kind), MAX_COUNT[kind], kind == PieceType.KING
            count, name = counts[code], piece_name(code, language)
            if count > limit or (king and count != 1):
                key = "fault_kings" if king else "fault_count"
                found.append(text(language, key, side=side, n=count, piece=name, limit=limit))
        if all(counts[piece_code(side, PieceType.KING)] == 1 for side in Side):
            if kings_face(self.board):
                found.append(text(language, "fault_facing"))
            elif in_check(self.board, self.side.other):
                found.append(text(language, "fault_check", side=self.side.other, mover=self.side))
        return found

    def with_piece(self, square: int, code: int) -> Sketch:
        """Return the arrangement with a piece code or `EMPTY` on a square; a king moves there."""
        board = bytearray(self.board)
        if code != EMPTY and piece_kind(code) == PieceType.KING:
            board = board.replace(bytes([code]), bytes([EMPTY]))
        board[square] = code
        return Sketch(bytes(board), self.side)


@dataclass(frozen=True)
class Reading:
    """Arrangement read from a text, as far as readable, and the first fault of the text.

    problem : error of a malformed text
    typed : the malformed text; "" if it is well-formed or too long
    bad : squares of the first malformed rank, if the text is a FEN with ten ranks
    """

    sketch: Sketch
    problem: PositionError | None = None
    typed: str = ""
    bad: tuple[int, ...] = ()


def read_sketch(query: Mapping[str, str], default: Position) -> Reading:
    """Return the arrangement that a query describes; `default` if the query has no position.

    Text with a `/` is a FEN, which is read as far as possible. If other text is no position, or if
    the text is too long, the arrangement is that of the parameter `was` (the FEN before the
    change); without this parameter it is an empty board.
    """
    given, position = "", default
    try:
        given = position_text(query) or ""
        if "/" in given:
            return _read_fen(given)
        if given.strip():
            position = read_position(given).position
    except PositionError as error:
        before = query.get("was", "")[:120]
        kept = _read_fen(before).sketch if "/" in before else Sketch(bytes(SQUARES), Side.RED)
        return Reading(kept, error, given[:400])
    return Reading(Sketch(position.board, position.side))


def editor_page(
    store: TableStore, view: View, reading: Reading, chosen: str, status: int
) -> Answer:
    """Return the page of an arrangement; raises like `TableStore.probe` if that is legal.

    chosen : FEN letter of the palette's selected piece or `ERASER`; used only without scripts
    """
    sketch = reading.sketch
    letter = chosen if chosen == ERASER or chosen.upper() in LETTERS else ""
    marks = Marks(targets=_placing(view, sketch, letter), bad=reading.bad)
    side = (
        f'<h2 id="moves">{view.message("edit")}</h2>'
        f"{_palette(view, sketch, letter)}{_form(view, reading)}"
    )
    return board_page(
        view, view.text("edit"), _verdict(store, view, reading),
        draw(sketch, view.look, marks) + _changes(view, sketch), side,
        address=lambda other: _href(other, sketch), status=status,
        data={"mode": "edit", "fen": position_address(sketch), "edit": _href(view, None)},
    )  # fmt: skip


def _read_fen(given: str) -> Reading:
    """Read a FEN as far as possible, also an illegal one; only its first fault is reported."""
    fields = given.replace("_", " ").replace("+", " ").split()
    rows = fields[0].translate(LETTER_ALIASES).split("/")
    board = bytearray(SQUARES)
    wrong = []
    for rank, row in zip(range(RANKS - 1, -1, -1), rows, strict=False):
        file, known = 0, True
        for letter in row:
            if letter in "123456789":
                file += int(letter)
                continue
            if letter.upper() not in LETTERS:
                known = False
            elif file < FILES:
                board[FILES * rank + file] = LETTERS_BY_CODE.index(letter)
            file += 1
        if file != FILES or not known:
            wrong.append(rank)
    side, problem = _read_side(fields[1:])
    whole = len(rows) == RANKS
    if wrong or not whole:
        try:
            Position.from_fen(f"{fields[0]} w")
        except PositionError as error:
            problem = error
    bad = range(FILES * wrong[0], FILES * wrong[0] + FILES) if wrong and whole else ()
    sketch = Sketch(bytes(board), side)
    return Reading(sketch, problem, given if problem else "", tuple(bad))


def _read_side(fields: list[str]) -> tuple[Side, PositionError | None]:
    """Return the side to move (Red if unreadable) of a FEN's fields, and their first fault."""
    problem = None
    for known in (fields or ["w"], fields[:1]):
        try:
            return Position.from_fen(" ".join([_KINGS, *known])).side, problem
        except PositionError as error:
            problem = problem or error
    return Side.RED, problem


def _verdict(store: TableStore, view: View, reading: Reading) -> str:
    sketch, key = reading.sketch, "impossible"
    faults = sketch.faults(view.language)
    if reading.problem is not None:
        said = localise_error(reading.problem.message, reading.problem.hint, view.language)
        key, faults = "not_understood", list(filter(None, said))
    if faults:
        items = "".join(f"<li>{escape(fault)}</li>" for fault in faults)
        content = f"<h1>{view.message(key)}</h1><ul>{items}</ul>"
        return f'<div class="notice problem" role="alert">{content}</div>'
    position = sketch.checked()
    shown = replace(view.at(position), mode="read")
    study = link(shown.href(), view.text("study"), "button suggested")
    play = link(shown.href(mode="play", visitor=position.side), view.text("play"), "button")
    return (
        f'<div class="fine">{headline(store.probe(position), shown, None)}'
        f'<p class="controls">{study}{play}</p></div>'
    )


def _placing(view: View, sketch: Sketch, letter: str) -> dict[int, Point]:
    """Return the links that place the piece of a FEN letter on empty squares, or clear others.

    `ERASER` is for links that clear, "" for none.
    """
    if not letter:
        return {}
    code = EMPTY if letter == ERASER else LETTERS_BY_CODE.index(letter)
    return {
        square: Point(_href(view, sketch.with_piece(square, code), letter))
        for square in range(SQUARES)
        if (code == EMPTY) == (sketch.board[square] != EMPTY)
    }


def _palette(view: View, sketch: Sketch, chosen: str) -> str:
    """Return links that choose a piece or the eraser, as HTML; `chosen` is shown as pressed."""
    found = []
    for letter in (*LETTERS, *LETTERS.lower(), ERASER):
        if letter == ERASER:
            name, picture = view.text("eraser"), '<text y="14">×</text>'
        else:
            code = LETTERS_BY_CODE.index(letter)
            name, picture = piece_name(code, view.language), f'<use href="#{piece_id(code)}"/>'
        pressed, name = str(letter == chosen).lower(), escape(name)
        found.append(
            f'<a class="piece" role="button" draggable="false" data-piece="{letter}" '
            f'aria-pressed="{pressed}" aria-label="{name}" title="{name}" '
            f'href="{escape(_href(view, sketch, letter))}">'
            f'<svg viewBox="-52 -52 106 106" aria-hidden="true">{picture}</svg></a>'
        )
    note = view.message("palette")
    return f'<div class="palette">{"".join(found)}</div><p class="under">{note}</p>'


def _changes(view: View, sketch: Sketch) -> str:
    """Return links: other side to move, mirror, swap colours, clear (not the kings), turn board."""
    changes = {
        "side": Sketch(sketch.board, sketch.side.other),
        "mirror": sketch.mirrored(),
        "swap": sketch.swapped(),
        "clear": Sketch.from_fen(f"{_KINGS} w"),
    }
    turned = replace(view, flip=not view.flip)
    links = ""
    for css, changed in (changes | {"flip": sketch}).items():
        label = view.text(css)
        if css == "side":
            label = view.pair(label, view.text(sketch.side.name.lower()))
        links += link(_href(turned if css == "flip" else view, changed), label, f"button {css}")
    return f'<div class="controls">{links}</div>'


def _form(view: View, reading: Reading) -> str:
    sketch, pai = reading.sketch, ""
    hidden = hidden_fields({"mode": "edit", "was": position_address(sketch)} | view.settings())
    typed = reading.typed or position_address(sketch).replace("_", " ")
    if any(sketch.board) and EMPTY in sketch.board:
        code = f"<p class='codes'><code>{escape(format_position(sketch, 'pai'))}</code></p>"
        pai = details(view.text("pai"), code)
    return (
        f'<form class="text" action="/" method="get">{hidden}'
        f"<label>{view.message('paste')}"
        f'<textarea class="typed" name="fen" rows="3" maxlength="400" spellcheck="false">'
        f"{escape(typed)}</textarea></label>"
        f'<button type="submit">{view.message("set")}</button></form>{pai}'
    )


def _href(view: View, sketch: Sketch | None, piece: str = "") -> str:
    """Return the editor's address for an arrangement (without one `@`, which the script replaces).

    `piece` is the letter chosen in the palette.
    """
    fen = "@" if sketch is None else position_address(sketch)
    query = {"fen": fen, "mode": "edit"} | view.settings()
    if piece:
        query["piece"] = piece
    return f"/?{urlencode(query, safe='/_@')}"
