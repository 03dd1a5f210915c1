"""Executor with the workers of a dask cluster, on this machine or others.

    local:N                a cluster of N processes on this machine, which the executor ends;
                           TLS with its own certificate excludes other users
    tcp://scheduler:8786   a running scheduler with its workers

A worker must have the job's bytes free in the resource `memory`, with which workers are started; a
worker without that resource gets no jobs. A job that needs more bytes than any worker declares when
the run begins is given the bytes of the largest worker. If a worker is killed, dask runs its jobs
elsewhere. A job that kills several workers ends with `LostError`. If the scheduler itself is lost,
and a new one is started at the same address within `_RECONNECT_SECONDS`, all running jobs are
postponed, and then submitted to the new one.
"""

from __future__ import annotations

import contextlib
import logging
import re
import signal
import socket
import uuid
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Future
from dataclasses import replace
from multiprocessing import resource_tracker
from typing import Any

import tbgen
from tbgen.indexing.errors import InputError, excerpt
from tbgen.scheduling.queue import Start
from tbgen.scheduling.run import Attempt, Executor, LostError, PostponedError, attempt
from tbgen.system.platform import safe_path
from tbgen.system.units import format_bytes

RESOURCE = "memory"
"""Name of the dask resource by which a worker declares the bytes that its jobs may take."""

_CONNECT_SECONDS = 10
_WORKERS_SECONDS = 60
"""Time limits for connecting to a scheduler, and then for its first worker."""

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

_SCHEDULER = re.compile(r"(?:[a-z]+://)?\[?([^/\s]+?)\]?:([0-9]{1,5})/?", re.ASCII)
"""Pattern of a scheduler's address, with host and port as groups."""


