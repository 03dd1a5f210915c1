"""The editor: any arrangement of pieces, possible or not, and what is wrong with it.

    text  ->  Sketch (a board that may be impossible)  ->  picture, changes as links, complaint

Changes are links to the changed arrangement; the script adds placing pieces by hand, which leads
to such links too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from html import escape
from urllib.parse import urlencode

from tbgen.board.diagram import draw
from tbgen.board.http import HTML, Answer
from tbgen.board.i18n import text
from tbgen.board.layout import link, page
from tbgen.board.pieces import piece_id, piece_path
from tbgen.board.state import View, position_text
from tbgen.indexing import Position, Side
from tbgen.indexing.errors import PositionError, excerpt
from tbgen.indexing.material import MAX_COUNT
from tbgen.indexing.position import LETTER_ALIASES
from tbgen.indexing.squares import (
    EMPTY,
    FILES,
    LETTERS,
    RANKS,
    SQUARES,
    PieceType,
    area,
    flip_square,
    mirror_square,
    piece_code,
    piece_kind,
    piece_side,
    square_name,
)
from tbgen.notation import format_position, read_position
from tbgen.rules import check_legal
from tbgen.rules.attacks import in_check, kings_face


@dataclass(frozen=True)
class Sketch(Position):
    """An arrangement that need not be possible: only its size is certain."""

    def __post_init__(self) -> None:
        """Refuse nothing: telling what is wrong is for `faults`."""

    def checked(self) -> Position:
        """The same as a legal position; raises `PositionError` if it is none."""
        position = Position(self.board, self.side)
        check_legal(position)
        return position

    def faults(self) -> list[tuple[str, dict[str, object]]]:
        """Everything that makes it impossible, as messages of `i18n` and their fields."""
        found: list[tuple[str, dict[str, object]]] = []
        counts = Counter(code for code, _ in self.pieces())
        for code, square in self.pieces():
            side, kind = Side(piece_side(code)), PieceType(piece_kind(code))
            if square not in area(side, kind):
                name = piece_id(code)[2:]
                found.append(("fault_area", {"piece": name, "square": square_name(square)}))
        for side in Side:
            for kind in PieceType:
                count = counts[piece_code(side, kind)]
                king = kind == PieceType.KING
                if count > MAX_COUNT[kind] or (king and count != 1):
                    key = "fault_kings" if king else "fault_count"
                    name, limit = piece_id(piece_code(side, kind))[2:], MAX_COUNT[kind]
                    found.append((key, {"side": side, "n": count, "piece": name, "limit": limit}))
        if all(counts[piece_code(side, PieceType.KING)] == 1 for side in Side):
            if kings_face(self.board):
                found.append(("fault_facing", {}))
            elif in_check(self.board, self.side.other):
                found.append(("fault_check", {"side": self.side.other, "mover": self.side}))
        return found

    def moved(self, mirror: bool = False, swap: bool = False) -> Sketch:
        """The left-right mirror image, or the same with the colours exchanged."""
        board = bytearray(SQUARES)
        for code, square in self.pieces():
            target = mirror_square(square) if mirror else square
            board[flip_square(target) if swap else target] = code ^ 8 if swap else code
        return Sketch(bytes(board), self.side.other if swap else self.side)

    @property
    def address(self) -> str:
        """The FEN's board and side, as they are written into an address."""
        return "_".join(self.fen.split()[:2])


def read_sketch(query: Mapping[str, str], default: Position) -> tuple[Sketch, PositionError | None]:
    """The arrangement that a query describes, and what is wrong with its text.

    A FEN is read as far as it can be; text of other kinds must be a possible arrangement. Where
    nothing can be read, the board is empty.
    """
    try:
        given = position_text(query)
        if given is None:
            return Sketch(default.board, default.side), None
        if "/" in given:
            return _read_fen(given), None
        position = read_position(given).position
    except PositionError as error:
        return Sketch(bytes(SQUARES), Side.RED), error
    return Sketch(position.board, position.side), None


def editor_page(view: View, sketch: Sketch, problem: PositionError | None) -> Answer:
    """The arrangement, the pieces to choose from, and what is wrong under the board."""
    language = view.language
    picture = draw(sketch, flip=view.flip, pieces=view.pieces, all_symbols=True)
    main = (
        f'<div class="left">{picture}{_verdict(view, sketch, problem)}</div>'
        f'<div class="right"><h1>{escape(text(language, "editor"))}</h1>'
        f"{_palette(view)}{_changes(view, sketch)}{_form(view, sketch)}</div>"
    )
    data = {
        "mode": "edit",
        "fen": sketch.address,
        "edit": _href(view, "@"),
        "failed": text(language, "failed"),
    }
    title = text(language, "editor")
    return Answer(page(view, title, main, lambda other: _href(other, sketch.address), data), HTML)


