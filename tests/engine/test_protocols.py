"""Conversations with the engine as a process, like those of a GUI."""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tbgen.indexing import START_FEN, Move, Position, Side
from tbgen.play.tablebase import open_tablebase
from tbgen.rules import legal_moves
from tests.helpers.paths import ROOT

ANSWER_SECONDS = 180.0
"""Timeout of an answer in seconds, with time to compile the kernels on a busy machine."""

START = "from tbgen.engine.conversation import main; main()"


ROOK_ALONE = "3k5/9/9/9/9/9/9/9/9/R3K4 w"


def best_of(tables: Path) -> str:
    """Return the best move of the tables in the position `ROOK_ALONE`."""
    with open_tablebase(tables, rules="check") as opened:
        best = opened.best_move(Position.from_fen(ROOK_ALONE))
    assert best is not None
    return best.move.iccs


class Gui:
    """The GUI's side of a conversation with the engine's process."""

    def __init__(self, tables: Path | None = None, ending: str = "\n") -> None:
        self._ending = ending
        environment = {"TBGEN_TABLES": str(tables)} if tables else {}
        self._process = subprocess.Popen(
            [sys.executable, "-c", START],
            cwd=ROOT,
            env={**_environment(), **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line.rstrip("\n"))

    def send(self, *lines: str) -> None:
        assert self._process.stdin is not None
        for line in lines:
            self._process.stdin.write(line + self._ending)
        self._process.stdin.flush()

    def read_until(self, word: str) -> list[str]:
        """Return the lines up to the first one that begins with a word."""
        lines, until = [], time.monotonic() + ANSWER_SECONDS
        while not lines or not lines[-1].startswith(word):
            lines.append(self._lines.get(timeout=max(0.01, until - time.monotonic())))
        return lines

    def close(self) -> int:
        self.send("quit")
        return self._process.wait(timeout=ANSWER_SECONDS)


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "TBGEN_TABLES"}


@pytest.fixture(scope="module")
def uci(loaded) -> Iterator[Gui]:
    """A UCI conversation shared by several tests; the kernels are compiled before."""
    gui = Gui(ending="\r\n")
    gui.send("uci")
    lines = gui.read_until("uciok")
    assert any(line.startswith("id name tbgen") for line in lines)
    yield gui
    assert gui.close() == 0


def best_move(lines: list[str]) -> str:
    return lines[-1].split()[1]


def test_uci_searches(uci):
    uci.send("isready")
    uci.read_until("readyok")
    uci.send("position startpos moves h2e2", "go depth 5")
    lines = uci.read_until("bestmove")
    position = Position.from_fen(START_FEN).after(*Move.from_iccs("h2e2"))
    assert Move.from_iccs(best_move(lines)) in legal_moves(position)
    depths = [line for line in lines if line.startswith("info depth")]
    assert len(depths) == 5
    for line in depths:
        words = line.split()
        named = ["depth", "seldepth", "multipv", "score", "nodes", "nps", "hashfull", "tbhits"]
        assert [word for word in words if word in named] == named
        assert words.index("time") < words.index("pv")


def test_uci_limits(uci):
    uci.send("position startpos", "go nodes 5000")
    assert best_move(uci.read_until("bestmove")) != "(none)"
    uci.send("go movetime 50")
    uci.read_until("bestmove")
    uci.send("go wtime 1000 btime 1000 winc 10 binc 10")
    uci.read_until("bestmove")
    uci.send("go depth 3 searchmoves a0a1 i0i1")
    assert best_move(uci.read_until("bestmove")) in ("a0a1", "i0i1")
    uci.send("position fen 3k5/9/9/9/9/9/4R4/9/9/4K4 r", "go mate 1")
    lines = uci.read_until("bestmove")
    assert " score mate 1 " in lines[-2]
    assert best_move(lines) == "e3d3"


def test_uci_stops_and_ponders(uci):
    uci.send("position startpos", "go infinite")
    uci.read_until("info depth 3")
    uci.send("stop")
    uci.read_until("bestmove")
    uci.send("go ponder movetime 50")
    uci.read_until("info depth 3")
    uci.send("isready")
    assert not any(line.startswith("bestmove") for line in uci.read_until("readyok"))
    uci.send("ponderhit")
    uci.read_until("bestmove")
    uci.send("go ponder", "ponderhit")
    uci.read_until("bestmove")


