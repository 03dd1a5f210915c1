"""State of a request: the game so far and how to show it, to and from an address.

    /?fen=START&moves=h2e2,h9g7&flip=1&lang=zh-Hans   <->   View
    /?...&mode=play                                         the same, values hidden
    /?...&mode=line&at=7                                    best play, after seven plies of it
    /?...&mode=line&play=1                                  best play, going on by itself
    /?...&mode=line&ladder=1                                all loops of a ladder, to mate
    /?...&mode=edit                                         the same, on the editor

The whole state is in the address, so that every position has a permanent link, the browser's back
button takes a move back, and nothing is kept on the server.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from html import escape
from typing import Any
from urllib.parse import urlencode

from tbgen.answers.reasons import Words
from tbgen.board.drawing.diagram import Look
from tbgen.board.drawing.pieces import PIECE_SETS
from tbgen.board.knowledge.games import MAX_MOVES
from tbgen.board.language.i18n import LANGUAGES, text
from tbgen.board.language.words import WORDS
from tbgen.indexing import Move, Position, Side
from tbgen.indexing.errors import InputError, PositionError
from tbgen.indexing.squares import parse_square, square_name
from tbgen.notation import MOVE_NOTATIONS, read_position
from tbgen.rules import play

MAX_POSITION_TEXT = 400
"""Characters of a position; a FEN has fewer than 110, a drawn board fewer than 300."""

MODES = ("read", "play", "line", "edit")
"""Look up, play, watch best play, set up."""

TASKS = ("", "win", "draw")
"""No puzzle, or what one move alone keeps."""

THEMES = ("", "light", "dark")
"""The browser's own colours, or one of two."""

STRENGTHS = ("best", "varied", "beginner")
"""The table's replies in the playing mode: the best, any that keeps the outcome, or with slips."""

HINTS = ("", "piece", "move")
"""Nothing, which piece makes the best move, or the move."""

BOARDS = ("wood", "paper", "slate")

SETTINGS = ("lang", "theme", "notation", "pieces", "flip", "board", "mode")
"""Parameters that do not concern the position: every page takes them."""

VIEW = (
    *SETTINGS, "fen", "pos", "moves", "side", "task", "strength", "hint", "at", "play", "ladder",
    "from", "where",
)  # fmt: skip
"""Parameters that describe a view, as `read_view` reads them."""


@dataclass(frozen=True)
class View:
    """A game and the way it is shown.

    `moves` were played from `start`. `mode` is one of `MODES`. `human` is the side that the
    reader plays in the playing mode. `chosen` is the square of a piece about to move, `where` that
    of one which is tried on every point. `ply` counts the plies of a line that have been shown;
    with `plays` it goes on by itself, with `ladder` it goes through all loops to mate. `task` is
    what the reader is to keep in a puzzle, one of `TASKS`; `strength`, one of `STRENGTHS`, is the
    table's, and `hint`, one of `HINTS`, what the reader has asked to be told.
    """

    start: Position
    moves: tuple[Move, ...] = ()
    mode: str = "read"
    flip: bool = False
    language: str = "en"
    notation: str = "iccs"
    pieces: str = "zh"
    theme: str = ""
    board: str = BOARDS[0]
    human: Side = Side.RED
    chosen: int | None = None
    where: int | None = None
    ply: int = 0
    plays: bool = False
    ladder: bool = False
    task: str = ""
    strength: str = STRENGTHS[0]
    hint: str = ""
    asked_language: bool = False
    """Whether the address names the language; else the browser's is used and links stay short."""
    origin: str = ""
    """Scheme and host by which the board was asked, for what has to name it in full."""

    @cached_property
    def positions(self) -> tuple[Position, ...]:
        """Every position of the game, the last one at hand; raises `MoveTextError`."""
        found = [self.start]
        for move in self.moves:
            found.append(play(found[-1], move))
        return tuple(found)

    @property
    def position(self) -> Position:
        """The position at hand."""
        return self.positions[-1]

    def after(self, move: Move) -> View:
        """The game with one more move; beyond `MAX_MOVES` its beginning is forgotten."""
        if len(self.moves) >= MAX_MOVES:
            start = self.position.after(*move)
            return replace(self, start=start, moves=(), **_MOMENTARY)
        return replace(self, moves=(*self.moves, move), **_MOMENTARY)

    def back(self, plies: int = 1) -> View:
        """The game with the last moves taken back."""
        kept = self.moves[: max(0, len(self.moves) - plies)]
        return replace(self, moves=kept, **_MOMENTARY)

    def at(self, position: Position) -> View:
        """Return the state of another position, without a game."""
        return replace(self, start=position, moves=(), task="", **_MOMENTARY)

    def href(self, **changes: Any) -> str:
        """The address of this view, or of one with some fields changed."""
        view = replace(self, **changes)
        query = {"fen": _in_address(view.start)}
        if view.moves:
            query["moves"] = ",".join(move.iccs for move in view.moves)
        query |= {"mode": "" if view.mode == "read" else view.mode} | view.settings()
        if view.mode == "play":
            side = "black" if view.human == Side.BLACK else ""
            strength = "" if view.strength == STRENGTHS[0] else view.strength
            query |= {"side": side, "task": view.task, "strength": strength, "hint": view.hint}
        if view.mode == "line":
            at = str(view.ply) if view.ply else ""
            query |= {"at": at, "play": "1" * view.plays, "ladder": "1" * view.ladder}
        if view.chosen is not None:
            query["from"] = square_name(view.chosen)
        if view.mode == "read" and view.where is not None:
            query["where"] = square_name(view.where)
        query = {name: value for name, value in query.items() if value}
        return f"/?{urlencode(query, safe='/,_')}"

    @property
    def words(self) -> Words:
        """The words of reasons in the view's language."""
        return WORDS[self.language]

    def text(self, key: str, **fields: object) -> str:
        """The message of a key in the view's language."""
        return text(self.language, key, **fields)

    def message(self, key: str, **fields: object) -> str:
        """The message of a key, as HTML."""
        return escape(self.text(key, **fields))

    @property
    def look(self) -> Look:
        """The look of the board."""
        return Look(self.flip, self.pieces, self.notation, self.board, self.language)

    def settings(self) -> dict[str, str]:
        """The part of the query that does not concern the position."""
        query = {
            "flip": "1" * self.flip,
            "lang": self.language if self.asked_language else "",
            "notation": "" if self.notation == default_notation(self.language) else self.notation,
            "pieces": "" if self.pieces == PIECE_SETS[0] else self.pieces,
            "theme": self.theme,
            "board": "" if self.board == BOARDS[0] else self.board,
        }
        return {name: value for name, value in query.items() if value}


