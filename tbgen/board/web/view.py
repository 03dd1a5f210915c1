"""State of a page, to and from its address: the game so far and its display settings.

    /?fen=START&moves=h2e2,h9g7&flip=1&lang=zh-Hans   <->   View
    /?...&mode=play                                         play: values are hidden
    /?...&mode=line&at=7                                    best play, after seven plies of it
    /?...&mode=line&play=1                                  best play, starting by itself
    /?...&mode=line&ladder=1                                the whole ladder (`line_page`)
    /?...&mode=edit                                         the editor

The server keeps no state. So every position has a permanent link, and the browser's back button
takes a move back.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from html import escape
from itertools import accumulate
from typing import Any
from urllib.parse import urlencode

from tbgen.answers.reasons import Words
from tbgen.board.drawing.diagram import BOARDS, Look, position_address
from tbgen.board.drawing.pieces import PIECE_SETS
from tbgen.board.language.i18n import LANGUAGES, text
from tbgen.board.language.words import WORDS
from tbgen.indexing import InputError, Move, Position, PositionError, Side
from tbgen.indexing.squares import parse_square, square_name
from tbgen.notation import MOVE_NOTATIONS, format_move, read_position
from tbgen.rules import play

MAX_MOVES = 400
"""Greatest number of plies of a game; they take 2 kB in a URL."""

MAX_POSITION_TEXT = 400
"""Maximum length of the text of a position; a FEN has under 110 characters, a diagram under 300."""

MODES = ("read", "play", "line", "edit")
"""Modes of a page: look up a position, play, show best play, set up a position."""

THEMES = ("", "light", "dark")
"""Colour schemes: the browser's setting, light, or dark."""

STRENGTHS = ("best", "varied", "beginner")
"""Strengths of the table in play mode (`knowledge.puzzles.answer`)."""

CHOICES: Mapping[str, Sequence[str]] = {
    "mode": MODES, "pieces": PIECE_SETS, "theme": THEMES, "board": tuple(BOARDS),
    "task": ("", "win", "draw"), "strength": STRENGTHS, "hint": ("", "piece", "move"),
}  # fmt: skip
"""Values of parameters that choose one of several; the first is the default, and links omit it.

`task` is the outcome that only one move of a puzzle keeps, "" if the game is no puzzle. `hint` in
play mode shows the piece of the best move, or also the move; "" for no hint.
"""

SETTINGS = ("lang", "theme", "notation", "pieces", "flip", "board", "mode")
"""Parameters that do not concern the position; every HTML page accepts them."""

VIEW = (
    *SETTINGS, "fen", "pos", "moves", "side", "task", "strength", "hint", "at", "play", "ladder",
    "from", "where",
)  # fmt: skip
"""Names of all parameters that `read_view` reads."""


