"""Choice of a table's arrangement, the order of its stored codes, by runs of equal codes."""

import numpy as np
import pytest

from tbgen.indexing import Material
from tbgen.indexing.arrangement import Arrangement, BlockMap, possible_arrangements
from tbgen.indexing.layout import Layout
from tbgen.tables.blocks import Codes, encode_filled
from tbgen.tables.choosing import TILE_SLOTS, choose_arrangement


@pytest.mark.parametrize("material", ["KRKN", "KPPKA", "KRKNN"])
def test_the_fastest_axis_is_that_of_equal_neighbours(material: str) -> None:
    layout = Layout.of(Material.parse(material))
    candidates = possible_arrangements(layout, TILE_SLOTS)
    for wanted in candidates[:: max(1, len(candidates) // 4)]:
        plane = _runs_in(layout, wanted)

        def read(block_map: BlockMap, tile: int, plane: Codes = plane) -> Codes:
            return np.concatenate([plane[first : first + n] for first, n in block_map.runs(tile)])

        found = choose_arrangement(layout, read, lambda codes: encode_filled(codes, 128), 48600)
        assert found.axes[-1] == wanted.axes[-1]


def _runs_in(layout: Layout, arrangement: Arrangement) -> Codes:
    """Return a plane of random codes which form runs of 11 equal codes if stored in `arrangement`.

    The plane itself is in index order.
    """
    block_map = BlockMap(layout, arrangement, 48600)
    rng = np.random.default_rng(1)
    plane = np.zeros(layout.slots, np.uint8)
    for tile in range(block_map.tiles):
        runs = block_map.runs(tile)
        count = sum(n for _, n in runs)
        codes = np.repeat(rng.integers(1, 50, count // 11 + 1).astype(np.uint8), 11)[:count]
        own = block_map.to_index_order(tile, codes)
        for first, n in runs:
            plane[first : first + n] = own[:n]
            own = own[n:]
    return plane
