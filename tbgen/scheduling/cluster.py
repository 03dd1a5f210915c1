"""Executor with the workers of a dask cluster, on this machine or others.

    local:N                a cluster of N processes on this machine, which the executor ends;
                           TLS with its own certificate excludes other users
    tcp://scheduler:8786   a running scheduler with its workers

A worker must have the job's bytes free in the resource `memory`, with which workers are started; a
worker without that resource gets no jobs. A job that needs more bytes than any worker declares when
the run begins is given the bytes of the largest worker. Each worker is checked when it is first
seen: version of tbgen, common directory. If a worker is killed, dask runs its jobs elsewhere. A job
that kills several workers ends with `LostError`. If the scheduler itself is lost, and a new one is
started at the same address within `_RECONNECT_SECONDS`, all running jobs are postponed, and then
submitted to the new one.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import signal
import socket
import tempfile
import uuid
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Future
from dataclasses import replace
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

import tbgen
from tbgen.indexing.errors import InputError, excerpt, one_line
from tbgen.scheduling.queue import Start
from tbgen.scheduling.run import Attempt, Executor, LostError, PostponedError, attempt
from tbgen.system.platform import safe_path
from tbgen.system.units import format_bytes

RESOURCE = "memory"
"""Name of the dask resource by which a worker declares the bytes that its jobs may take."""

_CONNECT_SECONDS = 10
_WORKERS_SECONDS = 60
"""Time limits for connecting to a scheduler, and for its first worker when a run begins."""

_RESULT_SECONDS = 60
"""Time limit for fetching the result of a job: a client that is closed meanwhile never gets it."""

_RECONNECT_SECONDS = 900
"""Time limit for connecting to a new scheduler after the old one was lost."""

_CHECK_SECONDS = 3.0
"""Interval between two checks of the connection while jobs run."""

_LOCAL_SETTINGS: dict[str, Any] = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
}
"""Settings of dask for a local cluster.

Without profiler and with rarer monitoring, two idle workers and a scheduler take 1 % of a core
instead of 7 %. Status pages, which any user could read, are turned off.
"""

_LOCAL = re.compile(r"local:([1-9][0-9]{0,3})")

_SCHEDULER = re.compile(r"(?:tcp://|tls://)?\[?([^/\s]+?)\]?:([0-9]{1,5})/?", re.ASCII)
"""Pattern of a scheduler's address, with host and port as groups."""


