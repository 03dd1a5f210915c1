"""The command `tbgen serve`, in a process of its own."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest

from tests.helpers.board_server import serve
from tests.helpers.built import built
from tests.helpers.commands import ENDS_WITH_PARENT
from tests.helpers.paths import ROOT

KILLED = """
import os, pathlib, signal, sys
from tests.helpers.board_server import serve

print(serve(pathlib.Path(sys.argv[1]), "--rules", "check").url, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
"""Program that starts a server, prints its address, and is killed."""


def test_distances_to_mate_are_shown_if_tables_of_both_metrics_are_present(tmp_path: Path) -> None:
    for metric in ("dtm", "dtc"):
        shutil.copytree(built("KRKN", rules="wxf", metric=metric), tmp_path, dirs_exist_ok=True)
    assert {path.name for path in tmp_path.glob("KRKN*.xqt")} == {
        "KRKN.wxf.dtm.xqt", "KRKN.wxf.dtc.xqt",
    }  # fmt: skip
    with urlopen(f"{serve(tmp_path).url}/v1/probe?fen=9/9/4k4/9/9/6n2/9/R2K5/9/9_b") as answer:
        assert answer.status == 200
        assert '"metric": "dtm"' in answer.read().decode()


def test_what_is_printed(tables_dir: Path) -> None:
    """Standard output has one JSON object alone, with the tables of the chosen rules.

    Requests are logged to standard error.
    """
    options = ["--no-open", "--json", "--log", "--port", "0", "--rules", "check"]
    with subprocess.Popen(
        [sys.executable, "-m", "tbgen", "serve", "--tables", str(tables_dir), *options],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        first = json.loads(process.stdout.readline())
        with urlopen(f"{first['url']}healthz") as answer:
            health = json.load(answer)
        process.terminate()
        rest, logged = process.communicate()
    assert health["tables"] == first["tables"]
    assert rest == ""
    assert '"GET /healthz HTTP/1.1" 200 OK' in logged


def answers(url: str) -> bool:
    """Return whether a server accepts a connection."""
    address = urlsplit(url)
    try:
        socket.create_connection((address.hostname, address.port), timeout=5).close()
    except ConnectionRefusedError:
        return False
    return True


@pytest.mark.skipif(not ENDS_WITH_PARENT, reason="setpriv is not installed")
def test_a_server_of_the_tests_ends_with_its_killed_process(tables_dir: Path) -> None:
    command = [sys.executable, "-c", KILLED, str(tables_dir)]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    url, end = said.stdout.strip(), time.monotonic() + 20
    assert url, said.stderr
    while answers(url) and time.monotonic() < end:
        time.sleep(0.02)
    assert not answers(url)
