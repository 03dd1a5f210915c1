"""Everything that the proof of one material reads, as a few flat arrays for the kernels.

    ranks        the planes of this table (number 0)
    supports     those of the tables that captures lead to, one after another (`planes`)
    tables       one line per table: where its planes and its descriptor are
    descriptors  the layouts of all tables (`tbgen.indexing.slots`), one after another
    men          this table's pieces in the order of `Layout.piece_codes`
    captures     one line per piece: the table that its capture leads to, and how to list the
                 remaining pieces there
    weights      one line per piece: what its square adds to the slot, where that is a plain sum
    moved_along  one per piece: what the inner piece's column adds to the slot after its capture
    values       what ranks stand for (`ranks`)

Beside them stand the few figures of the layout and of the rule set that kernels ask for. The
planes are copies: as loaded, those of table 0 hold places of its palette; `forward.complete` makes
ranks of them, and `forward.settle` marks, by which patterns are looked for. What is read from the
arrays, and how, is in `moves`; how they come about, in `loading`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.lending import lent
from tbgen.verify.planes import Supports
from tbgen.verify.ranks import Values

# Columns of `tables`. Where the planes begin, in `ranks` or in `supports`, is in the columns 0 (Red
# to move) and 1.
FIRST_WORD, END_WORD, TABLE_COLUMNS = 2, 3, 4

# Columns of `captures`; from SOURCES on, which of this table's pieces each piece there is.
TABLE, SWAPPED, SOURCES = 0, 1, 2

AT_STAKE, LAST_STAKE = 128, 127
"""Parts of `Arrays.stakes`."""

NO_TABLE = -1
"""The number of the table of materials in which every position is drawn."""


Numbers = NDArray[np.int64]
"""Nodes (2 * slot + side to move), orders, keys, or places in a list of them."""

NOBODY: Numbers = np.empty(0, np.int64)

ManyNumbers = NDArray[np.uint32] | NDArray[np.int64]
"""Nodes of which there may be millions: four bytes each, where that is enough."""

Members = NDArray[np.bool_]
"""A set: one flag for each of a list."""


Plane = tuple[int, int]
"""A table's number, and the side to move there."""


@lent
class Men(NamedTuple):
    """This table's P pieces."""

    pieces: NDArray[np.int64]
    """int64 (P,): piece codes, in the order of `Layout.piece_codes`."""
    kings: NDArray[np.int64]
    """int64 (2,): which of the pieces is Red's king, and which is Black's."""


@lent
class Arrays(NamedTuple):
    """The arrays of the module's picture, and figures, as kernels take them.

    Shapes: S slots of both planes, T tables, P pieces, L leads.
    """

    ranks: NDArray[Any]
    """uint8 or uint16 (S + SLACK,): the planes; `forward.complete` writes to them."""
    supports: Supports
    tables: NDArray[np.int64]
    """int64 (T, TABLE_COLUMNS)."""
    descriptors: NDArray[np.int64]
    """int64 (words,): the layouts of all tables."""
    descriptor: NDArray[np.int64]
    """int64 (words,): the layout of table 0 alone."""
    men: Men
    captures: NDArray[np.int64]
    """int64 (P, SOURCES + P): the columns named above; NO_TABLE for captures that draw."""
    stakes: NDArray[np.uint8]
    """uint8 (P,): the last order by which the capture of the piece wins, LAST_STAKE for more than
    that; 0 if none does that the rules of repetition have decided. Besides AT_STAKE, where ranks
    tell all kinds: any capture counts."""
    weights: NDArray[np.int64]
    """int64 (P, 90): what a square adds to the slot; -1 for pieces that do not simply add up."""
    moved_along: NDArray[np.int64]
    """int64 (P, 2, columns): what a column of the inner piece adds to the slot, or to that of the
    mirror image, in the table that the capture of each piece leads to; -1 where it is no sum."""
    self_mirrored: NDArray[np.bool_]
    """bool (L,): leads that are their own mirror image."""
    lead_slots: int
    """Slots of one lead."""
    inner_size: int
    """Slots of one row."""
    first_attacker: int
    """The first of the pieces that is no defender."""
    values: Values
    seek_patterns: bool
    """Whether the rules know perpetual checks."""
    seek_chases: bool
    """Whether the rules know perpetual chases."""
    chase_rules: int
    """Bits of the rule set (`tbgen.indexing.rulesets`)."""
