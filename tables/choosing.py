"""Choice of the arrangement in which a sample of a side's blocks compresses best.

An *arrangement* is an order of the slots of one side (`tbgen.indexing.arrangement`). It has two
parts: the order of the leads (placements of the defenders), which determines the leads of each
tile, and the order of the axes within a tile. Two rounds compare arrangements. A round is skipped
if all arrangements that it would compare remain anyway:

    a few blocks    of each possible arrangement
    more blocks     of the best few arrangements

The sample is spread over the tiles, and over the places in a tile. Arrangements with the same order
of leads have the same leads in each tile, and are compared on the same tiles. Under the other order
of leads, tiles contain other leads, which may be easier to compress. So if both orders compete, and
the sample does not have all blocks, the size of each sample is divided by the size of its leads.
This is the sum of the compressed sizes of all leads in the sampled tiles; of each lead, the slots
up to one block are compressed by themselves.

Each thread compresses a few lists of blocks, since handing over a single block takes about as long
as compressing it. The choice does not depend on the number of threads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from operator import mul

import numpy as np

from tbgen.indexing.arrangement import Arrangement, BlockMap, possible_arrangements
from tbgen.indexing.layout import Layout
from tbgen.system.threads import thread_pool
from tbgen.tables.blocks import BLOCK_SLOTS, COMPARING, Codes, Compressor

TILE_SLOTS = 4 * BLOCK_SLOTS
"""Most slots of a tile of a table, unless a single lead (placement of the defenders) has more."""

_ROUNDS = ((32, 3), (96, 1))
"""Rounds of the comparison: (number of sampled blocks, number of arrangements that remain)."""

_LISTS_PER_THREAD = 4
"""Lists of sampled blocks per thread; several, to balance the load of threads."""

_GOLDEN = (5**0.5 - 1) / 2
"""Reciprocal of the golden ratio; its multiples modulo 1 spread the sampled blocks evenly."""

MakeBlock = Callable[[], Codes]
"""Function that returns the codes of a block; called in a worker thread."""


def choose_arrangement(
    layout: Layout,
    read: Callable[[BlockMap, int], Codes],
    encode: Callable[[Codes], bytes],
    block_slots: int,
    tile_slots: int = TILE_SLOTS,
    threads: int = 1,
) -> Arrangement:
    """Return the arrangement (order of the slots) with which one side of a table compresses best.

    All possible arrangements are compared by the compressed size of a sample of blocks. Errors of
    `read` and `encode` pass through; raises `MemoryError` like `thread_pool`.

    read : returns the codes of a tile, in the order of `BlockMap.runs`
    encode : returns the content of a block, the bytes before compression; called from any thread
    block_slots : slots per block
    tile_slots : most slots per tile (`possible_arrangements`)
    """
    compressor, lists = Compressor(COMPARING), _LISTS_PER_THREAD * threads

    def sizes_of(blocks: list[MakeBlock]) -> list[int]:
        return [len(compressor.compress(encode(codes()))) for codes in blocks]

    def compressed_sizes(blocks: list[MakeBlock]) -> list[int]:
        sizes = [0] * len(blocks)
        parts = [blocks[first::lists] for first in range(lists)]
        for first, some in enumerate(pool.map(sizes_of, parts)):
            sizes[first::lists] = some
        return sizes

    chosen = possible_arrangements(layout, tile_slots)
    with thread_pool(threads) as pool:
        for blocks, best in _ROUNDS:
            if len(chosen) > best:
                maps = [BlockMap(layout, each, block_slots) for each in chosen]
                sizes = _compare(maps, read, compressed_sizes, blocks)
                chosen = sorted(chosen, key=sizes.__getitem__)[:best]
    return chosen[0]


def _compare(
    maps: list[BlockMap],
    read: Callable[[BlockMap, int], Codes],
    compressed_sizes: Callable[[list[MakeBlock]], list[int]],
    blocks: int,
) -> dict[Arrangement, float]:
    """Return a measure of the compressed size of a sample of `blocks` blocks, by arrangement.

    The measure is the size in bytes. If both orders of leads compete and have different leads in
    their samples, the size is divided by that of the sampled leads (module's docstring).

    maps : one for each arrangement to compare
    read : returns the codes of a tile, in the order of `BlockMap.runs`
    compressed_sizes : returns the compressed size in bytes of each block
    """
    sizes: dict[Arrangement, float] = {}
    orders = {each.arrangement.by_black for each in maps}
    # If the sample has all blocks, both orders have the same leads.
    leads_differ = len(orders) > 1 and maps[0].blocks > blocks
    for by_black in orders:
        group = [each for each in maps if each.arrangement.by_black == by_black]
        totals, lead_bytes = np.zeros(len(group), np.int64), 0
        for tile, sampled in _sample(group[0], blocks).items():
            codes = read(group[0], tile)
            if leads_differ:
                leads = codes.reshape(-1, group[0].lead_slots)[:, : group[0].block_slots]
                # Many leads are equal, such as those with draws only.
                counts = Counter(lead.tobytes() for lead in leads)
                found = compressed_sizes(
                    [partial(np.frombuffer, lead, codes.dtype) for lead in counts]
                )
                lead_bytes += sum(map(mul, found, counts.values()))
            found = compressed_sizes([
                partial(each.block_in_file_order, tile, codes, number)
                for each in group
                for number in sampled
            ])  # fmt: skip
            totals += np.reshape(found, (len(group), -1)).sum(axis=1)
        for block_map, total in zip(group, totals, strict=True):
            sizes[block_map.arrangement] = total / (lead_bytes or 1)
    return sizes


def _sample(block_map: BlockMap, blocks: int) -> dict[int, list[int]]:
    """Choose `blocks` blocks of a side, or all if it has no more; one may be chosen twice.

    Returns, for each tile, the numbers of its chosen blocks, counted from 0 in the tile.
    """
    tiles = range(block_map.tiles)
    if block_map.blocks <= blocks:
        return {tile: list(range(len(block_map.blocks_of(tile)))) for tile in tiles}
    sample: dict[int, list[int]] = {}
    for n in range(blocks):
        tile = (2 * n + 1) * len(tiles) // (2 * blocks)
        number = int(n * _GOLDEN % 1 * len(block_map.blocks_of(tile)))
        sample.setdefault(tile, []).append(number)
    return sample
