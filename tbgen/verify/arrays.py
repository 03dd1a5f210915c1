"""Everything that the proof of one material reads, as a few flat arrays for the kernels.

    codes        the planes of all tables, one after another: this table (number 0), then those
                 that captures lead to; bytes, so that tables of different widths share them
    tables       one line per table: where its planes and its descriptor are, how it codes values
    descriptors  the layouts of all tables (`tbgen.indexing.slots`), one after another
    men          this table's pieces in the order of `Layout.piece_codes`
    captures     one line per piece: the table that its capture leads to, and how to list the
                 remaining pieces there
    weights      one line per piece: what its square adds to the slot, where that is a plain sum

Beside them stand the few figures of the layout and of the rule set that kernels ask for. `codes`
is a copy: the first pass empties the slots of table 0 that hold no position. What is read from
the arrays, and how, is in `moves`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from tbgen.indexing import InputError, Side
from tbgen.indexing.layout import Layout
from tbgen.indexing.material import Material
from tbgen.indexing.squares import SQUARES, PieceType, piece_code, piece_kind, piece_side
from tbgen.tables.codes import CodeSpace
from tbgen.tables.names import Metric, Rules, RuleSet

# Columns of `tables`. The planes' offsets in `codes` are the columns 0 (Red to move) and 1.
WIDTH, TOP, DRAW, SPAN, FIRST_WORD, END_WORD, TABLE_COLUMNS = 2, 3, 4, 5, 6, 7, 8

# Columns of `captures`; from SOURCES on, which of this table's pieces each piece there is.
TABLE, SWAPPED, SOURCES = 0, 1, 2

NO_TABLE = -1
"""The number of the table of materials in which every position is drawn."""


Numbers = NDArray[np.int64]
"""Nodes (2 * slot + side to move), orders, keys, or places in a list of them."""

Members = NDArray[np.bool_]
"""A set: one flag for each of a list."""


class Table(Protocol):
    """A finished table, in a file or in memory."""

    @property
    def layout(self) -> Layout:
        """Its index."""

    @property
    def code_space(self) -> CodeSpace:
        """How it codes values."""

    @property
    def metric(self) -> Metric:
        """What its distances count to."""

    def plane(self, side: int) -> NDArray[Any]:
        """(slots,) codes in slot order; anything in slots that hold no canonical position."""


Supporting = Callable[[Material], Table]
"""Opens the table of a material that a capture leads to; only asked for those that need one."""


class Men(NamedTuple):
    """This table's P pieces."""

    pieces: NDArray[np.int64]
    """int64 (P,): piece codes, in the order of `Layout.piece_codes`."""
    kings: NDArray[np.int64]
    """int64 (2,): which of the pieces is Red's king, and which is Black's."""


class Arrays(NamedTuple):
    """The arrays of the module's picture, and figures, as kernels take them.

    Shapes: B bytes of all planes, T tables, P pieces, L leads.
    """

    codes: NDArray[np.uint8]
    """uint8 (B,): the planes; the first pass writes to those of table 0."""
    tables: NDArray[np.int64]
    """int64 (T, TABLE_COLUMNS)."""
    descriptors: NDArray[np.int64]
    """int64 (words,): the layouts of all tables."""
    descriptor: NDArray[np.int64]
    """int64 (words,): the layout of table 0 alone."""
    men: Men
    captures: NDArray[np.int64]
    """int64 (P, SOURCES + P): the columns named above; NO_TABLE for captures that draw."""
    weights: NDArray[np.int64]
    """int64 (P, 90): what a square adds to the slot; -1 for pieces that do not simply add up."""
    self_mirrored: NDArray[np.bool_]
    """bool (L,): leads that are their own mirror image."""
    lead_slots: int
    """Slots of one lead."""
    inner_size: int
    """Slots of one row."""
    first_attacker: int
    """The first of the pieces that is no defender."""
    conversion: bool
    """Whether distances count to conversion."""
    seek_patterns: bool
    """Whether the rules know perpetual checks."""
    seek_chases: bool
    """Whether the rules know perpetual chases."""
    minor_chases: bool
    """Whether advisors and elephants chase protected rooks, knights and cannons."""


