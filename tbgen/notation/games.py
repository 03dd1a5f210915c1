"""Games as text: PGN, lists of moves, FEN with moves, Chinese records, UCI, DhtmlXQ boards.

    [FEN "..."] 1. C2.5 {a note} H8+7 1-0      PGN, also several games one after the other
    FEN;h2e2 h9g7    h2e2,h9g7    1. 炮二平五     moves, from the opening array without a FEN
    （红先）1.车七平八，炮2平3。红胜                   as books print them
    position startpos moves h2e2               UCI
    [DhtmlXQ_binit]8979...[/DhtmlXQ_binit]     boards of web pages

    text  ->  split_games  ->  text of each game  ->  read_game  ->  GameText

`tbgen/notation/tokens.py` has the parts that a text consists of.

These are passed over: comments and variations in brackets, comments from a semicolon to the end of
the line, lines that begin with %, the labels FEN and Moves, words without a letter or digit,
Chinese words after the last move, and move numbers. So are lines that begin with 标题, 开局, 注 and
the like, lines that begin with another Chinese label (赛事：) and have neither a move nor a FEN,
and the labels 红方, 黑方, 局面, 着法 and 结果 of any line. Headers of WXF files are tags. A
semicolon begins a comment if a blank follows it, or if it is between a blank and a word without a
number (a move has one). But moves alone after a semicolon with a blank behind it and none in front,
as in `h2e2; h9g7`, are no comment.

All other text that is no move is an invalid move (`GameText.fault`), even a single bracket or
semicolon. So is a move number that is below the number due (in a variation without brackets), that
jumps ahead (after a lost line), or that is for a move of the side not to move (after a lost move),
and a move that the text ascribes to that side (红：炮二平五). Numbers may count pairs of moves or
single moves, and begin anywhere. Except on DhtmlXQ boards, `parse_move` reads the moves. Their
notation is Fairy-Stockfish's if the tag `[Format "fairy"]` names it, or if a move has a rank 10,
and none 0.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tbgen.indexing.errors import InputError, MoveTextError, excerpt
from tbgen.indexing.move import Move
from tbgen.indexing.position import START_FEN, Position
from tbgen.indexing.squares import Side
from tbgen.notation.dhtmlxq import read_board
from tbgen.notation.moves import is_fairy, is_move_text, parse_move
from tbgen.notation.tokens import is_remark, tokens
from tbgen.rules import check_legal, play

_ELLIPSIS = re.compile(r"(?:[.\uff0e]\s*){3}|[\u2026\u2014]")
"""Pattern of the ellipsis in a move number such as 1... or 1.——, which a move of Black follows."""

_INDENT = re.compile(r"^[^\S\n]+", re.MULTILINE)
"""Pattern of blanks in front of a line, such as a label."""


class GameText(NamedTuple):
    """A game read from text: first position, and the moves before the first invalid one."""

    start: Position
    moves: tuple[Move, ...]
    fault: MoveTextError | None = None
    """Error of the first invalid move or move number; None without one."""
    stated: str = ""
    """Result that the text states: 1-0, 0-1 or 1/2-1/2; empty if it states none."""


@dataclass(slots=True)
class _Record:
    """The parts of one game's text, before its positions and moves are read."""

    first: int = 0  # index of the game's first character in the text
    tags: dict[str, str] = field(default_factory=dict)  # upper case; lower case on a DhtmlXQ board
    malformed: str = ""  # text of the first malformed tag; empty if there is none
    fen: str = ""  # FEN in front of the moves, not in a tag, and a book's words; empty without one
    inherits: bool = False  # whether `fen` is a copy from the game before (`split_games`)
    words: list[str] = field(default_factory=list)  # moves, and other text that is not passed over
    moves: int = 0  # number of words that have the form of a move
    sides: dict[int, Side] = field(default_factory=dict)
    """Side to which the text ascribes a move, by number of moves before."""
    numbers: dict[int, int] = field(default_factory=dict)  # move numbers by number of moves before
    misnumbered: tuple[int, MoveTextError] | None = None
    """Number of moves before the first misplaced move number, and its error; None without one."""
    pair: int = -1
    """Number of moves before the first pair of moves with one number; -1 without a pair."""
    ellipses: set[int] = field(default_factory=set)
    """Keys of `numbers` whose number has an ellipsis, which a move of Black follows."""
    stated: str = ""  # result, as in `GameText`
    ended: bool = False  # whether a result follows one or more moves
    labelled: bool = False  # whether the label of a result (结果：) precedes the moves

    def count(self, number: int, *, is_black: bool) -> None:
        """Record a move number; `is_black` if it has the ellipsis of a move of Black.

        The first number that cannot stand at its place sets `misnumbered`. A number must not be
        below the number due, which increases by one at each even number of moves. It must not
        exceed the previous one by more than half of the moves between them, rounded up.
        """
        before = len(self.words)
        if is_black:
            self.ellipses.add(before)
        fault = None
        first, lowest = next(iter(self.numbers.items()), (before, number))
        last, counted = next(reversed(self.numbers.items()), (before, number))
        if self.pair < 0 and (is_black or before - last == 2):
            self.pair = before + 1 if is_black else last
        if number < lowest - first // 2 + before // 2:
            fault = MoveTextError(
                f"after ply {before} the moves begin again at number {number}",
                "put variations in brackets",
            )
        elif number - counted > (before - last + 1) // 2:
            fault = MoveTextError(
                f"after ply {before} the move numbers jump from {counted} to {number}",
                "add the lost moves, or correct the number",
            )
        if fault is not None and self.misnumbered is None:
            self.misnumbered = before, fault
        self.numbers[before] = number

    def fault_at(self, before: int, side: Side) -> MoveTextError | None:
        """Return the error at the word after `before` moves, with `side` to move; or None."""
        if self.misnumbered is not None and self.misnumbered[0] == before:
            return self.misnumbered[1]
        owner, mover = side.other.name.title(), side.name.title()
        if self.sides.get(before, side) != side:
            return MoveTextError(
                f"after ply {before} a move of {owner} is given, but {mover} is to move",
                "add the lost moves, or correct the side",
            )
        number = self.numbers.get(before)
        has_two = before + 1 < len(self.words) and before + 1 not in self.numbers
        is_reply = before % 2 == 1 and side == Side.BLACK
        is_odd = 0 <= self.pair < before and (before - self.pair) % 2 == 1
        # Numbers may also count single moves, or be repeated for the reply.
        is_ply = number == before + 1 > 2 and not self.ellipses
        is_ply = is_ply or number == self.numbers.get(before - 1)
        is_wrong = not is_ply and (is_odd or (has_two and is_reply))
        if before in self.ellipses:
            is_wrong = side == Side.RED
        if number and is_wrong:
            return MoveTextError(
                f"after ply {before} number {number} is for {owner}, but {mover} is to move",
                "add the lost moves, or correct the number",
            )
        word = self.words[before] if before < len(self.words) else ""
        if word.startswith(";"):
            return MoveTextError(f"{excerpt(word)} is no move", "separate moves by blanks")
        return None


