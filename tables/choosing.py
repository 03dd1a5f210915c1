"""Choice of the arrangement in which a sample of a side's blocks compresses best.

An *arrangement* is an order of the slots of one side (`tbgen.indexing.arrangement`): an order of
the leads (placements of the defenders), which determines the leads of each tile, and an order of
the axes within a tile. Two rounds compare arrangements:

    a few blocks    of each possible arrangement
    more blocks     of the best few arrangements

The sampled blocks are spread over the tiles, and over the places in a tile. The two orders of leads
(`Arrangement.by_black`) put different leads into the sampled tiles, unless all blocks are sampled.
The leads of one order may be easier to compress. So if both orders compete, the compressed size of
a sample is divided by the *size of its leads*: the sum, over all leads in the sampled tiles, of the
compressed size of the lead, or of its first `block_slots` slots.

The calling thread does all work, since handing over a block takes about as long as compressing it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np

from tbgen.indexing.arrangement import Arrangement, BlockMap, possible_arrangements
from tbgen.indexing.layout import Layout
from tbgen.tables.blocks import BLOCK_SLOTS, COMPARING, Codes, Compressor

TILE_SLOTS = 4 * BLOCK_SLOTS
"""Most slots of a tile of a table, unless a single lead (placement of the defenders) has more."""

_ROUNDS = ((32, 3), (96, 1))
"""Rounds of the comparison: (number of sampled blocks, number of arrangements that remain)."""

_GOLDEN = (5**0.5 - 1) / 2
"""Reciprocal of the golden ratio; its multiples modulo 1 spread the sampled blocks evenly."""


def choose_arrangement(
    layout: Layout,
    read: Callable[[BlockMap, int], Codes],
    encode: Callable[[Codes], bytes],
    block_slots: int,
    tile_slots: int = TILE_SLOTS,
) -> Arrangement:
    """Return the arrangement (order of the slots) with which one side of a table compresses best.

    read : returns the codes of a tile, in the order of `BlockMap.runs`
    encode : returns the content of a block, the bytes before compression
    block_slots : slots per block
    tile_slots : most slots per tile (`possible_arrangements`)

    Errors of `read` and `encode` pass through.
    """
    compressor = Compressor(COMPARING)

    def compressed_size(codes: Codes) -> int:
        return len(compressor.compress(encode(codes)))

    chosen = possible_arrangements(layout, tile_slots)
    for blocks, best in _ROUNDS:
        if len(chosen) > best:
            maps = [BlockMap(layout, each, block_slots) for each in chosen]
            sizes = _compare(maps, read, compressed_size, blocks)
            chosen = sorted(chosen, key=sizes.__getitem__)[:best]
    return chosen[0]


def _compare(
    maps: list[BlockMap],
    read: Callable[[BlockMap, int], Codes],
    compressed_size: Callable[[Codes], int],
    blocks: int,
) -> dict[Arrangement, float]:
    """Return a measure of the compressed size of a sample of `blocks` blocks, by arrangement.

    The measure is in bytes or, if both orders of leads compete, divided by the *size of its leads*
    (module docstring). `maps` has a map for each arrangement; `read` is as in `choose_arrangement`.
    """
    sizes: dict[Arrangement, float] = {each.arrangement: 0 for each in maps}
    orders = {each.arrangement.by_black for each in maps}
    # If the sample has all blocks, both orders have the same leads.
    leads_differ = len(orders) > 1 and maps[0].blocks > blocks
    for by_black in orders:
        group = [each for each in maps if each.arrangement.by_black == by_black]
        lead_bytes = 0
        for tile, sampled in _sample(group[0], blocks).items():
            codes = read(group[0], tile)
            if leads_differ:
                leads = codes.reshape(-1, group[0].lead_slots)[:, : group[0].block_slots]
                # Many leads are equal, such as those with draws only.
                for lead, count in Counter(lead.tobytes() for lead in leads).items():
                    lead_bytes += count * compressed_size(np.frombuffer(lead, codes.dtype))
            for each in group:
                for number in sampled:
                    block = each.block_in_file_order(tile, codes, number)
                    sizes[each.arrangement] += compressed_size(block)
        for each in group:
            sizes[each.arrangement] /= lead_bytes or 1
    return sizes


def _sample(block_map: BlockMap, blocks: int) -> dict[int, list[int]]:
    """Return the numbers in its tile of each of `blocks` sampled blocks, by tile."""
    tiles = range(block_map.tiles)
    if block_map.blocks <= blocks:
        return {tile: list(range(len(block_map.blocks_of(tile)))) for tile in tiles}
    sample: dict[int, list[int]] = {}
    for n in range(blocks):
        tile = (2 * n + 1) * len(tiles) // (2 * blocks)
        number = int(n * _GOLDEN % 1 * len(block_map.blocks_of(tile)))
        sample.setdefault(tile, []).append(number)
    return sample
