"""The game so far, as a protocol tells it: its first position, and the moves since.

    position startpos | fen F  [moves M ...]   ->   Game.read   ->   positions, moves

GUIs send the whole game again for every move; only the moves after those of the last game are
read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tbgen.indexing import START_FEN, Move, Position, PositionError
from tbgen.notation import parse_move
from tbgen.rules import check_legal


@dataclass(frozen=True, slots=True)
class Game:
    """Positions, oldest first, and the moves between them."""

    positions: tuple[Position, ...]
    moves: tuple[Move, ...]
    words: tuple[str, ...]
    """What it was read from: the notation, where it began, "moves", and a word for each move."""

    @property
    def position(self) -> Position:
        """The position to move from."""
        return self.positions[-1]

    @classmethod
    def from_start(cls) -> Game:
        """The opening array."""
        return cls.read(["startpos"])

    @classmethod
    def read(cls, words: Sequence[str], notation: str = "iccs", before: Game | None = None) -> Game:
        """Read `startpos moves ...`, `fen F moves ...` or a bare FEN and moves.

        Of a FEN only board and side count; programs disagree about the other fields. `notation`
        is how moves are written (`tbgen.notation`). Where the words go on with the game `before`,
        only the moves since then are read. Raises `PositionError` for a position that is none, or
        not legal, and `MoveTextError` for the first move that is not.
        """
        words = list(words)
        text = words[words.index("moves") + 1 :] if "moves" in words else []
        start = words[: words.index("moves")] if "moves" in words else words
        if start[:1] == ["fen"]:
            start = start[1:]
        told = (notation, *start, "moves", *text)
        if before is not None and told[: len(before.words)] == before.words:
            return before._played(told)
        if not start:
            raise PositionError("the position has no FEN")
        if start[0] == "startpos":
            position = Position.from_fen(START_FEN)
        else:
            side = start[1] if len(start) > 1 else "w"
            position = Position.from_fen(f"{start[0]} {side}")
        check_legal(position)
        return cls((position,), (), told[: len(told) - len(text)])._played(told)

    def _played(self, words: tuple[str, ...]) -> Game:
        """The game that these words tell, which begin with this game's; raises `MoveTextError`."""
        positions, moves = list(self.positions), list(self.moves)
        for word in words[len(self.words) :]:
            move = parse_move(positions[-1], word, words[0])
            positions.append(positions[-1].after(*move))
            moves.append(move)
        return Game(tuple(positions), tuple(moves), words)
