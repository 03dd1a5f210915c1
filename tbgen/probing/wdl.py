# mypy: allow-untyped-calls
"""Win-draw-loss files, decompressed into arrays, for compiled probes (`wdl_kernels`).

A *lead* is the number of a placement of kings, advisors and elephants (`tbgen.indexing`), mirror
images counted once. Each side's outcomes are stored lead by lead, in tiles of several leads.

keys, numbers    hash table from materials to files, as in `buffers`
tables           a row of words for each file (listed in `wdl_kernels`): where its parts of `joint`,
                 `starts` and `data` begin, or the one outcome of all positions of a side to move;
                 code of the inner piece, whose square varies fastest in an index; for each piece
                 code the number of pieces, and factors for computing indices
joint            for each pair of defences (numbers of advisors and elephants of Red and Black):
                 lead of each placement of these pieces and the kings, with flags for mirroring
starts           for each file and side to move, an entry for each lead: where its outcomes begin,
                 and a flag if they are in the last tile, which may be shorter
data             bytes of all tiles; a byte has five outcomes
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from tbgen.indexing import InputError, Material, Side
from tbgen.indexing.arrangement import (
    AXIS_STRIDE,
    AXIS_WORDS,
    FIRST_AXIS,
    LEAD_NUMBERS,
    LEAD_STRIDE,
    BlockMap,
)
from tbgen.indexing.layout import Layout
from tbgen.indexing.squares import PieceType, piece_code
from tbgen.probing import wdl_kernels as words
from tbgen.probing.buffers import chosen_materials, hash_table
from tbgen.probing.wdl_kernels import WdlBuffers
from tbgen.tables import MissingTableError, Tablebase, WdlFile
from tbgen.tables.outcomes import OUTCOMES, SLOTS_PER_BYTE, OutcomeBlock, encode_outcomes

DEFAULT_MAX_BYTES = 1 << 30


class WdlTables:
    """Win-draw-loss files of a `Tablebase` in memory, for compiled probes through `buffers`.

    `materials` (names or `Material`s) default to all files of the tablebase under its rules. A file
    takes about a fifth of a byte for each slot and side to move, and nothing for a side to move
    with equal outcomes in all positions. Any number of threads may probe. Raises `InputError` if
    all outcomes take more than `max_bytes`, `MissingTableError`, which names all missing files, the
    other errors of `Tablebase.wdl_file`, and `CorruptTableError` or `OSError` for outcomes that
    cannot be read.
    """

    def __init__(
        self,
        tablebase: Tablebase,
        materials: Iterable[Material | str] | None = None,
        *,
        max_bytes: int = DEFAULT_MAX_BYTES,
    ) -> None:
        self.materials = chosen_materials(materials, tablebase, tablebase.available_wdl())
        """The materials, in the order of `WdlBuffers.tables`."""
        found = {material: tablebase.wdl_file(material) for material in self.materials}
        files = [file for file in found.values() if file is not None]
        if len(files) < len(found):
            missing = " ".join(material.name for material, file in found.items() if file is None)
            raise MissingTableError(missing, tablebase.rule_set, tablebase.directories, wdl=True)
        size = sum(_side_bytes(file, side) for file in files for side in Side)
        if size > max_bytes:
            raise InputError(
                f"{len(files)} win-draw-loss files take {size:,} bytes unpacked, which is more "
                f"than {max_bytes:,}",
                "name fewer materials, or allow more by max_bytes",
            )
        data = np.empty(size, np.uint8)
        joints: dict[tuple[tuple[int, int], ...], int] = {}
        joint: list[NDArray[np.int32]] = [np.empty(0, np.int32)]
        starts: list[NDArray[np.int64]] = [np.empty(0, np.int64)]
        rows = np.zeros((len(files), words.TABLE_WORDS), np.int64)
        at = joint_at = start_at = 0
        for row, file in zip(rows, files, strict=True):
            layout = file.layout
            _write_pieces(row, layout)
            defences = tuple((each.advisors, each.elephants) for each in layout.defenders)
            if defences not in joints:
                joints[defences] = joint_at
                joint.append(_joint(layout))
                joint_at += len(joint[-1])
            row[words.JOINT] = joints[defences]
            for side in Side:
                block_map = file.header.block_maps[side]
                _write_strides(row, side, block_map)
                starts.append(_starts(block_map))
                row[words.STARTS + side] = start_at
                start_at += len(starts[-1])
                end = at + _side_bytes(file, side)
                row[words.BASES + side] = at
                if end == at:
                    row[words.BASES + side] = -1 - file.header.constants[side]
                else:
                    _unpack(file, side, data[at:end])
                at = end
        keys, numbers = hash_table(self.materials)
        self.buffers = WdlBuffers(
            keys, numbers, rows, np.concatenate(joint), np.concatenate(starts), data
        )


def _side_bytes(file: WdlFile, side: int) -> int:
    """Return the bytes of memory for all outcomes with `side` to move; 0 if they are all equal."""
    block_map = file.header.block_maps[side]
    return block_map.tiles * _tile_bytes(block_map) if file.header.blocks[side] else 0


def _tile_bytes(block_map: BlockMap) -> int:
    """Return the number of bytes of memory for a full tile: five outcomes per byte."""
    slots = block_map.arrangement.tile_leads * block_map.lead_slots
    return -(-slots // SLOTS_PER_BYTE)


def _unpack(file: WdlFile, side: int, out: NDArray[np.uint8]) -> None:
    """Decompress the outcomes with `side` to move into `out`; each tile begins with a new byte."""
    block_map, base = file.header.block_maps[side], side * file.header.blocks[0]
    aligned = block_map.block_slots % SLOTS_PER_BYTE == 0
    out[:] = 0  # the last tile may be shorter
    for tile in range(block_map.tiles):
        at, blocks = tile * _tile_bytes(block_map), block_map.blocks_of(tile)
        if not aligned:  # a byte may have outcomes of two blocks
            parts = [np.empty(block_map.slots_in(number), np.uint8) for number in blocks]
            for number, part in zip(blocks, parts, strict=True):
                file.block(base + number).write_to(part)
            codes = np.concatenate(parts)
            packed = OUTCOMES.block(encode_outcomes(codes, 0), len(codes))
            packed.write_packed(out[at : at + OUTCOMES.max_content(len(codes))])
            continue
        for number in blocks:
            block = file.block(base + number)
            assert isinstance(block, OutcomeBlock)
            end = at + OUTCOMES.max_content(block_map.slots_in(number))
            block.write_packed(out[at:end])
            at = end


def _starts(block_map: BlockMap) -> NDArray[np.int64]:
    """Return int64 (leads,): the place of each lead's first outcome, for one side to move.

    An entry is twice the index of that outcome among the side's outcomes in `data`, plus a flag: 1
    for leads of the last tile, for which other factors apply (`_write_strides`).
    """
    d = block_map.descriptor
    numbers = np.arange(block_map.layout.leads)
    if d[LEAD_NUMBERS]:
        numbers = d[d[LEAD_NUMBERS] :]
    tile, in_tile = np.divmod(numbers, block_map.arrangement.tile_leads)
    last = (tile == block_map.tiles - 1).astype(np.int64)
    start = tile * (_tile_bytes(block_map) * SLOTS_PER_BYTE) + in_tile * d[LEAD_STRIDE + last]
    return 2 * start + last


def _word(side: int, kind: int, word: int) -> int:
    """Return the index in a row of `tables` of a word about a side's pieces of one kind.

    word : number of the word, such as `wdl_kernels.COUNT`
    """
    return words.FIRST_CODE + (piece_code(side, kind) << words.CODE_SHIFT) + word


def _write_strides(row: NDArray[np.int64], side: Side, block_map: BlockMap) -> None:
    """Write each attacker's factors in the index of an outcome, for one side to move.

    row : inout, the file's row of `WdlBuffers.tables`
    """
    d, layout = block_map.descriptor, block_map.layout
    for last in (0, 1):
        of_side = 2 * side + last
        for axis, group in enumerate(layout.groups):
            stride = d[FIRST_AXIS + AXIS_WORDS * axis + AXIS_STRIDE + last]
            row[_word(group.side, group.kind, words.FILE + of_side)] = stride
        inner = d[FIRST_AXIS + AXIS_WORDS * len(layout.groups) + AXIS_STRIDE + last]
        row[words.INNER_FILE + of_side] = inner


def _write_pieces(row: NDArray[np.int64], layout: Layout) -> None:
    """Write the words of a row of `WdlBuffers.tables` that follow from the pieces alone."""
    for side in Side:
        for kind in PieceType:
            row[_word(side, kind, words.COUNT)] = layout.armies[side].count(kind)
    weight = 1
    for side in reversed(Side):
        _, advisors, elephants = layout.defenders[side].ranks.shape
        for kind, places in (
            (PieceType.ELEPHANT, 1),
            (PieceType.ADVISOR, elephants),
            (PieceType.KING, elephants * advisors),
        ):
            row[_word(side, kind, words.JOINT_WEIGHT)] = weight * places
        weight *= layout.defenders[side].ranks.size
    assert layout.inner is not None, "a material with a table has an attacker"
    row[words.INNER_CODE] = layout.piece_codes[-1]
    for group, stride in zip(layout.groups, layout.strides, strict=True):
        row[_word(group.side, group.kind, words.WITHIN)] = stride * layout.inner_size


def _joint(layout: Layout) -> NDArray[np.int32]:
    """Return the array `joint` of a material: the lead for each placement of the defenders.

    A placement is a pair of indices in Red's and Black's flattened `Defenders.ranks`; Red's index
    varies slower. An entry is the lead with flags for mirroring, or -1 if a side's pieces overlap.
    """
    red, black = (each.ranks.ravel().astype(np.int64) for each in layout.defenders)
    w, b = (ranks.ravel() for ranks in np.meshgrid(red, black, indexing="ij"))
    sound = (w >= 0) & (b >= 0)
    joint = np.full(len(w), -1, np.int32)
    lead, mirrored = layout.lead_of(w[sound], b[sound])
    own_image = layout.self_mirrored[lead]
    joint[sound] = (
        (lead << words.LEAD_SHIFT) | own_image * words.OWN_IMAGE | mirrored * words.MIRRORED
    )
    return joint