class Cluster(Executor):
    """Executor that calls `function(start)` on workers of dask; use as a `with` block.

    address : of a scheduler, or `local:N`
    memory : bytes of a local cluster, divided equally among its workers
    floor : least bytes that a job is given, if a worker has them
    folder : directory that workers must share with this machine, None for no check; created

    Raises `InputError` for a malformed address, for TLS without certificates, if dask is missing,
    if a local cluster does not start, if no scheduler answers, if no worker declares its memory,
    or if a worker has another version of tbgen or does not share `folder`; and `OSError` if
    `folder` cannot be written.
    """

    def __init__(
        self, function: Callable[[Start], Any], address: str, *, memory: int, floor: int,
        folder: Path | None = None,
    ) -> None:  # fmt: skip
        _distributed()
        # `wait` handles a lost scheduler; dask's client would also log a traceback.
        logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
        self._function = function
        self._floor = floor
        self._folder = None if folder is None else folder.absolute()
        self._run = uuid.uuid4().hex[:8]
        self._checked: set[tuple[str, str]] = set()
        """Workers that passed the check: address and dask's folder, which a restart changes."""
        self._needs: dict[Future[Any], int] = {}
        """Bytes that each running job needs."""
        self._lost_at: float | None = None
        """Time when the scheduler was found to be lost; None while it answers."""
        self._submitted = 0
        self._security: Any = None
        with contextlib.ExitStack() as opened:
            if address.startswith("local:"):
                import dask

                opened.enter_context(dask.config.set(_LOCAL_SETTINGS))
                opened.enter_context(safe_path())
                with _blocked_interrupts():
                    cluster = opened.enter_context(_local_cluster(address, memory))
                address, self._security = cluster.scheduler_address, cluster.security
            elif not _SCHEDULER.fullmatch(address):
                raise InputError(
                    f"{excerpt(address)} is no address of a dask scheduler",
                    "write it as tcp://10.0.0.1:8786, or local:2 for two processes",
                )
            else:
                self._security = _configured_security(address)
            self._address = address = address.rstrip("/")
            try:
                self._client = _connected(address, self._security)
            except OSError as error:
                raise InputError(
                    f"no dask scheduler answers at {excerpt(address)}: {one_line(error)}",
                    "start one: dask scheduler (docs/cluster.md)",
                ) from error
            opened.callback(self._close)
            with contextlib.suppress(OSError):  # no worker within the limit
                self._client.wait_for_workers(1, timeout=_WORKERS_SECONDS)
            self._check_workers()
            self._most = self._largest()
            if not self._most:
                raise InputError(
                    f"no worker of the dask scheduler at {address} declares memory for tables",
                    f"start some: dask worker {address} --resources memory=8e9, in bytes "
                    "(docs/cluster.md)",
                )
            self._opened = opened.pop_all()

    def __exit__(self, *exception: object) -> None:
        """Disconnect; a local cluster ends, other clusters finish their running jobs."""
        self._opened.close()

    def workers(self) -> dict[str, Any]:
        """Return dask's data on each worker by its address: `resources`, `nthreads`, `pid` etc.

        Workers that declare no memory are left out. Empty if the scheduler is lost.
        """
        if self._is_lost():
            return {}
        identity = self._client.scheduler.identity
        try:
            workers = self._client.sync(identity, callback_timeout=_CONNECT_SECONDS)["workers"]
        except OSError:
            self._lose()
            return {}
        return {name: each for name, each in workers.items() if each["resources"].get(RESOURCE)}

    def _largest(self) -> int:
        """Return the most bytes that a connected worker declares, 0 without workers."""
        workers = self.workers().values()
        return max((int(each["resources"][RESOURCE]) for each in workers), default=0)

    def trouble(self) -> str:
        """Return the reason why jobs wait: no scheduler, or no worker with enough memory."""
        if self._is_lost():
            return f"no dask scheduler answers at {self._address}: start it again"
        needed = max([*self._needs.values()], default=0)
        if needed <= self._largest():
            return ""
        return (
            f"no connected worker has {format_bytes(needed)} of memory for tables: "
            f"start one with --resources memory={needed}"
        )

    def _check_workers(self) -> None:
        """Raise `InputError` if a new worker has another tbgen, or does not see `folder`'s files.

        Raises `OSError` if `folder` cannot be written.
        """

        def look(path: str) -> tuple[str, bool]:  # dask sends the code of a local function
            import os

            import tbgen

            return tbgen.__version__, os.path.exists(path)

        there = {(name, each["local_directory"]) for name, each in self.workers().items()}
        new, ours, found = dict(sorted(there - self._checked)), tbgen.__version__, {}
        if not new:
            return
        with _temporary_file(self._folder) as path, contextlib.suppress(OSError):
            found = self._client.run(look, path, workers=[*new], on_error="return")
        for address, answer in found.items():
            if isinstance(answer, OSError):  # the worker is gone
                continue
            failed = isinstance(answer, Exception)
            version, shares = ("", False) if failed else answer
            if version != ours:
                has = f"no usable tbgen ({one_line(answer)})" if failed else f"tbgen {version}"
                raise InputError(
                    f"the worker at {address} has {has}, this build has tbgen {ours}",
                    "install the same version there, or stop it; the same command resumes",
                )
            if not shares:
                raise InputError(
                    f"the worker at {address} does not see the files in {self._folder}",
                    "share this directory under the same name, exchange tables by --via, or stop "
                    "this worker; the same command resumes",
                )
            self._checked.add((address, new[address]))

    def submit(self, start: Start) -> Future[Any]:
        """Submit a job; while the scheduler is lost, it waits to be postponed by `wait`."""
        local: Future[Any] = Future()
        if self._is_lost():
            return local
        self._submitted += 1
        memory = min(max(start.memory, self._floor), self._most)
        # A worker runs one job at a time, which may use all cores of the worker.
        given = replace(start, memory=memory, jobs_at_once=1)
        remote = self._client.submit(
            attempt, self._function, given,
            key=f"{start.job.key}-{self._run}-{self._submitted}", pure=False,
            priority=round(start.remaining_path * 1000), resources={RESOURCE: memory},
        )  # fmt: skip
        self._needs[local] = memory
        local.add_done_callback(self._needs.pop)
        remote.add_done_callback(lambda done: _complete(local, done))
        return local

    def wait(self, futures: Collection[Future[Any]], timeout: float | None) -> set[Future[Any]]:
        """Wait until a future is done, at most `timeout` or `_CHECK_SECONDS`; return those done.

        If the scheduler was lost and a new one answers, the jobs of all futures are postponed.
        Raises `InputError` without a new one after `_RECONNECT_SECONDS`, and for a new worker that
        must not run jobs, also if its jobs are done or failed.
        """
        seconds = _CHECK_SECONDS if timeout is None else min(timeout, _CHECK_SECONDS)
        done = super().wait(futures, seconds)
        if not self._is_lost():
            self._check_workers()
        elif not done and self._is_connected_again():
            for future in futures:
                _SCHEDULER_LOST.complete(future)
        return done

    def _is_lost(self) -> bool:
        """Return whether the scheduler is lost; disconnect if the client has lost it just now."""
        if self._client.status != "running":
            self._lose()
        return self._lost_at is not None

    def _lose(self) -> None:
        """Disconnect from a scheduler that does not answer, unless that is done."""
        if self._lost_at is None:
            self._lost_at = self.now()
            self._close()

    def _is_connected_again(self) -> bool:
        """Try once to connect to a new scheduler at the same address, and return the success.

        Raises `InputError` if the scheduler was found to be lost `_RECONNECT_SECONDS` ago.
        """
        assert self._lost_at is not None
        try:
            self._client = _connected(self._address, self._security)
        except OSError:
            if self.now() > self._lost_at + _RECONNECT_SECONDS:
                raise InputError(
                    f"the dask scheduler at {self._address} was lost",
                    "start it and its workers again; the same command resumes the build",
                ) from None
            return False
        self._lost_at = None
        return True

    def _close(self) -> None:
        # The scheduler may be lost.
        with contextlib.suppress(OSError):
            self._client.close(timeout=_CONNECT_SECONDS)


