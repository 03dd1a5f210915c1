"""The perfect index of a material: lead x mids x inner.

    slot = (lead * mids + mid) * inner_size + inner

    lead    kings, advisors and elephants of both sides together, one of each mirror pair
    mid     all other attackers but one: mixed radix over their groups, first group slowest
    inner   one attacker, the slot of its square (90, or 55 for a pawn)

A *row* is a (lead, mid): all positions that differ in the inner piece alone. Retrograde kernels
work on rows. One slot number serves both sides to move; Red is the side that the material names
first. *Holes* are slots without a canonical placement, for one of three reasons: pieces overlap;
the lead is self-mirrored and another slot holds the mirror image; or the inner piece has a twin
and another slot holds the exchanged pair.

The mirror rule: let w and b be the ranks of Red's and Black's defenders, and w', b' those of their
mirror images. The placement is mirrored if (w', b') < (w, b); if equal, the smaller slot counts.
The lead number is then a sum of two look-ups, so a reader needs no joint table.
"""

from __future__ import annotations

from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from tbgen.indexing.errors import MaterialError
from tbgen.indexing.geometry import Geometry, Inner, choose_inner
from tbgen.indexing.groups import MIRROR
from tbgen.indexing.material import Material
from tbgen.indexing.position import Position
from tbgen.indexing.slots import build_descriptor, slot_of_squares, squares_of_slot
from tbgen.indexing.squares import EMPTY, SQUARES, PieceType, Side, flip_square

_FLIP = np.array([flip_square(square) for square in range(SQUARES)])

MAX_SLOTS = 1 << 62
"""Upper bound on slots, which are numbered by signed 64-bit integers."""


