"""A dask cluster on this machine: closed to other users, safe from the current directory."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import ssl
import subprocess
import sys
import time
from concurrent.futures import Future
from dataclasses import replace
from http.client import HTTPConnection
from operator import attrgetter
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import pytest

pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
pytest.importorskip("cryptography", reason="the extra `cluster` is not installed")

import dask
import distributed

import tbgen
from tbgen.indexing.errors import InputError
from tbgen.scheduling import cluster as module
from tbgen.scheduling.cluster import Cluster
from tbgen.scheduling.queue import Job, Start
from tbgen.scheduling.run import LostError, PostponedError
from tbgen.tables.errors import MissingTableError
from tests.helpers.commands import TBGEN, restore_signals


def connect_without_certificate(address: str) -> None:
    """Connect to a cluster without a certificate; the caller expects the cluster to refuse."""
    parts = urlsplit(address)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with (
        socket.create_connection((parts.hostname, parts.port), timeout=10) as plain,
        context.wrap_socket(plain) as connection,
    ):
        connection.recv(1)
        connection.recv(1)


def test_other_users_are_refused_and_planted_modules_are_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("click", "distributed", "multiprocessing", "numpy", "tbgen"):
        (tmp_path / f"{name}.py").write_text("open('planted', 'w')")
    monkeypatch.chdir(tmp_path)
    with Cluster(print, "local:1", memory=1 << 20, floor=1) as cluster:
        address = cluster._address
        assert address.startswith("tls://127.0.0.1:")
        assert all(worker.startswith("tls://127.0.0.1:") for worker in cluster.workers())
        # The dashboard has no authentication.
        pages = urlsplit(cluster._client.dashboard_link)
        connection = HTTPConnection(f"{pages.hostname}:{pages.port}", timeout=10)
        for page in ("/status", "/info/main/workers.html", "/json/identity.json"):
            connection.request("GET", page)
            answer = connection.getresponse()
            assert (answer.status, len(answer.read()) < 100) == (404, True), page
        with pytest.raises(OSError, match="tcp://"):
            distributed.Client(address.replace("tls", "tcp"), timeout=1, set_as_default=False)
        stranger = distributed.Security.temporary()
        with pytest.raises(OSError, match="certificate does not match"):
            distributed.Client(address, security=stranger, timeout=2, set_as_default=False)
        every = [address, *cluster.workers(), *(w["nanny"] for w in cluster.workers().values())]
        assert len(every) == 3
        for each in every:
            with pytest.raises(OSError, match=r"certificate required|reset"):
                connect_without_certificate(each)
    assert not (tmp_path / "planted").exists()


def test_a_worker_with_another_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers are checked when a cluster is opened, and later ones while jobs run."""
    with Cluster(print, "local:1", memory=1 << 20, floor=1) as cluster:
        assert cluster.trouble() == ""
        cluster._needs[Future()] = 1 << 40
        too_small = "no connected worker has 1,024.0 GiB of memory for tables"
        remedy = f"start one with --resources memory={1 << 40}"
        assert cluster.trouble() == f"{too_small}: {remedy}"
        monkeypatch.setattr(tbgen, "__version__", "0.1")
        cluster.wait([], 0.1)
        cluster._checked.clear()  # as if the worker were new
        with pytest.raises(InputError, match=r"has tbgen .*, this build has tbgen 0\.1"):
            cluster.wait([], 0.1)
        cluster._client.retire_workers()
        assert cluster.trouble() == f"{too_small}: {remedy}"
    with pytest.raises(InputError, match=r"this build has tbgen 0\.1"):
        Cluster(print, "local:1", memory=1 << 20, floor=1)


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("tls://127.0.0.1:1", "no certificates"),
        ("tcp://127.0.0.1:1/", "no dask scheduler answers at 'tcp://127.0.0.1:1': .*refused"),
        ("tcp://[::1]:1", "no dask scheduler answers"),
        ("127.0.0.1:99999", "no dask scheduler answers"),
        ("127.0.0.1", "no address of a dask scheduler"),
        ("ucx://127.0.0.1:1", "no address of a dask scheduler"),
    ],
)
def test_addresses_without_a_scheduler(address: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        Cluster(print, address, memory=1 << 20, floor=1)


def test_a_server_that_is_no_scheduler(monkeypatch: pytest.MonkeyPatch) -> None:
    """dask's client would wait for ever for the answer of a silent server."""
    monkeypatch.setattr(module, "_CONNECT_SECONDS", 1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(InputError, match="no answer in 1 s"):
            Cluster(print, address, memory=1 << 20, floor=1)
    with distributed.LocalCluster(**SETTINGS) as scheduler:
        (worker,) = scheduler.scheduler_info["workers"] or scheduler.scheduler.workers
        with pytest.raises(InputError, match="it is the address of a Worker"):
            Cluster(print, worker, memory=1 << 20, floor=1)
        scheduler.scheduler.workers[worker].resources.clear()
        with pytest.raises(InputError, match=r"declares memory.*dask worker tcp.*--resources"):
            Cluster(print, scheduler.scheduler_address, memory=1 << 20, floor=1)


def test_missing_certificate_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tls = "distributed.comm.tls"
    missing = str(tmp_path / "missing.pem")
    settings = {f"{tls}.ca-file": missing, f"{tls}.client.cert": missing}
    with dask.config.set(settings), pytest.raises(InputError, match=r"no certificates.*No such"):
        Cluster(print, "tls://127.0.0.1:1", memory=1 << 20, floor=1)


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc/self/cwd")
def test_a_restarted_worker_that_sees_other_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A restarted worker is checked again; jobs still get at most the memory of the first ones."""
    folder, here = Path("/proc/self/cwd"), tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    memory = attrgetter("memory")
    with Cluster(memory, "local:1", memory=1 << 20, floor=1, folder=folder) as cluster:
        cluster._client.restart()
        cluster.wait([], 0.1)
        assert cluster.submit(replace(START, memory=1 << 40)).result(60) == 1 << 20
        assert not list(here.iterdir())
        monkeypatch.chdir(tmp_path)
        cluster._client.restart()  # in a process with another working directory
        monkeypatch.chdir(here)
        failed: Future[None] = Future()
        failed.set_exception(MissingTableError("KNK"))
        with pytest.raises(InputError, match="does not see the files in /proc/self/cwd"):
            cluster.wait([failed], 0.1)


SETTINGS: dict[str, Any] = {
    "processes": False, "dashboard_address": None, "resources": {"memory": 1 << 20},
    "n_workers": 1, "protocol": "tcp://", "host": "127.0.0.1",
}  # fmt: skip
"""Settings of a cluster in this process."""

START = Start(Job("KRK"), memory=1, jobs_at_once=1, remaining_path=0)


def test_a_scheduler_that_stops_answering(monkeypatch: pytest.MonkeyPatch) -> None:
    """A scheduler that keeps its connections open, but does not answer, counts as lost."""

    async def sleep() -> None:
        await asyncio.sleep(60)

    monkeypatch.setattr(module, "_CONNECT_SECONDS", 0.5)
    with (
        distributed.LocalCluster(**SETTINGS) as scheduler,
        Cluster(print, scheduler.scheduler_address, memory=1 << 20, floor=1) as cluster,
    ):
        handlers = scheduler.scheduler.handlers
        with monkeypatch.context() as stopped:
            stopped.setitem(handlers, "identity", sleep)
            job: Future[None] = Future()
            assert cluster.wait([job], 0.1) == set()
            assert cluster.trouble().startswith("no dask scheduler answers at ")
            assert cluster.wait([job], 0.1) == set()
            assert cluster.workers() == {}
        monkeypatch.setattr(module, "_CONNECT_SECONDS", 10)
        cluster.wait([job], 0.1)
        assert isinstance(job.exception(0), PostponedError)
        assert cluster.trouble() == ""


@pytest.mark.parametrize(("status", "kind"), [("running", LostError), ("closed", PostponedError)])
def test_a_result_that_is_not_fetched(status: str, kind: type[Exception]) -> None:
    """A job whose result was on a lost scheduler is postponed, and has not lost a worker."""

    scheduler = SimpleNamespace(status=status)

    class Finished:
        status = "finished"
        client = scheduler

        def result(self, timeout: float) -> None:
            raise RuntimeError("IOLoop is closed")

    future: Future[None] = Future()
    module._complete(future, Finished())
    assert isinstance(future.exception(0), kind)


def test_a_job_submitted_just_before_dask_connects_again() -> None:
    """A job that was submitted without a scheduler is postponed, whoever connects first."""
    with distributed.LocalCluster(**SETTINGS) as scheduler:
        address = scheduler.scheduler_address
        opened = Cluster(print, address, memory=1 << 20, floor=1)
    with opened as cluster:
        client, deadline = cluster._client, time.monotonic() + 60
        while client.status == "running" and time.monotonic() < deadline:
            time.sleep(0.01)
        job = cluster.submit(START)
        port = urlsplit(address).port
        with distributed.LocalCluster(scheduler_port=port, **SETTINGS):
            while client.status == "connecting" and time.monotonic() < deadline:
                time.sleep(0.05)
            while not job.done() and time.monotonic() < deadline:
                cluster.wait([job], 0.1)
            assert isinstance(job.exception(0), PostponedError)


def test_a_lost_scheduler_is_waited_for_and_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs of a lost scheduler are postponed as soon as a new one answers."""
    with distributed.LocalCluster(**SETTINGS) as scheduler:
        address = scheduler.scheduler_address
        opened = Cluster(time.sleep, f"{address}/", memory=1 << 20, floor=1)
    with opened as cluster:
        deadline = time.monotonic() + 60
        while cluster._client.status == "running" and time.monotonic() < deadline:
            time.sleep(0.05)
        job = cluster.submit(START)
        assert cluster.wait([job], 0.1) == set()
        assert cluster.trouble() == f"no dask scheduler answers at {address}: start it again"
        with distributed.LocalCluster(scheduler_port=urlsplit(address).port, **SETTINGS):
            while not job.done() and time.monotonic() < deadline:
                cluster.wait([job], 0.1)
            assert isinstance(job.exception(0), PostponedError)
            assert cluster.trouble() == ""
        while cluster._client.status == "running" and time.monotonic() < deadline:
            time.sleep(0.05)
        monkeypatch.setattr(module, "_RECONNECT_SECONDS", -1)
        with pytest.raises(InputError, match=r"was lost.*resumes the build"):
            cluster.wait([Future()], 0.1)


def test_the_version_of_a_worker_is_that_of_the_code_it_imports(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The installed version may be another one: an editable installation does not update it."""
    (tmp_path / "sitecustomize.py").write_text("import tbgen\ntbgen.__version__ = '0.1'\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(InputError, match=r"has tbgen 0\.1, this build has tbgen [1-9]"):
        Cluster(print, "local:1", memory=1 << 20, floor=1)


def test_ctrl_c_ends_a_local_cluster_without_tracebacks(tmp_path: Path) -> None:
    """A terminal sends Ctrl-C to all processes of its group; the command alone reports it."""
    arguments = ["KRNKR", "--rules", "none", "--dask", "local:2", "--tables", str(tmp_path)]
    process = subprocess.Popen(
        [str(TBGEN), "build", *arguments], stderr=subprocess.PIPE, text=True,
        start_new_session=True, preexec_fn=restore_signals,
    )  # fmt: skip
    deadline = time.monotonic() + 120
    while not list(tmp_path.glob("*.xqt")) and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in stderr
    assert stderr.splitlines()[-2] == "error: interrupted"