_SCHEDULER_LOST = Attempt(error=PostponedError("the scheduler was lost"))
"""Result of the jobs of a lost scheduler."""


@contextlib.contextmanager
def _temporary_file(folder: Path | None) -> Iterator[str]:
    """Context manager: yields the path of a new file in `folder`; for None a path that exists."""
    if folder is None:
        yield "."
        return
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(prefix=".tbgen-", dir=folder) as file:
        yield file.name


def _connected(address: str, security: Any) -> Any:
    """Return a client of a scheduler; raise `OSError` if none answers within `_CONNECT_SECONDS`."""

    async def identity() -> Any:
        arguments = security.get_connection_args("client")
        async with _distributed().rpc(address, connection_args=arguments) as server:
            return await server.identity()

    # If no scheduler answers, dask's client may hang, in its constructor or in garbage collection.
    match = _SCHEDULER.fullmatch(address)
    assert match is not None
    host, port = match.groups()
    try:
        socket.create_connection((host, int(port)), _CONNECT_SECONDS).close()
        found = asyncio.run(asyncio.wait_for(identity(), _CONNECT_SECONDS))["type"]
    except TimeoutError:
        raise ConnectionError(f"no answer in {_CONNECT_SECONDS} s") from None
    except OSError:
        raise
    except Exception as error:  # an impossible port, or an answer that is not dask's
        raise ConnectionError(one_line(error)) from error
    if found != "Scheduler":
        raise ConnectionError(f"it is the address of a {found}")
    return _distributed().Client(
        address, timeout=_CONNECT_SECONDS, set_as_default=False, security=security
    )


def _complete(local: Future[Any], remote: Any) -> None:
    """Complete a local future from dask's: postponed if its scheduler is lost, lost by an error."""
    answer = _SCHEDULER_LOST
    if remote.status != "cancelled":
        try:
            answer = remote.result(timeout=_RESULT_SECONDS)
        except Exception as error:  # of dask itself: errors of jobs are in the result
            if remote.client.status == "running":
                answer = Attempt(error=LostError(f"{type(error).__name__}: {error}"))
    answer.complete(local)


def _configured_security(address: str) -> Any:
    """Return the certificates of dask's settings; `InputError` if a `tls://` address has none."""
    try:
        security = _distributed().Security()
        context = security.get_connection_args("client").get("ssl_context")
        if context is None and address.startswith("tls://"):
            raise FileNotFoundError("none is set")
    except OSError as error:
        raise InputError(
            f"no certificates for {excerpt(address)}: {one_line(error)}",
            "name them in dask's settings: distributed.comm.tls",
        ) from error
    return security


def _local_cluster(address: str, memory: int) -> Any:
    """Start the cluster of an address `local:N`; each process gets an N-th of `memory` bytes."""
    match = _LOCAL.fullmatch(address)
    if match is None:
        raise InputError(f"{excerpt(address)} is no cluster", "write local:2 for two processes")
    workers = int(match[1])
    # The resource limits memory; dask's own limit would stop a worker during a table. The temporary
    # key and certificate can be read by this user only.
    try:
        return _distributed().LocalCluster(
            n_workers=workers, threads_per_worker=1, memory_limit=0,
            dashboard_address="127.0.0.1:0", resources={RESOURCE: memory // workers},
            scheduler_kwargs={"dashboard": False}, silence_logs=50,
            config=_LOCAL_SETTINGS, protocol="tls", security=_distributed().Security.temporary(),
        )  # fmt: skip
    except ImportError:
        raise InputError(
            "local:N needs the package cryptography", "pip install 'tbgen[cluster]'"
        ) from None
    except RuntimeError as error:
        raise InputError(
            f"the processes of {address} do not start: {error}",
            "try again; --jobs builds in processes without dask",
        ) from error


@contextlib.contextmanager
def _blocked_interrupts() -> Iterator[None]:
    """Context manager: threads and processes started inside never get Ctrl-C.

    Workers that get Ctrl-C print tracebacks. In this process, Ctrl-C inside the block is raised at
    its end. Does nothing on Windows.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # `multiprocessing` starts its tracker before its first process, and unblocks the signal then.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _distributed() -> Any:
    """Return the module `distributed` of dask; raises `InputError` if it is not installed."""
    try:
        import distributed
    except ImportError:
        raise InputError(
            "dask is not installed here", "pip install 'tbgen[cluster]', on every machine"
        ) from None
    return distributed
