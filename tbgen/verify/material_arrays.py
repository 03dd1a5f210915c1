"""Everything that the proof of one material reads, as a few flat arrays for the kernels.

    codes        the planes of all tables, one after another: this table (number 0), then those
                 that captures lead to; bytes, so that tables of different widths share them
    tables       one line per table: where its planes and its descriptor are, how it codes values
    descriptors  the layouts of all tables (`tbgen.indexing.slots`), one after another
    pieces       this table's pieces in the order of `Layout.piece_codes`
    captures     one line per piece: the table that its capture leads to, and how to list the
                 remaining pieces there
    weights      one line per piece: what its square adds to the slot, where that is a plain sum

`codes` is a copy: the first pass empties the slots of table 0 that hold no position.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from tbgen.indexing import Side
from tbgen.indexing.layout import Layout
from tbgen.indexing.material import Material
from tbgen.indexing.squares import SQUARES, PieceType, piece_code, piece_kind, piece_side
from tbgen.tables.codes import CodeSpace
from tbgen.tables.names import Metric, Rules

# Columns of `tables`. The planes' offsets in `codes` are the columns 0 (Red to move) and 1.
WIDTH, TOP, DRAW, SPAN, FIRST_WORD, END_WORD, TABLE_COLUMNS = 2, 3, 4, 5, 6, 7, 8

# Columns of `captures`; from SOURCES on, which of this table's pieces each piece there is.
TABLE, SWAPPED, SOURCES = 0, 1, 2

NO_TABLE = -1
"""The number of the table of materials in which every position is drawn."""

# Entries of `options`.
CONVERSION, SEEK_PATTERNS, SEEK_CHASES, INNER_SIZE, BLACK_KING, FIRST_ATTACKER, OPTIONS = range(7)


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


class Arrays(NamedTuple):
    """The arrays of the module's picture, as kernels take them.

    codes : uint8; tables : int64 (tables, TABLE_COLUMNS); descriptors : int64
    pieces : int64 (pieces,); captures : int64 (pieces, SOURCES + pieces)
    weights : int64 (pieces, 90), -1 in lines of pieces that do not simply add up
    self_mirrored : bool (leads,), leads that are their own mirror image
    options : int64 (OPTIONS,)
    """

    codes: NDArray[np.uint8]
    tables: NDArray[np.int64]
    descriptors: NDArray[np.int64]
    pieces: NDArray[np.int64]
    captures: NDArray[np.int64]
    weights: NDArray[np.int64]
    self_mirrored: NDArray[np.bool_]
    options: NDArray[np.int64]


def gather(table: Table, supporting: Supporting, rules: Rules) -> Arrays:
    """Load a table and those that captures lead to, to be proven under some rules."""
    layout = table.layout
    material = Material(*layout.armies)
    children = material.captures()
    wanted = {child.name: child for child in children.values() if child.needs_table}
    loaded = [table, *(supporting(child) for child in wanted.values())]
    numbers = {name: number for number, name in enumerate(wanted, start=1)}

    size = sum(len(Side) * t.layout.slots * t.code_space.width for t in loaded)
    codes = np.empty(size, np.uint8)
    tables = np.zeros((len(loaded), TABLE_COLUMNS), np.int64)
    descriptors: list[NDArray[np.int64]] = []
    at = words = 0
    for line, t in zip(tables, loaded, strict=True):
        space = t.code_space
        for side in Side:
            plane = np.ascontiguousarray(t.plane(side), np.dtype(space.dtype).newbyteorder("<"))
            line[side] = at
            codes[at : at + plane.nbytes] = plane.view(np.uint8)
            at += plane.nbytes
        descriptor = t.layout.descriptor
        line[WIDTH : SPAN + 1] = space.width, space.top, space.draw, space.span
        line[FIRST_WORD : END_WORD + 1] = words, words + descriptor.size
        words += descriptor.size
        descriptors.append(descriptor)

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
    options = np.zeros(OPTIONS, np.int64)
    options[CONVERSION] = table.metric == Metric.DTC
    options[SEEK_PATTERNS] = rules != Rules.NONE
    options[SEEK_CHASES] = rules == Rules.WXF
    options[INNER_SIZE] = layout.inner_size
    options[BLACK_KING] = pieces.index(piece_code(Side.BLACK, PieceType.KING))
    options[FIRST_ATTACKER] = sum(defenders.pieces for defenders in layout.defenders)
    return Arrays(
        codes,
        tables,
        np.concatenate(descriptors),
        np.array(pieces, np.int64),
        captures,
        _weights(layout),
        layout.self_mirrored,
        options,
    )


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
