"""Threads start if there is memory for them, else an error is raised at once."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from tbgen.system.threads import startable_threads, thread_pool

TRIES = """
import os, resource, signal, time
from pathlib import Path
from tbgen.system.threads import thread_pool

used = [bytearray(300) for _ in range(20_000)]  # what the interpreter had to give


def share_work(room):
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + (room << 10)
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
    try:
        with thread_pool(2) as pool:
            return sum(pool.map(lambda n: len(bytearray(n)), range(100))) != 4950
    except MemoryError:
        return 2


for room in (0, *range(8180, 8240, 4), 1 << 18):
    child = os.fork()
    if child == 0:
        os._exit(share_work(room))
    deadline = time.monotonic() + 30
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            raise SystemExit(f"{room} KiB: the pool waits for a thread that has ended")
        time.sleep(0.01)
print("done")
"""
"""Script that starts threads with different amounts of free address space.

About 8 MiB suffice for a thread's stack and little more: the thread begins and then finds no
memory.
"""


def test_a_pool_shares_work() -> None:
    with thread_pool(3) as pool:
        assert list(pool.map(lambda n: n * n, range(50))) == [n * n for n in range(50)]


def test_threads_that_the_system_refuses_are_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    start, refused = threading.Thread.start, threading.active_count() + 2

    def limited(thread: threading.Thread) -> None:
        if threading.active_count() == refused:
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", limited)
    assert [startable_threads(most) for most in (0, 1, 2, 3)] == [0, 1, 2, 2]
    assert threading.active_count() == refused - 2


@pytest.mark.skipif(sys.platform != "linux", reason="addresses are limited by Linux")
def test_a_thread_without_memory_raises_at_once() -> None:
    result = subprocess.run([sys.executable, "-c", TRIES], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert result.stdout == "done\n"
