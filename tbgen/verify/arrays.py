"""Everything that the proof of one material reads, as a few flat arrays for the kernels.

    ranks        the planes of this table (number 0)
    supports     those of the tables that captures lead to, one after another (`planes`)
    tables       one line per table: where its planes and its descriptor are
    descriptors  the layouts of all tables (`tbgen.indexing.slots`), one after another
    men          this table's pieces in the order of `Layout.piece_codes`
    captures     one line per piece: the table that its capture leads to, and how to list the
                 remaining pieces there
    values       what ranks stand for (`ranks`)

Beside them stand the few figures of the layout and of the rule set that kernels ask for. The
planes are copies: as loaded, those of table 0 hold places of its palette; `complete` makes
ranks of them, and `marks` marks, by which patterns are looked for. What is read from the
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
    """uint8 or uint16 (S + SLACK,): the planes; `complete` writes to them."""
    supports: Supports
    tables: NDArray[np.int64]
    """int64 (T, TABLE_COLUMNS)."""
    descriptors: NDArray[np.int64]
    """int64 (words,): the layouts of all tables."""
    men: Men
    captures: NDArray[np.int64]
    """int64 (P, SOURCES + P): the columns named above; NO_TABLE for captures that draw."""
    stakes: NDArray[np.bool_]
    """bool (P,): whether the capture of the piece may win by the rules of repetition."""
    values: Values
    seek_patterns: bool
    """The rules know perpetual checks."""
    seek_chases: bool
    """The rules know perpetual chases."""
    chase_rules: int
    """Bits of the rule set (`tbgen.indexing.rulesets`)."""
