"""Probing, judging and playing without the POSIX-only parts of the system."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.helpers.paths import ROOT

WITHOUT_POSIX = """
import os, sys

for name in ("fcntl", "resource", "pwd", "grp", "termios"):
    sys.modules[name] = None
for name in ("fork", "forkpty", "pread", "preadv", "getuid", "geteuid", "posix_fallocate",
             "sched_getaffinity", "O_CLOEXEC", "O_NONBLOCK", "O_NOCTTY", "O_NOFOLLOW"):
    if hasattr(os, name):
        delattr(os, name)
"""

PROBE_AND_JUDGE = (
    WITHOUT_POSIX
    + """
from tbgen.indexing import Move, Position
from tbgen.play.tablebase import open_tablebase
from tbgen.referee import judge
with open_tablebase(sys.argv[1], rules="check") as tables:
    position = Position.from_fen("3k5/9/9/9/9/9/9/9/9/R3K4 w")
    print(tables.probe(position).outcome.name, tables.best_move(position).move.iccs)
print(judge(Position.from_fen("3k5/9/9/9/9/9/9/9/R8/4K4 w"), [Move.from_iccs("a1a2")]).verdict.name)
"""
)

PLAY = (
    WITHOUT_POSIX
    + """
import io
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
)


def run(program: str, tables: Path) -> str:
    """Run the text of a Python program with the argument `tables`, and return its output.

    The program hides the POSIX-only modules before it imports tbgen.
    """
    done = subprocess.run(
        [sys.executable, "-c", program, str(tables)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_tables_and_referee(tables_dir: Path) -> None:
    won, verdict = run(PROBE_AND_JUDGE, tables_dir).splitlines()
    assert won.startswith("WIN ")
    assert verdict == "UNDECIDED"


def test_engine(tables_dir: Path, loaded: object) -> None:
    lines = run(PLAY, tables_dir).splitlines()
    moves = [line for line in lines if line.startswith("bestmove")]
    assert len(moves) == 2
    assert "score mate" in "\n".join(lines)
