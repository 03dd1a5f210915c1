"""Placements of pieces that are ranked together, and their ranks.

A *group* is n identical pieces of one side. A placement is the set of their slots
s1 < s2 < ... (positions in `squares.area`), and its rank in the combinatorial number system is

    rank = C(s1, 1) + C(s2, 2) + ... + C(sn, n)

Removing the j-th piece leaves a placement of n - 1 pieces, its *companions*; adding a square to
companions gives a placement of n pieces. The tables `Group.companions` and `Group.extend` hold the
ranks of both. So the rank after a move of one piece takes two look-ups.

The *defenders* of one side (king, advisors, elephants) are ranked together, because they share few
squares and exclude each other there.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tbgen.indexing.squares import SQUARES, PieceType, area, flip_square, mirror_square, piece_code

MIRROR = np.array([mirror_square(square) for square in range(SQUARES)])
"""int64 (90,): mirror image of each square, file a to file i."""
FLIP = np.array([flip_square(square) for square in range(SQUARES)])
"""int64 (90,): each square after flipping the board, rank 0 to rank 9."""


@dataclass(frozen=True)
class Group:
    """Placements of `count` identical pieces of one side.

    Mid groups of an index are attackers. `Defenders` also uses groups of kings, advisors or
    elephants.
    """

    side: int
    kind: int
    count: int

    @cached_property
    def area(self) -> tuple[int, ...]:
        """Squares where the piece may stand; the piece's slot is the index of its square."""
        return area(self.side, self.kind)

    @property
    def size(self) -> int:
        """Number of placements."""
        return comb(len(self.area), self.count)

    @cached_property
    def squares(self) -> NDArray[np.int8]:
        """int8 (size, count): squares of each placement, ascending."""
        placements = combinations(range(len(self.area)), self.count)
        by_rank = sorted(placements, key=lambda placement: placement[::-1])
        table = np.array(by_rank, np.int64).reshape(self.size, self.count)
        return np.array(self.area, np.int8)[table]

    @cached_property
    def extend(self) -> NDArray[np.int32]:
        """int32 (companion placements, 90): rank of the companions with one more piece.

        The row is the rank of the companions, the column the square of the added piece; -1 if the
        square lies outside the area or is occupied by a companion.
        """
        companions = Group(self.side, self.kind, self.count - 1)
        table = np.full((companions.size, SQUARES), -1, np.int32)
        for j in range(self.count):
            without_j = np.delete(self.squares, j, axis=1)
            table[companions.rank(without_j), self.squares[:, j]] = np.arange(self.size)
        return table

    @cached_property
    def companions(self) -> NDArray[np.int32]:
        """int32 (size, count): rank of the companions of each placement's j-th piece."""
        fewer = Group(self.side, self.kind, self.count - 1)
        columns = [fewer.rank(np.delete(self.squares, j, axis=1)) for j in range(self.count)]
        return np.stack(columns, axis=1).astype(np.int32)

    def rank(self, squares: NDArray[Any]) -> NDArray[np.int64]:
        """int64 (n,): ranks of placements given as squares (n, count), in any order."""
        slot_of = np.full(SQUARES, -1, np.int64)
        slot_of[list(self.area)] = np.arange(len(self.area))
        slots = np.sort(slot_of[squares.astype(np.int64)], axis=1)
        ranks = np.zeros(len(squares), np.int64)
        for j in range(self.count):
            choose = np.array([comb(s, j + 1) for s in range(len(self.area))], np.int64)
            ranks += choose[slots[:, j]]
        return ranks

    @cached_property
    def mirror(self) -> NDArray[np.int32]:
        """int32 (size,): rank of each placement's mirror image."""
        mirrored = MIRROR[self.squares.astype(np.int64)].astype(np.int8)
        return self.rank(mirrored).astype(np.int32)


@dataclass(frozen=True)
class Defenders:
    """Placements of the king, advisors and elephants of one side, without overlaps.

    Placements are ordered by king slot, then advisor rank, then elephant rank.
    """

    side: int
    advisors: int
    elephants: int

    @property
    def pieces(self) -> int:
        """Number of pieces of one placement."""
        return 1 + self.advisors + self.elephants

    @property
    def codes(self) -> list[int]:
        """Codes of the pieces of a placement, in the order of `squares`."""
        counts = {PieceType.KING: 1, PieceType.ADVISOR: self.advisors,
                  PieceType.ELEPHANT: self.elephants}  # fmt: skip
        return [piece_code(self.side, kind) for kind, n in counts.items() for _ in range(n)]

    @cached_property
    def _tables(self) -> tuple[NDArray[np.int8], NDArray[np.int32]]:
        """Return the arrays `squares` and `ranks`."""
        kings = area(self.side, PieceType.KING)
        advisors = Group(self.side, PieceType.ADVISOR, self.advisors)
        elephants = Group(self.side, PieceType.ELEPHANT, self.elephants)
        ranks = np.full((len(kings), advisors.size, elephants.size), -1, np.int32)
        placements: list[list[int]] = []
        for k, king in enumerate(kings):
            for a, advisor_squares in enumerate(advisors.squares):
                for e, elephant_squares in enumerate(elephants.squares):
                    squares = [king, *advisor_squares, *elephant_squares]
                    if len(set(squares)) == len(squares):
                        ranks[k, a, e] = len(placements)
                        placements.append(squares)
        return np.array(placements, np.int8), ranks

    @property
    def squares(self) -> NDArray[np.int8]:
        """int8 (size, pieces): king, advisors ascending, elephants ascending."""
        return self._tables[0]

    @property
    def ranks(self) -> NDArray[np.int32]:
        """int32 (king slots, advisor ranks, elephant ranks): ranks, -1 where pieces overlap."""
        return self._tables[1]

    @property
    def size(self) -> int:
        """Number of placements."""
        return len(self.squares)

    def rank(self, squares: NDArray[Any]) -> NDArray[np.int64]:
        """int64 (n,): ranks of placements.

        squares : (n, pieces), the squares of each: king, advisors, elephants
        """
        kings = Group(self.side, PieceType.KING, 1).rank(squares[:, :1])
        advisors = Group(self.side, PieceType.ADVISOR, self.advisors)
        elephants = Group(self.side, PieceType.ELEPHANT, self.elephants)
        middle = 1 + self.advisors
        ranks: NDArray[np.int64] = self.ranks[
            kings, advisors.rank(squares[:, 1:middle]), elephants.rank(squares[:, middle:])
        ].astype(np.int64)
        return ranks

    @cached_property
    def mirror(self) -> NDArray[np.int32]:
        """int32 (size,): rank of each placement's mirror image."""
        return self.rank(MIRROR[self.squares.astype(np.int64)].astype(np.int8)).astype(np.int32)


@cache
def defenders_of(side: int, advisors: int, elephants: int) -> Defenders:
    """Return the cached `Defenders` of an army: eighteen objects serve all materials."""
    return Defenders(side, advisors, elephants)
