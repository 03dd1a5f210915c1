"""The match runner: openings, ends of games, storage and counts of games."""

from __future__ import annotations

import argparse
import random
import shlex
import shutil
import sys
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import pytest

from tests.helpers.paths import ROOT

sys.path.insert(0, str(ROOT / "scripts" / "match"))

import games
import infallible
import openings
import play
from games import LOST_BY_REPETITION, Judges, Played, play_game, save, saved_games
from players import Clock, Limit, Player, PlayerError, open_player, open_players

from tbgen.indexing import START_FEN, Material, Move, Position, Side
from tbgen.play.tablebase import open_tablebase
from tbgen.probing.columns import sampled_columns
from tbgen.referee import Rules
from tbgen.rules import is_legal, legal_moves

START = Position.from_fen(START_FEN)
CHASE = Position.from_fen("3k5/9/9/1c7/9/2R5r/9/9/9/5K3 w")
"""Position in which Red's rook can chase the cannon perpetually, and loses by that."""
CHASING, FLEEING = ("c4b4", "b4c4"), ("b6c6", "c6b6")
NOTHING = Limit()
SHALLOW = Limit(depth=1)
WXF = Judges(Rules.WXF, 3)


class Scripted(Player):
    """Player that plays a list of ICCS moves in each game, and again from the first after the last.

    An entry None resigns. `begun` counts the games begun.
    """

    def __init__(self, *moves: str | None) -> None:
        self.name = "scripted"
        self.moves = moves
        self.begun = 0

    def begin(self) -> None:
        self.begun += 1

    def choose(self, start: Position, moves: Sequence[Move], limit: Limit) -> Move | None:
        text = self.moves[len(moves) // 2 % len(self.moves)]
        return None if text is None else Move.from_iccs(text)


class ByChance(Scripted):
    """Player of random legal moves."""

    def __init__(self) -> None:
        super().__init__()
        self.rng = random.Random(1)

    def choose(self, start: Position, moves: Sequence[Move], limit: Limit) -> Move | None:
        for move in moves:
            start = start.after(*move)
        return self.rng.choice(legal_moves(start))


def played(red: Player, black: Player, start: Position = CHASE, judges: Judges = WXF) -> Played:
    return play_game((red, black), start, (), (NOTHING, NOTHING), judges)


def test_the_referee_ends_a_game() -> None:
    game = played(Scripted(*CHASING), Scripted(*FLEEING))
    assert (game.points, game.reason, len(game.moves)) == (0.0, LOST_BY_REPETITION, 8)
    assert game.points_of(Side.BLACK) == 1.0


def test_results_depend_on_the_rules() -> None:
    game = played(Scripted(*CHASING), Scripted(*FLEEING), judges=Judges(Rules.CHECK, 2))
    assert (game.points, game.reason, len(game.moves)) == (0.5, "repetition", 4)


def test_plies_without_a_capture_draw_a_game_unless_they_do_not_count() -> None:
    quiet = Judges(Rules.WXF, 9, quiet_plies=10)
    assert played(Scripted(*CHASING), Scripted(*FLEEING), judges=quiet).points == 0.5
    endless = Judges(Rules.WXF, 9, quiet_plies=None)
    game = played(Scripted(*CHASING), Scripted(*FLEEING), judges=endless)
    assert (game.reason, len(game.moves)) == (LOST_BY_REPETITION, 32)


@pytest.mark.parametrize("move", ["c4c4", "c4d5", None])
def test_an_illegal_or_missing_move_loses(move: str | None) -> None:
    game = played(Scripted(CHASING[0], move), Scripted(*FLEEING))
    assert (game.points, len(game.moves)) == (0.0, 2)
    assert game.reason.startswith("scripted")


def test_tables_end_a_game_after_a_capture(tables_dir: Path) -> None:
    """The game ends when a capture leads to a position of the tables, and not before."""
    start = Position.from_fen("4k4/9/9/9/9/4n3n/9/9/9/3KR4 w")
    after = start.after(*Move.from_iccs("e0e4"))
    with open_tablebase(tables_dir, rules="check") as tables:
        game = played(Scripted("e0e4"), Scripted(), start, Judges(Rules.CHECK, 3, tables))
        points = (1 - tables.probe(after).outcome) / 2
    assert (game.points, game.reason, len(game.moves)) == (points, "table", 1)


def test_saved_games_are_read_back(tmp_path: Path) -> None:
    path = tmp_path / "games"
    assert saved_games(path) == saved_games(None) == []
    games = [
        played(Scripted(*CHASING), Scripted(*FLEEING)),
        played(Scripted(None), Scripted(*FLEEING)),
    ]
    for game in games:
        save(path, "one - two", game)
    assert saved_games(path) == games
    whole = path.read_text()
    path.write_text(whole[:-5])
    assert saved_games(path) == games[:1]
    assert whole.startswith(path.read_text())


def test_openings_are_legal_and_reproducible() -> None:
    def drawn() -> list[openings.Opening]:
        return [*islice(openings.array(random.Random(1), 6), 5)]

    assert drawn() == drawn()
    assert len(set(drawn())) == 5
    for start, moves in drawn():
        assert start == START
        assert len(moves) == 6
        for move in moves:
            assert move in legal_moves(start)
            start = start.after(*move)


def test_endings_are_legal_and_nearly_even(loaded: object) -> None:
    men = (6, 7, 8)
    begun = [*islice(openings.endings(random.Random(1), men), 4)]
    assert begun == [*islice(openings.endings(random.Random(1), men), 4)]
    for position, moves in begun:
        assert moves == ()
        assert is_legal(position)
        assert position.material.men in men
        assert position.material.both_armed
    assert openings._is_even(loaded, START)
    rook_ahead = Position.from_fen(START_FEN.replace("rnb", "1nb", 1))
    assert not openings._is_even(loaded, rook_ahead)


def test_a_match_is_counted_for_the_first_engine() -> None:
    standing = play.Standing()
    lost, drawn = Played(START, (), 0.0, LOST_BY_REPETITION), Played(START, (), 0.5, "repetition")
    standing.add([(lost, Side.RED), (lost, Side.BLACK)])
    standing.add([(lost, Side.BLACK), (drawn, Side.BLACK)])
    assert standing.pairs == [1.0, 1.5]
    # A mean of 0.625 of two pairs, 0.5 and 0.75.
    assert standing.summary().startswith("   4 games: +2 =1 -1, score 0.625 +- 0.125, Elo +89 ")
    assert dict(standing.reasons[LOST_BY_REPETITION]) == {0.0: 1, 1.0: 2}
    assert play.elo(0.5) == 0
    assert play.elo(10 / 11) == pytest.approx(400)


@pytest.mark.parametrize(("plies", "mine"), [(0, 0), (1, 1), (2, 1), (3, 2)])
def test_moves_are_counted_for_each_engine(plies: int, mine: int) -> None:
    game = Played(START, (Move(0, 9),) * (plies + 4), 0.5, "repetition")
    assert play.Match._moves_made(game, 4, Side.RED) == (mine, plies - mine)
    assert play.Match._moves_made(game, 4, Side.BLACK) == (plies - mine, mine)
    assert play.Match._moves_made(game, 3, Side.BLACK)[0] == (plies + 2) // 2


def test_the_second_engine_may_have_limits_of_its_own() -> None:
    options = argparse.Namespace(
        clock=None, seconds=0.1, nodes=9, depth=None, nodes_2=None, depth_2=4
    )
    assert play.limits_of(options) == (Limit(0.1, 9, None), Limit(None, None, 4))
    options.depth_2 = None
    assert play.limits_of(options) == (Limit(0.1, 9, None),) * 2


def test_an_engine_that_exceeds_its_clock_loses(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine whose clock is used up loses the game on time.

    Red takes two seconds for a move and then gains one, so it has 3, 2 and 1 seconds left before
    its moves. Black takes no time.
    """
    ticks = iter([0, 2, 2, 2, 2, 4, 4, 4, 4, 6])
    monkeypatch.setattr(games, "monotonic", lambda: next(ticks))
    limit = play.limits_of(argparse.Namespace(clock=play.parse_clock("3+1"), seconds=None))[0]
    assert limit == Limit(clock=Clock(3.0, 3.0, 1.0))
    red, black = Scripted(*CHASING), Scripted(*FLEEING)
    game = play_game((red, black), CHASE, (), (limit, limit), WXF)
    assert (game.points, game.reason, len(game.moves)) == (0.0, "scripted lost on time", 4)


def test_drawn_positions_have_the_kind_of_their_label(tables_dir: Path) -> None:
    with open_tablebase(tables_dir, rules="check") as tables:
        rows = sampled_columns(tables.table(Material.parse("KRKN")), 2_000, 1)
        shares = [each.rows for each in infallible.kinds_of(rows).values()]
        assert sum(shares) == (rows["outcome"] >= 0).sum()
        assert min(shares) > 0
        kinds = infallible.sampled_positions(tables, Material.parse("KRKN"), 30)
        assert sum(map(len, kinds.values())) == 30
        for kind, positions in kinds.items():
            for position in positions:
                value = tables.probe(position)
                assert value.outcome == (0 if kind == infallible.DRAWN else 1)
                if kind != infallible.DRAWN:
                    assert (value.order > 0) == (kind == infallible.WON_BY_RULES)


def test_random_moves_spoil_decided_positions(tables_dir: Path) -> None:
    judges = Judges(Rules.CHECK, 3)
    with open_tablebase(tables_dir, rules="check") as tables:
        kinds = infallible.sampled_positions(tables, Material.parse("KRKN"), 6)
    assert any(
        infallible.is_spoilt(kind, played(ByChance(), ByChance(), position, judges))
        for kind, positions in kinds.items()
        for position in positions
    )


@pytest.mark.parametrize("text", ["uci", "xboard:sh", "uci:no-such-program"])
def test_an_engine_that_cannot_start_is_an_error(text: str) -> None:
    with pytest.raises(PlayerError):
        open_player(text)


TALKATIVE = """
import sys
print('feature myname="talkative" ping=1 done=1', flush=True)
for line in sys.stdin:
    if line.startswith("ping"):
        print("pong" + line[4:], end="", flush=True)
    if line == "go\\n":
        print("move h9g7\\n1/2-1/2 {a draw, as I see it}", flush=True)
    if line == "quit\\n":
        break
"""


def test_unsolicited_results_are_ignored() -> None:
    player = open_player(shlex.join(["cecp:" + sys.executable, "-c", TALKATIVE]))
    for _ in range(2):
        player.begin()
        assert player.choose(START, [Move.from_iccs("h2e2")], SHALLOW) == Move.from_iccs("h9g7")
    player.close()
    assert (player.name, player.failed) == ("talkative", False)


def test_a_limit_that_the_protocol_lacks_is_an_error() -> None:
    player = open_player(shlex.join(["cecp:" + sys.executable, "-c", TALKATIVE]))
    limit = Limit(nodes=9)
    with pytest.raises(ValueError, match="CECP engines take seconds"):
        play_game((player, player), START, (), (limit, limit), WXF)
    player.close()


def engine_that_notes_its_end(path: Path) -> str:
    """Return an engine, as for `open_player`, that creates a file when it is told to quit."""
    text = TALKATIVE.replace("break", "open(sys.argv[1], 'w'); break")
    return shlex.join(["cecp:" + sys.executable, "-c", text, str(path)])


def test_engines_are_ended_if_one_cannot_be_opened(tmp_path: Path) -> None:
    paths = tmp_path / "first", tmp_path / "second"
    first, second = map(engine_that_notes_its_end, paths)
    with pytest.raises(PlayerError, match="cannot be set"):
        open_players((first, {}), (second, {"Hash": "64"}))
    assert all(path.exists() for path in paths)


def test_engines_are_ended_after_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = tmp_path / "first", tmp_path / "second"
    engines = map(engine_that_notes_its_end, paths)
    monkeypatch.setattr(sys, "argv", ["play.py", *engines, "--nodes", "9"])
    assert play.main() == 1
    assert all(path.exists() for path in paths)


def test_an_odd_number_of_games_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["play.py", "uci:first", "uci:second", "--games", "3"])
    with pytest.raises(SystemExit):
        play.main()
    assert "even number" in capsys.readouterr().err


def test_an_engine_that_has_ended_is_started_again(tmp_path: Path) -> None:
    """An engine whose process has ended loses the game, and a new process plays the next one."""
    ending = TALKATIVE.replace('print("move', 'sys.exit() or print("move')
    commands = [["cecp:" + sys.executable, "-c", text] for text in (TALKATIVE, ending)]
    options = argparse.Namespace(
        engines=[shlex.join(command) for command in commands],
        option_1=[], option_2=[], clock=None, seconds=None, nodes=None, depth=1,
        nodes_2=None, depth_2=None, tables=None, rules="wxf", occurrences=3, quiet_plies=120,
        save=tmp_path / "games",
    )  # fmt: skip
    match = play.Match(options)
    opening = START, (Move.from_iccs("h2e2"),)
    for _ in range(2):
        game = match.play(opening, Side.BLACK)
        assert (game.points, game.reason) == (0.0, "talkative: talkative has ended")
    match.close()
    assert len(saved_games(options.save)) == 2


GAMES = "/usr/games"


@pytest.mark.parametrize("name", ["hoixiangqi", "maxqi", "fairy-stockfish"])
def test_engines_of_every_protocol_play_on(name: str) -> None:
    """Each installed engine answers legal moves in two games, played in one process.

    Its opponent plays random moves.
    """
    program = shutil.which(name) or shutil.which(name, path=GAMES)
    if program is None:
        pytest.skip(f"{name} is not installed")
    player = open_player(f"{'uci' if name == 'fairy-stockfish' else 'cecp'}:{program}")
    for _ in range(2):
        player.begin()
        position, moves = START, [Move.from_iccs("h2e2")]
        for _ in range(3):
            position = position.after(*moves[-1])
            move = player.choose(START, moves, Limit(depth=2))
            assert move in legal_moves(position)
            position = position.after(*move)
            moves += [move, random.Random(1).choice(legal_moves(position))]
    player.close()
    assert player.name != name
