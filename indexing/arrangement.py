"""Order of a table's slots in its file, and the blocks that they are cut into.

    slots  ->  leads in the order of  ->  tiles: a number of  ->  axes of a tile  ->  blocks of
               Red's defenders,           consecutive leads       in any order        one size, the
               or of Black's                                                          last may be
                                                                                      shorter

The axes of a tile are the *lead* (placement of the defenders), the rank in each *mid group* of
attackers, and the *inner piece* (`layout`). Blocks compress well if neighbours have similar values.
Which slots have similar values differs between materials and sides to move, so each side of a file
has its own order. No block crosses the end of a tile: tables are written and read tile by tile.

`block_of_slot` reads a descriptor, its parameter `d`, of 64-bit integers:

    0              the words named below
    FIRST_AXIS     `AXIS_WORDS` for each axis except the lead
    ...            number of each lead in the file, if leads are in the order of Black's defenders
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tbgen.indexing.layout import Layout
from tbgen.indexing.slots import Integers
from tbgen.system.scalar import scalar

MAX_AXES = 11
"""Most axes of a tile that a file's header can hold; no tile has more than ten."""

TILE_LEADS, LEAD_SLOTS, AXES, LEAD_NUMBERS = range(4)
LAST_TILE, TILE_BLOCKS, BLOCK_SLOTS, LEAD_STRIDE = range(4, 8)
"""Indices of words in the descriptor.

TILE_LEADS, LEAD_SLOTS, AXES : leads per tile, slots per lead, number of axes except the lead
LEAD_NUMBERS : offset in the descriptor of each lead's number in the order of the file; 0 if leads
    are in index order
LAST_TILE, TILE_BLOCKS, BLOCK_SLOTS : number of the last tile, blocks per tile, slots per block
LEAD_STRIDE : distance in a file, in slots, between two leads that follow each other in a full tile;
    the next word is this distance in the last tile
"""

