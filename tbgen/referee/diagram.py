"""Positions as books print them, for the referee alone.

A diagram may show what no game reaches (D71 of the rule book has a pawn behind its start); the
rules judge it all the same. Tables keep to `tbgen.indexing.Position`.
"""

from __future__ import annotations

from dataclasses import dataclass

from tbgen.indexing.position import Position
from tbgen.indexing.squares import PieceType, Side, area


@dataclass(frozen=True, repr=False)
class Diagram(Position):
    """A position whose pawns may stand on any square."""

    def _may_stand(self, side: Side, kind: PieceType, square: int) -> bool:
        """Kings, advisors and elephants are bound to their points, on which their moves rest."""
        return kind == PieceType.PAWN or square in area(side, kind)