class Layout(Geometry):
    """The index of two armies (Red's first): slots of positions, and positions of slots.

    `Layout.of` chooses `inner` and `reduced`. The retrograde phases also need layouts of positions
    after a capture, in the order of the index before it: with another inner piece, or without the
    mirror reduction of leads.
    """

    @classmethod
    def of(cls, material: Material) -> Layout:
        """Return the layout of a material's table.

        Raises `MaterialError` for more than `MAX_SLOTS` slots.
        """
        return _layout_of(material)

    def views(self, side: Side, kind: PieceType) -> list[Layout]:
        """List the layouts of the positions after a capture, in the order of this layout.

        They have the same inner piece, or none if it is captured, and the same leads unless a
        defender is captured. There are two if both the inner piece and its twins may be captured.

        side, kind : of the captured piece
        """
        armies = list(self.armies)
        armies[side] = armies[side].without(kind)
        after = armies[0], armies[1]
        if not kind.is_attacker:
            return [Layout(after, self.inner, reduced=False)]
        views = []
        if any((group.side, group.kind) == (side, kind) for group in self.groups):
            views.append(Layout(after, self.inner))
        if self.inner == Inner(side, kind):
            views.append(Layout(after, None))
        return views

    @cached_property
    def descriptor(self) -> NDArray[np.int64]:
        """int64 (words,): the layout as read by the scalar functions of `slots.py`."""
        return build_descriptor(self)

    @cached_property
    def _descriptor_list(self) -> list[int]:
        """The descriptor as a list, whose items plain Python reads three times as fast."""
        return list(map(int, self.descriptor))

    def slot(self, position: Position) -> int:
        """Return the slot of a position with exactly these armies (Red's first)."""
        wanted: dict[int, list[int]] = {}
        for code, square in position.pieces():
            wanted.setdefault(code, []).append(square)
        squares = [wanted[code].pop() for code in self.piece_codes]
        return int(slot_of_squares(squares, self._descriptor_list))

    def slots_of_boards(self, boards: NDArray[np.uint8]) -> NDArray[np.int64]:
        """int64 (n,): slots of boards (n, 90) that all have exactly these armies."""
        n, pieces = len(boards), len(self.piece_codes)
        occupied = np.flatnonzero(boards != 0)  # numpy scans booleans twice as fast
        codes = boards.ravel()[occupied].astype(np.int64).reshape(n, pieces)
        return self.slots_of_pieces(codes, (occupied % SQUARES).reshape(n, pieces))

    def slots_of_pieces(
        self, codes: NDArray[np.int64], places: NDArray[np.int64], swapped: bool = False
    ) -> NDArray[np.int64]:
        """int64 (n,): slots of placements: codes and squares (n, pieces), in any order.

        With `swapped`, the placements have these armies with exchanged colours; the slots returned
        are those of `Position.swapped`.
        """
        if swapped:
            codes = codes ^ 8
            places = _FLIP[places]
        # Sort by code and square: identical pieces may be listed in any order.
        by_code = np.sort(codes * SQUARES + places, axis=1)
        squares = np.empty(by_code.shape, np.int64)
        squares[:, np.argsort(self.piece_codes, kind="stable")] = by_code % SQUARES
        red, black = self.defenders
        first = red.pieces + black.pieces
        lead, mirrored = self.lead_of(
            red.rank(squares[:, : red.pieces]), black.rank(squares[:, red.pieces : first])
        )
        attackers = squares[:, first:]
        attackers = np.where(mirrored[:, None], MIRROR[attackers], attackers)
        within = self._within_lead(attackers)
        if self.reduced:
            symmetric = self.self_mirrored[lead]
            image = self._within_lead(MIRROR[attackers[symmetric]])
            within[symmetric] = np.minimum(within[symmetric], image)
        return lead * (self.mids * self.inner_size) + within

    def _within_lead(self, attackers: NDArray[np.int64]) -> NDArray[np.int64]:
        """int64 (n,): slots within their lead, by the attackers' squares (n, attackers)."""
        mid = np.zeros(len(attackers), np.int64)
        inner = attackers[:, -1] if self.inner is not None else None
        at = 0
        for g, (group, stride) in enumerate(zip(self.groups, self.strides, strict=True)):
            own = attackers[:, at : at + group.count]
            at += group.count
            if g == self.twin and inner is not None:
                # The piece on the largest square, of inner piece and twins, is the inner piece.
                together = np.sort(np.column_stack([own, inner]), axis=1)
                own, inner = together[:, :-1], together[:, -1]
            mid += group.rank(own) * stride
        if self.inner is None or inner is None:
            return mid
        return mid * self.inner_size + np.searchsorted(self.inner.area, inner)

    def squares_of_slots(
        self, slots: NDArray[np.int64]
    ) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
        """Return uint8 (n, pieces), the squares of slots, and bool (n,), False for holes.

        Squares are in the order of `piece_codes`. The squares of holes are undefined.
        """
        row, inner = np.divmod(np.asarray(slots, np.int64), self.inner_size)
        lead, mid = np.divmod(row, self.mids)
        w, b = (ranks[lead] for ranks in self.lead_ranks)
        red, black = self.defenders
        columns = [red.squares[w], black.squares[b]]
        for group, stride in zip(self.groups, self.strides, strict=True):
            columns.append(group.squares[mid // stride % group.size])
        if self.inner is not None:
            columns.append(np.array(self.inner.area)[inner][:, None])
        squares = np.concatenate(columns, axis=1).astype(np.uint8)
        ascending = np.sort(squares, axis=1)
        sound = (ascending[:, 1:] != ascending[:, :-1]).all(axis=1)
        boards = self.boards_of_squares(squares[sound])
        sound[sound] = self.slots_of_boards(boards) == np.asarray(slots)[sound]
        return squares, sound

    def boards_of_squares(self, squares: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """uint8 (n, 90): boards of placements (n, pieces), given as by `squares_of_slots`."""
        boards = np.zeros((len(squares), SQUARES), np.uint8)
        boards[np.arange(len(squares))[:, None], squares] = np.array(self.piece_codes, np.uint8)
        return boards

    def position(self, slot: int, side: Side) -> Position | None:
        """Return the position of a slot, or None where pieces overlap."""
        squares = [0] * len(self.piece_codes)
        squares_of_slot(slot, self._descriptor_list, squares)
        board = bytearray(SQUARES)
        for code, square in zip(self.piece_codes, squares, strict=True):
            if board[square] != EMPTY:
                return None
            board[square] = code
        return Position(bytes(board), side)


@lru_cache(maxsize=1024)  # bounded: servers get requests for any material
def _layout_of(material: Material) -> Layout:
    layout = Layout(material.armies, choose_inner(material.armies))
    if layout.slots > MAX_SLOTS:
        raise MaterialError(
            f"{material.name} has {layout.slots} slots, more than 64-bit numbers can index",
            "leave out some pieces",
        )
    return layout
