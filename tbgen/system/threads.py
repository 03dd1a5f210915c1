"""Thread pools, started only if memory suffices.

If memory runs out while a thread starts, the thread ends without a signal, and the thread that
started it waits forever (`ulimit -v`, CPython 3.11). So free memory is checked first.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from tbgen.system.platform import memory_left, stack_bytes

_START_BYTES = 16 << 20
"""Bytes that must be free to start a pool, beside the stacks of its threads."""


def thread_pool(threads: int, name: str = "") -> ThreadPoolExecutor:
    """Return a pool of threads whose names begin with `name`.

    Submit its first tasks at once, while the memory that was checked is still free. Raises
    `MemoryError` if the process's limits leave too little memory.
    """
    if min(memory_left()) < threads * stack_bytes() + _START_BYTES:
        raise MemoryError(f"no room for {threads} threads")
    return ThreadPoolExecutor(threads, name)
