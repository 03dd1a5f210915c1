"""The offence (perpetual check or chase) that decides a position under the repetition rules.

    position of order k  ->  best play, to its loop  ->  the referee  ->  Mechanism
                             (mainline)                                   the pieces that check, or
                                                                          chase, and the victim

Pieces are named by their squares in the requested position, not at the start of the loop.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from tbgen.indexing import Move, Position, Side
from tbgen.indexing.squares import EMPTY, PieceType, piece_kind, piece_side, square_name
from tbgen.play.mainline import Mainline
from tbgen.play.tablebase import GameTablebase
from tbgen.referee.record import PERPETUAL_CHECK
from tbgen.rules.attacks import attacks, find_king

MAX_PLIES = 80
"""Maximum plies of best play that `find_mechanism` computes, at about a millisecond a ply."""


class Offence(StrEnum):
    """Kind of the offence by which the loser violates the repetition rules."""

    CHECK = "check"
    CHASE = "chase"


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece by side and type, with its square in the requested position."""

    side: Side
    kind: PieceType
    square: int

    def as_json(self) -> dict[str, str]:
        """Return a JSON object such as `{"side": "red", "piece": "rook", "square": "e4"}`."""
        return {
            "side": self.side.name.lower(),
            "piece": self.kind.name.lower(),
            "square": square_name(self.square),
        }


@dataclass(frozen=True, slots=True)
class Mechanism:
    """The offence by which a side loses, with its pieces.

    offender : the side that loses
    victim : a piece that the offender chases by every move in the loop; None for checks
    by : pieces that chase the victim, or that give check
    move : first move of the best play that ends in the loop
    position : the requested position
    """

    offence: Offence
    offender: Side
    victim: Piece | None
    by: tuple[Piece, ...]
    move: Move
    position: Position

    def as_json(self) -> dict[str, Any]:
        """Return the member `mechanism` of answers, a JSON object without `move` and `position`."""
        return {
            "kind": str(self.offence),
            "offender": self.offender.name.lower(),
            "victim": None if self.victim is None else self.victim.as_json(),
            "by": [piece.as_json() for piece in self.by],
        }


def find_mechanism(tables: GameTablebase, position: Position) -> Mechanism | None:
    """Return the offence that decides a position of order 1 or above.

    None for other positions, and if best play does not end within `MAX_PLIES` plies in a loop that
    a side loses, for example because a table is missing. Raises like `GameTablebase.probe`.
    """
    result = tables.probe(position)
    if not result.order or (result.plies or 0) > MAX_PLIES:
        return None
    return mechanism_of(tables.mainline(position, MAX_PLIES))


def mechanism_of(line: Mainline) -> Mechanism | None:
    """Return the offence in the final loop of a line; None without a loop that a side loses."""
    verdict, winner = line.verdict, line.winner
    if line.loop_start is None or verdict is None or winner is None:
        return None
    offender = winner.other
    move = line.moves[0].choice.move
    if verdict.levels[offender] == PERPETUAL_CHECK:
        by = _checkers(line, offender)
        return Mechanism(Offence.CHECK, offender, None, by, move, line.start)
    pairs = verdict.conducts[offender].pairs
    victim = pairs[0][1]
    chasers = {_square_at_start(line, a.square, line.loop_start) for a, v in pairs if v == victim}
    return Mechanism(
        Offence.CHASE,
        offender,
        _piece(line, _square_at_start(line, victim.square, line.loop_start)),
        tuple(_piece(line, square) for square in sorted(chasers)),
        move,
        line.start,
    )


def _checkers(line: Mainline, offender: Side) -> tuple[Piece, ...]:
    """Return the pieces of `offender` that give check in the loop of a line."""
    found = set[int]()
    for number, played in enumerate(line.moves):
        if number < (line.loop_start or 0) or played.position.side != offender:
            continue
        board = played.choice.after.board
        king = find_king(board, offender.other)
        found |= {
            _square_at_start(line, square, number + 1)
            for square, code in enumerate(board)
            if code != EMPTY and piece_side(code) == offender and attacks(board, square, king)
        }
    return tuple(_piece(line, square) for square in sorted(found))


def _square_at_start(line: Mainline, square: int, moves: int) -> int:
    """Return the square in `line.start` of the piece that is on `square` after `moves` moves."""
    for played in reversed(line.moves[:moves]):
        source, target = played.choice.move
        if target == square:
            square = source
    return square


def _piece(line: Mainline, square: int) -> Piece:
    """Return the piece on a square of the first position of a line."""
    code = line.start.board[square]
    return Piece(Side(piece_side(code)), PieceType(piece_kind(code)), square)
