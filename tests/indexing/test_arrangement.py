"""Arrangements, orders in which files store slots: every slot has one place in one block.

The mapping from slots to places and the mapping back agree.
"""

from itertools import product

import numpy as np
import pytest

from tbgen.indexing import Material
from tbgen.indexing.arrangement import (
    Arrangement,
    BlockMap,
    possible_arrangements,
)
from tbgen.indexing.layout import Layout
from tests.helpers.random_tables import some_arrangements

MATERIALS = ["KK", "KAKB", "KRK", "KPKA", "KNNK", "KRKN", "KPPKA"]


def order_of_slots(layout: Layout, arrangement: Arrangement) -> list[list[int]]:
    """Return the slots of each tile (a part of a table that is stored together) in file order.

    Computed from the definition in docs/format.md, without the formulas of `Arrangement`.
    """
    leads = list(range(layout.leads))
    if arrangement.by_black:
        red, black = layout.lead_ranks
        leads.sort(key=lambda lead: (black[lead], red[lead]))
    sizes = [*(group.size for group in layout.groups), layout.inner_size]
    strides = [int(np.prod(sizes[axis + 1 :])) for axis in range(len(sizes))]
    tiles = []
    for first in range(0, len(leads), arrangement.tile_leads):
        own = leads[first : first + arrangement.tile_leads]
        offsets = [[lead * int(np.prod(sizes)) for lead in own]]
        offsets += [
            [n * stride for n in range(size)] for size, stride in zip(sizes, strides, strict=True)
        ]
        places = product(*(offsets[axis] for axis in arrangement.axes))
        tiles.append([sum(parts) for parts in places])
    return tiles


@pytest.mark.parametrize("material", MATERIALS)
@pytest.mark.parametrize("block_slots", [70, 4000])
def test_blocks_hold_the_slots_of_the_definition(material: str, block_slots: int) -> None:
    layout = Layout.of(Material.parse(material))
    codes = np.arange(layout.slots)
    for arrangement in some_arrangements(layout, len(material) + block_slots):
        block_map = BlockMap(layout, arrangement, block_slots)
        block = 0
        for tile, slots in enumerate(order_of_slots(layout, arrangement)):
            own = np.concatenate([codes[a : a + n] for a, n in block_map.runs(tile)])
            arranged = block_map.to_file_order(tile, own)
            assert arranged.tolist() == slots
            assert (block_map.to_index_order(tile, arranged) == own).all()
            assert block_map.blocks_of(tile).start == block
            for place, first in enumerate(range(0, len(slots), block_slots)):
                part = np.array(slots[first : first + block_slots])
                assert (block_map.block_in_file_order(tile, own, place) == part).all()
                assert block_map.slots_in(block) == len(part)
                blocks, places = block_map.locate_all(part)
                assert (blocks == block).all()
                assert (places == np.arange(len(part))).all()
                assert block_map.locate(int(part[-1])) == (block, len(part) - 1)
                block += 1
            assert block_map.blocks_of(tile).stop == block
        assert block_map.blocks == block


def test_possible_arrangements() -> None:
    layout = Layout.of(Material.parse("KRKN"))
    every = possible_arrangements(layout, 10 * 8100)
    assert len(every) == len(set(every)) == 12
    assert all(each.fits(layout) and each.tile_leads == 10 for each in every)
    assert every[0] == Arrangement(10, (0, 1, 2))
    # In tiles of one lead, neither the order of the leads nor their axis matters.
    assert possible_arrangements(layout, 100) == [
        Arrangement(1, (0, 1, 2)),
        Arrangement(1, (0, 2, 1)),
    ]
    assert (
        possible_arrangements(layout, 1 << 40)[0] == possible_arrangements(layout, layout.slots)[0]
    )


def test_invalid_arrangements_are_refused() -> None:
    layout = Layout.of(Material.parse("KRKN"))
    assert len(layout.groups) + 2 == 3
    for tile_leads, axes in [
        (0, (0, 1, 2)),
        (46, (0, 1, 2)),
        (1, (0, 1)),
        (1, (0, 1, 1)),
        (1, (0, 1, 3)),
    ]:
        assert not Arrangement(tile_leads, axes).fits(layout)
