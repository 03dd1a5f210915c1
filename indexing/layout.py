"""The index of a material: one number, the *slot*, for each placement of its pieces.

    slot = (lead * mids + mid) * inner_size + inner

    lead    number of a placement of both sides' defenders (kings, advisors and elephants); two
            mirror images share one lead
    mid     number of a placement of the attackers except one: mixed radix over their groups of
            identical pieces, first group slowest
    inner   slot of the one attacker left, the inner piece: 0 to 89, or 0 to 54 for a pawn; 0 if
            there is no attacker

A *row* is a (lead, mid): all positions that differ in the inner piece alone. One slot number serves
both sides to move. *Holes* are slots without a canonical placement: pieces overlap, or another slot
stands for the position, with the mirror image (of a self-mirrored lead) or with the inner piece and
a twin (a piece of its side and type) exchanged.

The mirror rule: w and b are the ranks of Red's and Black's defenders, w' and b' those of their
mirror images. A placement is replaced by its mirror image if (w', b') < (w, b), or if the pairs are
equal and its slot becomes smaller. So a lead is the sum of two look-ups (docs/format.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tbgen.indexing import slots as words
from tbgen.indexing.errors import InputError, MaterialError
from tbgen.indexing.groups import FLIP, MIRROR, Defenders, Group, defenders_of
from tbgen.indexing.material import Army, Material
from tbgen.indexing.position import Position
from tbgen.indexing.slots import lead_of_ranks, slot_of_squares, squares_of_slot
from tbgen.indexing.squares import EMPTY, SQUARES, PieceType, Side, area, piece_code

MAX_SLOTS = 1 << 62
"""Upper bound on slots, which are numbered by signed 64-bit integers."""

_AREAS = np.zeros(16 * SQUARES, np.bool_)
"""bool (16 * 90,): entry 90 * piece code + square is True if the piece may stand there."""
for _side in Side:
    for _kind in PieceType:
        _AREAS[piece_code(_side, _kind) * SQUARES + np.array(area(_side, _kind))] = True

_COLOURS = "Red has the army that the material names first; see `Position.swapped`"


def choose_inner(armies: tuple[Army, Army]) -> Group | None:
    """Return the inner piece for two armies, as a group of one; None without attackers.

    Preferred are, in this order: a piece without a twin, since twins leave holes; knight, rook,
    cannon, then pawn, since a pawn's rows are shorter; Red's piece.
    """
    preferred = (PieceType.KNIGHT, PieceType.ROOK, PieceType.CANNON, PieceType.PAWN)
    found = [(side, kind) for kind in preferred for side in Side if armies[side].count(kind)]
    if not found:
        return None
    return Group(*min(found, key=lambda piece: armies[piece[0]].count(piece[1]) > 1), 1)


@dataclass(frozen=True)
class Layout:
    """The index of two armies (Red's first): slots of positions, and positions of slots.

    `inner` is the inner piece as a group of one, or None. If `reduced`, two mirror images of the
    defenders share one lead. `Layout.of` returns the layout of a table, `views` those in which the
    solver looks up captures.
    """

    armies: tuple[Army, Army]
    inner: Group | None
    reduced: bool = True

    @classmethod
    def of(cls, material: Material) -> Layout:
        """Return the layout of a material's table; raises `MaterialError` above `MAX_SLOTS`."""
        return _layout_of(material)

    def views(self, side: Side, kind: PieceType) -> list[Layout]:
        """List the layouts in which the solver looks up captures of a piece of `side` and `kind`.

        A *view* is a layout of the armies after the capture. It keeps this layout's colours, inner
        piece and order of mid groups, from which the table of these armies may differ. So one row
        of a view has the results of one capture for all squares of the inner piece.

        In the view for captures of the inner piece, `inner` is None. There are two views if both
        the inner piece and a twin can be captured, else one. In the view for captures of a
        defender, mirror images have leads of their own (`reduced` is False).
        """
        armies = list(self.armies)
        armies[side] = armies[side].without(kind)
        after = armies[0], armies[1]
        if not kind.is_attacker:
            return [Layout(after, self.inner, reduced=False)]
        views = []
        if any((group.side, group.kind) == (side, kind) for group in self.groups):
            views.append(Layout(after, self.inner))
        if self.inner == Group(side, kind, 1):
            views.append(Layout(after, None))
        return views

    # -- parts of the index ------------------------------------------------------------------

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
        attackers = [
            Group(side, kind, self.armies[side].count(kind) - (self.inner == Group(side, kind, 1)))
            for side in Side
            for kind in PieceType
            if kind.is_attacker
        ]
        return tuple(group for group in attackers if group.count)

    @property
    def twin(self) -> int:
        """Index in `groups` of the group with the inner piece's side and kind; -1 for none."""
        same = [Group(group.side, group.kind, 1) == self.inner for group in self.groups]
        return same.index(True) if any(same) else -1

    @cached_property
    def strides(self) -> tuple[int, ...]:
        """Stride of each mid group: a mid is the sum over the groups of rank times stride."""
        sizes = [group.size for group in self.groups]
        return tuple(math.prod(sizes[g + 1 :]) for g in range(len(sizes)))

    @cached_property
    def mids(self) -> int:
        """Number of mids per lead: the product of the sizes of the mid groups."""
        return math.prod(group.size for group in self.groups)

    @property
    def inner_size(self) -> int:
        """Slots per row: 90, 55 for an inner pawn, 1 without an inner piece."""
        return len(self.inner.area) if self.inner is not None else 1

    @cached_property
    def lead_base(self) -> NDArray[np.int64]:
        """int64 (Red's placements + 1,): each placement's first lead, then the number of leads.

        A placement without leads has the first lead of the next placement.
        """
        red, black = self.defenders
        if not self.reduced:
            return np.arange(red.size + 1, dtype=np.int64) * black.size
        w = np.arange(red.size)
        symmetric = int((np.arange(black.size) <= black.mirror).sum())
        width = np.where(w < red.mirror, black.size, np.where(w == red.mirror, symmetric, 0))
        return np.concatenate([[0], np.cumsum(width)])

    @cached_property
    def lead_offset(self) -> NDArray[np.int64]:
        """int64 (Black's placements,): index of each among the canonical ones, -1 for the others.

        A placement is canonical here if its mirror image has no smaller rank. If `reduced`, and
        Red's placement is self-mirrored, only canonical placements of Black have a lead: Red's
        `lead_base` plus this index. Otherwise a lead is `lead_base` plus the rank of Black's.
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
        """Number of rows: leads x mids."""
        return self.leads * self.mids

    @property
    def slots(self) -> int:
        """Size of the index: number of slots for each side to move, holes included."""
        return self.rows * self.inner_size

    def ranks_of(self, leads: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the ranks of Red's and of Black's defenders in each of some leads: int64 (n,)."""
        # Of placements with the same first lead, only the last one has leads.
        w = np.searchsorted(self.lead_base, leads, side="right") - 1
        b = leads - self.lead_base[w]
        if self.reduced:
            canonical = np.flatnonzero(self.lead_offset >= 0)
            symmetric = w == self.defenders[0].mirror[w]
            b[symmetric] = canonical[b[symmetric]]
        return w, b

    @property
    def lead_ranks(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Result of `ranks_of` for all leads; not cached, since there may be a million leads."""
        return self.ranks_of(np.arange(self.leads))

    def lead_of(
        self, red_ranks: NDArray[np.int64], black_ranks: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the leads of placements, int64 (n,), and `mirrored`, bool (n,).

        `mirrored` is True where the lead is that of the mirror image.

        red_ranks, black_ranks : int64 (n,), ranks of Red's and Black's defenders
        """
        lead, mirrored, _ = lead_of_ranks(red_ranks, black_ranks, self.descriptor)
        return lead, mirrored

    @property
    def self_mirrored(self) -> NDArray[np.bool_]:
        """bool (leads,): whether a lead is its own mirror image; not cached."""
        w, b = self.lead_ranks
        red, black = self.defenders
        return (red.mirror[w] == w) & (black.mirror[b] == b)

    @cached_property
    def piece_codes(self) -> tuple[int, ...]:
        """Piece codes in the order in which functions of `slots.py` take squares.

        Red's king, advisors and elephants come first, then Black's, mid groups, and inner piece.
        """
        codes = [code for defenders in self.defenders for code in defenders.codes]
        for group in self.groups:
            codes += [piece_code(group.side, group.kind)] * group.count
        if self.inner is not None:
            codes.append(piece_code(self.inner.side, self.inner.kind))
        return tuple(codes)

    # -- slots of positions ------------------------------------------------------------------

    @cached_property
    def descriptor(self) -> NDArray[np.int64]:
        """int64 (words,): the layout as read by the scalar functions of `slots.py`."""
        head = np.zeros(words.TABLES, np.int64)
        parts = [head]

        def append(table: Sequence[int] | NDArray[Any]) -> int:
            """Append a table to the descriptor, and return its offset."""
            parts.append(np.asarray(table, np.int64).ravel())
            return sum(part.size for part in parts[:-1])

        pieces, groups = len(self.piece_codes), len(self.groups)
        head[: words.RED] = pieces, self.reduced, self.mids, self.inner_size, groups, self.twin
        for side, defenders in enumerate(self.defenders):
            at = words.RED + words.SIDE_WORDS * side
            sizes = defenders.ranks.shape[1:]
            head[at : at + words.RANKS] = defenders.advisors, defenders.elephants, *sizes
            head[at + words.RANKS] = append(defenders.ranks)
            head[at + words.MIRROR] = append(defenders.mirror)
            head[words.RED_SQUARES + side] = append(defenders.squares)
        head[words.LEAD_BASE] = append(self.lead_base)
        head[words.LEAD_OFFSET] = append(self.lead_offset)
        if self.inner is not None:
            head[words.INNER_AREA] = append(self.inner.area)
            head[words.INNER_SIDE], head[words.INNER_KIND] = self.inner.side, self.inner.kind
        for g, (group, stride) in enumerate(zip(self.groups, self.strides, strict=True)):
            at = words.FIRST_GROUP + words.GROUP_WORDS * g
            sizes = group.count, group.size, stride
            head[at : at + words.GROUP_AREA] = group.side, group.kind, *sizes
            head[at + words.GROUP_AREA] = append(group.area)
        slot_table = np.full((len(Side), len(PieceType), SQUARES), -1, np.int64)
        for side in Side:
            for kind in PieceType:
                slot_table[side, kind, list(area(side, kind))] = range(len(area(side, kind)))
        head[words.SLOT_TABLE : words.CHOOSE] = slot_table.ravel()
        counts = range(words.CHOOSE_WIDTH)
        head[words.CHOOSE :] = [math.comb(n, k) for n in range(SQUARES + 1) for k in counts]
        return np.concatenate(parts)

    @cached_property
    def _descriptor_list(self) -> list[int]:
        """The descriptor as a list, whose items plain Python reads three times as fast."""
        return list(map(int, self.descriptor))

    def slot(self, position: Position) -> int:
        """Return the slot of a position; raises `InputError` unless it has the layout's armies."""
        wanted: dict[int, list[int]] = {}
        pieces = position.pieces()
        for code, square in pieces:
            wanted.setdefault(code, []).append(square)
        try:
            squares = [wanted[code].pop() for code in self.piece_codes]
        except LookupError:
            squares = []
        if len(squares) != len(pieces):
            raise InputError(f"{position.fen} has other armies than this index", _COLOURS)
        return int(slot_of_squares(squares, self._descriptor_list))

    def slots_of_boards(self, boards: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Return the slots of n boards, int64 (n,).

        boards : uint8 (n, 90), piece codes by square

        Raises `InputError` for another shape, and unless all have the layout's armies, each piece
        in its area.
        """
        if boards.shape[1:] != (SQUARES,):
            raise InputError(f"boards of shape {boards.shape}", "the shape is (n, 90)")
        n, pieces = len(boards), len(self.piece_codes)
        taken = boards != 0  # numpy scans booleans twice as fast
        if (np.count_nonzero(taken, axis=1) != pieces).any():
            raise InputError("a board has other armies than this index", _COLOURS)
        occupied = np.flatnonzero(taken)
        codes = boards.ravel()[occupied].astype(np.int64).reshape(n, pieces)
        return self.slots_of_pieces(codes, (occupied % SQUARES).reshape(n, pieces))

    def slots_of_pieces(
        self, codes: NDArray[np.int64], places: NDArray[np.int64], swapped: bool = False
    ) -> NDArray[np.int64]:
        """Return the slots of n placements, int64 (n,), each given as pieces in any order.

        codes, places : int64 (n, pieces), the piece codes and their squares, all different
        swapped : True if Red and Black have each other's armies; each placement is then replaced by
            the one with colours exchanged (`Position.swapped`)

        Raises `InputError` unless all have the layout's armies, each piece in its area.
        """
        if swapped:
            codes = codes ^ 8
            places = FLIP[places]
        # Sort by code and square: identical pieces may be listed in any order.
        by_code = np.sort(codes * SQUARES + places, axis=1)
        listed, ordered = np.divmod(by_code, SQUARES)
        if (listed != np.sort(self.piece_codes)).any():
            raise InputError("a board has other armies than this index", _COLOURS)
        if not _AREAS[by_code].all():
            raise InputError("a piece stands outside its area", "see `tbgen.Position`")
        squares = np.empty(by_code.shape, np.int64)
        squares[:, np.argsort(self.piece_codes, kind="stable")] = ordered
        red, black = self.defenders
        first = red.pieces + black.pieces
        w, b = red.rank(squares[:, : red.pieces]), black.rank(squares[:, red.pieces : first])
        lead, mirrored, symmetric = lead_of_ranks(w, b, self.descriptor)
        attackers = squares[:, first:]
        attackers = np.where(mirrored[:, None], MIRROR[attackers], attackers)
        within = self._within_lead(attackers)
        image = self._within_lead(MIRROR[attackers[symmetric]])
        within[symmetric] = np.minimum(within[symmetric], image)
        return lead * (self.mids * self.inner_size) + within

    def _within_lead(self, attackers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return mid * inner_size + inner, int64 (n,): the part of a slot that attackers determine.

        attackers : int64 (n, attackers), their squares, in the order of `piece_codes`
        """
        mid = np.zeros(len(attackers), np.int64)
        inner = attackers[:, -1] if self.inner is not None else None
        at = 0
        for g, (group, stride) in enumerate(zip(self.groups, self.strides, strict=True)):
            own = attackers[:, at : at + group.count]
            at += group.count
            if g == self.twin and inner is not None:
                # Of the inner piece and its twins, that on the largest square is the inner piece.
                together = np.sort(np.column_stack([own, inner]), axis=1)
                own, inner = together[:, :-1], together[:, -1]
            mid += group.rank(own) * stride
        if self.inner is None or inner is None:
            return mid
        return mid * self.inner_size + np.searchsorted(self.inner.area, inner)

    def squares_of_slots(
        self, slots: NDArray[np.int64]
    ) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
        """Return the squares of slots, uint8 (n, pieces), and bool (n,), False for holes.

        Squares are in the order of `piece_codes`; those of holes must not be used. Raises
        `IndexError` for numbers that are no slots.
        """
        slots = np.asarray(slots, np.int64)
        if slots.size and not 0 <= slots.min() <= slots.max() < self.slots:
            raise IndexError(f"slots beyond {self.slots}")
        row, inner = np.divmod(slots, self.inner_size)
        lead, mid = np.divmod(row, self.mids)
        w, b = self.ranks_of(lead)
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
        sound[sound] = self.slots_of_boards(boards) == slots[sound]
        return squares, sound

    def boards_of_squares(self, squares: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return the boards of n placements, uint8 (n, 90).

        squares : (n, pieces), squares of the pieces, in the order of `piece_codes`
        """
        boards = np.zeros((len(squares), SQUARES), np.uint8)
        boards[np.arange(len(squares))[:, None], squares] = np.array(self.piece_codes, np.uint8)
        return boards

    def position(self, slot: int, side: Side) -> Position | None:
        """Return the position of a slot with `side` to move; None if two pieces share a square.

        Any other hole gives a position of another slot. `slot` out of range raises `IndexError`.
        """
        if not 0 <= slot < self.slots:
            raise IndexError(f"slot {slot} of {self.slots}")
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
    """Return `Layout.of(material)` from a cache."""
    layout = Layout(material.armies, choose_inner(material.armies))
    if layout.slots > MAX_SLOTS:
        raise MaterialError(
            f"{material.name} has {layout.slots} slots, more than 64-bit numbers can index",
            "leave out some pieces",
        )
    return layout
