"""Moves as text: ICCS, Fairy-Stockfish's coordinates, WXF and Chinese.

    iccs      h2e2          from square, to square, ranks 0..9; H2-E2 and h2xe2 are read, too
    fairy     h3e3, e2e10   coordinates with ranks 1..10
    wxf       C2.5          `wxf.py`
    zh        炮二平五      `chinese.py`; zh-hant writes traditional characters

The text of a legal move is unique in each notation. If no notation is given, coordinates are read
as ICCS, or as Fairy-Stockfish's if they contain a rank 10; `is_fairy` decides for a whole game.
Marks after a move, as in h2e2+ or h2e2!?, are ignored.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from tbgen.indexing.errors import InputError, MoveTextError, excerpt, require_text
from tbgen.indexing.move import ICCS, SEPARATOR, Move, as_move
from tbgen.indexing.position import Position, as_position
from tbgen.indexing.squares import FILES, piece_kind, piece_side, square_name
from tbgen.notation import chinese, wxf
from tbgen.notation.materials import ENGLISH
from tbgen.notation.naming import RelativePlace, displacement, relative_place
from tbgen.rules import legal_moves, play

MOVE_NOTATIONS = ("iccs", "fairy", "wxf", "zh", "zh-hant")
"""Notations of `format_move` and `parse_move`."""

_FAIRY = re.compile(rf"([a-i])(10|[1-9]){SEPARATOR}([a-i])(10|[1-9])", ICCS.flags)
_MARKS = " \t\r\n+#!?.,;\uff0b\uff03\uff01\uff1f\u3001\u3002\uff0c\uff1b"
"""Characters after a move that are no part of it: blanks, marks of check, mate, praise and blame,
and punctuation, also full-width. No notation of moves ends with one of them.
"""
_HINT = "write h2e2, C2.5 or 炮二平五"


def language_of(notation: str) -> str:
    """Return the language of a notation of moves: `en` if it is not Chinese."""
    return {"zh": "zh-Hans", "zh-hant": "zh-Hant"}.get(notation, "en")


def parse_move(position: Position | str, text: str, notation: str | None = None) -> Move:
    """Return the legal move that `text` names in the position.

    `notation` is one of `MOVE_NOTATIONS`; None detects it. Raises `MoveTextError`, with a hint, for
    text that names no legal move or several. Raises `InputError` for an unknown notation, and
    `PositionError` for a malformed FEN.
    """
    position = as_position(position)
    require_text(text, "move", MoveTextError, _HINT)
    text = _without_marks(text)
    notation = notation or _detect(text)
    if notation == "iccs":
        move = Move.from_iccs(text)
        play(position, move)
        return move
    if notation == "fairy":
        move = _from_fairy(text)
        try:
            play(position, move)
        except MoveTextError as error:
            # The message has ranks 0..9; add the move in ICCS.
            raise MoveTextError(f"{excerpt(text)}, in ICCS {error.message}", error.hint) from None
        return move
    if notation in MOVE_NOTATIONS:
        return _resolve(position, text, notation)
    raise _unknown(notation)


def is_move_text(text: str) -> bool:
    """Return whether a text has the form of a move in any notation, even of an illegal one."""
    plain = _without_marks(text)
    coordinates = ICCS.fullmatch(plain) or _FAIRY.fullmatch(plain)
    return bool(coordinates or chinese.split(plain) or wxf.split(plain))


def is_fairy(texts: Iterable[str]) -> bool:
    """Return whether the coordinates in the moves of a game are Fairy-Stockfish's.

    True if some have a rank 10, and none a rank 0. Other texts, and marks after moves, are ignored.
    """
    plain = [_without_marks(text) for text in texts]
    iccs = {text for text in plain if ICCS.fullmatch(text)}
    fairy = {text for text in plain if _FAIRY.fullmatch(text)}
    return iccs < fairy


def format_move(position: Position | str, move: Move | str, notation: str = "iccs") -> str:
    """Return the text of a legal move, a `Move` or ICCS, in one of `MOVE_NOTATIONS`.

    Raises `InputError` for an unknown notation, and for a malformed FEN or text. Illegal moves are
    not detected, except that in WXF and Chinese a source square without a piece of the side to move
    raises `MoveTextError`.
    """
    position = as_position(position)
    move = as_move(move)
    if notation == "iccs":
        return move.iccs
    if notation == "fairy":
        return "".join("abcdefghi"[s % FILES] + str(s // FILES + 1) for s in move)
    if notation not in MOVE_NOTATIONS:
        raise _unknown(notation)
    where = _places(position).get(move.source)
    if where is None:
        raise MoveTextError(
            f"{move} is not legal: nothing of {position.side.name.title()} is on "
            f"{square_name(move.source)}",
            "only a legal move of the position can be written in words",
        )
    moved = displacement(position, move)
    if notation == "wxf":
        return wxf.join(wxf.names(where)[0], moved)
    return chinese.join(chinese.names(where)[0], moved, position.side, notation == "zh-hant")


def _without_marks(text: str) -> str:
    """Return a move's text without `_MARKS`, and half-width unless it is Chinese."""
    text = text.rstrip(_MARKS).strip() or text
    return text if chinese.is_chinese(text) else unicodedata.normalize("NFKC", text)


