"""Addresses of sources: paths with any characters, hosts in any language, impossible ones."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest

from tbgen.publishing.fetching import FetchError, fetch
from tbgen.publishing.sources import source_of
from tests.helpers.fileserver import files_served
from tests.publishing.conftest import CONTENT, KRK


def test_addresses_of_any_characters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths are percent-encoded, unless they are already; hosts are written in IDNA."""
    folder = tmp_path / "表 格 é%"
    folder.mkdir()
    (folder / KRK.file).write_bytes(CONTENT)
    find, hosts = socket.getaddrinfo, []

    def local(host: str, *arguments: Any, **options: Any) -> Any:
        hosts.append(host)
        return find("127.0.0.1", *arguments, **options)

    monkeypatch.setattr(socket, "getaddrinfo", local)
    with files_served(tmp_path) as address:
        port = address.rpartition(":")[2]
        for number, source in enumerate((
            f"{address}/表 格 é%25",
            f"{address}/%E8%A1%A8%20%E6%A0%BC%20%C3%A9%25/",
            f"http://例子.测试:{port}/表 格 é%25",
        )):  # fmt: skip
            (tmp_path / str(number)).mkdir()
            assert fetch(KRK, [source_of(source)], tmp_path / str(number))
    assert hosts[-1] == "xn--fsqu00a.xn--0zwm56d"


@pytest.mark.parametrize(
    "address",
    ["http://例/\udcff", f"http://{'例' * 70}/x", "http://a b/", "http://[/", "http://℀/"],
)
def test_impossible_addresses_are_refused_in_one_line(tmp_path: Path, address: str) -> None:
    with pytest.raises(FetchError) as caught:
        fetch(KRK, [source_of(address)], tmp_path)
    assert "\n" not in str(caught.value.strerror)
