"""Tables built on dask, indexed and served; fetched by another user, proven there, and used."""

from __future__ import annotations

import subprocess
from pathlib import Path
from urllib.request import urlretrieve

import pytest

from tbgen.indexing import Position
from tbgen.play.tablebase import open_tablebase
from tbgen.rules import legal_moves
from tests.helpers import cprograms
from tests.helpers.commands import TBGEN, answer, run, served
from tests.helpers.fileserver import files_served

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


def test_tables_of_a_file_server_are_compared_with_a_published_list(
    shared: Path, tmp_path: Path
) -> None:
    """Tables fetched from a server of plain files have the digests of their publisher's list."""
    listed = answer(TBGEN, "index", "--tables", shared)["files"]
    rows = [f"{each['file']},{each['digest']},{each['values']}" for each in listed]
    (tmp_path / "list.csv").write_text("\n".join(["file,digest,values", *rows, ""]), "ascii")
    with files_served(shared) as url:
        run(TBGEN, "fetch", "KRKN", "--from", url, "--tables", tmp_path)
    compare = [TBGEN, "verify", "--digests", "--against", tmp_path / "list.csv"]
    said = run(*compare, "KRKN", "KRK", "KNK", "--tables", tmp_path).stdout
    assert said == "3 tables: 3 as listed\n"


@cprograms.needs_c
def test_outcomes_of_a_file_server_are_probed_in_c(shared: Path, tmp_path: Path) -> None:
    """Files of `tbgen pack --out` are downloaded, checked by `sha256sum`, and probed."""
    packed, mine = tmp_path / "packed", tmp_path / "mine"
    mine.mkdir()
    run(TBGEN, "pack", "KRKN", "KRK", "KNK", "--tables", shared, "--out", packed)
    with files_served(packed) as url:
        urlretrieve(f"{url}/SHA256SUMS", mine / "SHA256SUMS")
        for line in (mine / "SHA256SUMS").read_text("ascii").splitlines():
            name = line.split()[1].lstrip("*")
            urlretrieve(f"{url}/{name}", mine / name)
    subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=mine, check=True)
    positions = [Position.from_fen(FEN)]
    positions += [positions[0].after(*move) for move in legal_moves(positions[0])]
    records = b"".join(bytes([each.side]) + each.board for each in positions)
    files = sorted(mine.glob("*.wdl.xqt"))
    words = ("probe", "wxf", cprograms.CACHE, *files)
    output = cprograms.run(cprograms.harness(), *words, records=records)
    with open_tablebase(shared) as tables:
        expected = [[0, tables.probe(each).outcome] for each in positions]
    assert cprograms.answers_of(output)[:, :2].tolist() == expected
