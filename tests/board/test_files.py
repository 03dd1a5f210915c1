"""`serve --files`: files listed in index.json, whole or by byte range, and downloads of them."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from http.client import HTTPConnection
from pathlib import Path
from typing import BinaryIO
from urllib.parse import urlsplit

import pytest

pytest.importorskip("starlette", reason="the extra `web` is not installed")
pytest.importorskip("httpx", reason="starlette's test client needs it")

from click.testing import CliRunner
from starlette.testclient import TestClient

from tbgen import open_tablebase
from tbgen.board.web.files import FileEndpoint
from tbgen.board.web.routes import create_app
from tbgen.cli import main
from tbgen.publishing.fetching import FetchError, fetch
from tbgen.publishing.index import MAX_INDEX, index_of, read_index, write_index
from tbgen.publishing.sources import WebSource

KRKN = "KRKN.check.dtm.xqt"
UNLISTED, LINKED, PIPE = "KRKN.wxf.dtm.xqt", "KRK.none.dtm.xqt", "KPK.none.dtm.xqt"
SECRETS = (
    "notes.txt", "KRK.check.dtm.build.json", ".KRK.check.dtm.state", ".KRK.check.dtm.lock",
    ".KRK.check.dtm.xqt.part", "KRK.check.wdl.xqt", "krk.check.dtm.xqt",
)  # fmt: skip


@pytest.fixture(scope="module")
def directory(tables_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mirror")
    found = folder / "tables"
    shutil.copytree(tables_dir, found)
    (folder / "outside.txt").write_text("secret")
    for name in SECRETS:
        (found / name).write_text("secret")
    (found / "KRK.check.dtm.proof.json").write_text("{}")
    write_index(found, index_of(found))
    shutil.copy(found / KRKN, found / UNLISTED)
    (found / LINKED).rename(folder / LINKED)
    (found / LINKED).symlink_to(folder / LINKED)
    (found / PIPE).unlink()
    os.mkfifo(found / PIPE)
    return found


@pytest.fixture(scope="module")
def client(directory: Path) -> Iterator[TestClient]:
    with open_tablebase(directory, rules="check") as tables:
        yield TestClient(create_app(tables, directory, files=True))


def test_listed_files_are_served(client: TestClient, directory: Path) -> None:
    listed = client.get("/files/index.json")
    assert listed.headers["content-type"] == "application/json"
    assert listed.text == (directory / "index.json").read_text()
    for entry in read_index(listed.content, ""):
        if entry.file in (LINKED, PIPE):
            continue
        found = client.get(f"/files/{entry.file}")
        assert found.status_code == 200
        assert found.content == (directory / entry.file).read_bytes()
        assert "content-encoding" not in found.headers, "a range counts bytes as they are"
        head = client.head(f"/files/{entry.file}")
        assert (head.headers["content-length"], head.content) == (str(entry.bytes), b"")
    assert 'requests_total{endpoint="file"' in client.get("/metrics").text.replace("tbgen_", "")


@pytest.mark.parametrize(
    "name",
    [
        *SECRETS, "", ".", "..", "../outside.txt", "..%2foutside.txt", "%2e%2e%2foutside.txt",
        "..%5coutside.txt", "/etc/passwd", "%2fetc%2fpasswd", "KRK.check.dtm.xqt%00", "KRKN",
        "KRK.check.dtm.xqt/../../outside.txt", "tables/KRK.check.dtm.xqt", "index.json/",
        "KRRK.check.dtm.xqt",
        UNLISTED, LINKED, PIPE,
    ],
)  # fmt: skip
def test_other_files_are_not_served(address: str, name: str) -> None:
    """A request for an unlisted file, a symbolic link or a pipe returns no content of any file.

    Addresses are sent exactly as written, since most clients would normalise them.
    """
    port = urlsplit(address).port
    assert port is not None
    connection = HTTPConnection("127.0.0.1", port)
    connection.request("GET", f"/files/{name}")
    found = connection.getresponse()
    text = found.read().decode()
    connection.close()
    assert found.status in (307, 404)  # 307 removes a trailing slash
    assert "secret" not in text
    assert len(text) < 200
    assert "root:" not in text


def test_the_index_may_change_or_be_missing(client: TestClient, directory: Path) -> None:
    index = directory / "index.json"
    listed = index.read_text()
    for text in ("", "{}", listed.replace(KRKN, UNLISTED)):
        index.write_text(text)
        assert client.get(f"/files/{KRKN}").status_code == 404
    assert client.get(f"/files/{UNLISTED}").status_code == 200
    index.unlink()
    assert client.get(f"/files/{UNLISTED}").status_code == 404
    index.write_text(listed)
    assert client.get(f"/files/{KRKN}").status_code == 200


def test_byte_ranges(client: TestClient, directory: Path) -> None:
    content = (directory / KRKN).read_bytes()
    size = len(content)

    def ask(wanted: str, **headers: str) -> tuple[int, bytes, str | None]:
        asked = {
            "range": wanted,
            **{key.replace("_", "-"): value for key, value in headers.items()},
        }
        found = client.get(f"/files/{KRKN}", headers=asked)
        return found.status_code, found.content, found.headers.get("content-range")

    assert ask("bytes=1000-") == (206, content[1000:], f"bytes 1000-{size - 1}/{size}")
    assert ask("Bytes= 0-0") == (206, content[:1], f"bytes 0-0/{size}")
    assert ask(f"bytes=7-{10**17}") == (206, content[7:], f"bytes 7-{size - 1}/{size}")
    for beyond in (f"bytes={size}-", f"bytes={size + 5}-{size + 9}", "bytes=-0"):
        assert ask(beyond) == (416, b"", f"bytes */{size}")
    assert ask("bytes=-5") == (206, content[-5:], f"bytes {size - 5}-{size - 1}/{size}")
    for ignored in ("bytes=abc", "lines=1-", "bytes=-", "bytes=0-1,5-6", "bytes=5-3"):
        assert ask(ignored) == (200, content, None)
    head = client.head(f"/files/{KRKN}", headers={"range": "bytes=9-"})
    assert (head.status_code, head.headers["content-length"]) == (206, str(size - 9))
    assert "Content-Range" in head.headers["access-control-expose-headers"]
    assert ask("bytes=9-", if_none_match="*")[0] == 304
    tag = client.head(f"/files/{KRKN}").headers["etag"]
    assert ask("bytes=9-", if_range=tag)[0] == 206
    assert ask("bytes=9-", if_range='"another"') == (200, content, None)


def test_a_file_that_is_replaced_meanwhile_is_sent_whole(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file that was opened is sent, not one that has got its name meanwhile, as a link."""
    path, kept = directory / KRKN, directory.parent / KRKN
    content = path.read_bytes()
    open_file = FileEndpoint._open

    def opened(self: FileEndpoint, name: str) -> BinaryIO:
        file = open_file(self, name)
        if name == KRKN:
            path.rename(kept)
            path.symlink_to(directory.parent / "outside.txt")
        return file

    monkeypatch.setattr(FileEndpoint, "_open", opened)
    with open_tablebase(directory, rules="check") as tables:
        found = TestClient(create_app(tables, directory, files=True)).get(f"/files/{KRKN}")
    kept.replace(path)
    assert (found.status_code, found.content) == (200, content)


