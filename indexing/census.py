"""Number of used slots of an index: placements without overlaps, up to the mirror.

    mirror classes = (placements + self-mirrored placements) / 2

Both are counted without walking through the index. Only pawns care on which free squares the
defenders leave them, so the board is divided into four regions: squares of red pawns only, of
black pawns only, of both, and of neither. Rooks, knights and cannons share what is left.
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
"""Numbers by region: red pawns only, black pawns only, both, neither."""


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
    """Ways to take `total` things from two stocks."""
    for first in range(min(total, limits[0]) + 1):
        if total - first <= limits[1]:
            yield first, total - first


@cache
def _ways(singles: Counts, pairs: Counts, pawns: tuple[int, int], others: tuple[int, ...]) -> int:
    """Ways to place both sides' pawns, then groups of other attackers, on free squares.

    Each group takes single squares and mirror pairs; without pairs every placement is counted.
    """
    for side in Side:
        if pawns[side]:
            left = (0, pawns[1]) if side == Side.RED else (0, 0)
            total = 0
            for paired in range(pawns[side] // 2 + 1):
                for p_own, p_shared in _choices(paired, (pairs[side], pairs[2])):
                    rest = pawns[side] - 2 * paired
                    for s_own, s_shared in _choices(rest, (singles[side], singles[2])):
                        ways = comb(pairs[side], p_own) * comb(pairs[2], p_shared)
                        ways *= comb(singles[side], s_own) * comb(singles[2], s_shared)
                        red = side == Side.RED
                        taken_pairs = (p_own, 0, p_shared, 0) if red else (0, p_own, p_shared, 0)
                        taken = (s_own, 0, s_shared, 0) if red else (0, s_own, s_shared, 0)
                        total += ways * _ways(
                            _minus(singles, taken), _minus(pairs, taken_pairs), left, others
                        )
            return total
    if not others:
        return 1
    total = 0
    for paired in range(min(others[0] // 2, sum(pairs)) + 1):
        alone = others[0] - 2 * paired
        ways = comb(sum(pairs), paired) * comb(sum(singles), alone)
        if ways:
            # Regions no longer matter: the rest is kept in the last one.
            total += ways * _ways(
                (0, 0, 0, sum(singles) - alone), (0, 0, 0, sum(pairs) - paired), (0, 0), others[1:]
            )
    return total


def _split(squares: Iterable[int], symmetric: bool) -> tuple[Counts, Counts]:
    """Single squares and mirror pairs by region; all are single unless in symmetric placements."""
    listed = list(squares)
    if not symmetric:
        return _by_region(listed), (0, 0, 0, 0)
    return (
        _by_region(square for square in listed if square == mirror_square(square)),
        _by_region(square for square in listed if square < mirror_square(square)),
    )


@cache
def _taken(defenders: Defenders, symmetric: bool) -> Counter[tuple[Counts, Counts]]:
    """Count placements of one side's defenders by the squares that they take.

    symmetric : whether only self-mirrored placements are counted
    """
    return Counter(
        _split(placement, symmetric)
        for rank, placement in enumerate(defenders.squares.tolist())
        if not symmetric or defenders.mirror[rank] == rank
    )


@cache
def _free(red: Defenders, black: Defenders, symmetric: bool) -> Counter[tuple[Counts, Counts]]:
    """Count placements of all defenders by the squares that they leave free.

    Many leave the same, and what attackers make of them is the same, too: so that a closure of
    thousands of materials, which differ in attackers for the most part, is counted in seconds.
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
    """The canonical placements of a layout: slots that are not holes."""
    pawns = layout.armies[0].pawns, layout.armies[1].pawns
    others = tuple(
        army.count(kind)
        for army in layout.armies
        for kind in (PieceType.ROOK, PieceType.KNIGHT, PieceType.CANNON)
        if army.count(kind)
    )
    counted = sum(
        count * _ways(singles, pairs, pawns, others)
        for symmetric in (False, True)
        for (singles, pairs), count in _free(*layout.defenders, symmetric).items()
    )
    return counted // 2
