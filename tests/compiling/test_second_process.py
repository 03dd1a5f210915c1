"""The second compiling process: when it is started, its lock, and its end."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Event, Thread

import pytest

from tbgen.compiling import jit
from tests.helpers.paths import ROOT

PROGRAM = """
import time
from tbgen.compiling import jit
from tests.compiling.test_second_process import idle

jit.usable_cores = lambda: 2
print(jit.start_beside(idle).pid, flush=True)
time.sleep(60)
"""


def idle() -> None:
    """Occupy the second process for a minute, as a job that compiles nothing."""
    time.sleep(60)


def greet() -> None:
    """Job of the second process: take and release the lock of compilations.

    The job must not wait for the first process, which may hold this lock.
    """
    with jit.compile_lock():
        pass


def fail() -> None:
    """Job that fails."""
    raise RuntimeError


@pytest.fixture(autouse=True)
def cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate a machine with two usable cores, so that a second process is started."""
    monkeypatch.setattr(jit, "usable_cores", lambda: 2)


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_the_second_compiler_ends_with_the_first(end: signal.Signals) -> None:
    first = subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, cwd=ROOT,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    assert first.stdout is not None
    process = int(first.stdout.readline())
    os.killpg(first.pid, end)
    _, stderr = first.communicate()
    assert stderr.count("Traceback") == (end == signal.SIGINT)  # of the script above
    deadline = time.monotonic() + 60
    while is_running(process):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_the_second_compiler_uses_the_lock_of_the_first() -> None:
    with jit.compile_lock():
        process = jit.start_beside(greet)
        assert process is not None
        assert process.wait() == 0


def test_a_failure_only_ends_the_second_compiler() -> None:
    process = jit.start_beside(fail)
    assert process is not None
    assert process.wait() == 1


def test_none_is_started_without_a_gain(monkeypatch: pytest.MonkeyPatch) -> None:
    without = ("usable_cores", lambda: 1), ("CACHE_FOLDER", None), ("internals", None)
    for name, value in without:
        with monkeypatch.context() as changed:
            changed.setattr(jit, name, value)
            assert jit.start_beside(greet) is None


def test_none_is_started_without_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object, **options: object) -> None:
        raise BlockingIOError

    monkeypatch.setattr(jit.subprocess, "Popen", refuse)
    assert jit.start_beside(greet) is None


def test_compiled_sets_are_recorded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(jit, "CACHE_FOLDER", tmp_path)
    assert not jit.is_compiled("this")
    jit.note_compiled("this")
    assert jit.is_compiled("this")
    assert not jit.is_compiled("that")
    for folder in (None, tmp_path / "none"):
        monkeypatch.setattr(jit, "CACHE_FOLDER", folder)
        jit.note_compiled("this")
        assert not jit.is_compiled("this")


def test_the_lock_is_reentrant() -> None:
    with jit.compile_lock(), jit.compile_lock():
        pass
    assert not jit._thread.holds_lock


def test_threads_in_turn_restore_the_garbage_collection() -> None:
    before = gc.get_threshold()
    inside = Event()

    def first() -> None:
        with jit.compile_lock():
            inside.set()
            time.sleep(0.1)  # the second thread waits for the lock

    thread = Thread(target=first)
    thread.start()
    inside.wait()
    with jit.compile_lock():
        thread.join()
    assert gc.get_threshold() == before


def test_the_time_in_the_lock_is_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter((10.0, 12.5))
    before = jit.compiling_seconds()
    monkeypatch.setattr(jit.time, "monotonic", lambda: next(now))
    with jit.compile_lock(), jit.compile_lock():
        pass
    assert jit.compiling_seconds() - before == 2.5


def is_running(process: int) -> bool:
    """Return whether a process is alive, and not just waiting to be reaped."""
    try:
        status = Path(f"/proc/{process}/stat").read_text("ascii")
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"
