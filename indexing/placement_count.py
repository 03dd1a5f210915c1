"""Number of used slots of an index: placements without overlaps, mirror images counted once.

    used slots = (placements + self-mirrored placements) / 2

Both numbers of placements are counted without enumerating the index. All placements of the
defenders are enumerated. Of the attackers, only pawns are restricted to part of the board, so the
board has four regions: squares of red pawns only, of black pawns only, of both, and of neither.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cache
from itertools import product
from math import comb, prod
from operator import sub

from tbgen.indexing.groups import Defenders
from tbgen.indexing.layout import Layout
from tbgen.indexing.squares import SQUARES, PieceType, Side, area, mirror_square

Counts = tuple[int, ...]
"""Numbers of single squares in the four regions (`_region`), then of mirror pairs of squares."""
_REGIONS, _BOTH = 4, 2

Groups = tuple[tuple[int, int | None], ...]
"""(number of pieces, own region) of each group of identical attackers, pawns first.

The own region (`_region`) of pawns is the one that only they may enter; other attackers have None.
"""


@cache
def _region(square: int) -> int:
    """Return the region of a square: 0 red pawns only, 1 black pawns only, 2 both, 3 neither."""
    red, black = (square in area(side, PieceType.PAWN) for side in Side)
    if red and black:
        return _BOTH
    return 0 if red else 1 if black else 3


def _count_squares(squares: Iterable[int], symmetric: bool) -> Counts:
    """Count the squares of a set by region.

    symmetric : if False, all squares are single; if True, the set is self-mirrored, and each square
        off the middle file makes one pair with its mirror image
    """
    counts = [0] * (2 * _REGIONS)
    for square in squares:
        image = mirror_square(square)
        if not symmetric or square == image:
            counts[_region(square)] += 1
        elif square < image:
            counts[_REGIONS + _region(square)] += 1
    return tuple(counts)


@cache
def _count_ways(free: Counts, groups: Groups) -> int:
    """Count the ways to place groups of identical attackers on free squares.

    If `free` has mirror pairs, only self-mirrored placements are counted: each group occupies
    single squares and whole pairs.
    """
    if not groups:
        return 1
    (count, own), total = groups[0], 0
    if own is None:  # no pawns are left: merge the regions into one
        own = 0
        free = (0, 0, sum(free[:_REGIONS]), 0, 0, 0, sum(free[_REGIONS:]), 0)
    stocks = (own, _BOTH, _REGIONS + own, _REGIONS + _BOTH)
    for pairs in range(count // 2 + 1):
        singles = count - 2 * pairs
        for own_singles, own_pairs in product(range(singles + 1), range(pairs + 1)):
            taken = (own_singles, singles - own_singles, own_pairs, pairs - own_pairs)
            ways = prod(comb(free[s], number) for s, number in zip(stocks, taken, strict=True))
            if ways:
                left = list(free)
                for stock, number in zip(stocks, taken, strict=True):
                    left[stock] -= number
                total += ways * _count_ways(tuple(left), groups[1:])
    return total


@cache
def _occupied_squares(defenders: Defenders, symmetric: bool) -> Counter[Counts]:
    """Count a side's placements of defenders, or the symmetric ones, by the occupied squares."""
    return Counter(
        _count_squares(placement, symmetric)
        for rank, placement in enumerate(defenders.squares.tolist())
        if not symmetric or defenders.mirror[rank] == rank
    )


@cache
def _free_squares(red: Defenders, black: Defenders, symmetric: bool) -> Counter[Counts]:
    """Count both sides' placements of defenders, or the symmetric ones, by the free squares."""
    squares = _count_squares(range(SQUARES), symmetric)
    result: Counter[Counts] = Counter()
    for (own, own_count), (other, other_count) in product(
        _occupied_squares(red, symmetric).items(), _occupied_squares(black, symmetric).items()
    ):
        result[tuple(map(sub, map(sub, squares, own), other))] += own_count * other_count
    return result


def count_placements(layout: Layout) -> int:
    """Count the canonical placements of a material's layout: its slots minus the holes."""
    pawns = [(layout.armies[side].pawns, int(side)) for side in Side]
    others = [
        (army.count(kind), None)
        for army in layout.armies
        for kind in (PieceType.ROOK, PieceType.KNIGHT, PieceType.CANNON)
    ]
    groups = tuple(group for group in [*pawns, *others] if group[0])
    counted = sum(
        count * _count_ways(free, groups)
        for symmetric in (False, True)
        for free, count in _free_squares(*layout.defenders, symmetric).items()
    )
    return counted // 2
