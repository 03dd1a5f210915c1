"""Offence that decides a position under the repetition rules: the one its best play ends in.

    position of order k  ->  best play, to its loop  ->  the referee  ->  Mechanism
                             (mainline)                                   who checks, or who chases
                                                                          whom, followed back

The pieces are named where they stand in the position asked about, not where the loop begins.
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
"""How far best play is followed for an explanation: about a millisecond for each ply."""


class Offence(StrEnum):
    """Offence that the loser commits for ever."""

    CHECK = "check"
    CHASE = "chase"


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of the position asked about."""

    side: Side
    kind: PieceType
    square: int

    def as_json(self) -> dict[str, str]:
        """`{"side": "red", "piece": "rook", "square": "e4"}`."""
        return {
            "side": self.side.name.lower(),
            "piece": self.kind.name.lower(),
            "square": square_name(self.square),
        }


@dataclass(frozen=True, slots=True)
class Mechanism:
    """Offence of a loser, and the first move of the play that shows it.

    `victim` is chased on every move of the loop, None for checks; `by` are the pieces that chase
    it, or give the checks.
    """

    offence: Offence
    offender: Side
    victim: Piece | None
    by: tuple[Piece, ...]
    move: Move

    def as_json(self) -> dict[str, Any]:
        """The field `mechanism` of answers."""
        return {
            "kind": str(self.offence),
            "offender": self.offender.name.lower(),
            "victim": None if self.victim is None else self.victim.as_json(),
            "by": [piece.as_json() for piece in self.by],
        }


def find_mechanism(tables: GameTablebase, position: Position) -> Mechanism | None:
    """Return the offence that decides a position of order 1 or above.

    None for other positions, and where `MAX_PLIES` of best play reach no loop that is lost: it
    may be longer, or go on in a table that is missing. Raises like `GameTablebase.probe`.
    """
    result = tables.probe(position)
    if not result.order or (result.plies or 0) > MAX_PLIES:
        return None
    return mechanism_of(tables.mainline(position, MAX_PLIES))


def mechanism_of(line: Mainline) -> Mechanism | None:
    """The offence in the loop that a line ends in; None without a loop, or if nobody loses it."""
    verdict, winner = line.verdict, line.winner
    if line.loop_start is None or verdict is None or winner is None:
        return None
    offender = winner.other
    move = line.moves[0].choice.move
    if verdict.levels[offender] == PERPETUAL_CHECK:
        return Mechanism(Offence.CHECK, offender, None, _checkers(line, offender), move)
    pairs = verdict.conducts[offender].pairs
    victim = pairs[0][1]
    by = {_original(line, a.square, line.loop_start) for a, v in pairs if v == victim}
    return Mechanism(
        Offence.CHASE,
        offender,
        _piece(line, _original(line, victim.square, line.loop_start)),
        tuple(_piece(line, square) for square in sorted(by)),
        move,
    )


def _checkers(line: Mainline, offender: Side) -> tuple[Piece, ...]:
    """The pieces that give check in the loop."""
    found = set[int]()
    for number, played in enumerate(line.moves):
        if number < (line.loop_start or 0) or played.position.side != offender:
            continue
        board = played.choice.after.board
        king = find_king(board, offender.other)
        found |= {
            _original(line, square, number + 1)
            for square, code in enumerate(board)
            if code != EMPTY and piece_side(code) == offender and attacks(board, square, king)
        }
    return tuple(_piece(line, square) for square in sorted(found))


def _original(line: Mainline, square: int, moves: int) -> int:
    """Return the square, so many moves before, of the piece on `square`."""
    for played in reversed(line.moves[:moves]):
        source, target = played.choice.move
        if target == square:
            square = source
    return square


def _piece(line: Mainline, square: int) -> Piece:
    """The piece on a square of the position that a line starts from."""
    code = line.start.board[square]
    return Piece(Side(piece_side(code)), PieceType(piece_kind(code)), square)
