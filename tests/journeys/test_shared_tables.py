"""Tables built on dask, indexed and served; fetched by another user, proven there, and used."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers import cprograms
from tests.helpers.commands import TBGEN, answer, run, served

for package in ("cryptography", "distributed"):
    pytest.importorskip(package, reason="the extra `cluster` is not installed")
pytest.importorskip("uvicorn", reason="the extra `web` is not installed")

FEN = "9/9/4k4/9/9/9/9/3n5/9/R2K5 b"
NAMES = [f"{material}.wxf.dtm.xqt" for material in ("KNK", "KRK", "KRKN")]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Directory with tables as published: built by two dask processes, dense, indexed."""
    directory = tmp_path_factory.mktemp("shared")
    said = run(TBGEN, "build", "KRKN", "--dask", "local:2", "--tables", directory).stderr
    assert "3 tables: 3 built" in said
    built = {path.name: path.stat().st_size for path in directory.glob("*.xqt")}
    assert sorted(built) == NAMES
    listed = answer(TBGEN, "index", "--dense", "--tables", directory)["files"]
    assert len(listed) == 3
    assert sum(path.stat().st_size for path in directory.glob("*.xqt")) < sum(built.values())
    return directory


@pytest.fixture(scope="module")
def fetched(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Directory of another user, with the tables of `shared` fetched over HTTP."""
    mine = tmp_path_factory.mktemp("mine")
    with served(shared, "--files") as url:
        fetch = [TBGEN, "fetch", "--from", f"{url}/files", "--tables", mine]
        assert sorted(answer(*fetch, "KRKN")["fetched"]) == NAMES
        again = answer(*fetch, "KRKN", "KRKR", status=1)
    assert (sorted(again["present"]), again["missing"]) == (NAMES, ["KRKR"])
    for name in NAMES:
        assert (mine / name).read_bytes() == (shared / name).read_bytes()
    assert sorted(path.name for path in mine.iterdir()) == NAMES
    return mine


def test_fetched_tables_are_proven(fetched: Path) -> None:
    proven = answer(TBGEN, "verify", "KRKN", "--closure", "--jobs", "1", "--tables", fetched)
    assert [table["proof"]["status"] for table in proven["tables"]] == 3 * ["proven"]
    shown = run(TBGEN, "ls", "--tables", fetched).stdout
    assert shown.splitlines()[-1].startswith("3 tables, 3 of them proven, ")


@cprograms.needs_c
def test_c_and_python_agree_on_fetched_tables(fetched: Path) -> None:
    example = cprograms.compiled("example", (cprograms.CONTRIB / "example.c", *cprograms.READER))
    first, *moves = run(example, fetched, "wxf", FEN).stdout.splitlines()
    probed = answer(TBGEN, "probe", FEN, "--tables", fetched)
    assert first == "{outcome} value {value} order {order} plies {plies}".format_map(probed)
    expected = [move["move"] + " *"[move["best"]] for move in probed["moves"]]
    assert sorted(line[:5] for line in moves) == sorted(expected)
