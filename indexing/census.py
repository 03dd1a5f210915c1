"""Number of used slots of an index: placements without overlaps, counted up to mirror images.

    mirror classes = (placements + self-mirrored placements) / 2

Both terms are counted without enumerating the index. Only pawns are restricted to part of the
board. So the board is divided into four regions: squares of red pawns only, of black pawns only,
of both, and of neither. Rooks, knights and cannons may stand on any square left free.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cache
from itertools import product
from math import comb

from tbgen.indexing.groups import Defenders
from tbgen.indexing.layout import Layout
from tbgen.indexing.squares import SQUARES, PieceType, Side, area, mirror_square

Counts = tuple[int, int, int, int]
"""Number of squares in each region: red pawns only, black pawns only, both, neither."""
_BOTH = 2

Groups = tuple[tuple[int, int | None], ...]
"""For each group of identical attackers: number of pieces, and the region that only pawns of its
side may enter. The region is None for other attackers.
"""


def _region(square: int) -> int:
    red, black = (square in area(side, PieceType.PAWN) for side in Side)
    if red and black:
        return 2
    return 0 if red else 1 if black else 3


def _by_region(squares: Iterable[int]) -> Counts:
    count = Counter(_region(square) for square in squares)
    return count[0], count[1], count[2], count[3]


def _minus(a: Counts, b: Counts) -> Counts:
    return a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3]


def _choices(total: int, limits: tuple[int, int]) -> Iterable[tuple[int, int]]:
    """Yield the ways to take `total` items from two stocks: (first stock, second stock).

    limits : sizes of the stocks
    """
    for first in range(min(total, limits[0]) + 1):
        if total - first <= limits[1]:
            yield first, total - first


def _without(squares: Counts, own: int, taken: tuple[int, int]) -> Counts:
    """Return the numbers of free squares by region, after pawns have taken some.

    taken : numbers taken in region `own`, and in the region of both sides' pawns
    """
    left = list(squares)
    left[own] -= taken[0]
    left[_BOTH] -= taken[1]
    return left[0], left[1], left[2], left[3]


@cache
def _ways(singles: Counts, pairs: Counts, groups: Groups) -> int:
    """Count the ways to place groups of attackers on free squares.

    Each group takes single squares and mirror pairs of squares. If `pairs` is empty, all placements
    are counted, not only self-mirrored ones.

    singles, pairs : numbers of free squares and of mirror pairs by region
    """
    if not groups:
        return 1
    (count, own), total = groups[0], 0
    if own is None:  # no pawns are left: merge the regions into one
        own, singles, pairs = 0, (0, 0, sum(singles), 0), (0, 0, sum(pairs), 0)
    for paired in range(count // 2 + 1):
        for doubles in _choices(paired, (pairs[own], pairs[_BOTH])):
            for alone in _choices(count - 2 * paired, (singles[own], singles[_BOTH])):
                ways = comb(pairs[own], doubles[0]) * comb(pairs[_BOTH], doubles[1])
                ways *= comb(singles[own], alone[0]) * comb(singles[_BOTH], alone[1])
                total += ways * _ways(
                    _without(singles, own, alone), _without(pairs, own, doubles), groups[1:]
                )
    return total


def _split(squares: Iterable[int], symmetric: bool) -> tuple[Counts, Counts]:
    """Count single squares and mirror pairs of squares by region.

    symmetric : whether to form pairs; if not, all squares are single
    """
    listed = list(squares)
    if not symmetric:
        return _by_region(listed), (0, 0, 0, 0)
    return (
        _by_region(square for square in listed if square == mirror_square(square)),
        _by_region(square for square in listed if square < mirror_square(square)),
    )


@cache
def _taken(defenders: Defenders, symmetric: bool) -> Counter[tuple[Counts, Counts]]:
    """Count a side's defender placements, by the number of squares occupied per region.

    symmetric : whether only self-mirrored placements are counted
    """
    return Counter(
        _split(placement, symmetric)
        for rank, placement in enumerate(defenders.squares.tolist())
        if not symmetric or defenders.mirror[rank] == rank
    )


@cache
def _free(red: Defenders, black: Defenders, symmetric: bool) -> Counter[tuple[Counts, Counts]]:
    """Count placements of all defenders, by the number of squares left free per region.

    Many placements leave equal numbers of squares free, and their attackers are counted once.
    The cache is shared by all materials of a closure, since most of them differ only in
    attackers.
    """
    singles, pairs = _split(range(SQUARES), symmetric)
    result: Counter[tuple[Counts, Counts]] = Counter()
    for ((red_1, red_2), red_count), ((black_1, black_2), black_count) in product(
        _taken(red, symmetric).items(), _taken(black, symmetric).items()
    ):
        left = (
            _minus(_minus(singles, red_1), black_1), _minus(_minus(pairs, red_2), black_2)
        )  # fmt: skip
        result[left] += red_count * black_count
    return result


def count_placements(layout: Layout) -> int:
    """Number of canonical placements of a layout: slots that are not holes."""
    pawns = [(layout.armies[side].pawns, int(side)) for side in Side]
    others = [
        (army.count(kind), None)
        for army in layout.armies
        for kind in (PieceType.ROOK, PieceType.KNIGHT, PieceType.CANNON)
    ]
    groups = tuple(group for group in [*pawns, *others] if group[0])
    counted = sum(
        count * _ways(singles, pairs, groups)
        for symmetric in (False, True)
        for (singles, pairs), count in _free(*layout.defenders, symmetric).items()
    )
    return counted // 2
