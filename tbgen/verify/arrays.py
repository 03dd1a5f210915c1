"""Arrays of a proof: a table and its supporting tables, flat, for the kernels.

    listed codes of each side  ->  keys  ->  ranks (`values`)  ->  planes, tile by tile

A *plane* has one number for each slot, for one side to move. A *key* is a value on one scale for
all tables; a *rank* numbers the keys that occur. `complete` corrects the ranks of this table by the
rules, `captures` adds those after captures, and `candidates` replaces ranks by marks. Planes of
supporting tables are loaded one at a time. Only the codes that a table lists in its statistics
stand for values; the proof refutes a position with any other code.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from tbgen.compiling.jit import by_pointer
from tbgen.indexing import Side
from tbgen.indexing.layout import Layout
from tbgen.indexing.material import Material
from tbgen.indexing.squares import PieceType, piece_kind, piece_side
from tbgen.system.platform import allocate
from tbgen.tables.blocks import Codes, NumbersOf
from tbgen.tables.codes import CodeSpace
from tbgen.tables.names import Metric
from tbgen.tables.rule_sets import RuleSet
from tbgen.verify.index import NOWHERE
from tbgen.verify.values import (
    NO_KEY,
    Marks,
    Values,
    after_conversion,
    keys_of_codes,
    make_marks,
    make_values,
    orders_of_keys,
)

SLACK = 64
"""Number of unused ranks after the planes: vectorised loops read past the end of the last row."""


Numbers = NDArray[np.int64]
"""Lists of nodes (2 * slot + side to move), orders or keys, or of indices in such lists."""

NO_NODES: Numbers = np.empty(0, np.int64)

NodeList = NDArray[np.uint32] | NDArray[np.int64]
"""Lists of possibly millions of nodes, as uint32 where four bytes are enough."""

Flags = NDArray[np.bool_]
"""Subset of a list of nodes or indices, as one flag for each element of the list."""


class Table(Protocol):
    """Interface of a finished table, in a file or in memory."""

    @property
    def layout(self) -> Layout:
        """Return the layout of the table."""

    @property
    def code_space(self) -> CodeSpace:
        """Return the coding of values."""

    @property
    def metric(self) -> Metric:
        """Return the metric of the distances."""

    def occurring_codes(self, side: int) -> Collection[int]:
        """Return the codes of all positions with `side` to move, and possibly further codes."""

    def tiles(self, side: int) -> int:
        """Return the number of tiles, which are parts of the plane with `side` to move."""

    def tile(self, side: int, number: int, numbers_of: NumbersOf) -> Sequence[tuple[int, Codes]]:
        """Return a tile as runs of slots: pairs (first slot, array of the numbers from it on).

        Slots without a canonical position may hold any code.

        number : int, the number of the tile, below `tiles(side)`
        numbers_of : maps an array of codes to the numbers that are returned in their place
        """


Supporting = Callable[[Material], Table]
"""Function that opens the table of a supporting material; not called for a material without rooks,
knights, cannons and pawns, which has no table.
"""


class Palette(NamedTuple):
    """Codes that a table lists for a plane, and the rank of each."""

    codes: Numbers
    """int64 (n + 1,): stored codes, ascending, without 0; last a sentinel above all codes."""
    ranks: Numbers
    """int64 (n + 1,): the rank of each code; that of the sentinel is for unlisted codes."""

    def ranks_of(self, codes: Codes) -> Numbers:
        """Return the ranks of codes, int64 (n,); for a code that is not listed, the last rank."""
        at = self.codes.searchsorted(codes)
        return np.where(self.codes[at] == codes, self.ranks[at], self.ranks[-1])

    def count_codes(self, counts: Numbers) -> dict[int, int]:
        """Return a map from each listed code that occurs to its number of positions.

        counts : (ranks,), the number of positions of each rank
        """
        found = zip(self.codes[:-1].tolist(), counts[self.ranks[:-1]].tolist(), strict=True)
        return {code: count for code, count in found if count}


def list_codes(table: Table, side: int, *, converts: bool = False) -> tuple[Numbers, Numbers]:
    """Return the codes that a table lists for a side to move, ascending, and the key of each.

    Both arrays are int64 (n + 1,). The last code is a sentinel above all codes, with key `NO_KEY`.

    converts : whether to replace keys by the keys after a conversion (metric DTC)
    """
    codes = np.array(sorted({*table.occurring_codes(side)} - {0}), np.int64)
    keys = keys_of_codes(codes, table.code_space)
    if converts:
        keys = after_conversion(keys)
    return np.append(codes, np.iinfo(np.int64).max), np.append(keys, NO_KEY)


@by_pointer
class Arrays(NamedTuple):
    """A table as flat arrays, with scalars of the rule set, for kernels. Shapes: P pieces."""

    slots: int
    """Number of slots of a plane."""
    ranks: NDArray[Any]
    """uint8 or uint16 (2 * slots + SLACK,): both planes, of ranks (`complete`) or of marks."""
    draws: NDArray[np.int64]
    """int64 (2,): by side to move, the rank of draws of the kind FREE."""
    wins_by_rules: NDArray[np.bool_]
    """bool (P,): for each piece, whether its capture may win by the repetition rules."""
    values: Values
    hanging: NDArray[np.uint8]
    """uint8 (2, bytes): by side to move, a bit set of slots: rule-decided wins in which the side to
    move is not in check, and one of its pieces hangs or one of its captures wins by the
    repetition rules. Filled by `complete`; empty once marks have replaced ranks.
    """
    judges_checks: bool
    """Whether the rules judge perpetual checks."""
    judges_chases: bool
    """Whether the rules judge perpetual chases."""
    chase_rules: int
    """Bits of the rule set (`tbgen.indexing.rulesets`)."""

    def plane(self, side: int) -> NDArray[Any]:
        """Return the ranks or marks of a side to move, uint8 or uint16 (slots,), as a view."""
        return self.ranks[side * self.slots : (side + 1) * self.slots]


@by_pointer
class CapturePlane(NamedTuple):
    """Plane of a supporting table, for kernels. Shapes: P pieces of this table."""

    side: int
    """Side that has lost a piece and is to move, in the colours of the table to prove."""
    ranks: NDArray[Any]
    """uint8 or uint16 (n,): the rank of each slot of the supporting table."""
    descriptor: NDArray[np.int64]
    """int64 (words,): the layout of the supporting table (`tbgen.indexing.slots`)."""
    swapped: bool
    """Whether the supporting table has the armies of Red and Black exchanged."""
    survivors: NDArray[np.int64]
    """int64 (P, P - 1): for each piece whose capture leads to the plane, the other pieces in the
    order of the supporting table; else NOWHERE.
    """


def _list_survivors(layout: Layout, taken: int, child: Layout) -> tuple[bool, list[int]]:
    """Return `CapturePlane.swapped`, and the remaining pieces in the order of `child`.

    taken : the captured piece; pieces are indices of `layout.piece_codes`
    child : the layout of the supporting table
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


