"""Placements of pieces that are ranked together, and their ranks.

A *group* is n identical pieces of one side. The slot of a piece is the index of its square in
`squares.area`. The rank of a placement with the slots s1 < s2 < ... < sn is, in the combinatorial
number system,

    rank = C(s1, 1) + C(s2, 2) + ... + C(sn, n)

The *companions* of a piece are the other pieces of its group. The rank after a move of one piece
takes two look-ups: `Group.companions` has the rank of its companions (as a placement of n - 1
pieces), and `Group.extend` the rank of the companions and a piece on another square.

The *defenders* of one side (king, advisors, elephants) have one joint rank, which leaves out the
placements with two of them on one square.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations, product
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
    """All placements of `count` identical pieces of one side on different squares."""

    side: int
    kind: int
    count: int

    @cached_property
    def area(self) -> tuple[int, ...]:
        """Squares where each piece may stand."""
        return area(self.side, self.kind)

    @property
    def size(self) -> int:
        """Number of placements."""
        return comb(len(self.area), self.count)

    @cached_property
    def squares(self) -> NDArray[np.int8]:
        """int8 (size, count): squares of the placement of each rank, ascending."""
        placements = combinations(range(len(self.area)), self.count)
        by_rank = sorted(placements, key=lambda placement: placement[::-1])
        table = np.array(by_rank, np.int64).reshape(self.size, self.count)
        return np.array(self.area, np.int8)[table]

    @cached_property
    def extend(self) -> NDArray[np.int32]:
        """int32 (placements of count - 1 pieces, 90): rank after one piece is added.

        The row is the rank of the companions, the column the square of the added piece. The entry
        is -1 if the square lies outside the area or is occupied by a companion.
        """
        table = np.full((comb(len(self.area), self.count - 1), SQUARES), -1, np.int32)
        for j in range(self.count):
            table[self.companions[:, j], self.squares[:, j]] = np.arange(self.size)
        return table

    @cached_property
    def companions(self) -> NDArray[np.int32]:
        """int32 (size, count): rank of the placement without its j-th piece, in column j."""
        fewer = Group(self.side, self.kind, self.count - 1)
        columns = [fewer.rank(np.delete(self.squares, j, axis=1)) for j in range(self.count)]
        return np.stack(columns, axis=1).astype(np.int32)

    def rank(self, squares: NDArray[Any]) -> NDArray[np.int64]:
        """Return the ranks of n placements, int64 (n,).

        squares : (n, count), squares of the pieces, all in the area; in any order
        """
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
        """int32 (size,): rank of the left-right mirror image of each placement."""
        return self.rank(MIRROR[self.squares]).astype(np.int32)


@dataclass(frozen=True)
class Defenders:
    """All placements of the king, advisors and elephants of one side, on different squares.

    Their ranks ascend by king slot, then advisor rank, then elephant rank.
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
        return [piece_code(g.side, g.kind) for g in self._parts for _ in range(g.count)]

    @cached_property
    def _parts(self) -> tuple[Group, Group, Group]:
        """The king, the advisors and the elephants as groups."""
        return (
            Group(self.side, PieceType.KING, 1),
            Group(self.side, PieceType.ADVISOR, self.advisors),
            Group(self.side, PieceType.ELEPHANT, self.elephants),
        )

    @cached_property
    def squares(self) -> NDArray[np.int8]:
        """int8 (size, pieces): squares of king, advisors and elephants; each type ascending."""
        placements = (np.concatenate(parts) for parts in product(*(g.squares for g in self._parts)))
        return np.array([p for p in placements if len(set(p.tolist())) == self.pieces], np.int8)

    @cached_property
    def ranks(self) -> NDArray[np.int32]:
        """int32 (king slots, advisor ranks, elephant ranks): joint rank, -1 if pieces overlap."""
        ranks = np.full([group.size for group in self._parts], -1, np.int32)
        ranks[self._part_ranks(self.squares)] = np.arange(self.size)
        return ranks

    @property
    def size(self) -> int:
        """Number of placements."""
        return len(self.squares)

    def _part_ranks(self, squares: NDArray[Any]) -> tuple[NDArray[np.int64], ...]:
        """Return king slots, advisor ranks and elephant ranks, each int64 (n,); see `rank`."""
        columns = np.split(squares, (1, 1 + self.advisors), axis=1)
        return tuple(group.rank(own) for group, own in zip(self._parts, columns, strict=True))

    def rank(self, squares: NDArray[Any]) -> NDArray[np.int64]:
        """Return the ranks of n placements, int64 (n,); -1 if pieces of two types share a square.

        squares : (n, pieces), of king, advisors, elephants; those of one type must differ
        """
        return self.ranks[self._part_ranks(squares)].astype(np.int64)

    @cached_property
    def mirror(self) -> NDArray[np.int32]:
        """int32 (size,): rank of the left-right mirror image of each placement."""
        return self.rank(MIRROR[self.squares]).astype(np.int32)


defenders_of = cache(Defenders)
"""`Defenders(side, advisors, elephants)` from a cache."""