def test_uci_several_lines(uci):
    uci.send("setoption name MultiPV value 3", "position startpos", "go depth 2")
    lines = uci.read_until("bestmove")
    assert [line.split()[6] for line in lines[-4:-1]] == ["1", "2", "3"]
    uci.send("setoption name MultiPV value 1")


def test_uci_survives_invalid_commands(uci):
    uci.send(
        "position startpos",
        "position fen nonsense w",
        "position fen 9/9/9/9/9/9/9/9/9/9 w",
        "position startpos moves h2e2 h2e2",
        "setoption name Hash value lots",
        "setoption name Repetition Rule value AsianRule",
        "setoption name Rules value asian",
        "setoption name Rules value chess",
        "setoption",
        "position",
        "\x00\x01 \u76f8",
        "debug on",
        "",
        "isready",
    )
    lines = uci.read_until("readyok")
    assert len(lines) == 8
    assert all(line.startswith("info string ") for line in lines[:-1])
    uci.send("go depth 1")
    move = best_move(uci.read_until("bestmove"))
    assert Move.from_iccs(move) in legal_moves(Position.from_fen(START_FEN))


@pytest.mark.parametrize(
    "arguments",
    [
        "",
        "nodes abc",
        "depth many",
        "searchmoves zzzz",
        "searchmoves zzzz nodes 100",
        "movetime 1e9999",
        "nodes 0",
        "depth 0",
        "movestogo 0",
        "wtime -5 btime -5",
        f"nodes {10**23} movetime 20",
        f"movetime {2**63 // 10**6} nodes 100",
        f"wtime {10**400} btime {10**400} winc {10**400} binc {10**400} depth 1",
        f"movetime {'9' * 5000}",
        "btime 1000",
    ],
    ids=lambda text: text[:30] or "bare",
)
def test_every_go_is_answered_once(uci, arguments):
    """Invalid arguments are ignored, and the engine still searches."""
    uci.send("position startpos", f"go {arguments}")
    lines = uci.read_until("bestmove")
    assert Move.from_iccs(best_move(lines)) in legal_moves(Position.from_fen(START_FEN))
    assert any(line.startswith("info depth") for line in lines)
    uci.send("isready")
    assert uci.read_until("readyok") == ["readyok"]


def test_uci_without_a_legal_move(uci):
    uci.send("position fen 3Rk4/9/4P4/9/9/9/9/9/9/3K5 b", "go depth 3")
    assert uci.read_until("bestmove")[-1] == "bestmove (none)"


def test_uci_variant_means_ranks_from_one(uci):
    uci.send("setoption name UCI_Variant value xiangqi")
    uci.send("position startpos moves h3e3 h10g8", "go depth 1 searchmoves a1a2")
    assert best_move(uci.read_until("bestmove")) == "a1a2"


def test_the_cyclone_dialect_counts_ranks_from_zero(loaded):
    """Under the Cyclone dialect of UCI the engine numbers ranks from 0.

    The test behaves like xboard's adapter, which sets every option that it knows.
    """
    gui = Gui()
    gui.send("uci", "setoption name UCI_Variant value xiangqi", "newgame", "isready")
    gui.read_until("readyok")
    gui.send("fen 3k5/9/9/9/9/9/9/9/R8/R3K4 w 0 1 moves", "go depth 3 searchmoves a1a2")
    assert best_move(gui.read_until("bestmove")) == "a1a2"
    gui.send("startpos moves h2e2", "go depth 1 searchmoves h9g7")
    assert best_move(gui.read_until("bestmove")) == "h9g7"
    assert gui.close() == 0