def test_a_known_file_is_not_sent_again(client: TestClient) -> None:
    first = client.get(f"/files/{KRKN}")
    again = client.get(f"/files/{KRKN}", headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == first.headers["etag"]
    other = client.get(f"/files/{KRKN}", headers={"if-none-match": '"other"'})
    assert (other.status_code, other.content) == (200, first.content)
    since = {"if-modified-since": first.headers["last-modified"]}
    assert client.get(f"/files/{KRKN}", headers=since).status_code == 304
    assert client.get(f"/files/{KRKN}", headers=since | {"if-none-match": '"a"'}).status_code == 200
    for earlier in ("Thu, 01 Jan 1970 00:00:00 GMT", "yesterday", ""):
        found = client.get(f"/files/{KRKN}", headers={"if-modified-since": earlier})
        assert found.status_code == 200


def test_without_the_option_there_is_no_mirror(directory: Path) -> None:
    with open_tablebase(directory, rules="check") as tables:
        assert TestClient(create_app(tables, directory)).get(f"/files/{KRKN}").status_code == 404


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "has no index.json, which --files needs"),
        ("", "index.json: this is no index of tables"),
        ('{"format": 1, "files": [', "index.json: this is no index of tables"),
        (" " * (MAX_INDEX + 1), "has more than 8 MiB"),
    ],
    ids=["missing", "empty", "damaged", "long"],
)
def test_a_missing_or_damaged_index_is_an_error_at_start(
    tmp_path: Path, text: str | None, message: str
) -> None:
    if text is not None:
        (tmp_path / "index.json").write_text(text)
    command = ["serve", "--files", "--no-open", "--port", "0", "--tables", str(tmp_path)]
    refused = CliRunner().invoke(main, command)
    error, hint = refused.stderr.splitlines()
    assert (refused.exit_code, message in error) == (2, True)
    assert hint.startswith("hint: run: tbgen index --tables")


@pytest.fixture(scope="module")
def address(directory: Path) -> Iterator[str]:
    """Address of the folder `files` of a server, in its own process, that serves a directory."""
    command = [sys.executable, "-m", "tbgen", "serve", "--files", "--tables", str(directory),
               "--rules", "check", "--port", "0", "--no-open", "--json"]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())["url"] + "files"
        process.send_signal(signal.SIGINT)


def test_interrupted_fetches_resume_and_false_digests_are_found(
    address: str, directory: Path, tmp_path: Path
) -> None:
    listed = read_index((directory / "index.json").read_bytes(), "")
    entry = next(entry for entry in listed if entry.file == KRKN)
    content, source = (directory / KRKN).read_bytes(), WebSource(address)
    part = tmp_path / f".{KRKN}.part"
    part.write_bytes(content[:1000])
    told: list[int] = []
    assert fetch(entry, [source], tmp_path, told.append)
    assert (tmp_path / KRKN).read_bytes() == content
    assert sum(told[:1]) > 1000
    (tmp_path / KRKN).unlink()
    for lie in (
        replace(entry, bytes=entry.bytes - 1), replace(entry, bytes=entry.bytes + 1),
        replace(entry, sha256="0" * 64),
    ):  # fmt: skip
        with pytest.raises(FetchError):
            fetch(lie, [source], tmp_path)
        assert not (tmp_path / KRKN).exists()
    assert fetch(entry, [source], tmp_path)