@dataclass(frozen=True)
class View:
    """Game and display settings of a page.

    start, moves : first position of the game, and its moves
    mode, pieces, theme, board, task, strength, hint : values in `CHOICES`
    flip : whether Black is at the bottom
    language : key of `LANGUAGES`
    visitor : the visitor's side in play mode
    chosen : square of the selected piece
    heat_square : square of the piece whose heat map (`panels`) is shown
    film_ply : in line mode, number of plies of the film that are played on the board
    shows_ladder : whether the film is the ladder (`line_page`), if repetition decides
    """

    start: Position
    moves: tuple[Move, ...] = ()
    mode: str = "read"
    flip: bool = False
    language: str = "en"
    notation: str = "iccs"
    pieces: str = "zh"
    theme: str = ""
    board: str = CHOICES["board"][0]
    visitor: Side = Side.RED
    chosen: int | None = None
    heat_square: int | None = None
    film_ply: int = 0
    autoplay: bool = False
    shows_ladder: bool = False
    task: str = ""
    strength: str = STRENGTHS[0]
    hint: str = ""
    asked_language: bool = False
    """True if the address names the language; else `Accept-Language` decides, and links omit it."""
    origin: str = ""
    """Scheme, host and prefix of the request, for absolute addresses; may be empty."""
    local: bool = False
    """True if the request names this machine by a loopback name, and no proxy has forwarded it."""

    @cached_property
    def positions(self) -> tuple[Position, ...]:
        """All positions of the game in order; raises `MoveTextError` for an illegal move."""
        return tuple(accumulate(self.moves, play, initial=self.start))

    @property
    def position(self) -> Position:
        """The current position."""
        return self.positions[-1]

    @property
    def visitors_turn(self) -> bool:
        """True if the visitor's side is to move."""
        return self.position.side == self.visitor

    def after(self, move: Move) -> View:
        """Return the view after one more move.

        A game that already has `MAX_MOVES` moves is not extended: the new view starts a game at the
        position reached.
        """
        if len(self.moves) >= MAX_MOVES:
            return replace(self, start=self.position.after(*move), moves=(), **_MOMENTARY)
        return replace(self, moves=(*self.moves, move), **_MOMENTARY)

    def back(self, plies: int = 1) -> View:
        """Return the view with the last `plies` moves taken back, or all if there are fewer."""
        kept = self.moves[: max(0, len(self.moves) - plies)]
        return replace(self, moves=kept, **_MOMENTARY)

    def at(self, position: Position) -> View:
        """Return the view of a new game from another position, without moves and task."""
        return replace(self, start=position, moves=(), task="", **_MOMENTARY)

    def href(self, path: str = "/", **changes: Any) -> str:
        """Return the address of this view under a path, with `changes` of its fields.

        The fields of puzzles, heat map and film are left out in modes that do not use them.
        """
        view = replace(self, **changes)
        moves = ",".join(move.iccs for move in view.moves)
        query = {"fen": position_address(view.start), "moves": moves}
        query |= view._choices("mode") | view.settings()
        if view.mode == "play":
            query["side"] = "black" if view.visitor == Side.BLACK else ""
            query |= view._choices("task", "strength", "hint")
        if view.mode == "line":
            at = str(view.film_ply or "")
            query |= {"at": at, "play": "1" * view.autoplay, "ladder": "1" * view.shows_ladder}
        if view.chosen is not None:
            query["from"] = square_name(view.chosen)
        if view.mode == "read" and view.heat_square is not None:
            query["where"] = square_name(view.heat_square)
        query = {name: value for name, value in query.items() if value}
        return f"{path}?{urlencode(query, safe='/,_')}"

    @property
    def words(self) -> Words:
        """Phrases for the reasons of values, in the view's language."""
        return WORDS[self.language]

    def text(self, key: str, **fields: object) -> str:
        """Return the text of a key (texts.csv) in the view's language, filled with `fields`."""
        return text(self.language, key, **fields)

    def message(self, key: str, **fields: object) -> str:
        """Return `text(key, ...)`, escaped for HTML."""
        return escape(self.text(key, **fields))

    def pair(self, name: str, value: str) -> str:
        """Return two texts with the language's colon between them."""
        return f"{name}{self.text('colon')}{value}"

    def aside(self, said: str, note: object) -> str:
        """Return a text with a note in the language's brackets after it."""
        return self.text("aside", text=said, note=note)

    def move_name(self, position: Position, move: Move) -> str:
        """Format a move of `position` in the view's notation."""
        return format_move(position, move, self.notation)

    @property
    def look(self) -> Look:
        """Settings of the drawn board."""
        return Look(self.flip, self.pieces, self.notation, self.board, self.language)

    def settings(self) -> dict[str, str]:
        """Return the settings (`SETTINGS` without `mode`) as query parameters.

        Defaults are left out, and `lang` unless the address names the language.
        """
        default = self.notation == default_notation(self.language)
        query = {
            "flip": "1" * self.flip,
            "lang": self.language if self.asked_language else "",
            "notation": "" if default else self.notation,
        }
        query |= self._choices("pieces", "theme", "board")
        return {name: value for name, value in query.items() if value}

    def _choices(self, *names: str) -> dict[str, str]:
        """Return those fields in `names` (keys of `CHOICES`) that differ from their defaults."""
        values = {name: getattr(self, name) for name in names}
        return {name: value for name, value in values.items() if value != CHOICES[name][0]}