def _detect(text: str) -> str:
    """Return the notation of a move's text, by its form; raises `MoveTextError`."""
    if ICCS.fullmatch(text):
        return "iccs"
    if _FAIRY.fullmatch(text):
        return "fairy"
    if chinese.is_chinese(text):
        return "zh"
    if wxf.split(text) is None:
        raise MoveTextError(f"{excerpt(text)} is no move", _HINT)
    return "wxf"


def _from_fairy(text: str) -> Move:
    """Return the move that Fairy-Stockfish's coordinates name; raises `MoveTextError`."""
    match = _FAIRY.fullmatch(text)
    if match is None:
        raise MoveTextError(
            f"{excerpt(text)} is no move", "moves with ranks 1 to 10 are written h3e3, e2e10"
        )
    file, rank, to_file, to_rank = match.groups()
    return Move.from_iccs(f"{file}{int(rank) - 1}{to_file}{int(to_rank) - 1}")


def _resolve(position: Position, text: str, notation: str) -> Move:
    """Return the legal move that a WXF or Chinese text names; raises `MoveTextError`."""
    reader = wxf if notation == "wxf" else chinese
    parts = reader.split(text)
    if parts is None:
        example = "C2.5" if notation == "wxf" else "炮二平五"
        raise MoveTextError(f"{excerpt(text)} is no move", f"such moves are written {example}")
    name, wanted = parts
    called = {square: reader.names(where) for square, where in _places(position).items()}
    # A standard name takes precedence, even if that piece has no such move.
    meant = [square for square, known in called.items() if known[0] == name]
    meant = meant or [square for square, known in called.items() if name in known]
    side = position.side.name.title()
    if not meant:
        raise MoveTextError(
            f"{excerpt(text)} is not legal: {side}, to move, has no piece of that name",
            "files count from 1 at the mover's right",
        )
    possible = [move for move in legal_moves(position) if move.source in meant]
    found = [move for move in possible if displacement(position, move) == wanted]
    if len(found) > 1:
        raise MoveTextError(
            f"{excerpt(text)} could be {' or '.join(move.iccs for move in found)}",
            "state which piece on the file moves, or write the squares",
        )
    if not found:
        where = " and ".join(square_name(square) for square in meant)
        moves = " ".join(format_move(position, move, notation) for move in possible)
        piece = ENGLISH[piece_kind(position.board[meant[0]])]
        cannot = f"{side}'s {piece} on {where} cannot move"
        hint = f"{side}'s {piece} on {where}: {moves}" if moves else cannot
        raise MoveTextError(f"{excerpt(text)} is not legal", hint)
    return found[0]


@lru_cache(maxsize=16)
def _places(position: Position) -> dict[int, RelativePlace]:
    """Return the `relative_place` of each piece of the side to move, by its square."""
    return {
        square: relative_place(position, square)
        for code, square in position.pieces()
        if piece_side(code) == position.side
    }


def _unknown(notation: str) -> InputError:
    return InputError(
        f"{excerpt(str(notation))} is no notation of moves", f"choose {', '.join(MOVE_NOTATIONS)}"
    )
