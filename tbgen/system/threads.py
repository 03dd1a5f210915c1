"""Thread pools, started only if the limits of the process leave enough memory.

If a limit such as `ulimit -v` is reached while a thread starts, the thread ends without a signal,
and the thread that started it waits forever (CPython 3.11).
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event, Thread

from tbgen.system.platform import memory_left, stack_bytes

_START_BYTES = 16 << 20
"""Least bytes of memory for a new pool, besides the stacks of its threads."""


def thread_pool(threads: int, name: str = "") -> ThreadPoolExecutor:
    """Return a pool of threads whose names begin with `name`.

    Submit the first tasks at once, while the memory that was checked is still available. Raises
    `MemoryError` if the limits of the process leave too little memory.
    """
    if min(memory_left()) < threads * stack_bytes() + _START_BYTES:
        raise MemoryError(f"no room for {threads} threads")
    return ThreadPoolExecutor(threads, name)


def startable_threads(most: int) -> int:
    """Return the number of threads that this process can start now, at most `most`.

    Starts threads until the system refuses one, for example by `ulimit -u`, and ends them. There
    must be memory for `most` threads.
    """
    ended = Event()
    started: list[Thread] = []
    try:
        while len(started) < most:
            thread = Thread(target=ended.wait)
            thread.start()
            started.append(thread)
    except RuntimeError:  # "can't start new thread"
        pass
    ended.set()
    for thread in started:
        thread.join()
    return len(started)
