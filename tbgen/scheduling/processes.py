"""Executor with processes of this machine, each of which runs one job after another.

    submit  ->  an idle process, or a new one  ->  a thread waits for its answer  ->  the future

A process runs until the executor is closed. If a process ends without an answer (out of memory, or
a fault in compiled code), the future of its job ends with `LostError`, and the next job gets a new
process. Processes are spawned, since threads and the compiler do not survive a fork. Each has its
own process group, so that Ctrl-C reaches only the parent.

    parent  --job-->  a thread of the process  -->  its main thread  --answer-->  parent's thread

An empty message ends the process, and so does the end of the connection, if the parent was killed.
The main thread is then interrupted by SIGTERM, which it handles like Ctrl-C: incomplete files are
removed, and locks released. Jobs do not come by standard input, since on Windows no library can be
loaded while a thread reads it.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any

from tbgen.scheduling.queue import Start
from tbgen.scheduling.run import Attempt, Executor, LostError, attempt
from tbgen.system.platform import (
    OWN_GROUP,
    inherit,
    inherited,
    interrupt_self,
    python_command,
)
from tbgen.system.signals import take_signals

GRACE_SECONDS = 10.0
"""Time limit for a worker to clean up after its interruption, before it is killed."""

_THREAD_SECONDS = 1.0
"""Time limit for the end of the thread that receives answers, after its worker has ended."""


class Processes(Executor):
    """Executor that calls `function(start)` in other processes; use as a `with` block.

    function : picklable, as are its results
    slots : limit on the jobs that run at once, which the caller must keep (`ReadyQueue.next`)
    memory : bytes that all jobs share; None for no limit
    """

    def __init__(self, function: Callable[[Start], Any], slots: int, memory: int | None) -> None:
        self.slots = slots
        self.memory = memory
        self._function = function
        self._workers: list[_Worker] = []

    def __exit__(self, *exception: object) -> None:
        """Ask all worker processes to stop, and kill those that run on after `GRACE_SECONDS`."""
        for worker in self._workers:
            worker.stop()
        deadline = time.monotonic() + GRACE_SECONDS
        for worker in self._workers:
            worker.end(max(0.0, deadline - time.monotonic()))
        self._workers = []

    def submit(self, start: Start) -> Future[Any]:
        """Run a job in an idle or new process; return its future.

        Raises `OSError` if no process can be started, and the errors of pickling the function.
        """
        self._workers = [worker for worker in self._workers if worker.alive]
        message = pickle.dumps((self._function, start))
        future: Future[Any] = Future()
        for worker in self._workers:
            if worker.take(message, future):
                return future
        worker = _Worker()
        self._workers.append(worker)
        if not worker.take(message, future):
            future.set_exception(LostError("its process ended at once"))
        return future


class _Worker:
    """A worker process, and a thread of the parent that receives the worker's answers."""

    def __init__(self) -> None:
        self._connection, theirs = multiprocessing.Pipe()
        code = (
            f"import sys; sys.path[:] = {sys.path!r}; from tbgen.scheduling.processes import work; "
            f"work({theirs.fileno()})"
        )
        with theirs:
            # Workers answer through the connection, and print nothing.
            self.process = subprocess.Popen(
                python_command("-c", code),
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, **OWN_GROUP, **inherit(theirs),
            )  # fmt: skip
        self._lock = threading.Lock()
        self._future: Future[Any] | None = None
        self.alive = True
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def take(self, message: bytes, future: Future[Any]) -> bool:
        """Send a pickled job to the process if it is alive and idle; return whether it was."""
        with self._lock:
            if not self.alive or self._future is not None:
                return False
            self._future = future
        with contextlib.suppress(OSError):  # the process has just ended; the thread handles this
            self._connection.send_bytes(message)
        return True

    def _listen(self) -> None:
        """Receive answers and complete their futures, until the process has ended."""
        while True:
            try:
                answer = self._connection.recv()
            except (EOFError, OSError):
                break
            except Exception as error:  # an answer that cannot be unpickled
                answer = Attempt(error=error)
            with self._lock:
                future, self._future = self._future, None
            assert future is not None
            answer.complete(future)
        status = self.process.wait()
        with self._lock:
            self.alive = False
            future, self._future = self._future, None
        if future is not None:
            future.set_exception(LostError(_describe_exit(status)))

    def stop(self) -> None:
        with contextlib.suppress(OSError):  # it has ended
            self._connection.send_bytes(b"")

    def end(self, grace: float) -> None:
        """Wait until the process has ended, after `stop`; kill it after `grace` seconds."""
        try:
            self.process.wait(grace)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        finally:
            # Ctrl-C may leave the lock of a future held, and the thread that completes this future
            # would never end.
            self._thread.join(_THREAD_SECONDS)
            self._connection.close()


def _describe_exit(status: int) -> str:
    """Return an exit status in words, such as `its process was ended by SIGKILL`."""
    if status >= 0:
        return f"its process ended with status {status}"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    return f"its process was ended by {name}"


def work(number: int) -> None:
    """Run the jobs from an inherited connection: main function of a worker process.

    number : the connection's `fileno`, for `inherited`
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # handled by the parent
    jobs: SimpleQueue[bytes] = SimpleQueue()
    # The interruption may come before the first job.
    with contextlib.suppress(ConnectionError, KeyboardInterrupt), inherited(number) as connection:
        take_signals()
        threading.Thread(target=_receive, args=(connection, jobs), daemon=True).start()
        while message := jobs.get():
            connection.send(attempt(_call, message))
        signal.signal(signal.SIGTERM, signal.SIG_IGN)


def _call(message: bytes) -> Any:
    """Return the result of a function, pickled with its argument."""
    function, argument = pickle.loads(message)
    return function(argument)


def _receive(connection: Connection, jobs: SimpleQueue[bytes]) -> None:
    """Queue jobs until an empty message or the connection's end; then end the process."""
    while True:
        try:
            message = connection.recv_bytes()
        except (EOFError, OSError):  # the parent was killed
            message = b""
        jobs.put(message)
        if not message:
            break
    interrupt_self(signal.SIGTERM)
    time.sleep(GRACE_SECONDS)
    os._exit(1)
