"""A game from the opening by the installed engine, with tables of small endgames.

No position of an opening can have a table, so the engine searches every move, and reports the
depth.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tbgen.indexing import START_FEN, Move, Position, Side
from tbgen.play.tablebase import open_tablebase
from tbgen.rules import legal_moves
from tests.helpers.commands import TBGEN, Engine, run

PLIES = 8
ROOK = "3k5/9/9/9/9/9/9/9/9/R3K4 w"
ENDING = "9/9/4k4/9/9/9/9/3n5/9/R2K5 b"


@pytest.fixture(params=["uci", "ucci"])
def engine(request: pytest.FixtureRequest, tables_dir: Path) -> Iterator[Engine]:
    engine = Engine(request.param, tables_dir)
    yield engine
    engine.close()


def play(engine: Engine, plies: int) -> list[str]:
    """Let the engine play both sides from the opening for `plies` plies; return the moves.

    Checks that every move was legal, and was searched to a depth of at least 2.
    """
    position, played = Position.from_fen(START_FEN), []
    for _ in range(plies):
        move, before = engine.move("startpos", played)
        depths = [int(line.split()[2]) for line in before if line.startswith("info depth")]
        assert max(depths, default=0) >= 2, f"{move} was not searched: {before}"
        assert Move.from_iccs(move) in legal_moves(position)
        position = position.after(*Move.from_iccs(move))
        played.append(move)
    return played


@pytest.mark.certification
def test_a_game_from_the_opening_is_won_by_mate(engine: Engine) -> None:
    """The engine with Red mates an opponent that plays random moves."""
    engine.say(f"setoption {'name Rules value' if engine.protocol == 'uci' else 'rules'} check")
    chance, position, played = random.Random(1), Position.from_fen(START_FEN), list[str]()
    while moves := legal_moves(position):
        move = chance.choice(moves)
        if position.side == Side.RED:
            move = Move.from_iccs(engine.move("startpos", played)[0])
            assert move in moves
        position = position.after(*move)
        played.append(move.iccs)
        assert len(played) < 200
    assert position.side == Side.BLACK


def test_an_opening_with_tables_is_searched(engine: Engine) -> None:
    engine.say(f"setoption {'name Rules value' if engine.protocol == 'uci' else 'rules'} check")
    play(engine, PLIES)
    assert [note for note in engine.notes() if "compiling the search" not in note] == []
    move, before = engine.move(f"fen {ENDING}", [])
    assert move == "d2b1"
    assert " tbhits 1 " in before[-1]


@pytest.mark.parametrize("protocol", ["uci", "ucci"])
def test_tables_built_during_a_game_are_used_in_the_next(protocol: str, tmp_path: Path) -> None:
    """Another process builds a table; the engine plays from it once a new game has begun."""
    run(TBGEN, "build", "KNK", "--rules", "check", "--tables", tmp_path)
    engine = Engine(protocol, tmp_path)
    rules, newgame = {
        "uci": ("setoption name Rules value check", "ucinewgame"),
        "ucci": ("setoption rules check", "setoption newgame"),
    }[protocol]
    engine.say(rules)
    _, before = engine.move(f"fen {ROOK}", [], "depth 1")
    run(TBGEN, "build", "KRK", "--rules", "check", "--tables", tmp_path)
    _, during = engine.move(f"fen {ROOK}", [], "depth 1")
    engine.say(newgame)
    move, after = engine.move(f"fen {ROOK}", [], "depth 1")
    engine.close()
    assert [" tbhits 1 " in said[-1] for said in (before, during, after)] == [False, False, True]
    with open_tablebase(tmp_path, rules="check") as tables:
        best = tables.best_move(ROOK)
    assert best is not None
    assert move == best.move.iccs


def test_a_hash_table_that_does_not_fit_is_smaller(tables_dir: Path) -> None:
    """An engine asked for 64 GiB of hash table, with 1 GiB allowed, uses a smaller one."""
    resource = pytest.importorskip("resource")
    limit = 1 << 30
    before = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, before[1]))
    try:
        engine = Engine("uci", tables_dir)
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)
    engine.say("setoption name Rules value check", "setoption name Hash value 65536")
    play(engine, 2)
    (note,) = [note for note in engine.notes() if "compiling the search" not in note]
    assert "no memory for a hash table of 65536 MiB" in note
    engine.close()
