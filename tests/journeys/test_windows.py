"""tbgen without what only POSIX has, on a simulated Windows (tests/helpers/windows.py).

scripts/certify/windows.py tries the same commands with a Python for Windows.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.paths import ROOT

pytestmark = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")

PROBE_AND_JUDGE = """
import sys
from tbgen.indexing import Move, Position
from tbgen.play.tablebase import open_tablebase
from tbgen.referee import judge
with open_tablebase(sys.argv[1], rules="check") as tables:
    position = Position.from_fen("3k5/9/9/9/9/9/9/9/9/R3K4 w")
    print(tables.probe(position).outcome.name, tables.best_move(position).move.iccs)
print(judge(Position.from_fen("3k5/9/9/9/9/9/9/9/R8/4K4 w"), [Move.from_iccs("a1a2")]).verdict.name)
"""

PLAY = """
import io, sys
from pathlib import Path
from tbgen.engine.conversation import converse
from tbgen.engine.search.searcher import Searcher
Searcher(hash_mebibytes=1).warm_up()
commands = ["uci", "setoption name Rules value check", "position startpos", "go depth 3",
            "isready", "position fen 3k5/9/9/9/9/9/9/9/9/R3K4 w", "go depth 3", "quit"]
out = io.StringIO()
converse(commands, lambda line: print(line, file=out), [Path(sys.argv[1])])
print(out.getvalue())
"""

COMMAND_LINE = """
from tbgen.__main__ import main
main()
"""


def run(program: str, *arguments: str | Path) -> str:
    """Run the text of a Python program on the simulated Windows, and return its output."""
    done = subprocess.run(
        [sys.executable, "-c", f"import tests.helpers.windows\n{program}", *map(str, arguments)],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def tbgen(*arguments: str | Path) -> str:
    """Run a command of tbgen on the simulated Windows, and return its output."""
    return run(COMMAND_LINE, *arguments)


def test_tables_and_referee(tables_dir: Path) -> None:
    won, verdict = run(PROBE_AND_JUDGE, tables_dir).splitlines()
    assert won.startswith("WIN ")
    assert verdict == "UNDECIDED"


def test_engine(tables_dir: Path) -> None:
    lines = run(PLAY, tables_dir).splitlines()
    moves = [line for line in lines if line.startswith("bestmove")]
    assert len(moves) == 2
    assert "score mate" in "\n".join(lines)


def test_building_proving_and_publishing(tmp_path: Path) -> None:
    """Tables are built by processes, proven, listed, packed and fetched, with the same bytes."""
    built, fetched = tmp_path / "egtb", tmp_path / "fetched"
    tbgen("build", "KRKN", "--jobs", "2", "--tables", built)
    assert "3 proven" in tbgen("verify", "KRKN", "--closure", "--jobs", "2", "--tables", built)
    assert "3 proven by certificate" in tbgen("verify", "KRKN", "--closure", "--tables", built)
    assert "3 tables: 3 as listed" in tbgen("verify", "--digests", "--tables", built)
    tbgen("build", "KRKN", "--force", "--memory", "160MiB", "--tables", built)
    assert "3 as listed" in tbgen("verify", "--digests", "--tables", built)
    tbgen("index", "--dense", "--tables", built)
    tbgen("fetch", "KRKN", "--from", built, "--tables", fetched)
    assert (fetched / "KRKN.wxf.dtm.xqt").read_bytes() == (built / "KRKN.wxf.dtm.xqt").read_bytes()
    tbgen("pack", "KRKN", "--out", tmp_path / "packed", "--tables", built)
    assert not [path.name for path in built.iterdir() if path.name.startswith(".")]


def test_the_memory_of_the_machine() -> None:
    memory = json.loads(tbgen("doctor", "--json"))["memory"]
    assert memory["total"] == 24 << 30
    assert 16 << 30 <= memory["available"] < 17 << 30  # with what the process uses already
