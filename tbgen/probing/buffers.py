# mypy: allow-untyped-calls
"""Arrays of tables for compiled probes, and the loading of their blocks.

    keys, numbers    open-addressed hash table: a material's number of pieces of each code (four
                     bits each), in either colouring  ->  2 * index of the table, plus 1 if the
                     colours of the position must be exchanged
    tables           a row of words for each table (listed in `kernels`): offsets of its parts of
                     `descriptors` and `blocks`, width and span of its codes, its pieces
    descriptors      for each table its layout (`tbgen.indexing.slots`), then the block maps of
                     both sides (`tbgen.indexing.arrangement`), concatenated
    blocks           for each block of each table: the number of its frame; -1 if it is cold (not
                     loaded); -2 - code if all its slots have that code (stored value)
    frames           cache, (frames, bytes): a decompressed block in each, as in `Block.packed`
    wanted, used     flags that probes set: blocks to load, frames recently used

The cache evicts blocks by the clock algorithm: a pointer moves over the frames in turn, clears the
flag `used` of a frame that has it, and stops at the first frame without it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from contextlib import nullcontext
from functools import partial
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tbgen.indexing import Material, Side
from tbgen.indexing.material import as_material
from tbgen.indexing.squares import PieceType, piece_code
from tbgen.probing import kernels
from tbgen.probing.kernels import Buffers
from tbgen.tables import MissingTableError, Tablebase, TableFile, TableName, WdlName
from tbgen.tables.batches import checked
from tbgen.tables.blocks import Block

DEFAULT_CACHE_BYTES = 256 << 20

_COLD_BLOCK = -1


class NumbaTables:
    """Tables of a `Tablebase`, ready for compiled probes through `buffers`.

    `materials` (names or `Material`s) default to all tables of the tablebase under its rules. The
    cache takes at most `cache_bytes`, which may be infinite, but has room for at least one block.
    The tablebase must stay open. Raises `MissingTableError` with the names of all missing tables,
    and the other errors of `Tablebase.table`.

    Several threads may run kernels and call methods. But loading may evict a block that a kernel is
    about to read. So unless all blocks fit in the cache, call `load_wanted`, `preload` and
    `probe_boards` only while no other thread runs kernels of its own.
    """

    def __init__(
        self,
        tablebase: Tablebase,
        materials: Iterable[Material | str] | None = None,
        *,
        cache_bytes: float = DEFAULT_CACHE_BYTES,
    ) -> None:
        self._tablebase = tablebase
        self._lock = RLock()
        self._hand = 0  # pointer of the clock algorithm: the next frame
        self.materials = chosen_materials(materials, tablebase, tablebase.available())
        """The materials, in the order of `Buffers.tables`."""
        files, missing = [], []
        for material in self.materials:
            try:
                files.append(tablebase.table(material))
            except MissingTableError:
                missing.append(material.name)
        if missing:
            raise MissingTableError(" ".join(missing), tablebase.rule_set, tablebase.directories)
        self._first_blocks = [0]  # index of each table's first block, then the number of blocks
        rows, descriptors, offset = [], [np.empty(0, np.int64)], 0
        for file in files:
            rows.append(_table_words(file, offset, self._first_blocks[-1]))
            descriptors += _descriptors(file)
            offset = int(rows[-1][kernels.BLOCK_MAPS_END])
            self._first_blocks.append(self._first_blocks[-1] + sum(file.header.blocks))
        blocks = self._first_blocks[-1]
        frame_bytes = max(
            (f.header.spec.codec.max_content(f.header.block_slots) for f in files), default=1
        )
        frames = int(max(1, min(blocks, cache_bytes / frame_bytes)))
        keys, numbers = hash_table(self.materials)
        self._owner = np.full(frames, -1, np.int64)  # the block in each frame, -1 for none
        self.buffers = Buffers(
            keys=keys,
            numbers=numbers,
            tables=np.array(rows, np.int64).reshape(len(rows), kernels.TABLE_WORDS),
            descriptors=np.concatenate(descriptors),
            blocks=np.full(blocks, _COLD_BLOCK, np.int64),
            frames=np.empty((frames, frame_bytes), np.uint8),
            wanted=np.zeros(blocks, np.uint8),
            used=np.zeros(frames, np.uint8),
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the tablebase and the materials, without blocks; the copy loads its own."""
        made = partial(type(self), cache_bytes=self.cache_bytes)
        return made, (self._tablebase, self.materials)

    @property
    def cache_bytes(self) -> int:
        """Size of the cache in bytes, used or not."""
        return self.buffers.frames.nbytes

    def raise_if_cancelled(self) -> None:
        """Call `Tablebase.checkpoint`, which may raise an exception to cancel long work."""
        self._tablebase.checkpoint()

    def load_wanted(self) -> int:
        """Load the blocks that probes have marked as wanted, as many as fit in the cache.

        Clears their marks, and may evict other blocks. Returns the number of blocks loaded, 0 if no
        cold block is wanted. Raises the errors of `Tablebase.table`, such as `CorruptTableError`
        and `OSError`; blocks loaded before the error stay loaded.
        """
        with self._lock:
            # numpy searches booleans ten times as fast as integers.
            return self._load(np.flatnonzero(self.buffers.wanted.view(np.bool_)))

    def preload(self, *materials: Material | str) -> int:
        """Load the blocks of `materials`, by default of all tables, as many as fit in the cache.

        May evict blocks of other materials. Returns the number of blocks that are still cold,
        because the cache is full. Raises like `load_wanted`, `MaterialError` for a text that is no
        material, and `KeyError` for a material that this object lacks.
        """
        names = [material.name for material in self.materials]
        asked = [Material.parse(str(material)).name for material in materials] or names
        for name in asked:
            if name not in names:
                raise KeyError(f"{name} is none of {', '.join(names)}")
        chosen = map(names.index, dict.fromkeys(asked))
        blocks = [np.arange(*self._first_blocks[number : number + 2]) for number in chosen]
        wanted = np.concatenate([np.empty(0, np.int64), *blocks])
        with self._lock:
            frames = self.buffers.blocks[wanted]
            self._load(wanted[frames == _COLD_BLOCK], {*frames[frames >= 0].tolist()})
            return int((self.buffers.blocks[wanted] == _COLD_BLOCK).sum())

    def probe_boards(
        self, boards: NDArray[Any], sides: NDArray[Any]
    ) -> tuple[NDArray[np.int8], NDArray[np.int64]]:
        """Probe legal positions, loading their blocks; return (statuses, scores), (n,) each.

        boards : uint8 (n, 90), piece codes
        sides : (n,), 0 Red, 1 Black to move

        Statuses and scores are those of `kernels`; no status is `COLD`. Raises like `load_wanted`
        and `tbgen.tables.batches.checked`.
        """
        checked_boards, sides = checked(boards, sides)
        boards = checked_boards.view(np.int8)  # the dtype of kernels
        statuses = np.full(len(boards), kernels.COLD, np.int8)
        scores = np.zeros(len(boards), np.int64)
        pending = np.arange(len(boards))
        # Without evictions, several threads probe at the same time.
        evicts = len(self._owner) < len(self.buffers.blocks)
        with self._lock if evicts else nullcontext():
            while kernels.probe_boards(self.buffers, boards, sides, pending, statuses, scores):
                self.load_wanted()
                pending = np.flatnonzero(statuses == kernels.COLD)
        return statuses, scores

    # -- blocks and frames -------------------------------------------------------------------

    def _load(self, blocks: NDArray[np.int64], kept: Iterable[int] = ()) -> int:
        """Load those of the given blocks that are cold, in their order; return their number.

        blocks : indices in `Buffers.blocks`, int64 (n,)
        kept : frames whose blocks must not be evicted

        Clears the flag `wanted` of each block once it is loaded. Stops at the first block for which
        no frame is left: each is in `kept` or was filled by this call. Raises like `load_wanted`.
        """
        buffers = self.buffers
        taken = {*kept}
        done = 0
        for block in blocks.tolist():
            if buffers.blocks[block] != _COLD_BLOCK:  # loaded since the probe
                buffers.wanted[block] = 0
                continue
            decoded = self._read(block)
            if decoded.constant is not None:
                buffers.blocks[block] = -2 - decoded.constant
            else:
                frame = self._free_frame(taken)
                if frame is None:
                    break
                taken.add(frame)
                data = decoded.packed
                buffers.frames[frame, : len(data)] = data
                self._owner[frame] = block
                buffers.blocks[block] = frame
                buffers.used[frame] = 1
            buffers.wanted[block] = 0
            done += 1
        return done

    def _free_frame(self, taken: set[int]) -> int | None:
        """Free a frame outside `taken` by the clock algorithm; return its number, None for none."""
        buffers = self.buffers
        if len(taken) == len(self._owner):
            return None
        while True:
            frame = self._hand
            self._hand = (self._hand + 1) % len(self._owner)
            if frame in taken:
                continue
            if self._owner[frame] >= 0 and buffers.used[frame]:
                buffers.used[frame] = 0
                continue
            if self._owner[frame] >= 0:
                buffers.blocks[self._owner[frame]] = _COLD_BLOCK
            return frame

    def _read(self, block: int) -> Block:
        """Read and decode a block, given by its index in `Buffers.blocks`."""
        number = bisect_right(self._first_blocks, block) - 1
        file = self._tablebase.table(self.materials[number])
        decoded = file.block(block - self._first_blocks[number])
        assert isinstance(decoded, Block)
        return decoded


