"""Processes that run jobs: results, errors, deaths, and the end of their parent."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tbgen.scheduling import processes
from tbgen.scheduling.processes import Processes
from tbgen.scheduling.queue import Job, Start
from tbgen.scheduling.run import LostError, Observer, PostponedError, run
from tbgen.tables.errors import MissingTableError
from tests.helpers.paths import ROOT


def do(start: Start) -> object:
    """Run a job of these tests in another process; its payload names an action.

    Actions are, for example, to return the process id, to raise an error, or to die.
    """
    what, *arguments = start.job.payload  # type: ignore[misc]
    if what == "pid":
        return os.getpid()
    if what == "raise":
        raise arguments[0](*arguments[1:])
    if what == "missing file":
        return Path("/nowhere/at/all").read_bytes()
    if what == "die once":
        (marker,) = arguments
        if not marker.exists():
            marker.write_text(str(os.getpid()))
            os.kill(os.getpid(), signal.SIGKILL)
        return start.memory
    if what == "die":
        os._exit(7)
    if what == "clean up":
        (folder,) = arguments
        try:
            (folder / "pid").write_text(str(os.getpid()))
            (folder / "begun").touch()
            time.sleep(60)
        finally:
            (folder / "cleaned").touch()
    raise AssertionError(what)


def start(*payload: object) -> Start:
    return Start(Job("job", payload=payload), 0, 1, 0.0)


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + 60
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert path.exists()


def is_gone(pid: int) -> bool:
    """Return whether a process has ended, reaped or not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_a_process_runs_jobs_and_reports_failures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process returns results and errors of jobs, and is replaced if it dies.

    A file of the current directory does not replace a module. All cases share one `Processes`
    object of one process, since a start takes half a second.
    """
    for name in ("click", "multiprocessing", "numpy", "pickle", "tbgen"):
        (tmp_path / f"{name}.py").write_text("open('planted', 'w')")
    monkeypatch.chdir(tmp_path)
    marker = tmp_path / "marker"
    with Processes(do, 1, 100) as processes:
        first = processes.submit(start("pid")).result()
        assert first != os.getpid()
        error = processes.submit(start("raise", MissingTableError, "KRK")).exception()
        assert isinstance(error, MissingTableError)
        assert (error.material, error.command) == ("KRK", "tbgen build KRK")
        assert "test_processes" in error.__notes__[0]
        postponed = processes.submit(start("raise", PostponedError, "x")).exception()
        assert isinstance(postponed, PostponedError)
        system = processes.submit(start("missing file")).exception()
        assert isinstance(system, FileNotFoundError)
        assert system.filename == "/nowhere/at/all"
        assert processes.submit(start("pid")).result() == first, "it stays, whatever jobs raise"
        jobs = [
            Job("a", memory=30, payload=("die once", marker)),
            Job("b", ("a",), payload=("pid",)),
        ]
        outcome = run(jobs, processes, Observer())
        assert outcome.results["a"] == 60, "twice the memory is kept for what was lost"
        assert outcome.results["b"] != first
        assert int(marker.read_text()) == first
        lost = processes.submit(start("die")).exception()
        assert isinstance(lost, LostError)
        assert str(lost) == "its process ended with status 7"
        last = processes.submit(start("pid")).result()
        assert last not in (first, outcome.results["b"])
    assert is_gone(last)
    assert not (tmp_path / "planted").exists()


def test_a_process_that_ends_before_its_first_job(monkeypatch: pytest.MonkeyPatch) -> None:
    class Ended(processes._Worker):
        def __init__(self) -> None:
            super().__init__()
            self._thread.join()

    monkeypatch.setattr(processes, "_Worker", Ended)
    monkeypatch.setattr(processes, "python_command", lambda *arguments: ["true"])
    with Processes(do, 1, None) as executor, pytest.raises(LostError, match="ended at once"):
        executor.submit(start("raise", ValueError)).result(10)


def test_closed_processes_clean_up(tmp_path: Path) -> None:
    with Processes(do, 1, None) as processes:
        processes.submit(start("clean up", tmp_path))
        wait_for(tmp_path / "begun")
    assert (tmp_path / "cleaned").exists()


def test_a_lock_held_after_an_interruption_does_not_block_closing(tmp_path: Path) -> None:
    """Closing the processes does not wait for a future whose lock is never released.

    Ctrl-C within `concurrent.futures.wait`, which takes each future's lock, can leave it locked.
    """
    with Processes(do, 1, None) as processes:
        future = processes.submit(start("clean up", tmp_path))
        wait_for(tmp_path / "begun")
        future._condition.acquire()  # never released
    assert (tmp_path / "cleaned").exists()
    assert not future.done()


STOPPED_AT_ITS_START = """
import os, signal, sys, threading
from tbgen.scheduling.processes import work
threading.Thread.start = lambda thread: os.kill(os.getpid(), signal.SIGTERM)
work(int(sys.argv[1]))
"""


def test_a_process_stopped_at_its_start_prints_nothing() -> None:
    """A SIGTERM before the first job ends a worker like a later one: without a traceback."""
    ours, theirs = multiprocessing.Pipe()
    with ours, theirs:
        stopped = subprocess.run(
            [sys.executable, "-c", STOPPED_AT_ITS_START, str(theirs.fileno())],
            pass_fds=[theirs.fileno()], cwd=ROOT, capture_output=True, text=True, timeout=60,
        )  # fmt: skip
    assert (stopped.returncode, stopped.stderr) == (0, "")


PARENT = """
import sys, time
from pathlib import Path
from tbgen.scheduling.processes import Processes
from tests.scheduling.test_processes import do, start
with Processes(do, 1, None) as processes:
    processes.submit(start("clean up", Path(sys.argv[1])))
    time.sleep(60)
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_processes_of_a_killed_parent_clean_up_and_end(tmp_path: Path) -> None:
    parent = subprocess.Popen([sys.executable, "-c", PARENT, str(tmp_path)], cwd=ROOT)
    wait_for(tmp_path / "begun")
    parent.kill()
    parent.wait()
    wait_for(tmp_path / "cleaned")
    pid = int((tmp_path / "pid").read_text())
    deadline = time.monotonic() + 60
    while not is_gone(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert is_gone(pid)
