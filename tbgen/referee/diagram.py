"""Positions as books print them, for the referee alone.

A diagram may show a position that no game reaches (D71 of the rule book has a pawn behind its
start). The rules judge it nevertheless. Tables only take `tbgen.indexing.Position`.
"""

from __future__ import annotations

from dataclasses import dataclass

from tbgen.indexing.position import Position
from tbgen.indexing.squares import PieceType, Side, area


@dataclass(frozen=True, repr=False)
class Diagram(Position):
    """A position whose pawns may stand on any square."""

    def _may_stand(self, side: Side, kind: PieceType, square: int) -> bool:
        """Return whether a piece may stand on a square; overrides the check of `Position`.

        Pawns may stand on any square, the other pieces on the usual ones.
        """
        return kind == PieceType.PAWN or square in area(side, kind)