_MOMENTARY: dict[str, Any] = {
    "chosen": None, "heat_square": None, "film_ply": 0, "shows_ladder": False, "hint": "",
}  # fmt: skip
"""Fields of `View` that `after`, `back` and `at` reset, with their default values."""


def default_notation(language: str) -> str:
    """Return the default notation of moves for a language."""
    return {"zh-Hans": "zh", "zh-Hant": "zh-hant"}.get(language, "iccs")


def position_text(query: Mapping[str, str]) -> str | None:
    """Return `fen` or `pos` of a query, None without both; raises `PositionError` if too long."""
    text = query.get("fen") or query.get("pos") or None
    if text is not None and len(text) > MAX_POSITION_TEXT:
        raise PositionError(
            f"the position has {len(text)} characters", f"at most {MAX_POSITION_TEXT} are read"
        )
    return text


def read_view(query: Mapping[str, str], default: Position, accept_language: str = "") -> View:
    """Return the view that a query describes; its game starts at `default` if no position is given.

    `fen` and `pos` take any notation of positions. Unknown values of settings count as their
    defaults. `accept_language` is the header, for a query without a known `lang`. Raises
    `InputError` with a hint for a malformed position or square, for a malformed or illegal move,
    and for a game of more than `MAX_MOVES` moves. Callers test the position with `check_legal`.
    """
    text, start, viewpoint = position_text(query), default, Side.RED
    if text is not None:
        read = read_position(text)
        start, viewpoint = read.position, read.viewpoint
    asked = query.get("lang", "")
    language = asked if asked in LANGUAGES else preferred_language(accept_language)
    choices: dict[str, Any] = {
        name: query[name] if query.get(name) in known else known[0]
        for name, known in CHOICES.items()
    }
    notation = query.get("notation", "")
    return View(
        start=start,
        moves=read_moves(start, query.get("moves", "")),
        flip=query.get("flip") == "1" or viewpoint == Side.BLACK,
        language=language,
        notation=notation if notation in MOVE_NOTATIONS else default_notation(language),
        visitor=Side.BLACK if query.get("side") == "black" else Side.RED,
        chosen=parse_square(query["from"]) if query.get("from") else None,
        heat_square=parse_square(query["where"]) if query.get("where") else None,
        film_ply=number_of(query.get("at", ""), 0, digits=4),
        autoplay=query.get("play") == "1",
        shows_ladder=query.get("ladder") == "1",
        asked_language=asked in LANGUAGES,
        **choices,
    )


def read_moves(start: Position, text: str) -> tuple[Move, ...]:
    """Parse at most `MAX_MOVES` ICCS moves from `start`, separated by commas or blanks."""
    words = text[: 8 * MAX_MOVES].replace(",", " ").split()
    if len(words) > MAX_MOVES or len(text) > 8 * MAX_MOVES:
        raise InputError(f"the game has more than {MAX_MOVES} moves", "begin with a later position")
    moves = tuple(map(Move.from_iccs, words))
    reduce(play, moves, start)
    return moves


_QUALITY = re.compile(r"[01](\.[0-9]{0,3})?")
"""Weight of a language in an `Accept-Language` header (RFC 9110, section 12.4.2)."""


def preferred_language(accepted: str) -> str:
    """Return the tag of the first supported language of an `Accept-Language` header.

    Languages are tried by weight (`;q=0.8`), and not at all with weight 0. Chinese without region
    or script is simplified. The default is English.
    """
    wanted = []
    for entry in accepted[:200].lower().split(","):
        tag, _, weight = entry.partition(";")
        quality = weight.strip().removeprefix("q=").strip()
        wanted.append((float(quality) if _QUALITY.fullmatch(quality) else 1.0, tag.strip()))
    for weighted, tag in sorted(wanted, key=lambda each: -each[0]):
        if not weighted:
            break
        if tag.startswith("zh"):
            regions = ("hant", "tw", "hk", "mo")
            traditional = "hans" not in tag and any(part in tag for part in regions)
            return "zh-Hant" if traditional else "zh-Hans"
        if tag.startswith("en"):
            break
    return "en"


def number_of(text: str, default: int, *, digits: int = 5) -> int:
    """Parse a decimal number of at most `digits` digits; return `default` for any other text."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= digits else default
