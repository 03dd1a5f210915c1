"""Everything that the proof of one material reads, as a few flat arrays for the kernels.

    tables  --unpack-->  places, and codes by place  -->  ranks of all that was met  -->  Loaded

    ranks        the planes of this table (number 0)
    supports     those of the tables that captures lead to, one after another (`planes`)
    tables       one line per table: where its planes and its descriptor are
    descriptors  the layouts of all tables (`tbgen.indexing.slots`), one after another
    men          this table's pieces in the order of `Layout.piece_codes`
    captures     one line per piece: the table that its capture leads to, and how to list the
                 remaining pieces there
    values       what ranks stand for (`values`)

Beside them stand the few figures of the layout and of the rule set that kernels ask for. The
planes are copies: as loaded, those of table 0 hold places of its palette; `complete` makes
ranks of them, and `marks` marks, by which patterns are looked for. What is read from the
arrays, and how, is in `moves`. A byte a slot is enough for most tables; where it is not, they are
unpacked once more, into two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.lending import lent
from tbgen.indexing import InputError, Side
from tbgen.indexing.layout import Layout
from tbgen.indexing.material import Material
from tbgen.indexing.rulesets import Rules
from tbgen.indexing.squares import (
    PieceType,
    piece_code,
    piece_kind,
    piece_side,
)
from tbgen.tables.codes import CodeSpace
from tbgen.tables.names import Metric, RuleSet
from tbgen.verify.planes import (
    BYTE,
    SLACK,
    Room,
    Source,
    Supporting,
    Supports,
    Table,
    unpack,
    widened,
)
from tbgen.verify.values import (
    Values,
    after_conversion,
    keys_of_palette,
    make_values,
    orders_of_keys,
)

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


def list_captures(
    layouts: Sequence[Layout],
    children: Mapping[tuple[int, PieceType], Material],
    numbers: Mapping[str, int],
) -> NDArray[np.int64]:
    """`Arrays.captures`.

    layouts : of all tables, by number; of this one first
    children : what is left after each capture; numbers : of the tables, by name of material
    """
    pieces = layouts[0].piece_codes
    captures = np.full((len(pieces), SOURCES + len(pieces)), NO_TABLE, np.int64)
    for taken, code in enumerate(pieces):
        if piece_kind(code) == PieceType.KING:
            continue
        child = children[piece_side(code), PieceType(piece_kind(code))]
        number = numbers.get(child.name, NO_TABLE)
        if number != NO_TABLE:
            swapped, sources = _list_survivors(layouts[0], taken, layouts[number])
            captures[taken, TABLE], captures[taken, SWAPPED] = number, swapped
            captures[taken, SOURCES : SOURCES + len(sources)] = sources
    return captures


def _plane_after(line: NDArray[np.int64], code: int) -> Plane:
    """Return which plane a capture leads to; line : of `captures`; code : of who is taken."""
    return int(line[TABLE]), piece_side(code) ^ int(line[SWAPPED])


def _list_survivors(layout: Layout, taken: int, child: Layout) -> tuple[bool, list[int]]:
    """Return how a capture's child lists the pieces: colours swapped or not, and who is who.

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


class Loaded(NamedTuple):
    """The tables of a proof."""

    arrays: Arrays
    codes: list[NDArray[np.int64]]
    """int64 (places,) each: the codes of this table's sides, by their places in the palette."""