def gather(table: Table, supporting: Supporting, rule_set: RuleSet) -> Arrays:
    """Load a table and those that captures lead to, to be proven under some rules.

    Raises `InputError` for a rule set without rules, and what `supporting` raises.
    """
    if rule_set.rules is None:
        raise InputError("nothing is proven under unknown rules", "name the rules of the table")
    layout = table.layout
    children = Material(*layout.armies).captures()
    wanted = {child.name: child for child in children.values() if child.needs_table}
    loaded = [table, *(supporting(child) for child in wanted.values())]
    numbers = {name: number for number, name in enumerate(wanted, start=1)}
    codes, tables = _join_planes(loaded)
    descriptors = np.concatenate([each.layout.descriptor for each in loaded])

    pieces = layout.piece_codes
    captures = np.full((len(pieces), SOURCES + len(pieces)), NO_TABLE, np.int64)
    for taken, code in enumerate(pieces):
        if piece_kind(code) != PieceType.KING:
            child = children[piece_side(code), PieceType(piece_kind(code))]
            number = numbers.get(child.name, NO_TABLE)
            if number != NO_TABLE:
                swapped, sources = _list_survivors(layout, taken, loaded[number].layout)
                captures[taken, TABLE], captures[taken, SWAPPED] = number, swapped
                captures[taken, SOURCES : SOURCES + len(sources)] = sources
    kings = [pieces.index(piece_code(side, PieceType.KING)) for side in Side]
    return Arrays(
        codes=codes,
        tables=tables,
        descriptors=descriptors,
        descriptor=descriptors[: tables[0, END_WORD]],
        men=Men(np.array(pieces, np.int64), np.array(kings, np.int64)),
        captures=captures,
        weights=_weights(layout),
        self_mirrored=layout.self_mirrored,
        lead_slots=layout.mids * layout.inner_size,
        inner_size=layout.inner_size,
        first_attacker=sum(defenders.pieces for defenders in layout.defenders),
        conversion=table.metric == Metric.DTC,
        seek_patterns=rule_set.rules != Rules.NONE,
        seek_chases=rule_set.rules == Rules.WXF,
        minor_chases=rule_set.minor_chases,
    )


def _join_planes(loaded: list[Table]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """`Arrays.codes` and `Arrays.tables`."""
    size = sum(len(Side) * each.layout.slots * each.code_space.width for each in loaded)
    codes = np.empty(size, np.uint8)
    tables = np.zeros((len(loaded), TABLE_COLUMNS), np.int64)
    at = words = 0
    for line, each in zip(tables, loaded, strict=True):
        space = each.code_space
        for side in Side:
            plane = np.ascontiguousarray(each.plane(side), np.dtype(space.dtype).newbyteorder("<"))
            line[side] = at
            codes[at : at + plane.nbytes] = plane.view(np.uint8)
            at += plane.nbytes
        line[WIDTH : SPAN + 1] = space.width, space.top, space.draw, space.span
        line[FIRST_WORD], line[END_WORD] = words, words + each.layout.descriptor.size
        words = int(line[END_WORD])
    return codes, tables


def _list_survivors(layout: Layout, taken: int, child: Layout) -> tuple[bool, list[int]]:
    """How a capture's child lists the pieces: colours swapped or not, and who is who.

    The child's sides change places where its material names the other one first.
    """
    left = list(layout.armies)
    code = layout.piece_codes[taken]
    left[piece_side(code)] = left[piece_side(code)].without(piece_kind(code))
    swapped = tuple(left) != child.armies
    survivors = [p for p in range(len(layout.piece_codes)) if p != taken]
    sources = []
    for wanted in child.piece_codes:
        own = wanted ^ 8 if swapped else wanted
        source = next(p for p in survivors if layout.piece_codes[p] == own)
        survivors.remove(source)
        sources.append(source)
    return swapped, sources


def _weights(layout: Layout) -> NDArray[np.int64]:
    """What the square of each piece adds to the slot; -1 where it is no sum over pieces.

    Single attackers add up; twins are ranked together, and defenders make the lead.
    """
    codes = layout.piece_codes
    weights = np.full((len(codes), SQUARES), -1, np.int64)
    for group, stride in zip(layout.groups, layout.strides, strict=True):
        code = piece_code(group.side, group.kind)
        if codes.count(code) == 1:
            line = weights[codes.index(code)]
            line[list(group.area)] = np.arange(len(group.area)) * stride * layout.inner_size
    if layout.inner is not None and layout.twin < 0:
        weights[-1, list(layout.inner.area)] = np.arange(layout.inner_size)
    return weights