class PlaneAllocator:
    """Allocator of planes: in memory while they fit into a limit, else in unnamed files."""

    def __init__(self, memory: int | None = None, folder: Path | None = None) -> None:
        """Set the limit to `memory` bytes (None: no limit), and the directory of unnamed files."""
        self._left = math.inf if memory is None else memory
        self._folder = folder

    def reserve(self, slots: int, dtype: DTypeLike) -> NDArray[Any]:
        """Return zeros of a type, one for each slot; raises `OSError` if the disk is full."""
        size = slots * np.dtype(dtype).itemsize
        if size <= self._left:
            self._left -= size
            return np.zeros(slots, dtype)
        with tempfile.TemporaryFile(dir=self._folder) as file:
            allocate(file.fileno(), size)
            return np.memmap(file, dtype, "w+", shape=slots).view(np.ndarray)


def unpack(table: Table, side: int, palette: Palette, plane: NDArray[Any]) -> None:
    """Write the ranks of a table's codes, with one side to move, into a plane.

    Uses one thread: two would contend for the interpreter lock, and take as long.

    plane : uint8 or uint16 (slots or more,), out
    """
    for number in range(table.tiles(side)):
        for first, run in table.tile(
            side, number, lambda codes: palette.ranks_of(codes).astype(plane.dtype)
        ):
            plane[first : first + len(run)] = run