def gather(
    table: Table,
    supporting: Supporting,
    rule_set: RuleSet,
    memory: int | None = None,
    folder: Path | None = None,
) -> Loaded:
    """Load a table and those that captures lead to, to be proven under some rules.

    memory : bytes; planes for which there is none left are kept in files without names
    folder : where that file is, by default where the system keeps temporary files

    Raises `InputError` for a rule set without rules, `LimitExceededError` for more values than
    ranks of 16 bits tell apart, and what `supporting` raises.
    """
    if rule_set.rules is None:
        raise InputError("nothing is proven under unknown rules", "name the rules of the table")
    layout, room = table.layout, Room(memory, folder)
    pieces = layout.piece_codes
    children = Material(*layout.armies).captures()
    wanted = {child.name: child for child in children.values() if child.needs_table}
    loaded = [table, *(supporting(child) for child in wanted.values())]
    layouts = [each.layout for each in loaded]
    numbers = {name: number for number, name in enumerate(wanted, start=1)}
    captures = list_captures(layouts, children, numbers)
    # Who has lost a piece is to move.
    taken = [(line, code) for line, code in zip(captures, pieces, strict=True)
             if line[TABLE] != NO_TABLE]  # fmt: skip
    needed = {(_plane_after(line, code), piece_side(code)) for line, code in taken}
    leads = sorted({plane for plane, _ in needed})
    tables, slots = _plan(layouts, leads)

    def source(plane: Plane) -> Source:
        number, side = plane
        converts = number > 0 and table.metric == Metric.DTC
        classify = partial(_keys, space=loaded[number].code_space, converts=converts)
        return Source(loaded[number], side, int(tables[plane]), classify)

    own = [source((0, side)) for side in Side]
    others = {plane: source(plane) for plane in leads}
    planes, codes = unpack(own, room.reserve_twice(len(Side) * layout.slots + SLACK))
    places, found = unpack(list(others.values()), room.reserve_twice(slots))
    keys = {plane: others[plane].classify(each) for plane, each in zip(leads, found, strict=True)}
    values = make_values(
        [each.classify(listed) for each, listed in zip(own, codes, strict=True)],
        [np.concatenate([NOBODY, *(keys[plane] for plane, here in sorted(needed) if here == side)])
         for side in Side],
        seek=rule_set.rules != Rules.NONE,
    )  # fmt: skip
    if planes.itemsize == 1 and values.keys.shape[1] > BYTE:
        planes = widened(planes)
    most = max(map(len, found), default=0)
    ranks = np.zeros((len(loaded), len(Side), len(Side), most), planes.dtype)
    for plane, here in needed:
        ranks[(*plane, here)][: len(keys[plane])] = values.translate(here, keys[plane])
    stakes = np.zeros(len(pieces), np.bool_)
    for n, (line, code) in enumerate(zip(captures, pieces, strict=True)):
        if line[TABLE] != NO_TABLE:
            lost = keys[_plane_after(line, code)]
            stakes[n] = (orders_of_keys(lost[lost < 0]) > 0).any()
    arrays = Arrays(
        ranks=planes,
        supports=Supports(places, ranks),
        tables=tables,
        descriptors=np.concatenate([each.descriptor for each in layouts]),
        men=Men(
            np.array(pieces, np.int64),
            np.array([pieces.index(piece_code(side, PieceType.KING)) for side in Side], np.int64),
        ),
        captures=captures,
        stakes=stakes,
        values=values._replace(own=values.own.astype(planes.dtype)),
        seek_patterns=rule_set.rules != Rules.NONE,
        seek_chases=rule_set.rules.judges_chases,
        chase_rules=rule_set.chase_rules,
    )
    return Loaded(arrays, codes)


def _keys(codes: NDArray[np.int64], space: CodeSpace, *, converts: bool) -> NDArray[np.int64]:
    """The keys of codes; converts : whether they are worth what conversions into them are."""
    keys = keys_of_palette(codes, space)
    return after_conversion(keys) if converts else keys


def _plan(layouts: list[Layout], leads: list[Plane]) -> tuple[NDArray[np.int64], int]:
    """`Arrays.tables`, and how many slots the planes have that captures lead to (`leads`)."""
    tables = np.zeros((len(layouts), TABLE_COLUMNS), np.int64)
    tables[0, 1] = layouts[0].slots
    ends = np.cumsum([layout.descriptor.size for layout in layouts])
    tables[:, END_WORD], tables[1:, FIRST_WORD] = ends, ends[:-1]
    at = 0
    for plane in leads:
        tables[plane] = at
        at += layouts[plane[0]].slots
    return tables, at
