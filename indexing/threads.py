"""Threads that share work, started only where there is room for them.

A thread that finds no memory in its first moments ends before it has said that it has begun, and
who starts it waits for that for ever (`ulimit -v`, with CPython 3.11). So room is asked for first.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from tbgen.indexing.systems import room_left, stack_bytes

_FIRST_MOMENTS = 16 << 20
"""Bytes that must be free for all threads together, beside their stacks."""


def thread_pool(threads: int, name: str = "") -> ThreadPoolExecutor:
    """A pool of so many threads, to be given work at once.

    Raises `MemoryError` where what the process may still have does not suffice for them.
    """
    if min(room_left()) < threads * stack_bytes() + _FIRST_MOMENTS:
        raise MemoryError(f"no room for {threads} threads")
    return ThreadPoolExecutor(threads, name)
