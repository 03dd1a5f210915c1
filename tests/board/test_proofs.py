"""Proofs of tables, over HTTP and on pages; certificates may appear while serving."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra `web` is not installed")
pytest.importorskip("httpx", reason="starlette's test client needs it")

from starlette.testclient import TestClient

from tbgen import open_tablebase
from tbgen.board.web.routes import create_app
from tbgen.tables import TableFile, TableName
from tbgen.tables.certificates import certificate_path
from tests.helpers.built import built
from tests.helpers.certificates import certify
from tests.helpers.languages import misfits


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Directory with KRKN and the tables after its captures, without certificates."""
    for path in built("KRKN", rules="wxf").iterdir():
        if path.suffix == ".xqt":
            shutil.copy2(path, tmp_path)
    return tmp_path


@pytest.fixture
def client(folder: Path) -> Iterator[TestClient]:
    with open_tablebase(folder) as tables:
        yield TestClient(create_app(tables, folder))


def names(folder: Path) -> dict[str, TableName]:
    with open_tablebase(folder) as tables:
        return {name.material.name: name for name in tables.available()}


def test_the_status_follows_the_certificates(client: TestClient, folder: Path) -> None:
    def status() -> dict[str, object]:
        found = client.get("/v1/tables/KRKN").json()["proof"]
        assert isinstance(found, dict)
        return found

    def listed(language: str = "en") -> tuple[str, str]:
        """Return the CSS class and the text of KRKN's proof status on the page of endgames.

        The entry of KRKN in /v1/tables must have the same status as /v1/tables/KRKN.
        """
        page = client.get("/endgames", params={"lang": language}).text
        assert language == "en" or not misfits(page, language)
        (row,) = [row for row in page.split("<tr>") if ">KRKN</code>" in row]
        found = client.get("/v1/tables").json()["tables"]
        (entry,) = [entry for entry in found if entry["material"] == "KRKN"]
        assert entry["proof"] == status()
        return re.findall(r'<span class="proof (\w+)" title="[^"]*">([^<]*)</span>', row)[0]

    def said(language: str = "en") -> str:
        page = client.get("/endgames/KRKN", params={"lang": language}).text
        assert language == "en" or not misfits(page, language)
        return str(page)

    table = names(folder)
    assert status() == {"status": "unproven", "but_for": [], "reason": None}
    assert "not proven here" in said()
    assert listed() == ("unproven", "unproven")
    assert listed("zh-Hant") == ("unproven", "未證明")
    certify(folder, table["KRKN"])
    assert status()["status"] == "proven but for"
    assert "proven from the rules, but for KNK, KRK" in said()
    assert "但依赖未证明的KNK、KRK" in said("zh-Hans")
    assert listed() == ("but_for", "but for others")
    for name in ("KRK", "KNK"):
        certify(folder, table[name])
    assert status() == {"status": "proven", "but_for": [], "reason": None}
    assert "<dd>proven from the rules</dd>" in said()
    assert listed() == ("proven", "proven")
    beside = client.get("/", params={"fen": "9/9/4k4/9/9/9/9/9/1n7/R2K5_w"}).text
    assert "Proof: proven from the rules. " in beside
    certificate_path(folder / table["KRKN"].filename).write_text("damaged")
    (folder / "changed").write_text("")  # changes the directory, as a new certificate does
    assert status()["status"] == "unproven"
    assert status()["reason"]
    for language in ("en", "zh-Hans", "zh-Hant"):
        assert said(language)


def test_pages_do_not_wait_for_copied_files(
    client: TestClient, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pages state that proofs are being checked, until all copied files have been read.

    New time stamps make the files look copied. Reading is delayed until the first pages are loaded.
    """
    for name in names(folder).values():
        certify(folder, name)
        os.utime(folder / name.filename)
    may_read, check = Event(), TableFile.check

    def check_later(file: TableFile, **how: Any) -> None:
        may_read.wait()
        check(file, **how)

    monkeypatch.setattr(TableFile, "check", check_later)
    pages = ("/endgames", "/endgames/KRKN", "/?fen=9/9/4k4/9/9/9/9/9/1n7/R2K5_w")
    try:
        before = [client.get(page) for page in pages]
        assert all("being checked" in page.text for page in before)
    finally:
        may_read.set()
    while client.get("/endgames").headers["etag"] == before[0].headers["etag"]:
        time.sleep(0.01)
    assert [page for page in pages if "being checked" in client.get(page).text] == []
    assert not misfits(client.get("/endgames?lang=zh-Hant").text, "zh-Hant")