@lru_cache(64)
def _in_address(position: Position) -> str:
    """A position as addresses have it; the links of a page, about 70 of them, have the same one."""
    return "_".join(position.fen.split()[:2])


_MOMENTARY: dict[str, Any] = {"chosen": None, "where": None, "ply": 0, "ladder": False, "hint": ""}
"""What concerns one position only, as it is once another one is shown."""


def default_notation(language: str) -> str:
    """The notation of moves where none is asked for."""
    return {"zh-Hans": "zh", "zh-Hant": "zh-hant"}.get(language, "iccs")


def position_text(query: Mapping[str, str]) -> str | None:
    """The text of the position in a query, `fen` or `pos`; None if there is none."""
    text = query.get("fen") or query.get("pos")
    if text is not None and len(text) > MAX_POSITION_TEXT:
        raise PositionError(
            f"the position has {len(text)} characters", f"at most {MAX_POSITION_TEXT} are read"
        )
    return text


def read_view(query: Mapping[str, str], default: Position, accept_language: str = "") -> View:
    """The view that a query describes, `default` if it names no position.

    `fen` and `pos` take any notation of positions. Raises `InputError` with a hint.
    """
    text = position_text(query)
    start, viewpoint = default, Side.RED
    if text is not None:
        read = read_position(text)
        start, viewpoint = read.position, read.viewpoint
    asked = query.get("lang", "")
    language = asked if asked in LANGUAGES else preferred_language(accept_language)

    def one_of(name: str, known: Sequence[str], usual: str = "") -> str:
        return query[name] if query.get(name) in known else usual or known[0]

    return View(
        start=start,
        moves=read_moves(start, query.get("moves", "")),
        mode=one_of("mode", MODES),
        flip=query.get("flip") == "1" or viewpoint == Side.BLACK,
        language=language,
        notation=one_of("notation", MOVE_NOTATIONS, default_notation(language)),
        pieces=one_of("pieces", PIECE_SETS),
        theme=one_of("theme", THEMES),
        board=one_of("board", BOARDS),
        human=Side.BLACK if query.get("side") == "black" else Side.RED,
        chosen=parse_square(query["from"]) if query.get("from") else None,
        where=parse_square(query["where"]) if query.get("where") else None,
        ply=number_of(query.get("at", ""), 0, digits=4),
        plays=query.get("play") == "1",
        ladder=query.get("ladder") == "1",
        task=one_of("task", TASKS),
        strength=one_of("strength", STRENGTHS),
        hint=one_of("hint", HINTS),
        asked_language=asked in LANGUAGES,
    )


def read_moves(start: Position, text: str) -> tuple[Move, ...]:
    """Moves in ICCS, separated by commas or blanks; raises `InputError` unless all are legal."""
    words = text[: 8 * MAX_MOVES].replace(",", " ").split()
    if len(words) > MAX_MOVES or len(text) > 8 * MAX_MOVES:
        raise InputError(f"the game has more than {MAX_MOVES} moves", "begin with a later position")
    moves = tuple(Move.from_iccs(word) for word in words)
    position = start
    for move in moves:
        position = play(position, move)
    return moves


def preferred_language(accepted: str) -> str:
    """The language of ours that a browser's `Accept-Language` names first."""
    for entry in accepted[:200].split(","):
        tag = entry.split(";")[0].strip().lower()
        if tag.startswith("zh"):
            traditional = any(part in tag for part in ("hant", "tw", "hk", "mo"))
            return "zh-Hant" if traditional else "zh-Hans"
        if tag.startswith("en"):
            break
    return "en"


def number_of(text: str, default: int, *, digits: int = 5) -> int:
    """A number in a query, of at most so many digits; `default` for what is none."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= digits else default
