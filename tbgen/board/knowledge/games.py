"""Whole games as text: read from move lists, PGN and DhtmlXQ boards, and written as PGN.

    "炮二平五 马８进７"   "1. h2e2 h9g7"   [FEN "..."] 1. C2.5   [DhtmlXQ_binit]...   ->   GameText
    moves given   ->  PGN of the game, its result by board and referee, and the reason as comment
    none given    ->  PGN of best play, with order and value of each position as comment

A FEN in front of the moves gives the first position; the default is the start of the game. Single
moves are parsed by `tbgen.notation`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from tbgen.answers.reasons import explain_line
from tbgen.board.knowledge.store import RESULTS, TableStore
from tbgen.board.language.i18n import text
from tbgen.board.language.words import WORDS, explain_judgement, order_value
from tbgen.indexing import InputError, Move, Position, Side
from tbgen.indexing.errors import MoveTextError, excerpt
from tbgen.indexing.position import START_FEN
from tbgen.indexing.squares import FILES, LETTERS, SQUARES, PieceType, piece_code
from tbgen.notation import format_move, parse_move
from tbgen.play.mainline import Ending
from tbgen.rules import check_legal, play
from tbgen.tables import MissingTableError, UnsupportedMaterialError

MAX_MOVES = 400
"""Greatest number of plies of a game; they take 2 kB in a URL."""

Given = TypeVar("Given")

_TAG = re.compile(r"\[\s*(\w+)\s+\"([^\"]*)\"\s*\]")
_SKIP = re.compile(r"\{[^}]*\}|\([^()]*\)|;[^\n]*|\$\d+|(?<!\S)\d{1,3}\s*\.+(?=\s|\D|$)|\.\.\.|…")
"""Pattern of the parts of a move text that are skipped: comments, variations, notes and move
numbers.
"""
_RESULT = re.compile(r"1-0|0-1|1/2-1/2|\*")

_FEN = re.compile(
    r"\s*((?:[1-9A-Za-z]+/){9}[1-9A-Za-z]+)[\s_]+([wrb])(?:\s+(?:-|\d+)(?!\S))*\s+(?:moves\s)?"
)
_XQ = re.compile(r"\[DhtmlXQ_(binit|movelist)\](\d*)\[/DhtmlXQ_\1\]")

_XQ_PIECES = "RNBAKABNRCCPPPPP"
"""Letters of one side's pieces in the order of a DhtmlXQ board, where Red's pieces come first."""


class GameText(NamedTuple):
    """A game read from text: first position, and moves up to the first invalid one."""

    start: Position
    moves: tuple[Move, ...]
    fault: MoveTextError | None = None
    """Error of the first move that was not accepted, after `moves`; None if all moves are valid."""
    stated: str = ""
    """Result as written in the text, such as 1-0; empty if there is none."""


def read_game(given: str) -> GameText:
    """Return the game that a text describes, up to its first illegal move.

    Raises `InputError` if the first position or the first move is invalid, for more than
    `MAX_MOVES` moves, and for a text without moves. A DhtmlXQ board may have no moves.
    """
    parts = dict(_XQ.findall(given))
    if parts:
        return _read_xq(parts)
    tags = {name.upper(): value for name, value in _TAG.findall(given)}
    text = _TAG.sub(" ", given)
    fen = tags.get("FEN", START_FEN)
    leading = _FEN.match(text)
    if leading:
        fen, text = f"{leading[1]} {leading[2]}", text[leading.end() :]
    start = Position.from_fen(fen)
    check_legal(start)
    for _ in range(3):  # variations inside variations
        text = _SKIP.sub(" ", text)
    words = [word for word in re.split(r"[\s,，、]+", text) if word]
    states = [tags.get("RESULT", ""), *(word for word in words if _RESULT.fullmatch(word))]
    words = [word for word in words if not _RESULT.fullmatch(word)]
    if not words:
        raise InputError("the text has no moves", "write moves, with a FEN in front of them")
    stated = next((state for state in states if state in RESULTS.values()), "")
    return _play(start, words, parse_move)._replace(stated=stated)


def _play(
    start: Position, given: Sequence[Given], read: Callable[[Position, Given], Move]
) -> GameText:
    """Return the game of some moves, up to the first invalid one.

    start : first position
    given : the moves as text or as squares
    read : returns the move for a position and an entry of `given`
    Raises `MoveTextError` if the first entry is invalid, `InputError` for more than `MAX_MOVES`.
    """
    if len(given) > MAX_MOVES:
        raise InputError(f"the game has more than {MAX_MOVES} moves", "begin with a later position")
    moves: list[Move] = []
    position = start
    for entry in given:
        try:
            move = read(position, entry)
            position = play(position, move)
        except MoveTextError as error:
            if not moves:
                raise
            return GameText(start, tuple(moves), error)
        moves.append(move)
    return GameText(start, tuple(moves))


def begins_with_fen(given: str) -> bool:
    """Return whether a text is a FEN followed by further text, which must then be moves."""
    leading = _FEN.match(f"{given} ")
    return leading is not None and bool(given[leading.end() :].strip())


def _read_xq(parts: dict[str, str]) -> GameText:
    """Return the game of a DhtmlXQ board.

    A piece has two digits, file and row from Black's side; a move has four.
    """
    board = bytearray(SQUARES)
    places, moves = parts.get("binit", ""), parts.get("movelist", "")
    for number in range(len(places) // 2):
        square = _square(places[2 * number : 2 * number + 2])
        if square is not None and number < 2 * len(_XQ_PIECES):
            side, place = divmod(number, len(_XQ_PIECES))
            board[square] = piece_code(side, LETTERS.index(_XQ_PIECES[place]))
    start = Position(bytes(board), Side.RED) if places else Position.from_fen(START_FEN)
    found = []
    for at in range(0, len(moves) - 3, 4):
        source, target = _square(moves[at : at + 2]), _square(moves[at + 2 : at + 4])
        if source is None or target is None:
            raise MoveTextError(f"{excerpt(moves[at : at + 4])} is no move", "four digits, 7747")
        found.append(Move(source, target))
    if found and start.board[found[0].source] >= piece_code(Side.BLACK, PieceType.KING):
        start = Position(start.board, Side.BLACK)
    check_legal(start)
    return _play(start, found, lambda position, move: move)


def _square(digits: str) -> int | None:
    """Return the square of two digits in a DhtmlXQ text; None for 99, a captured piece."""
    file, row = int(digits[0]), int(digits[1])
    return None if file >= FILES else FILES * (9 - row) + file


_FORMATS = {"iccs": "ICCS", "wxf": "WXF", "zh": "Chinese", "zh-hant": "Chinese"}


def game_text(
    store: TableStore,
    positions: Sequence[Position],
    moves: Sequence[Move],
    notation: str = "iccs",
    language: str = "en",
) -> str:
    """Return the PGN text of a game, two moves to a line; without moves, that of best play.

    positions : those of the game, one more than there are moves
    notation : of the moves, one of `MOVE_NOTATIONS`
    language : of the comments
    Raises like `Tablebase.probe`. If the table for best play is missing, the text has no moves.
    """
    start = positions[0]
    check_legal(start)
    rules = store.tables.rule_set
    if moves:
        played = zip(positions, moves, strict=False)
        texts = [format_move(position, move, notation) for position, move in played]
        result, why = _end_of_game(store, positions, moves, language)
    else:
        try:
            line = store.line(start)
        except (MissingTableError, UnsupportedMaterialError):
            texts, result, why = [], "*", ""
        else:
            texts = []
            for each in line.moves:
                texts.append(format_move(each.position, each.choice.move, notation))
                if each.choice.value is not None:
                    texts[-1] += f" {{{order_value(each.choice.order, each.choice.value)}}}"
            known = line.winner is not None or line.ending in (Ending.DRAW, Ending.LOOP)
            result = RESULTS[line.winner] if known else "*"
            why = explain_line(line, WORDS[language])
    tags = {
        "Game": "Chinese Chess",
        "Event": f"{start.material} endgame",
        "Date": "????.??.??",
        "Red": "?",
        "Black": "?",
        "Result": result,
        "FEN": start.fen,
        "Format": _FORMATS.get(notation, notation),
        "Rules": "none" if rules.rules is None else str(rules),
    }
    lines = [f'[{name} "{value}"]' for name, value in tags.items()]
    reason = [f"{{{why}}}"] if why else []
    return "\n".join([*lines, "", *_pairs(start, texts), *reason, result, ""])


def _pairs(start: Position, moves: Sequence[str]) -> list[str]:
    """Return the moves of a game as numbered text lines, one move of each side per line.

    If Black begins, `...` stands for Red's first move.
    """
    found = [*(["..."] if start.side == Side.BLACK and moves else []), *moves]
    return [
        f"{number // 2 + 1}. {' '.join(found[number : number + 2])}"
        for number in range(0, len(found), 2)
    ]


def _end_of_game(
    store: TableStore, positions: Sequence[Position], moves: Sequence[Move], language: str
) -> tuple[str, str]:
    """Return result and reason of a game; `*` and an empty reason if it is not over."""
    facts = store.probe_game(positions, moves)
    over = facts.over
    if over is None:
        return "*", ""
    if over.why == "repetition" and facts.judgement is not None:
        why = explain_judgement(facts.judgement, facts.rules, language)
        return RESULTS[over.winner], why
    loser = "" if over.winner is None else over.winner.other
    return RESULTS[over.winner], text(language, f"over_{over.why}", side=loser)
