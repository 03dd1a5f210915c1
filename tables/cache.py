"""Cache of decoded blocks of several files, with one limit in bytes (least recently used)."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock

from tbgen.tables.outcomes import AnyBlock

DEFAULT_CACHE_BYTES = 64 << 20

FileIdentity = tuple[int, int, int, int]
"""Device, inode, size in bytes, and time of modification in ns; changed by writing to the file."""

Key = tuple[FileIdentity, int]
"""Identity of a file, and number of the block in it."""


@dataclass(frozen=True, slots=True)
class CacheInfo:
    """Statistics of a cache: hits, misses, number and bytes of blocks, and the limit on bytes."""

    hits: int
    misses: int
    blocks: int
    bytes: int
    budget: int


class BlockCache:
    """A least-recently-used cache of decoded blocks, at most `budget` bytes; thread-safe."""

    def __init__(self, budget: int = DEFAULT_CACHE_BYTES) -> None:
        self.budget = budget
        self._blocks: OrderedDict[Key, AnyBlock] = OrderedDict()
        self._bytes = 0
        self._hits = 0
        self._misses = 0
        self._lock = Lock()

    def get(self, key: Key) -> AnyBlock | None:
        """Return the block with a key, or None if it is not in the cache."""
        with self._lock:
            block = self._blocks.get(key)
            if block is None:
                self._misses += 1
                return None
            self._blocks.move_to_end(key)
            self._hits += 1
            return block

    def put(self, key: Key, block: AnyBlock) -> None:
        """Add a block, unless it is there or alone exceeds the budget.

        Blocks beyond the budget are evicted, the least recently used first.
        """
        with self._lock:
            # Two threads may have decoded the same block.
            if key in self._blocks or block.nbytes > self.budget:
                return
            self._blocks[key] = block
            self._bytes += block.nbytes
            while self._bytes > self.budget:
                _, dropped = self._blocks.popitem(last=False)
                self._bytes -= dropped.nbytes

    def drop(self, file: FileIdentity) -> None:
        """Evict the blocks of a file."""
        with self._lock:
            for key in [key for key in self._blocks if key[0] == file]:
                self._bytes -= self._blocks.pop(key).nbytes

    def clear(self) -> None:
        """Evict all blocks."""
        with self._lock:
            self._blocks.clear()
            self._bytes = 0

    @property
    def info(self) -> CacheInfo:
        """Hits, misses, and current contents."""
        with self._lock:
            return CacheInfo(self._hits, self._misses, len(self._blocks), self._bytes, self.budget)