def chosen_materials(
    materials: Iterable[Material | str] | None,
    tablebase: Tablebase,
    names: Iterable[TableName | WdlName],
) -> tuple[Material, ...]:
    """Return `materials`, each once; if None, the materials of the files `names`.

    names : names of files of the tablebase; files under other rules than its own are ignored

    Materials that need no file, because all positions are draws, are left out. Raises errors of
    `Tablebase.rule_set` if `materials` is None, and `MaterialError` for a text that is no material.
    """
    if materials is None:
        rule_set = tablebase.rule_set
        chosen = [name.material for name in names if name.rule_set == rule_set]
    else:
        chosen = [*map(as_material, materials)]
    return tuple(dict.fromkeys(material for material in chosen if material.needs_table))


def counts_of(material: Material, *, swapped: bool = False) -> int:
    """Return a material's number of pieces of each code, four bits each, as one integer.

    swapped : whether to exchange the colours of the pieces
    """
    return sum(
        army.count(kind) << 4 * piece_code(side ^ swapped, kind)
        for side, army in zip(Side, material.armies, strict=True)
        for kind in PieceType
    )


def hash_table(materials: Iterable[Material]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return a hash table from materials to their numbers: arrays `keys` and `numbers`.

    A key is the piece counts of a material (`counts_of`), in either colouring. Its number is twice
    the index of the material, plus 1 if the colours are to be exchanged. An empty entry is -1.
    """
    # A symmetric material has the same key in both colourings: the later entry, False, remains.
    entries = {
        counts_of(material, swapped=swapped): 2 * number + swapped
        for number, material in enumerate(materials)
        for swapped in (True, False)
    }
    size = max(4, 1 << (2 * len(entries) + 1).bit_length())
    keys, numbers = np.full(size, -1, np.int64), np.full(size, -1, np.int64)
    kernels.fill_hash(keys, numbers, np.array(list(entries.items()), np.int64).reshape(-1, 2))
    return keys, numbers


def _table_words(file: TableFile, descriptor_offset: int, first_block: int) -> NDArray[np.int64]:
    """Return the row of a table in `Buffers.tables`.

    descriptor_offset : index in `Buffers.descriptors` of the table's first word
    first_block : index in `Buffers.blocks` of the table's first block
    """
    header, layout = file.header, file.layout
    codes = header.spec.codes
    words = np.zeros(kernels.TABLE_WORDS, np.int64)
    lengths = [len(descriptor) for descriptor in _descriptors(file)]
    words[: kernels.BLOCK_MAPS_END + 1] = descriptor_offset + np.cumsum([0, *lengths])
    words[kernels.WIDTH], words[kernels.SPAN] = codes.width, codes.span
    words[kernels.PIECES] = len(layout.piece_codes)
    words[kernels.INNER_CODE] = layout.piece_codes[-1] if layout.inner is not None else 0
    bases = (first_block, first_block + header.blocks[0])
    for side in Side:
        constant = header.blocks[side] == 0
        words[kernels.RED_BLOCKS + side] = -2 - header.constants[side] if constant else bases[side]
    for code in set(layout.piece_codes):
        words[kernels.FIRST_PLACES + code] = layout.piece_codes.index(code)
    return words


def _descriptors(file: TableFile) -> list[NDArray[np.int64]]:
    """Return a table's part of `Buffers.descriptors`: layout, Red's and Black's block map."""
    return [file.layout.descriptor, *(each.descriptor for each in file.header.block_maps)]