class Cluster(Executor):
    """Executor that calls `function(start)` on workers of dask; use as a `with` block.

    address : of a scheduler, or `local:N`
    memory : bytes of a local cluster, divided equally among its workers
    floor : least bytes that a job is given, if a worker has them

    Raises `InputError` for a malformed address, for TLS without certificates, if dask is missing,
    if a local cluster does not start, if no scheduler with workers answers, if no worker declares
    its memory, or if a worker has another version of tbgen.
    """

    def __init__(
        self, function: Callable[[Start], Any], address: str, *, memory: int, floor: int
    ) -> None:
        _distributed()
        # `wait` handles a lost scheduler; dask's client would also log a traceback.
        logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
        self._function = function
        self._floor = floor
        self._run = uuid.uuid4().hex[:8]
        self._checked: set[tuple[str, str]] = set()
        """Workers with this version of tbgen: address and folder, which a restart changes."""
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
            self._address = address = address.rstrip("/")
            if address.startswith("tls://") and self._security is None:
                _require_certificates(address)
            try:
                self._client = _connected(address, self._security)
            except (OSError, ValueError) as error:
                raise InputError(
                    f"no dask scheduler with workers answers at {excerpt(address)}",
                    "start one: dask scheduler, and on each machine dask worker ADDRESS "
                    "--resources memory=8e9 (docs/cluster.md)",
                ) from error
            opened.callback(self._close)
            self._check_workers()
            declared = [worker["resources"].get(RESOURCE, 0) for worker in self.workers().values()]
            self._most = int(max(declared, default=0))
            if not self._most:
                raise InputError(
                    "the dask workers do not declare memory for tables",
                    "start them with --resources memory=8e9, in bytes (docs/cluster.md)",
                )
            self._opened = opened.pop_all()

    def __exit__(self, *exception: object) -> None:
        """Disconnect; a local cluster ends, other clusters finish their running jobs."""
        self._opened.close()

    def workers(self) -> dict[str, Any]:
        """Return dask's data on each worker by its address: `resources`, `nthreads`, `pid` etc.

        Empty if the scheduler is lost.
        """
        with contextlib.suppress(OSError):
            return self._client.scheduler_info(n_workers=-1)["workers"]
        return {}

    def trouble(self) -> str:
        """Return the reason why jobs wait: no scheduler, no worker, or none with enough memory."""
        if self._lost_at is not None:
            return f"no dask scheduler answers at {self._address}"
        workers = self.workers().values()
        if not workers:
            return "no worker is connected"
        needed = max(self._needs.values(), default=0)
        if needed > max(worker["resources"].get(RESOURCE, 0) for worker in workers):
            return f"no connected worker has {format_bytes(needed)} of memory for tables"
        return ""

    def _check_workers(self) -> None:
        """Raise `InputError` if an unchecked worker has another version of tbgen, or no tbgen."""

        def imported_version() -> str:  # dask sends the code of a local function
            import tbgen

            return tbgen.__version__

        there = {(name, each["local_directory"]) for name, each in self.workers().items()}
        new, ours = dict(sorted(there - self._checked)), tbgen.__version__
        if not new:
            return
        found = self._client.run(imported_version, workers=[*new], on_error="return")
        for address, version in found.items():
            if isinstance(version, OSError):  # the worker is gone
                continue
            if version != ours:
                has = "no tbgen" if isinstance(version, Exception) else f"tbgen {version}"
                raise InputError(
                    f"the worker at {address} has {has}, this build has tbgen {ours}",
                    "install the same version on every machine; the same command resumes",
                )
            self._checked.add((address, new[address]))

    def submit(self, start: Start) -> Future[Any]:
        """Submit a job; while the scheduler is lost, it waits to be postponed by `wait`."""
        local: Future[Any] = Future()
        if self._client.status != "running":
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
        Raises `InputError` without a new one after `_RECONNECT_SECONDS`, and for a worker with
        another version of tbgen, also if its jobs are done.
        """
        seconds = _CHECK_SECONDS if timeout is None else min(timeout, _CHECK_SECONDS)
        done = super().wait(futures, seconds)
        if self._client.status == "running":
            with contextlib.suppress(OSError):  # the scheduler is lost just now
                self._check_workers()
        elif not done and self._is_connected_again():
            for future in futures:
                _SCHEDULER_LOST.complete(future)
        return done

    def _is_connected_again(self) -> bool:
        """Try once to connect to a new scheduler at the same address, and return the success.

        Raises `InputError` if the scheduler was found to be lost `_RECONNECT_SECONDS` ago.
        """
        if self._lost_at is None:
            self._lost_at = self.now()
            self._close()
        try:
            self._client = _connected(self._address, self._security)
        except (OSError, ValueError):
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
            self._client.close()


_SCHEDULER_LOST = Attempt(error=PostponedError("the scheduler was lost"))
"""Result of the jobs of a lost scheduler."""


def _connected(address: str, security: Any) -> Any:
    """Return a client of a scheduler that has workers.

    security : certificate of a local cluster; None for dask's own settings

    Raises `OSError`, and `ValueError` for an impossible address.
    """
    # dask's client may hang in garbage collection after it has failed to connect.
    match = _SCHEDULER.fullmatch(address)
    assert match is not None
    host, port = match.groups()
    try:
        socket.create_connection((host, int(port)), _CONNECT_SECONDS).close()
    except OverflowError as error:  # a port above 65535
        raise ValueError(str(error)) from error
    client = _distributed().Client(
        address, timeout=_CONNECT_SECONDS, set_as_default=False, security=security
    )
    try:
        client.wait_for_workers(1, timeout=_WORKERS_SECONDS)
    except OSError:
        client.close()
        raise
    return client


def _complete(local: Future[Any], remote: Any) -> None:
    """Complete a local future from dask's: postponed if cancelled, lost by an error of dask."""
    if remote.status == "cancelled":
        answer = _SCHEDULER_LOST
    else:
        try:
            answer = remote.result()
        except Exception as error:  # of dask itself: errors of jobs are in the result
            answer = Attempt(error=LostError(f"{type(error).__name__}: {error}"))
    answer.complete(local)


def _require_certificates(address: str) -> None:
    """Raise `InputError` if dask's settings name no certificates for a `tls://` address."""
    settings = _distributed().Security().get_connection_args("client")
    if settings.get("ssl_context") is None:
        raise InputError(
            f"no certificates for {excerpt(address)}",
            "name them in dask's settings: distributed.comm.tls",
        )


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
