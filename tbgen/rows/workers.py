"""Threads that process ranges of leads; the division of leads into chunks; a meter of the work.

One thread writes each lead, so that the result is the same for any number of threads. A *sweep*
finds, within a set, the predecessors of a frontier. `tbgen.rows` defines leads and rows.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

from tbgen.indexing.squares import SQUARES
from tbgen.rows.storage import Storage
from tbgen.system.threads import thread_pool

RANGES = 48
"""Usual maximum number of ranges of leads: enough to balance the threads."""

FEW_RANGES = 8
"""Maximum number of ranges of leads for set algebra, where all rows take equal time, and for sweeps
from frontiers of few rows.
"""

DISK_RANGES = 480
"""Maximum number of ranges of leads if arrays are on disk, instead of `RANGES` and `FEW_RANGES`:
the pages that a range uses must fit into memory.
"""

CHUNK_SLOTS = 1 << 22
"""Maximum number of slots (rows * 90) of a chunk, unless the chunk is a single lead."""

FEW_CHUNKS = 16
"""A chunk has at most 1 / `FEW_CHUNKS` of the leads, rounded up: this balances the threads. With 48
chunks a small build takes 7 % more processor time.
"""


class Chunks(NamedTuple):
    """Division of a layout's leads into chunks: consecutive leads, recorded together."""

    leads: int
    """Total number of leads."""
    size: int
    """Leads of a chunk; the last one may have fewer."""
    mids: int
    """Rows of each lead."""

    @classmethod
    def of(cls, leads: int, mids: int) -> Chunks:
        """Return the division into the largest chunks that `FEW_CHUNKS` and `CHUNK_SLOTS` allow."""
        size = max(1, min(-(-leads // FEW_CHUNKS), CHUNK_SLOTS // (mids * SQUARES)))
        return cls(leads, size, mids)

    @property
    def number(self) -> int:
        """Number of chunks."""
        return -(-self.leads // self.size)

    @property
    def rows(self) -> int:
        """Number of rows of a whole chunk."""
        return self.size * self.mids

    @property
    def range_rows(self) -> int:
        """Maximum number of rows in one range, if the chunks are divided into `RANGES` ranges."""
        return -(-self.number // RANGES) * self.rows

    def row_0(self, chunk: int) -> int:
        """Return the first row of a chunk."""
        return chunk * self.size * self.mids

    def lead_range(self, chunk: int) -> tuple[int, int]:
        """Return the first lead of a chunk, and the lead after its last one."""
        return chunk * self.size, min(self.leads, (chunk + 1) * self.size)


@dataclass
class Meter:
    """Counts of sweeps and of the rows that they read, which do not depend on the machine."""

    sweeps: int = 0
    rows: int = 0
    """Total number of rows that sweeps have read of the sets in which they search."""


class Workers:
    """Threads that process ranges of leads, with the storage of their arrays and their meter.

    The threads exist within a `with` block, which raises `MemoryError` if there is no room for
    them. Outside, or if there is to be one thread, the calling thread does all work.
    """

    def __init__(
        self, threads: int, storage: Storage | None = None, meter: Meter | None = None
    ) -> None:
        self.threads = threads
        self.storage = storage or Storage()
        self.meter = meter or Meter()
        self._pool: ThreadPoolExecutor | None = None

    def __enter__(self) -> Workers:
        if self.threads > 1:
            self._pool = thread_pool(self.threads)
        return self

    def __exit__(self, *exception: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    def run_kernel(
        self, total: int, kernel: Callable[..., object], *arguments: Any, ranges: int = RANGES
    ) -> None:
        """Call `kernel(first, last, *arguments)` by threads, as `run` does."""
        self.run(lambda first, last, _: kernel(first, last, *arguments), total, ranges)

    def run(
        self, work: Callable[[int, int, int], object], total: int, ranges: int = RANGES
    ) -> None:
        """Call `work(first, last, thread)` by threads, for ranges [first, last) of [0, total).

        `thread` is the thread's number, from 0. There are at most `ranges` calls, or up to
        `DISK_RANGES` if arrays are on disk. An exception in any thread (`KeyboardInterrupt` too)
        stops the others at their next range, and is raised here.
        """
        if self.storage.on_disk:
            ranges = max(ranges, DISK_RANGES)
        size = max(1, -(-total // ranges))
        counter = itertools.count()
        failed = False

        def loop(thread: int) -> None:
            nonlocal failed
            while not failed:
                first = next(counter) * size
                if first >= total:
                    return
                try:
                    work(first, min(total, first + size), thread)
                    self.storage.release_if_large()
                except BaseException:
                    failed = True
                    raise

        if self._pool is None or total <= size:
            loop(0)
            return
        futures = [self._pool.submit(loop, thread) for thread in range(self.threads)]
        try:
            for future in futures:
                future.result()
        except BaseException:
            failed = True
            raise