FIRST_AXIS = 9
AXIS_DIVISOR, AXIS_SIZE, AXIS_STRIDE = range(3)
"""Indices of words within the part of one axis in the descriptor: divisor, size, stride.

The coordinate on the axis is (slot within its lead) // divisor % size. The stride is the distance
in the file, in slots, of neighbours on the axis in a full tile; the next word is for the last tile.
"""
AXIS_WORDS = 4


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Order in which a file stores the slots of one side to move."""

    tile_leads: int
    """Leads per tile; the last tile may have fewer."""
    axes: tuple[int, ...]
    """Axes of a tile in the order of the file, slowest first. Axis 0 is the lead, axes 1, 2, ...
    are the groups, and the last axis is the inner piece.
    """
    by_black: bool = False
    """True if leads are ordered by the placement of Black's king, advisors and elephants, then by
    Red's; False for index order, which is by Red's first.
    """

    def fits(self, layout: Layout) -> bool:
        """Return whether a layout has enough leads for the tile size, and exactly these axes."""
        axes = list(range(len(layout.groups) + 2))
        return 1 <= self.tile_leads <= layout.leads and sorted(self.axes) == axes


def possible_arrangements(layout: Layout, tile_slots: int) -> list[Arrangement]:
    """List the arrangements for tiles of at most `tile_slots` slots; the index order comes first.

    A tile has at least one lead, even if the lead has more slots. With one lead per tile, only
    arrangements with leads in index order and the lead axis first are listed: the others would have
    blocks of the same content.
    """
    per_lead = layout.mids * layout.inner_size
    tile_leads = min(layout.leads, max(1, tile_slots // per_lead))
    axes = list(permutations(range(len(layout.groups) + 2)))
    if tile_leads == 1:
        return [Arrangement(1, order) for order in axes if order[0] == 0]
    return [
        Arrangement(tile_leads, order, by_black) for by_black in (False, True) for order in axes
    ]


@scalar
def block_of_slot(slot: Any, d: Integers) -> tuple[Any, Any]:
    """Return the block that contains a slot, and the slot's index in the block.

    Blocks are numbered separately for each side to move.

    slot : int, or int64 (n,) in plain Python; the results have the same type
    """
    lead = slot // d[LEAD_SLOTS]
    within = slot - lead * d[LEAD_SLOTS]
    if d[LEAD_NUMBERS] != 0:
        lead = d[d[LEAD_NUMBERS] + lead]
    tile = lead // d[TILE_LEADS]
    last = (tile == d[LAST_TILE]) * 1
    at = (lead - tile * d[TILE_LEADS]) * d[LEAD_STRIDE + last]
    for axis in range(d[AXES]):
        word = FIRST_AXIS + AXIS_WORDS * axis
        along = within // d[word + AXIS_DIVISOR] % d[word + AXIS_SIZE]
        at += along * d[word + AXIS_STRIDE + last]
    block = at // d[BLOCK_SLOTS]
    return tile * d[TILE_BLOCKS] + block, at - block * d[BLOCK_SLOTS]


class BlockMap:
    """Mapping between the slots of one side to move and that side's blocks, numbered from 0."""

    def __init__(self, layout: Layout, arrangement: Arrangement, block_slots: int) -> None:
        """Cut a layout's slots into blocks of `block_slots`; the arrangement must fit (`fits`)."""
        self.layout = layout
        self.arrangement = arrangement
        self.block_slots = block_slots
        self.lead_slots = layout.mids * layout.inner_size  # slots per lead
        self.tiles = -(-layout.leads // arrangement.tile_leads)  # number of tiles
        self.blocks_per_tile = -(-arrangement.tile_leads * self.lead_slots // block_slots)
        """Blocks of every tile except the last, which may have fewer."""
        last = -(-self._leads_in(self.tiles - 1) * self.lead_slots // block_slots)
        self.blocks = (self.tiles - 1) * self.blocks_per_tile + last  # of one side

    @cached_property
    def _order(self) -> NDArray[np.int64] | None:
        """int64 (leads,): leads in file order; None if that is the index order."""
        if not self.arrangement.by_black:
            return None
        red, black = self.layout.lead_ranks
        return np.lexsort((red, black))

    @cached_property
    def descriptor(self) -> NDArray[np.int64]:
        """int64 (words,): the map as read by `block_of_slot`."""
        axes = len(self.arrangement.axes) - 1
        head = np.zeros(FIRST_AXIS + AXIS_WORDS * axes, np.int64)
        full, last = (self._strides(tile) for tile in (0, self.tiles - 1))
        numbers = 0 if self._order is None else len(head)
        head[:LAST_TILE] = self.arrangement.tile_leads, self.lead_slots, axes, numbers
        head[LAST_TILE:LEAD_STRIDE] = self.tiles - 1, self.blocks_per_tile, self.block_slots
        head[LEAD_STRIDE:FIRST_AXIS] = full[0], last[0]
        sizes = self._shape(0)
        for axis in range(1, len(sizes)):
            word, divisor = FIRST_AXIS + AXIS_WORDS * (axis - 1), math.prod(sizes[axis + 1 :])
            head[word : word + AXIS_WORDS] = divisor, sizes[axis], full[axis], last[axis]
        return head if self._order is None else np.concatenate([head, np.argsort(self._order)])

    @cached_property
    def _descriptor_list(self) -> list[int]:
        """The descriptor as a list, whose items plain Python reads faster."""
        return list(map(int, self.descriptor))

    def _leads_in(self, tile: int) -> int:
        """Return the number of leads in a tile."""
        tile_leads = self.arrangement.tile_leads
        return min(tile_leads, self.layout.leads - tile * tile_leads)

    def _shape(self, tile: int) -> tuple[int, ...]:
        """Return the sizes of a tile's axes in index order: lead, mid groups, inner piece."""
        groups = (group.size for group in self.layout.groups)
        return self._leads_in(tile), *groups, self.layout.inner_size

    def _strides(self, tile: int) -> list[int]:
        """Return the distance of neighbours on each axis of `_shape`, in slots of the file."""
        sizes, strides, stride = self._shape(tile), [0] * len(self.arrangement.axes), 1
        for axis in reversed(self.arrangement.axes):
            strides[axis] = stride
            stride *= sizes[axis]
        return strides

    # -- slots -> blocks ---------------------------------------------------------------------

    def locate(self, slot: int) -> tuple[int, int]:
        """Return the block of a slot, and the slot's index in the block."""
        return block_of_slot(slot, self._descriptor_list)

    def locate_all(self, slots: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the blocks of slots (n,), and the slots' indices in them: two int64 (n,)."""
        return block_of_slot(slots, self.descriptor)

    # -- tiles -------------------------------------------------------------------------------

    def slots_in(self, block: int) -> int:
        """Return the number of slots in a block."""
        tile, in_tile = divmod(block, self.blocks_per_tile)
        tile_slots = self._leads_in(tile) * self.lead_slots
        return min(self.block_slots, tile_slots - in_tile * self.block_slots)

    def blocks_of(self, tile: int) -> range:
        """Return the numbers of a tile's blocks."""
        first = tile * self.blocks_per_tile
        return range(first, min(first + self.blocks_per_tile, self.blocks))

    def runs(self, tile: int) -> list[tuple[int, int]]:
        """List the slots of a tile as runs of consecutive slots: (first slot, number of slots).

        A run consists of whole leads; runs are in the order of the leads in the file.
        """
        first, count = tile * self.arrangement.tile_leads, self._leads_in(tile)
        if self._order is None:
            return [(first * self.lead_slots, count * self.lead_slots)]
        leads = self._order[first : first + count]
        starts = np.flatnonzero(np.diff(leads, prepend=-2) != 1)
        counts = np.diff(starts, append=count)
        runs = np.stack([leads[starts], counts], axis=1) * self.lead_slots
        return [(run, slots) for run, slots in runs.tolist()]

    def to_file_order(self, tile: int, codes: NDArray[Any]) -> NDArray[Any]:
        """Return a tile's codes (slots,), given in the order of `runs`, as a copy in file order."""
        shaped = codes.reshape(self._shape(tile)).transpose(self.arrangement.axes)
        return np.array(shaped, order="C").ravel()

    def block_in_file_order(self, tile: int, codes: NDArray[Any], number: int) -> NDArray[Any]:
        """Return the codes of block `number` of a tile, counted from 0 in the tile.

        Equal to that part of `to_file_order(tile, codes)`, but does not reorder the whole tile.
        """
        shaped = codes.reshape(self._shape(tile)).transpose(self.arrangement.axes)
        slowest = next((n for n, size in enumerate(shaped.shape) if size > 1), 0)
        shaped = shaped.reshape(shaped.shape[slowest:])
        slab = math.prod(shaped.shape[1:])
        first, end = number * self.block_slots, min((number + 1) * self.block_slots, codes.size)
        part = np.array(shaped[first // slab : -(-end // slab)], order="C").ravel()
        return part[first % slab :][: end - first]

    def to_index_order(self, tile: int, codes: NDArray[Any]) -> NDArray[Any]:
        """Return a tile's codes (slots,), given in file order, in the order of `runs`."""
        axes, shape = self.arrangement.axes, self._shape(tile)
        shaped = codes.reshape([shape[axis] for axis in axes]).transpose(np.argsort(axes))
        return np.ascontiguousarray(shaped).ravel()
