"""Pages of a table of which some blocks are damaged."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path
from unittest.mock import patch

import pytest

pytest.importorskip("starlette", reason="the extra `web` is not installed")
pytest.importorskip("httpx", reason="starlette's test client needs it")

from starlette.testclient import TestClient

from tbgen import open_tablebase
from tbgen.board.knowledge import puzzles
from tbgen.board.knowledge.store import TableStore
from tbgen.board.web import panels, small_boards
from tbgen.board.web.routes import create_app
from tbgen.board.web.view import View
from tbgen.indexing import Side
from tbgen.tables import CorruptTableError, TableFile
from tbgen.tables.writer import pack_densely
from tests.helpers.board_server import demo

LOOP = "9/9/4k4/9/9/9/9/9/1n7/R2K5 w"


def test_a_damaged_block_affects_only_its_positions(tmp_path: Path) -> None:
    """Pages that search a table do not fail if one of its blocks is damaged.

    A search that needs this block raises `CorruptTableError`.
    """
    path = Path(shutil.copy(demo().tables / "KRKN.wxf.dtm.xqt", tmp_path))
    whole, middle = path.read_bytes(), path.stat().st_size // 2
    path.write_bytes(whole[:middle] + bytes(2000) + whole[middle + 2000 :])
    with open_tablebase(tmp_path) as tables:
        client = TestClient(create_app(tables, tmp_path))
        query = {"fen": "9/9/5k3/9/9/R8/9/4n4/9/3K5 w"}
        assert client.get("/v1/probe", params=query).status_code == 200
        assert "Red wins" in client.get("/", params=query).text
        assert "Longest wins" in client.get("/endgames/KRKN").text
        figures = tables.table("KRKN").statistics
        with pytest.raises(CorruptTableError):
            small_boards.longest_win(TableStore(tables), figures, Side.BLACK)


def test_a_table_that_is_overwritten_is_read_again(tmp_path: Path) -> None:
    """A copy in place (cp) leaves the directory unchanged; the file stays open."""
    path = Path(shutil.copy(demo().tables / "KRKN.wxf.dtm.xqt", tmp_path))
    fast = path.read_bytes()
    with TableFile(path) as file:
        pack_densely(file)
    dense = path.read_bytes()
    path.write_bytes(fast)
    with open_tablebase(tmp_path) as tables:
        client = TestClient(create_app(tables, tmp_path))
        assert client.get("/v1/tables/KRKN").json()["bytes_on_disk"] == len(fast)
        path.write_bytes(dense)
        assert client.get("/v1/probe", params={"fen": LOOP}).status_code == 200
        assert client.get("/v1/tables/KRKN").json()["bytes_on_disk"] == len(dense)


def test_other_pages_are_shown_while_tables_cannot_be_examined(tmp_path: Path) -> None:
    path = Path(shutil.copy(demo().tables / "KRKN.wxf.dtm.xqt", tmp_path))
    path.write_bytes(path.read_bytes()[:5000])
    with open_tablebase(tmp_path) as tables:
        client = TestClient(create_app(tables, tmp_path), raise_server_exceptions=False)
        with patch.object(Path, "stat", side_effect=PermissionError(errno.EACCES, "denied")):
            assert client.get("/v1/probe", params={"fen": LOOP}).status_code == 500
            assert client.get("/v1/probe", params={"fen": LOOP}).status_code == 500
            assert client.get("/handbook").status_code == 200


def test_the_first_page_does_not_need_the_block_of_the_longest_win(tmp_path: Path) -> None:
    """Without it the first page shows the longest win of another table, or a fixed position."""
    path = Path(shutil.copy(demo().tables / "KRKN.wxf.dtm.xqt", tmp_path))
    with open_tablebase(tmp_path) as tables:
        longest = TableStore(tables, tmp_path).first_position
    whole = path.read_bytes()
    path.write_bytes(whole[:2000] + bytes(len(whole) // 2) + whole[2000 + len(whole) // 2 :])
    with open_tablebase(tmp_path) as tables:
        client, store = TestClient(create_app(tables, tmp_path)), TableStore(tables, tmp_path)
        assert client.get("/", params={"fen": longest.fen}).status_code == 500
        assert client.get("/").status_code == 200
        assert store.first_position.material.name == "KRK"
        shutil.copy(demo().tables / "KNK.wxf.dtm.xqt", tmp_path)
        assert store.first_position.material.name == "KNK"


def test_notes_and_boards_of_a_damaged_table_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pages leave out notes and small boards for which a damaged block would have to be read."""
    path = Path(shutil.copy(demo().tables / "KRKN.wxf.dtm.xqt", tmp_path))

    def damaged(*_: object) -> None:
        raise CorruptTableError(path, "the checksum is wrong")

    monkeypatch.setattr(panels, "comparable", lambda store: store.materials())
    monkeypatch.setattr(panels, "values_by_rules", damaged)
    monkeypatch.setattr(panels, "last_mistake", damaged)
    monkeypatch.setattr(puzzles, "comparable", lambda store: store.materials())
    monkeypatch.setattr(puzzles, "positions_of_value", damaged)
    with open_tablebase(tmp_path) as tables:
        client = TestClient(create_app(tables, tmp_path))
        assert client.get("/endgames/KRKN").status_code == 200
        assert client.get("/", params={"fen": LOOP, "moves": "d0d1"}).status_code == 200
        store = TableStore(tables, tmp_path)
        assert small_boards.first_page_boards(store, View(store.first_position)) == ""


def test_the_handbook_does_not_need_tables_under_other_rules(tmp_path: Path) -> None:
    """A damaged table under other rules leaves the comparison out, not the endgame."""
    shutil.copy(demo().tables / "KRKN.wxf.dtm.xqt", tmp_path)
    (tmp_path / "KRKN.check.dtm.xqt").write_bytes(bytes(100))
    with open_tablebase(tmp_path, rules="wxf") as tables:
        page = TestClient(create_app(tables, tmp_path)).get("/handbook/KR")
    assert "/endgames/KRKN" in page.text