def _read_fen(given: str) -> Sketch:
    """The board of a FEN, whatever stands on it."""
    fields = given.replace("_", " ").replace("+", " ").split()
    rows = fields[0].translate(LETTER_ALIASES).split("/") if fields else []
    if len(rows) != RANKS:
        raise PositionError(
            f"the FEN has {len(rows)} ranks", "a xiangqi board has ten, separated by '/'"
        )
    board = bytearray(SQUARES)
    for number, row in enumerate(rows):
        file = 0
        for letter in row:
            if letter in "123456789":
                file += int(letter)
                continue
            kind = LETTERS.find(letter.upper())
            if kind < 0:
                raise PositionError(
                    f"{excerpt(letter)} is no piece letter", "pieces are K A B R N C P"
                )
            if file < FILES:
                side = Side.RED if letter.isupper() else Side.BLACK
                board[FILES * (RANKS - 1 - number) + file] = piece_code(side, kind)
            file += 1
        if file != FILES:
            raise PositionError(
                f"rank {RANKS - 1 - number} of the FEN has {file} files",
                "every rank has nine files, a to i",
            )
    black = len(fields) > 1 and fields[1] == "b"
    return Sketch(bytes(board), Side.BLACK if black else Side.RED)


def _verdict(view: View, sketch: Sketch, problem: PositionError | None) -> str:
    """Whether the position is possible, and what is wrong if not."""
    language = view.language
    if problem is not None:
        text_only = f"{escape(str(problem))} ({escape(problem.hint)})"
        faults = [f'<span lang="en">{text_only}</span>']
    else:
        faults = [escape(_fault(language, key, fields)) for key, fields in sketch.faults()]
    if faults:
        items = "".join(f"<li>{fault}</li>" for fault in faults)
        heading = escape(text(language, "impossible"))
        return f'<div class="notice problem" role="alert"><b>{heading}</b><ul>{items}</ul></div>'
    position = sketch.checked()
    study = view.at(position).href(mode="read")
    play = view.at(position).href(mode="play", human=position.side)
    return (
        f'<p class="notice fine" role="status">{escape(text(language, "possible"))} '
        f"{link(study, text(language, 'study'), 'button')} "
        f"{link(play, text(language, 'play'), 'button')}</p>"
    )


def _fault(language: str, key: str, fields: dict[str, object]) -> str:
    """A fault in words; sides are named in the language."""
    named = {
        name: text(language, value.name.lower()) if isinstance(value, Side) else value
        for name, value in fields.items()
    }
    return text(language, key, **named)


def _palette(view: View) -> str:
    """The fourteen pieces, for the script to place."""
    found = []
    for side in Side:
        for kind in PieceType:
            code = piece_code(side, kind)
            name = piece_id(code)[2:]
            path = piece_path(side, kind, view.pieces)
            found.append(
                f'<button type="button" class="piece" data-piece="{name}" aria-label="{name}">'
                f'<svg viewBox="-50 -50 100 100" class="{side.name.lower()}">'
                f'<circle class="disc" r="45"/>'
                f'<path class="glyph" transform="scale(.58)" d="{path}"/></svg></button>'
            )
    note = escape(text(view.language, "palette"))
    return f'<div class="palette" hidden>{"".join(found)}<p>{note}</p></div>'


def _changes(view: View, sketch: Sketch) -> str:
    """Links to the same arrangement, changed."""
    language = view.language
    kings = bytearray(SQUARES)
    kings[4], kings[85] = piece_code(Side.RED, PieceType.KING), piece_code(Side.BLACK, 0)
    other = Sketch(sketch.board, sketch.side.other)
    side = f"{text(language, 'side')}: {text(language, sketch.side.name.lower())}"
    entries = [
        (side, other, "side"),
        (text(language, "mirror"), sketch.moved(mirror=True), "mirror"),
        (text(language, "swap"), sketch.moved(swap=True), "swap"),
        (text(language, "clear"), Sketch(bytes(kings), Side.RED), "clear"),
    ]
    links = [
        link(_href(view, changed.address), label, f"button {css}")
        for label, changed, css in entries
    ]
    turned = replace(view, flip=not view.flip)
    links.append(link(_href(turned, sketch.address), text(language, "flip"), "button flip"))
    return f'<div class="controls">{"".join(links)}</div>'


def _form(view: View, sketch: Sketch) -> str:
    """A field for the position as text; works without scripts."""
    language = view.language
    hidden = "".join(
        f'<input type="hidden" name="{escape(key)}" value="{escape(value)}">'
        for key, value in view.settings().items()
    )
    pai = ""
    if any(sketch.board) and EMPTY in sketch.board:
        pai = f"<p class='codes'><code>{escape(format_position(sketch, 'pai'))}</code></p>"
    return (
        f'<form action="/edit" method="get">{hidden}<label>{escape(text(language, "paste"))}'
        f'<textarea name="fen" rows="3" maxlength="400" spellcheck="false">'
        f"{escape(' '.join(sketch.fen.split()[:2]))}</textarea></label>"
        f'<button type="submit">{escape(text(language, "set"))}</button></form>{pai}'
    )


def _href(view: View, address: str) -> str:
    """The editor with another arrangement."""
    return f"/edit?{urlencode({'fen': address} | view.settings(), safe='/_@')}"