def _list_captures(layout: Layout, supporting: Supporting) -> list[tuple[Table, CapturePlane]]:
    """Open the supporting tables, and list the planes that captures lead to, with empty `ranks`.

    Captures into materials without a table are left out.
    """
    pieces, armies = layout.piece_codes, Material(*layout.armies)
    children = armies.captures()
    tables = {child.name: supporting(child) for child in armies.supporting()}
    found: dict[tuple[str, int, bool], tuple[Table, CapturePlane]] = {}
    for taken, code in enumerate(pieces):
        if piece_kind(code) == PieceType.KING:
            continue
        # The side that has lost a piece is to move.
        side = piece_side(code)
        name = children[side, PieceType(piece_kind(code))].name
        if name not in tables:
            continue
        child = tables[name].layout
        swapped, survivors = _list_survivors(layout, taken, child)
        nothing = np.full((len(pieces), len(pieces) - 1), NOWHERE)
        plane = CapturePlane(side, np.empty(0), child.descriptor, swapped, nothing)
        _, plane = found.setdefault((name, side, swapped), (tables[name], plane))
        plane.survivors[taken] = survivors
    return [*found.values()]


def gather(
    table: Table,
    supporting: Supporting,
    rule_set: RuleSet,
    memory: int | None = None,
    folder: Path | None = None,
) -> tuple[Arrays, Marks, tuple[Palette, ...], Iterator[CapturePlane]]:
    """Load a table, and open its supporting tables, for a proof under a rule set.

    Returns the arrays, the lookup tables of marks, the palettes of this table by side to move, and
    an iterator over the planes that captures lead to, each of which overwrites the one before.

    memory : bytes, or None without a limit; one byte a slot is left to the search for candidates,
        and planes that do not fit into the rest are kept in unnamed files
    folder : directory of those files, by default the system's temporary directory

    Raises `InputError` if the rules are None (unknown), `LimitExceededError` for more values than
    16-bit ranks can tell apart, `OSError` if the disk is full, and the errors of `supporting` and
    of reading the tables.
    """
    layout, rules = table.layout, rule_set.known_rules
    allocator = PlaneAllocator(None if memory is None else max(0, memory - layout.slots), folder)
    captures = _list_captures(layout, supporting)
    own = [list_codes(table, side) for side in Side]
    converts = table.metric == Metric.DTC
    others = [
        list_codes(child, plane.side ^ plane.swapped, converts=converts)
        for child, plane in captures
    ]
    planes = [plane for _, plane in captures]
    values = make_values(
        [keys for _, keys in own],
        [[keys for plane, (_, keys) in zip(planes, others, strict=True) if plane.side == side]
         for side in Side],
        judges_checks=rules.judges_checks,
    )  # fmt: skip
    marks = make_marks(values.keys)
    dtype = np.min_scalar_type(max(values.keys.shape[1], marks.keys.shape[1]) - 1)
    ranks = allocator.reserve(len(Side) * layout.slots + SLACK, dtype)
    palettes = tuple(
        Palette(codes, values.translate(side, keys))
        for side, (codes, keys) in zip(Side, own, strict=True)
    )
    for own_side, palette in zip(Side, palettes, strict=True):
        unpack(table, own_side, palette, ranks[own_side * layout.slots :])
    wins_by_rules = np.zeros(len(layout.piece_codes), np.bool_)
    for plane, (_, keys) in zip(planes, others, strict=True):
        if (orders_of_keys(keys[keys < 0]) > 0).any():
            wins_by_rules |= plane.survivors[:, 0] != NOWHERE

    def load_planes() -> Iterator[CapturePlane]:
        slots = [child.layout.slots for child, _ in captures]
        captured = allocator.reserve(max(slots, default=0), dtype)
        for (child, plane), (codes, keys) in zip(captures, others, strict=True):
            palette = Palette(codes, values.translate(plane.side, keys))
            unpack(child, plane.side ^ plane.swapped, palette, captured)
            yield plane._replace(ranks=captured)

    draw = np.zeros(1, np.int64)
    arrays = Arrays(
        slots=layout.slots,
        ranks=ranks,
        draws=np.array([values.translate(side, draw)[0] for side in Side]),
        wins_by_rules=wins_by_rules,
        values=values,
        hanging=np.zeros((len(Side), layout.slots // 8 + 1), np.uint8),
        judges_checks=rules.judges_checks,
        judges_chases=rules.judges_chases,
        chase_rules=rule_set.chase_rules,
    )
    return arrays, marks, palettes, load_planes()
