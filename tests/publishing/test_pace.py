"""Slow or silent sources: the next one is used, and no connection is left open."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest

from tbgen.publishing import fetching, sources
from tbgen.publishing.fetching import FetchError, fetch, fetch_index
from tbgen.publishing.sources import DirectorySource, WebSource
from tests.publishing.conftest import CONTENT, KRK, Server


@pytest.mark.parametrize("drips", ["head", "body"])
def test_a_slow_server_is_left_for_the_next(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, drips: str
) -> None:
    """A server that sends fewer than 8 KiB a second is left for the next source.

    It sends single bytes, so that no read times out.
    """
    monkeypatch.setattr(sources, "WINDOW_SECONDS", 0.2)
    server.drips = drips
    with pytest.raises(FetchError, match="fewer than 8 KiB a second"):
        fetch(KRK, [WebSource(server.address)], tmp_path)
    (tmp_path / "mirror").mkdir()
    (tmp_path / "mirror" / KRK.file).write_bytes(CONTENT)
    both = [WebSource(server.address), DirectorySource(tmp_path / "mirror")]
    assert fetch(KRK, both, tmp_path)
    assert len(server.asked) == 2


def test_a_silent_server_is_left_during_the_handshake(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "WINDOW_SECONDS", 0.2)
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        pytest.raises(FetchError, match="fewer than 8 KiB a second"),
    ):
        fetch(KRK, [WebSource(f"https://127.0.0.1:{silent.getsockname()[1]}")], tmp_path)


def test_an_index_has_a_deadline(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "LEAST_RATE", 0)
    monkeypatch.setattr(fetching, "INDEX_SECONDS", 0.2)
    server.drips = "body"
    with pytest.raises(FetchError, match="not done after 0 seconds"):
        fetch_index([WebSource(server.address)])


def test_connections_are_always_closed(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[socket.socket] = []
    connect = socket.create_connection

    class Listed(socket.socket):
        def dup(self) -> socket.socket:
            made.append(super().dup())
            return made[-1]

    def connected(address: Any, timeout: float, source: Any) -> socket.socket:
        opened = connect(address, timeout, source)
        made.append(Listed(opened.family, opened.type, opened.proto, opened.detach()))
        made[-1].settimeout(timeout)
        return made[-1]

    monkeypatch.setattr(socket, "create_connection", connected)
    monkeypatch.setattr(sources, "WINDOW_SECONDS", 0.2)
    for fault in ({"cut_at": 5}, {"off_by": 7}, {"redirect": "file:///etc/hostname"},
                  {"redirect": "ftp://127.0.0.1/x"}, {"drips": "head"}, {"drips": "body"},
                  {"files": {}}, {"files": {f"/{KRK.file}": CONTENT + b"x"}}):  # fmt: skip
        (tmp_path / f".{KRK.file}.part").write_bytes(CONTENT[:1000])
        for name, value in ({"cut_at": None, "off_by": 0, "redirect": None} | fault).items():
            setattr(server, name, value)
        with pytest.raises(FetchError):
            fetch(KRK, [WebSource(server.address)], tmp_path)
        server.drips = ""
        assert [each.fileno() for each in made] == [-1] * len(made)
    assert len(made) == 16
