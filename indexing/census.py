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
def _ways(free: Counts, pawns: tuple[int, int], others: tuple[int, ...]) -> int:
    """Ways to place both sides' pawns, then groups of other attackers, on free squares."""
    for side in Side:
        if pawns[side]:
            left = (0, pawns[1]) if side == Side.RED else (0, 0)
            total = 0
            for own, shared in _choices(pawns[side], (free[side], free[2])):
                taken = (own, 0, shared, 0) if side == Side.RED else (0, own, shared, 0)
                ways = comb(free[side], own) * comb(free[2], shared)
                total += ways * _ways(_minus(free, taken), left, others)
            return total
    ways, squares = 1, sum(free)
    for count in others:
        ways *= comb(squares, count)
        squares -= count
    return ways


@cache
def _symmetric_ways(
    singles: Counts, pairs: Counts, pawns: tuple[int, int], others: tuple[int, ...]
) -> int:
    """Count self-mirrored placements: each group takes e-file squares and mirror pairs."""
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
                        total += ways * _symmetric_ways(
                            _minus(singles, taken), _minus(pairs, taken_pairs), left, others
                        )
            return total
    if not others:
        return 1
    total = 0
    for paired in range(others[0] // 2 + 1):
        alone = others[0] - 2 * paired
        ways = comb(sum(pairs), paired) * comb(sum(singles), alone)
        if ways:
            # Regions no longer matter: the rest is kept in the last one.
            total += ways * _symmetric_ways(
                (0, 0, 0, sum(singles) - alone), (0, 0, 0, sum(pairs) - paired), (0, 0), others[1:]
            )
    return total


@cache
def _taken(defenders: Defenders) -> Counter[Counts]:
    """Count placements of one side's defenders by the numbers of squares that they take."""
    return Counter(_by_region(placement) for placement in defenders.squares.tolist())


@cache
def _symmetric_taken(defenders: Defenders) -> Counter[tuple[Counts, Counts]]:
    """Count self-mirrored placements of one side's defenders by e-file squares and mirror pairs."""
    result: Counter[tuple[Counts, Counts]] = Counter()
    for rank, placement in enumerate(defenders.squares.tolist()):
        if defenders.mirror[rank] == rank:
            singles = [square for square in placement if square == mirror_square(square)]
            pairs = [square for square in placement if square < mirror_square(square)]
            result[_by_region(singles), _by_region(pairs)] += 1
    return result


@cache
def _free(red: Defenders, black: Defenders) -> Counter[Counts]:
    """Count placements of all defenders by the numbers of squares that they leave free.

    Many leave the same, and what attackers make of them is the same, too: so that a closure of
    thousands of materials, which differ in attackers for the most part, is counted in seconds.
    """
    board = _by_region(range(SQUARES))
    result: Counter[Counts] = Counter()
    for (red_taken, red_count), (black_taken, black_count) in product(
        _taken(red).items(), _taken(black).items()
    ):
        result[_minus(_minus(board, red_taken), black_taken)] += red_count * black_count
    return result


@cache
def _symmetric_free(red: Defenders, black: Defenders) -> Counter[tuple[Counts, Counts]]:
    """Count self-mirrored placements of all defenders by free e-file squares and mirror pairs."""
    singles = _by_region(s for s in range(SQUARES) if s == mirror_square(s))
    pairs = _by_region(s for s in range(SQUARES) if s < mirror_square(s))
    result: Counter[tuple[Counts, Counts]] = Counter()
    for ((red_1, red_2), red_count), ((black_1, black_2), black_count) in product(
        _symmetric_taken(red).items(), _symmetric_taken(black).items()
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
    placements = sum(
        count * _ways(free, pawns, others) for free, count in _free(*layout.defenders).items()
    )
    symmetric = sum(
        count * _symmetric_ways(singles, pairs, pawns, others)
        for (singles, pairs), count in _symmetric_free(*layout.defenders).items()
    )
    return (placements + symmetric) // 2
