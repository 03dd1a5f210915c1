"""Conversations with the engine as a process, like those of a GUI."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tbgen.compiling.jit import compile_lock
from tbgen.engine.uci import Uci
from tbgen.indexing import START_FEN, Move, Position, Side
from tbgen.play.tablebase import open_tablebase
from tbgen.rules import legal_moves
from tests.helpers.commands import ANSWER_SECONDS, ENGINE, TBGEN, Engine
from tests.helpers.paths import ROOT

NO_SPACE = "free some space, or choose another directory"
ROOK_ALONE = "3k5/9/9/9/9/9/9/9/9/R3K4 w"


def best_of(tables: Path) -> str:
    """Return the best move of the tables in the position `ROOK_ALONE`."""
    with open_tablebase(tables, rules="check") as opened:
        best = opened.best_move(Position.from_fen(ROOK_ALONE))
    assert best is not None
    return best.move.iccs


@pytest.fixture(scope="module")
def uci(loaded) -> Iterator[Engine]:
    """A UCI conversation shared by several tests; the kernels are compiled before."""
    engine = Engine("uci", line_end="\r\n")
    assert any(line.startswith("id name tbgen") for line in engine.said)
    yield engine
    engine.close()


def best_move(lines: list[str]) -> str:
    return lines[-1].split()[1]


def test_a_compiled_search_starts_while_another_process_compiles(loaded):
    with compile_lock():
        engine = Engine("uci")
        engine.say("isready")
        engine.hear("readyok")
        engine.close()


def test_uci_searches(uci):
    uci.say("isready")
    uci.hear("readyok")
    uci.say("position startpos moves h2e2", "go depth 5")
    lines = uci.hear("bestmove")
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
    uci.say("position startpos", "go nodes 5000")
    assert best_move(uci.hear("bestmove")) != "(none)"
    uci.say("go movetime 50")
    uci.hear("bestmove")
    uci.say("go wtime 1000 btime 1000 winc 10 binc 10")
    uci.hear("bestmove")
    uci.say("go depth 3 searchmoves a0a1 i0i1")
    assert best_move(uci.hear("bestmove")) in ("a0a1", "i0i1")
    uci.say("position fen 3k5/9/9/9/9/9/4R4/9/9/4K4 r", "go mate 1")
    lines = uci.hear("bestmove")
    assert " score mate 1 " in lines[-2]
    assert best_move(lines) == "e3d3"


def test_uci_stops_and_ponders(uci):
    uci.say("position startpos", "go infinite")
    uci.hear("info depth 3")
    uci.say("stop")
    uci.hear("bestmove")
    uci.say("go ponder movetime 50")
    uci.hear("info depth 3")
    uci.say("setoption name Hash value 17", "isready")
    assert not any(line.startswith("bestmove") for line in uci.hear("readyok"))
    uci.say("ponderhit")
    uci.hear("bestmove")
    uci.say("go ponder", "ponderhit")
    uci.hear("bestmove")


def test_uci_several_lines(uci):
    uci.say("setoption name MultiPV value 3", "position startpos", "go depth 2")
    lines = uci.hear("bestmove")
    assert [line.split()[6] for line in lines[-4:-1]] == ["1", "2", "3"]
    uci.say("setoption name MultiPV value 1")


def test_uci_survives_invalid_commands(uci):
    uci.say(
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
    lines = uci.hear("readyok")
    assert len(lines) == 8
    assert all(line.startswith("info string ") for line in lines[:-1])
    uci.say("go depth 1")
    move = best_move(uci.hear("bestmove"))
    assert move == "(none)"


@pytest.mark.parametrize(
    "invalid",
    [
        "startpos h2e2",
        "startpos MOVES h2e2",
        "startpos moves h2h2",
        f"fen {ROOK_ALONE.split()[0]}",
        f"fen {ROOK_ALONE} - - 0 1 7",
        f"fen {ROOK_ALONE} h2e2",
        "fen",
        "startpos moves" + " h2e2" * 300_000,
    ],
    ids=lambda text: text[:40],
)
def test_no_move_after_an_invalid_position(uci, invalid):
    """After an invalid `position` command the engine answers `go` with no move.

    It must not answer with a move for the position set before.
    """
    uci.say("position startpos", f"position {invalid}", "go depth 1")
    lines = uci.hear("bestmove")
    assert lines[-1] == "bestmove (none)"
    assert len(lines) == 3
    uci.say("position startpos moves h2e2", "go depth 1 searchmoves h9g7")
    assert best_move(uci.hear("bestmove")) == "h9g7"


@pytest.mark.parametrize(
    "option",
    ["Hash value abc", "Hash value \u0663\u0664", "Hash value 1_0", "Hash value 99999999",
     "Threads value 0", "UCI_Variant value chess", "uci variant value chess",
     "EGTBPaths value a\0b", "SyzygyPath value \0"],
)  # fmt: skip
def test_an_invalid_option_changes_nothing(uci, option):
    uci.say(f"setoption name {option}", "isready")
    note, ready = uci.hear("readyok")
    assert note.startswith("info string setoption: ")
    assert "invalid literal" not in note
    assert "embedded" not in note
    assert ready == "readyok"


@pytest.mark.parametrize(
    "arguments",
    [
        "",
        "nodes abc",
        "depth many",
        "depth 1_0 movetime 20",
        "perft 2",
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
    """The engine ignores invalid arguments of `go`, and answers it with one legal move."""
    uci.say("position startpos", f"go {arguments}")
    lines = uci.hear("bestmove")
    assert Move.from_iccs(best_move(lines)) in legal_moves(Position.from_fen(START_FEN))
    assert any(line.startswith("info depth") for line in lines)
    uci.say("isready")
    assert uci.hear("readyok") == ["readyok"]


def test_uci_without_a_legal_move(uci):
    uci.say("position fen 3Rk4/9/4P4/9/9/9/9/9/9/3K5 b", "go depth 3")
    mated, answer = uci.hear("bestmove")[-2:]
    assert mated.startswith("info depth 0 seldepth 0 multipv 1 score mate 0 ")
    assert answer == "bestmove (none)"


def test_uci_variant_means_ranks_from_one(uci):
    uci.say("setoption name UCI_Variant value xiangqi")
    uci.say("position startpos moves h3e3 h10g8", "go depth 1 searchmoves a1a2")
    assert best_move(uci.hear("bestmove")) == "a1a2"


def test_the_cyclone_dialect_counts_ranks_from_zero(loaded):
    """After a command of the Cyclone dialect of UCI (`newgame`, `fen`), ranks count from 0.

    This holds although `UCI_Variant` is set, which makes ranks of plain UCI count from 1: xboard's
    adapter sets every option that it knows.
    """
    engine = Engine("uci")
    engine.say("setoption name UCI_Variant value xiangqi", "newgame", "isready")
    engine.hear("readyok")
    engine.say("fen 3k5/9/9/9/9/9/9/9/R8/R3K4 w 0 1 moves", "go depth 3 searchmoves a1a2")
    assert best_move(engine.hear("bestmove")) == "a1a2"
    engine.say("startpos moves h2e2", "go depth 1 searchmoves h9g7")
    assert best_move(engine.hear("bestmove")) == "h9g7"
    engine.close()


def test_ucicyclone_selects_the_cyclone_dialect(loaded):
    """`ucicyclone` is not answered, but after it ranks count from 0 even with `UCI_Variant`."""
    said = []
    protocol = Uci(said.append)
    protocol.handle("ucicyclone")
    assert said == []
    protocol.handle("uci")
    assert said[-1] == "uciok"
    protocol.handle("setoption name UCI_Variant value xiangqi")
    protocol.handle("position startpos moves h2e2")
    assert len(protocol.game.moves) == 1
    assert said[-1] == "uciok"


def test_ucci_with_tables(tables_dir):
    engine = Engine("ucci", line_end="\r\n")
    assert any(line.startswith("option egtbpaths type string") for line in engine.said)
    engine.say("setoption usemillisec true", f"setoption egtbpaths {tables_dir}")
    engine.say("setoption rules check")
    engine.say("position fen 9/9/4k4/9/9/9/9/3n5/9/R2K5 b", "go time 1000 increment 0")
    lines = engine.hear("bestmove")
    assert lines[0].startswith("info depth 1 score -2")
    assert " tbhits 1 " in lines[0]
    assert best_move(lines) == "d2b1"
    engine.say("go time 1000 increment 0 opptime 1000 oppincrement 0")
    assert "unknown" not in " ".join(engine.hear("bestmove"))
    # An offer may come with `go`, or with `ponderhit` after the answer has been found.
    for commands, accepts in [
        (["go draw depth 1"], True),
        (["go ponder depth 1", "ponderhit draw"], True),
        (["go ponder depth 1", "ponderhit"], False),
    ]:
        engine.say(*commands)
        assert engine.hear("bestmove")[-1].endswith(" draw") == accepts
    engine.say("stop")
    assert engine.hear("nobestmove")
    engine.say(f"position fen {ROOK_ALONE}", "go depth 3")
    assert best_move(engine.hear("bestmove")) == best_of(tables_dir)
    engine.say(f"banmoves {best_of(tables_dir)}", "go depth 3")
    assert best_move(engine.hear("bestmove")) != best_of(tables_dir)
    # One move before mate, there is nothing to play for.
    engine.say("position fen 3k5/4R4/9/9/9/9/p8/9/8R/4K4 b", "go depth 4")
    assert engine.hear("bestmove")[-1].endswith(" resign")
    engine.say("position fen 9/9/3k5/9/9/9/9/9/9/R2NK4 b", "go draw depth 2")
    engine.hear("bestmove")
    engine.say("nonsense")
    assert engine.hear("info message")
    engine.close()
    assert engine.hear("bye")


def test_tables_are_found_without_options(tables_dir):
    """$TBGEN_TABLES names the tables; an answer from them needs no kernels."""
    engine = Engine("uci", named=tables_dir)
    engine.say("setoption name Rules value check", f"position fen {ROOK_ALONE}")
    engine.say("setoption name MultiPV value 2", "go movetime 100000")
    lines = engine.hear("bestmove")
    first, second = lines[-3:-1]
    assert " score mate " in first
    assert " multipv 2 " in second
    assert best_move(lines) == best_of(tables_dir)
    engine.close()


@pytest.mark.parametrize("protocol", ["UcciEngine", "UciEngine"])
def test_cchess_plays_a_game_with_the_engine(loaded, protocol):
    """The Python library cchess plays both sides of a game with the engine, up to mate."""
    library = pytest.importorskip("cchess.engine")
    gui = getattr(library, protocol)()
    gui.load(str(ENGINE))
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
    gui.running = False  # else its thread would read the closed pipe in a loop until the run ends
    gui.quit()
    assert position.side == Side.BLACK
    assert not legal_moves(position)


@pytest.mark.parametrize("encoding", ["utf-8:strict", "ascii:strict", "gbk", "latin-1"])
def test_lines_may_be_any_bytes(encoding: str) -> None:
    """Lines of invalid text do not stop the engine: it answers the `isready` after them.

    A byte order mark before the first line does not change the protocol.
    """
    lines = [b"\xef\xbb\xbfucci", b"\xff\xfe \xe8", b"setoption name EGTBPaths value caf\xe9",
             b"position fen \xe8\xbd\xa6 \xff", b"isready", b"quit"]  # fmt: skip
    result = subprocess.run(
        [ENGINE], input=b"\n".join(lines), capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": encoding},
    )  # fmt: skip
    assert (result.returncode, result.stderr) == (0, b"")
    assert result.stdout.splitlines()[-2:] == [b"readyok", b"bye"]


def test_the_reader_of_a_search_goes_away(loaded: object) -> None:
    """The engine ends without a message when the reader of its output has gone."""
    engine = subprocess.Popen([ENGINE], stdin=-1, stdout=-1, stderr=-1, text=True)
    assert engine.stdin is not None
    assert engine.stdout is not None
    assert engine.stderr is not None
    engine.stdin.write("uci\nisready\nposition startpos\ngo infinite\n")
    engine.stdin.flush()
    while not engine.stdout.readline().startswith("info depth"):
        pass
    engine.stdout.close()
    assert (engine.wait(ANSWER_SECONDS), engine.stderr.read()) == (0, "")


@pytest.mark.parametrize("program", [[ENGINE], [TBGEN, "engine"]], ids=["alone", "command"])
def test_a_missing_directory_of_tables_is_named(program: list[Path], tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    engine = Engine("uci", command=[*program, "--tables", missing], named=tmp_path)
    engine.say("isready")
    reason = "No such file or directory; name another by --tables or EGTBPaths"
    assert f"info string no tables from {missing}: {reason}" in engine.hear("ready")
    engine.close()


@pytest.mark.parametrize("program", [[ENGINE], [TBGEN, "engine"]], ids=["alone", "command"])
def test_an_empty_name_of_tables_means_none(program: list[Path], tables_dir: Path) -> None:
    engine = Engine("uci", command=[*program, "--tables", ""], named=tables_dir)
    assert "option name EGTBPaths type string default <empty>" in engine.said
    engine.close()


def test_unknown_arguments_are_refused() -> None:
    done = subprocess.run([ENGINE, "--bogus"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "unrecognized arguments: --bogus" in done.stderr


@pytest.mark.parametrize(
    ("streams", "said", "status"),
    [
        ("<&-", "error: standard input or output is closed\n", 1),
        (">&-", "error: standard input or output is closed\n", 1),
        ("> /dev/full", f"error: No space left on device\nhint: {NO_SPACE}\n", 2),
        ("| true", "", 0),
    ],
)
def test_closed_or_full_streams(streams: str, said: str, status: int) -> None:
    line = f"(echo uci; echo quit) | {ENGINE} {streams}"
    if streams == "<&-":
        line = line.partition("| ")[2]
    result = subprocess.run(["sh", "-c", line], capture_output=True, text=True, cwd=ROOT)
    assert (result.stderr, result.returncode) == (said, status)
