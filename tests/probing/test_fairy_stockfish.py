"""Tables in Fairy-Stockfish: the calls of the C reader are inserted, and the engine wins."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.helpers.built import built
from tests.helpers.cprograms import CONTRIB, needs_cxx
from tests.helpers.debian import source_of
from tests.helpers.paths import ROOT

FOLDER = CONTRIB / "engines" / "fairy-stockfish"

TINY = {
    "search.cpp": '#include "search.h"\n#include "uci.h"\n'
    "int search() {\n    // Step 5. Tablebases\n    return 0;\n}\n"
    "void Tablebases::rank_root_moves(Position& pos) {\n}\n",
    "uci.cpp": '#include "uci.h"\nvoid loop() {\n  pos.set(0);\n}\n'
    "void position() {\n  pos.set(1);\n  for (;;)\n  {\n    pos.do_move(m);\n  }\n}\n",
    "ucioption.cpp": '#include "uci.h"\nvoid init() {\n  o["SyzygyProbeLimit"];\n}\n',
}
"""Invented source files of an engine, by name, with every line at which insert.py inserts calls."""


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("insert", FOLDER / "insert.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["insert"] = module
    spec.loader.exec_module(module)
    return module


def tiny_source(folder: Path) -> Path:
    folder.mkdir()
    for name, text in TINY.items():
        (folder / name).write_text(text)
    return folder


def test_calls_are_inserted_at_their_places(tmp_path: Path, script: ModuleType) -> None:
    source = tiny_source(tmp_path / "src")
    script.insert(source)
    search = (source / "search.cpp").read_text().splitlines()
    above = search.index("    // Step 5. Tablebases")
    assert "XiangqiTables::probe(" in search[above - 5]
    below = next(n for n, line in enumerate(search) if line.startswith("void Tablebases::"))
    assert "XiangqiTables::rank_root_moves(" in search[below + 1]
    assert search[1:3] == ['#include "uci.h"', '#include "xiangqi_tables.h"']
    uci = [line.strip() for line in (source / "uci.cpp").read_text().splitlines()]
    assert uci[uci.index("pos.set(1);") + 1] == "XiangqiTables::begin_game(pos);"
    assert uci[uci.index("pos.do_move(m);") + 1] == "XiangqiTables::record_move(pos, m);"
    assert uci[uci.index("pos.set(0);") + 1] == "}"
    for name, text in TINY.items():
        lines = iter((source / name).read_text().splitlines())
        assert all(line in lines for line in text.splitlines()), "lines of the source are kept"
    copied = {path.name for path in source.iterdir()} - set(TINY)
    assert copied == {path.name for path in script.COPIED} | {"xqprobe.cpp"}
    with pytest.raises(SystemExit, match="has the calls already"):
        script.insert(source)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("search.cpp", "Step 5", "Step 6"),
        ("uci.cpp", "void position", "void place"),
        ("ucioption.cpp", '"SyzygyProbeLimit"', '"Syzygy"'),
        ("search.cpp", "Step 5. Tablebases", "Step 5. Tablebases\n // Step 5. Tablebases"),
    ],
)
def test_a_source_without_a_place_stays_unchanged(
    tmp_path: Path, script: ModuleType, name: str, old: str, new: str
) -> None:
    source = tiny_source(tmp_path / "src")
    (source / name).write_text(TINY[name].replace(old, new))
    before = {path.name: path.read_text() for path in source.iterdir()}
    with pytest.raises(SystemExit, match=re.escape(name)):
        script.insert(source)
    assert {path.name: path.read_text() for path in source.iterdir()} == before


def no_source(folder: Path) -> Path:
    """Return an empty path in place of the source's, so that build.py downloads the source."""
    del folder
    return Path()


def debian_source(folder: Path) -> Path:
    """Download the source of Debian's package to `folder`, and return the path of its src."""
    return source_of("fairy-stockfish", folder) / "src"


@pytest.fixture(params=[no_source, debian_source], ids=["index", "debian"])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    source = request.param(tmp_path)
    command = [sys.executable, str(FOLDER / "build.py"), str(tmp_path / "built")]
    command += ["--source", str(source)] if source != Path() else []
    ran = subprocess.run(command, capture_output=True, text=True)
    if "cannot be downloaded" in ran.stderr:
        pytest.skip(ran.stderr)
    assert ran.returncode == 0, ran.stderr[-2000:]
    return Path(ran.stdout.strip())


def talk(engine: Path, *lines: str) -> str:
    """Start a UCI engine for xiangqi, send `lines`; return its output up to the best move."""
    text = "\n".join(["uci", "setoption name UCI_Variant value xiangqi", *lines, ""])
    process = subprocess.Popen([engine], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(text)
    process.stdin.flush()
    said = []
    for line in process.stdout:
        said.append(line)
        if line.startswith("bestmove"):
            break
    process.communicate("quit\n")
    return "".join(said)


@needs_cxx
@pytest.mark.certification
def test_the_engine_wins_by_tables(engine: Path) -> None:
    directory = built("KRAKR", rules="wxf")
    root = "position fen 5r3/5k3/9/9/9/9/9/5A3/3R5/3K5 w"
    path = f"setoption name XiangqiTablePath value {directory}"
    said = talk(engine, path, root, "go nodes 20000")
    for option in ("XiangqiTablePath", "EGTBPaths", "EGTBRules", "EGTBProbeDepth"):
        assert f"option name {option} " in said
    assert re.search(r"info string \d+ endgame tables: .*\b1 of 5 men", said)
    # Only d1d8 wins (docs/probing.md); this engine counts ranks from 1.
    assert "bestmove d2d9" in said
    assert re.search(r" tbhits [1-9]", said)
    cyclone = ["ucicyclone", root.removeprefix("position ")]
    assert "bestmove d1d8" in talk(engine, path, *cyclone, "go nodes 20000")
    without = talk(engine, root, "go nodes 20000")
    assert not re.search(r" tbhits [1-9]", without)
    more_men = "position fen 5r3/5k3/9/9/9/4p4/9/5A3/3R5/3K5 w"
    assert re.search(r" tbhits [1-9]", talk(engine, path, more_men, "go nodes 20000"))
    script = ROOT / "scripts" / "match" / "won_endgames.py"
    command = [sys.executable, str(script), "--tables", str(directory), "--engine", f"uci:{engine}"]
    command += ["--count", "6", "--nodes", "5000", "--with", str(directory)]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert "6 of 6 won" in ran.stdout, ran.stderr[-2000:]