def test_ucci_with_tables(tables_dir):
    gui = Gui(ending="\r\n")
    gui.send("ucci")
    assert any(line.startswith("option egtbpaths type string") for line in gui.read_until("ucciok"))
    gui.send("setoption usemillisec true", f"setoption egtbpaths {tables_dir}")
    gui.send("setoption rules check")
    gui.send("position fen 9/9/4k4/9/9/9/9/3n5/9/R2K5 b", "go time 1000 increment 0")
    lines = gui.read_until("bestmove")
    assert lines[0].startswith("info depth 1 score -2")
    assert " tbhits 1 " in lines[0]
    assert best_move(lines) == "d2b1"
    gui.send("stop")
    assert gui.read_until("nobestmove")
    gui.send(f"position fen {ROOK_ALONE}", "go depth 3")
    assert best_move(gui.read_until("bestmove")) == best_of(tables_dir)
    gui.send(f"banmoves {best_of(tables_dir)}", "go depth 3")
    assert best_move(gui.read_until("bestmove")) != best_of(tables_dir)
    # One move before mate, there is nothing to play for.
    gui.send("position fen 3k5/4R4/9/9/9/9/p8/9/8R/4K4 b", "go depth 4")
    assert gui.read_until("bestmove")[-1].endswith(" resign")
    gui.send("position fen 9/9/3k5/9/9/9/9/9/9/R2NK4 b", "go draw depth 2")
    gui.read_until("bestmove")
    gui.send("nonsense")
    assert gui.read_until("info message")
    gui.send("quit")
    assert gui.read_until("bye")


def test_tables_are_found_without_options(tables_dir):
    """$TBGEN_TABLES names the tables; an answer from them needs no kernels."""
    gui = Gui(tables=tables_dir)
    gui.send("uci", "setoption name Rules value check", f"position fen {ROOK_ALONE}")
    gui.send("setoption name MultiPV value 2", "go movetime 100000")
    lines = gui.read_until("bestmove")
    first, second = lines[-3:-1]
    assert " score mate " in first
    assert " multipv 2 " in second
    assert best_move(lines) == best_of(tables_dir)
    assert gui.close() == 0


@pytest.mark.parametrize("protocol", ["UcciEngine", "UciEngine"])
def test_cchess_plays_a_game_with_the_engine(tmp_path, loaded, protocol):
    """The Python library cchess plays both sides of a game with the engine, up to mate."""
    library = pytest.importorskip("cchess.engine")
    program = tmp_path / "engine"
    program.write_text(f"#!/bin/sh\ncd {ROOT}\nexec {sys.executable} -c '{START}'\n")
    program.chmod(0o755)
    gui = getattr(library, protocol)()
    gui.load(str(program))
    assert gui.wait_for_ready(ANSWER_SECONDS)
    position = Position.from_fen("4k4/9/9/9/9/9/9/R8/9/R2K5 w")
    for _ in range(3):
        assert legal_moves(position)
        gui.go_from(position.fen, {"depth": 4})
        action, until = None, time.monotonic() + ANSWER_SECONDS
        while (not action or action["action"] != "bestmove") and time.monotonic() < until:
            action = gui.get_action()
            time.sleep(0.02)
        move = Move.from_iccs(action["move"])
        assert move in legal_moves(position)
        position = position.after(*move)
    gui.quit()
    assert position.side == Side.BLACK
    assert not legal_moves(position)


@pytest.mark.parametrize("encoding", ["utf-8:strict", "ascii:strict", "gbk", "latin-1"])
def test_lines_may_be_any_bytes(encoding: str) -> None:
    """Lines of invalid text get an answer, and so does the next line."""
    lines = [b"uci", b"\xff\xfe \xe8", b"setoption name EGTBPaths value caf\xe9",
             b"position fen \xe8\xbd\xa6 \xff", b"isready", b"quit"]  # fmt: skip
    result = subprocess.run(
        [sys.executable, "-c", START], input=b"\n".join(lines), capture_output=True,
        env={**_environment(), "PYTHONIOENCODING": encoding},
    )  # fmt: skip
    assert (result.returncode, result.stderr) == (0, b"")
    assert result.stdout.splitlines()[-1] == b"readyok"


@pytest.mark.parametrize(
    ("streams", "said", "status"),
    [
        ("<&-", "error: standard input or output is closed\n", 1),
        (">&-", "error: standard input or output is closed\n", 1),
        ("> /dev/full", "error: No space left on device\n", 2),
        ("| true", "", 0),
    ],
)
def test_closed_or_full_streams(streams: str, said: str, status: int) -> None:
    line = f"(echo uci; echo quit) | {sys.executable} -c '{START}' {streams}"
    if streams == "<&-":
        line = line.partition("| ")[2]
    result = subprocess.run(["sh", "-c", line], capture_output=True, text=True, cwd=ROOT)
    assert (result.stderr, result.returncode) == (said, status)
