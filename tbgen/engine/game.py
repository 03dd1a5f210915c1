"""The current game as set by the `position` command: its first position and the moves.

    position startpos | fen F  [moves M ...]   ->   Game.read   ->   positions, moves

GUIs send the whole game before every move; if it continues the last one, only new moves are parsed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tbgen.indexing import START_FEN, Move, Position, PositionError
from tbgen.indexing.errors import excerpt
from tbgen.notation import parse_move
from tbgen.rules import check_legal

_OTHER_FIELDS = 4
"""Maximum number of fields of a FEN after board and side."""


@dataclass(frozen=True, slots=True)
class Game:
    """Positions of a game, oldest first, and the moves between them."""

    positions: tuple[Position, ...]
    moves: tuple[Move, ...]
    words: tuple[str, ...]
    """Key of this game for `read`: name of the notation of moves, `startpos` or the words of a FEN,
    "moves", and one word per move.
    """

    @property
    def position(self) -> Position:
        """The current position."""
        return self.positions[-1]

    @classmethod
    def read(cls, words: Sequence[str], notation: str = "iccs", before: Game | None = None) -> Game:
        """Parse `startpos moves ...`, `fen F moves ...` or a bare FEN and moves.

        notation : notation of the moves (`tbgen.notation`)
        before : an earlier game; if the words continue it, only the new moves are parsed

        Only board and side of a FEN are used; programs disagree about its other fields, at most
        four numbers or dashes. Raises `PositionError` for an invalid or illegal position, and
        `MoveTextError` for the first word after "moves" that is no legal move.
        """
        at = [*words, "moves"].index("moves")
        start, text = words[:at], words[at + 1 :]
        if start and start[0] == "fen":
            start = start[1:]
        all_words = (notation, *start, "moves", *text)
        if before is not None and all_words[: len(before.words)] == before.words:
            return before._played(all_words)
        if not start:
            raise PositionError("the position has no FEN")
        is_start = start[0] == "startpos"
        for at, word in enumerate(start[1:] if is_start else start[2:]):
            if is_start or at >= _OTHER_FIELDS or not (word.isdecimal() or word == "-"):
                raise PositionError(
                    f"{excerpt(word, 20)} is no part of a position", "write `moves` before moves"
                )
        position = Position.from_fen(START_FEN if is_start else " ".join(start[:2]))
        check_legal(position)
        return cls((position,), (), all_words[: len(all_words) - len(text)])._played(all_words)

    def _played(self, words: tuple[str, ...]) -> Game:
        """Return this game with more moves: the rest of `words`, which begins with `self.words`."""
        positions, moves = list(self.positions), list(self.moves)
        for word in words[len(self.words) :]:
            move = parse_move(positions[-1], word, words[0])
            positions.append(positions[-1].after(*move))
            moves.append(move)
        return Game(tuple(positions), tuple(moves), words)
