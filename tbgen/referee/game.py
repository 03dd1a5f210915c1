"""A game as the record that the referee's scalar functions read; positions as books print them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from tbgen.indexing.errors import InputError
from tbgen.indexing.move import Move
from tbgen.indexing.position import Position
from tbgen.indexing.rulesets import Chases
from tbgen.indexing.squares import SQUARES, PieceType, Side, piece_code
from tbgen.referee import record
from tbgen.rules import check_legal, play

Pairs = list[tuple[int, int]]
"""List of the chases of one ply: pairs (attacker, victim) of squares after the ply."""


@dataclass(frozen=True, repr=False)
class Diagram(Position):
    """A position as books print it, for the referee alone: pawns may stand on any square.

    For example, D71 of the rule book has a pawn behind the rank on which it starts.
    """

    _AREAS: ClassVar = {
        **Position._AREAS,
        **{piece_code(side, PieceType.PAWN): frozenset(range(SQUARES)) for side in Side},
    }


class Game:
    """A game as lists `boards`, `ids` and `log`, which the scalar functions of `record` read.

    `positions` has one position more than there are moves. `chase_rules` are bits of the rule set
    (`Rules.chase_rules`), by default of `wxf`; they must not change, because chases are cached.

    Raises `PositionError` if the first position is illegal.
    """

    def __init__(self, position: Position, chase_rules: int = Chases().word) -> None:
        check_legal(position)
        self.chase_rules = chase_rules
        self.boards = [bytearray(position.board)]
        self.ids = [[-1] * SQUARES]
        self.log = [[0] * record.LOG_FIELDS]
        record.start_record(self.boards, self.ids, self.log, position.side)
        self.scratch = [0] * record.PAIRS_ROOM, [0] * record.PAIRS_ROOM  # of scalar functions
        self.positions = [position]
        self._pairs: list[Pairs | None] = []

    @classmethod
    def read(
        cls, position: Position, moves: Sequence[Move], chase_rules: int = Chases().word
    ) -> Game:
        """Return the game that begins with a position and has the given moves.

        Raises `PositionError` for an illegal position, `MoveTextError` for the first illegal move.
        """
        game = cls(position, chase_rules)
        for ply, move in enumerate(moves):
            try:
                game.push(move)
            except InputError as error:
                raise type(error)(f"ply {ply + 1}: {error.message}", error.hint) from None
        return game

    @property
    def plies(self) -> int:
        """Number of plies played."""
        return len(self._pairs)

    @property
    def first(self) -> Position:
        """First position of the game."""
        return self.positions[0]

    @property
    def last(self) -> Position:
        """Last position of the game."""
        return self.positions[-1]

    def side(self, ply: int) -> Side:
        """Return the side that plays ply number `ply`, from 0."""
        return self.positions[ply].side

    def move(self, ply: int) -> Move:
        """Return the move of ply number `ply`, from 0."""
        row = self.log[ply]
        return Move(row[record.SOURCE], row[record.TARGET])

    def push(self, move: Move) -> None:
        """Play a move; an illegal one raises `MoveTextError` and changes nothing."""
        now, ply = self.last, self.plies
        self.positions.append(play(now, move))
        self.boards.append(bytearray(SQUARES))
        self.ids.append([-1] * SQUARES)
        self.log.append([0] * record.LOG_FIELDS)
        self._pairs.append(None)
        record.append_ply(self.boards, self.ids, self.log, ply, now.side, *move)

    def pop(self) -> None:
        """Take the last move back; raises `IndexError` if there is none."""
        self._pairs.pop()
        for rows in (self.positions, self.boards, self.ids, self.log):
            rows.pop()
        if self._pairs:
            self._pairs[-1] = None  # its chases depend on the reply that is taken back

    def chases(self, ply: int, start: int) -> Pairs:
        """Return the chases of a ply as pairs (attacker, victim); see `record.chase_pairs`.

        `start` matters only for the last ply of the game. If that ply closes a loop, `start` is the
        loop's first position, and the ply played there is the reply. If `start` is
        `record.NO_SPAN`, there is no reply, and all new attacks are chases.
        """
        is_last, reply = ply + 1 == self.plies, ply + 1
        known = self._pairs[ply]
        if known is not None and not is_last:
            return known
        if is_last:
            reply = record.NO_REPLY if start == record.NO_SPAN else start
        attackers, victims = self.scratch
        count = record.chase_pairs(
            self.boards, self.log, ply, reply, self.chase_rules, attackers, victims
        )
        found = list(zip(attackers[:count], victims[:count], strict=True))
        if not is_last:
            self._pairs[ply] = found
        return found
