"""A game from the opening by the installed engine with tables, whatever state they are in.

No position of an opening can have a table: the engine searches each of them, and says so by a
depth and a score.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tbgen.indexing import START_FEN, Move, Position
from tbgen.rules import legal_moves

PROGRAM = Path(sys.executable).with_name("tbgen-engine")
PLIES = 8
ENDING = "9/9/4k4/9/9/9/9/3n5/9/R2K5 b"


class Engine:
    """The engine's process, in one of both protocols."""

    def __init__(self, protocol: str, tables: Path) -> None:
        self.protocol = protocol
        self.said: list[str] = []
        self._process = subprocess.Popen(
            [PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        option = "setoption name EGTBPaths value" if protocol == "uci" else "setoption egtbpaths"
        self.say(protocol, f"{option} {tables}")
        self.hear(f"{protocol}ok")

    def say(self, *lines: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write("".join(f"{line}\n" for line in lines))
        self._process.stdin.flush()

    def hear(self, word: str) -> list[str]:
        """Return the lines up to the one that begins with a word."""
        assert self._process.stdout is not None
        heard = []
        for line in self._process.stdout:
            heard.append(line.rstrip())
            if line.startswith(word):
                break
        self.said += heard
        return heard

    def move(self, fen: str, played: list[str], limit: str = "nodes 2000") -> tuple[str, list[str]]:
        """Return the engine's move, and what it said before."""
        moves = f" moves {' '.join(played)}" if played else ""
        self.say(f"position {fen}{moves}", f"go {limit}")
        heard = self.hear("bestmove")
        return heard[-1].split()[1], heard[:-1]

    def close(self) -> None:
        """End the process; it has said nothing on standard error."""
        self.say("quit")
        _, errors = self._process.communicate(timeout=60)
        assert (self._process.returncode, errors) == (0, "")


@pytest.fixture(params=["uci", "ucci"])
def engine(request: pytest.FixtureRequest, tables_dir: Path) -> Iterator[Engine]:
    engine = Engine(request.param, tables_dir)
    yield engine
    engine.close()


def play(engine: Engine, plies: int) -> list[str]:
    """Play both sides from the opening; every move has been searched to a depth of 2 at least."""
    position, played = Position.from_fen(START_FEN), []
    for _ in range(plies):
        move, before = engine.move("startpos", played)
        depths = [int(line.split()[2]) for line in before if line.startswith("info depth")]
        assert max(depths, default=0) >= 2, f"{move} was not searched: {before}"
        assert Move.from_iccs(move) in legal_moves(position)
        position = position.after(*Move.from_iccs(move))
        played.append(move)
    return played


def notes(engine: Engine) -> list[str]:
    """What the engine has told its user."""
    return [line for line in engine.said if line.startswith(("info string", "info message"))]


def test_an_opening_with_tables_is_searched(engine: Engine) -> None:
    engine.say(f"setoption {'name Rules value' if engine.protocol == 'uci' else 'rules'} check")
    play(engine, PLIES)
    assert notes(engine) == []
    move, before = engine.move(f"fen {ENDING}", [])
    assert move == "d2b1"
    assert " tbhits 1 " in before[-1]


def test_a_damaged_table_is_left_out(tables_dir: Path, tmp_path: Path) -> None:
    """The engine says so once, searches, and still has the other tables."""
    for file in tables_dir.iterdir():
        shutil.copy(file, tmp_path)
    damaged = next(tmp_path.glob("KRKN.check.*xqt"))
    size = damaged.stat().st_size
    with damaged.open("r+b") as file:
        file.seek(size // 3)
        file.write(b"\0" * (size // 2))
    engine = Engine("uci", tmp_path)
    engine.say("setoption name Rules value check")
    for _ in range(2):
        _, before = engine.move(f"fen {ENDING}", [])
        assert any(line.startswith("info depth 2 ") for line in before)
    played = play(engine, 2)
    assert played
    assert [damaged.name in line for line in notes(engine)] == [True]
    _, before = engine.move("fen 3k5/9/9/9/9/9/9/9/9/R3K4 w", [])
    assert " tbhits 1 " in before[-1]
    engine.close()


def test_a_hash_table_that_does_not_fit_is_smaller(tables_dir: Path) -> None:
    """The process may take 3 GiB, and is asked for 64 GiB."""
    resource = pytest.importorskip("resource")
    limit = 3 << 30
    before = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, before[1]))
    try:
        engine = Engine("uci", tables_dir)
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)
    engine.say("setoption name Rules value check", "setoption name Hash value 65536")
    play(engine, 2)
    (note,) = notes(engine)
    assert "no memory for a hash table of 65536 MiB" in note
    engine.close()
