"""The game so far, as a protocol tells it: where it began, and the moves since.

position startpos | fen F  [moves M ...]   ->   Game.read   ->   positions, moves
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

    @property
    def position(self) -> Position:
        """The position to move from."""
        return self.positions[-1]

    @classmethod
    def from_start(cls) -> Game:
        """The opening array."""
        return cls((Position.from_fen(START_FEN),), ())

    @classmethod
    def read(cls, words: Sequence[str], notation: str = "iccs") -> Game:
        """Read `startpos moves ...`, `fen F moves ...` or a bare FEN and moves.

        Of a FEN only board and side count; programs disagree about the other fields. `notation`
        is how moves are written (`tbgen.notation`). Raises `PositionError` for a position that
        is none, or not legal, and `MoveTextError` for the first move that is not.
        """
        words = list(words)
        text = words[words.index("moves") + 1 :] if "moves" in words else []
        start = words[: words.index("moves")] if "moves" in words else words
        if start[:1] == ["fen"]:
            start = start[1:]
        if not start:
            raise PositionError("the position has no FEN")
        if start[0] == "startpos":
            position = Position.from_fen(START_FEN)
        else:
            side = start[1] if len(start) > 1 else "w"
            position = Position.from_fen(f"{start[0]} {side}")
        check_legal(position)
        positions, moves = [position], []
        for word in text:
            move = parse_move(positions[-1], word, notation)
            positions.append(positions[-1].after(*move))
            moves.append(move)
        return cls(tuple(positions), tuple(moves))
