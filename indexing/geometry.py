"""Sizes of the parts of an index: leads, mid groups, inner piece (`layout` defines these words).

    armies, inner piece  ->  defenders, groups  ->  leads, mids, rows, slots

`layout.py` numbers positions by these parts, and `slots.py` packs them for compiled readers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tbgen.indexing.groups import Defenders, Group, defenders_of
from tbgen.indexing.material import Army
from tbgen.indexing.squares import PieceType, Side, area, piece_code


@dataclass(frozen=True)
class Inner:
    """The attacker whose square is the fastest-varying part of the index."""

    side: int
    kind: int

    @property
    def area(self) -> tuple[int, ...]:
        """Squares where the piece may stand; the piece's slot is the index of its square."""
        return area(self.side, self.kind)


def choose_inner(armies: tuple[Army, Army]) -> Inner | None:
    """Return the inner piece of two armies; None without attackers.

    A piece without a twin comes first: a twin has the same side and kind, and placements of
    twins leave holes. Then knight, rook and cannon come before a pawn, since a row of ninety
    squares is fuller than a pawn's 55. Red comes before Black.
    """
    candidates = [
        (armies[side].count(kind) > 1, preference, side, kind)
        for side in Side
        for preference, kind in enumerate(
            (PieceType.KNIGHT, PieceType.ROOK, PieceType.CANNON, PieceType.PAWN)
        )
        if armies[side].count(kind)
    ]
    return Inner(*min(candidates)[2:]) if candidates else None


@dataclass(frozen=True)
class Geometry:
    """Parts of the index of two armies, Red's first.

    `reduced` is whether leads contain only one of each pair of mirror images.
    """

    armies: tuple[Army, Army]
    inner: Inner | None
    reduced: bool = True

    @cached_property
    def defenders(self) -> tuple[Defenders, Defenders]:
        """Placements of Red's and Black's kings, advisors and elephants."""
        red, black = (
            defenders_of(side, self.armies[side].advisors, self.armies[side].elephants)
            for side in Side
        )
        return red, black

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """Mid groups, slowest first: Red's R N C P, then Black's, without the inner piece."""
        groups = []
        for side in Side:
            for kind in (PieceType.ROOK, PieceType.KNIGHT, PieceType.CANNON, PieceType.PAWN):
                count = self.armies[side].count(kind)
                if self.inner is not None and self.inner == Inner(side, kind):
                    count -= 1
                if count:
                    groups.append(Group(side, kind, count))
        return tuple(groups)

    @property
    def twin(self) -> int:
        """Index of the mid group with the same side and kind as the inner piece, or -1."""
        for g, group in enumerate(self.groups):
            if self.inner is not None and Inner(group.side, group.kind) == self.inner:
                return g
        return -1

    @cached_property
    def strides(self) -> tuple[int, ...]:
        """Return the stride of each mid group's rank in the number of a mid placement."""
        strides, stride = [], 1
        for group in reversed(self.groups):
            strides.append(stride)
            stride *= group.size
        return tuple(reversed(strides))

    @cached_property
    def mids(self) -> int:
        """Number of placements of the mid groups, the same for each lead."""
        return self.strides[0] * self.groups[0].size if self.groups else 1

    @property
    def inner_size(self) -> int:
        """Slots per row: 90, 55 for an inner pawn, 1 without an inner piece."""
        return len(self.inner.area) if self.inner is not None else 1

    @cached_property
    def lead_base(self) -> NDArray[np.int64]:
        """int64 (Red's placements + 1,): number of leads with a lower rank of Red's defenders."""
        red, black = self.defenders
        if not self.reduced:
            return np.arange(red.size + 1, dtype=np.int64) * black.size
        w = np.arange(red.size)
        symmetric = int((np.arange(black.size) <= black.mirror).sum())
        width = np.where(w < red.mirror, black.size, np.where(w == red.mirror, symmetric, 0))
        return np.concatenate([[0], np.cumsum(width)])

    @cached_property
    def lead_offset(self) -> NDArray[np.int64]:
        """int64 (Black's placements,): lead minus `lead_base`, if Red's is self-mirrored.

        -1 if the mirror image of Black's placement has a smaller rank: that one has the lead.
        """
        black = self.defenders[1]
        canonical = np.arange(black.size) <= black.mirror
        return np.where(canonical, np.cumsum(canonical) - 1, -1)

    @property
    def leads(self) -> int:
        """Number of leads."""
        return int(self.lead_base[-1])

    @property
    def rows(self) -> int:
        """Number of rows, (lead, mid) pairs."""
        return self.leads * self.mids

    @property
    def slots(self) -> int:
        """Size of the index: slots per side to move."""
        return self.rows * self.inner_size

    @cached_property
    def lead_ranks(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Two int64 (leads,): Red's and Black's defender rank of each lead."""
        red = self.defenders[0]
        w = np.repeat(np.arange(red.size), np.diff(self.lead_base))
        within = np.arange(self.leads) - self.lead_base[w]
        if self.reduced:
            canonical = np.flatnonzero(self.lead_offset >= 0)
            symmetric = w == red.mirror[w]
            within[symmetric] = canonical[within[symmetric]]
        return w, within

    def lead_of(
        self, red_ranks: NDArray[np.int64], black_ranks: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the lead of each pair of defender ranks, and whether the pair must be mirrored."""
        red, black = self.defenders
        if not self.reduced:
            return red_ranks * black.size + black_ranks, np.zeros(len(red_ranks), bool)
        red_image, black_image = red.mirror[red_ranks], black.mirror[black_ranks]
        mirrored = (red_image < red_ranks) | (
            (red_image == red_ranks) & (black_image < black_ranks)
        )
        w = np.where(mirrored, red_image, red_ranks).astype(np.int64)
        b = np.where(mirrored, black_image, black_ranks).astype(np.int64)
        within = np.where(red.mirror[w] == w, self.lead_offset[b], b)
        return self.lead_base[w] + within, mirrored

    @cached_property
    def self_mirrored(self) -> NDArray[np.bool_]:
        """bool (leads,): whether a lead is its own mirror image."""
        w, b = self.lead_ranks
        red, black = self.defenders
        return (red.mirror[w] == w) & (black.mirror[b] == b)

    @cached_property
    def piece_codes(self) -> tuple[int, ...]:
        """Piece codes, in the order of squares in `slots.py`."""
        codes = []
        for side, defenders in enumerate(self.defenders):
            codes.append(piece_code(side, PieceType.KING))
            codes += [piece_code(side, PieceType.ADVISOR)] * defenders.advisors
            codes += [piece_code(side, PieceType.ELEPHANT)] * defenders.elephants
        for group in self.groups:
            codes += [piece_code(group.side, group.kind)] * group.count
        if self.inner is not None:
            codes.append(piece_code(self.inner.side, self.inner.kind))
        return tuple(codes)