def read_game(
    text: str, from_fen: Callable[[str], Position] = Position.from_fen, most: int | None = None
) -> GameText:
    """Return the only game of a text, up to its first invalid move.

    A text without moves must have a FEN or a tag.

    from_fen : function that returns the position of a FEN, or raises `PositionError`
    most : maximum number of moves; None for no limit

    Raises `PositionError` for an impossible or illegal first position, and `InputError` for a text
    without a game or with several, for too many moves, and for a malformed tag or DhtmlXQ board.
    """
    games = _split(_INDENT.sub("", text))
    if not games:
        raise InputError("the text has no moves", "write moves, with a FEN in front of them")
    if len(games) > 1:
        raise InputError(
            f"the text has {len(games)} games", "give one of them; `tbgen judge FILE` reads all"
        )
    (game,) = games
    if game.malformed:
        raise InputError(
            f"{excerpt(game.malformed)} is a malformed tag",
            'write [Name "value"], or [DhtmlXQ_name]value[/DhtmlXQ_name]',
        )
    given: Sequence[str | Move]
    if {"binit", "movelist"} & game.tags.keys():
        start, given = read_board(game.tags.get("binit", ""), game.tags.get("movelist", ""))
    else:
        start = from_fen(game.fen or game.tags.get("FEN", START_FEN))
        given = game.words
    check_legal(start)
    if most is not None and len(given) > most:
        raise InputError(f"the game has more than {most} moves", "begin with a later position")
    named = game.tags.get("FORMAT", "").lower() == "fairy"
    notation = "fairy" if named or is_fairy(game.words) else None
    moves: list[Move] = []
    tag = game.tags.get("RESULT", game.tags.get("result", ""))
    position, stated = start, game.stated or _result(tag)
    for entry in given:
        fault = game.fault_at(len(moves), position.side)
        if fault is not None:
            return GameText(start, tuple(moves), fault, stated)
        try:
            move = parse_move(position, entry, notation) if isinstance(entry, str) else entry
            position = play(position, move)
        except MoveTextError as error:
            return GameText(start, tuple(moves), error, stated)
        moves.append(move)
    return GameText(start, tuple(moves), None, stated)


def split_games(text: str) -> list[str]:
    """Return the text of each game in a text, in order; an empty list if there is no game.

    Each of these begins a new game:
    - a FEN, or the word `position` (UCI), after moves or after another FEN
    - a tag after moves, the game's first tag again, or a second tag with a position
    - a move, a move number, or a malformed tag, after moves and a result
    - the label 结果： after moves, if another one precedes these moves
    - move number 1 after two or more moves

    In the last case the new game may be a variation of the game before it. So a FEN in front of the
    moves of that game is copied in front of the new game's text, unless a result ended that game. A
    FEN in a tag is not copied.
    """
    games = _split(text)
    ends = [*(game.first for game in games), len(text)][1:]
    return [
        (f"{game.fen} " if game.inherits else "") + text[game.first : end].strip()
        for game, end in zip(games, ends, strict=True)
    ]


def _split(text: str) -> list[_Record]:
    """Return the parts of each game of a text; `split_games` states where a game begins."""
    games = [_Record()]
    for kind, name, value, first in tokens(text):
        game = games[-1]
        if _begins_game(game, kind, name, value):
            inherits = kind == "number" and not game.ended and bool(game.fen)
            game = _Record(first, fen=game.fen if inherits else "", inherits=inherits)
            games.append(game)
        if kind == "tag":
            game.tags[name] = value
        elif kind == "malformed":
            game.malformed = game.malformed or value
        elif kind == "fen":
            game.fen = value
        elif kind == "move":
            game.words.append(value)
            game.moves += is_move_text(value)
        elif kind == "label":
            game.labelled = game.labelled or not game.words
        elif kind == "side":
            game.sides[len(game.words)] = Side.BLACK if name == "黑" else Side.RED
        elif kind == "number" and name:
            game.count(int(name), is_black=bool(_ELLIPSIS.search(value)))
        elif kind == "result":
            game.stated, game.ended = _result(value), bool(game.moves)
            if game.fen and not game.words and re.match("[红紅黑]方?先", value):
                game.fen += f" {value}"  # as in 黑先胜
    for game in games:
        while game.moves and is_remark(game.words[-1]):
            game.words.pop()
    return [game for game in games if game.words or game.fen or game.tags or game.malformed]


def begins_with_moves(line: str) -> bool | None:
    """Return whether a game that begins in a line may go on in the next; None if unclear.

    True if its first part is a tag, a move number, a result or a move, even an illegal one; False
    for a FEN with moves, a whole game; None for a FEN alone and for other text.
    """
    ignored = ("position", "label")
    parts = ((kind, value) for kind, _, value, _ in tokens(line) if kind not in ignored)
    first, word = next(parts, ("move", ""))
    if first == "fen":
        return (
            False if any(kind == "move" and is_move_text(value) for kind, value in parts) else None
        )
    return first != "move" or is_move_text(word) or None


def _begins_game(game: _Record, kind: str, name: str, value: str) -> bool:
    """Return whether a token begins a new game, after the part of `game` that has been read.

    kind, name, value : of the token; `split_games` has the conditions
    """
    if kind == "tag":
        again = name in game.tags and name in (next(iter(game.tags)), "FEN", "binit")
        return bool(game.words or game.ended or again)
    if kind in ("fen", "position"):
        return bool(game.words or game.fen)
    if kind == "label":
        return game.labelled and bool(game.words)
    if kind == "number" and name == "1":
        return game.ended or game.moves > 1
    is_move = kind == "move" and is_move_text(value)
    return game.ended and (is_move or kind in ("number", "malformed"))


def _result(text: str) -> str:
    """Return the result 1-0, 0-1 or 1/2-1/2 that a text such as 红先胜 states; "" if none."""
    if text in ("1-0", "0-1"):
        return text
    text = text.removeprefix("判").removesuffix("定")
    if text.startswith("1/2") or "和" in text or text == "平局":
        return "1/2-1/2"
    if not text or text[-1] not in "胜勝负負":
        return ""
    return "1-0" if (text[0] != "黑") == (text[-1] in "胜勝") else "0-1"
