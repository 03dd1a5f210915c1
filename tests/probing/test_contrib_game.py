"""The root of a search in C: the filter with the game's history, and an engine that uses it."""

from __future__ import annotations

import random
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from tbgen.building.packing import pack_table
from tbgen.indexing import Move, Position
from tbgen.play.preference import RootMove, is_direct_win
from tbgen.play.repetition import move_between
from tbgen.play.streaks import CHECK, Offences, is_irreversible
from tbgen.play.tablebase import GameTablebase, open_tablebase
from tbgen.rules import legal_moves
from tbgen.tables import Outcome, Rules, RuleSet
from tbgen.tables.reader import TableFile
from tests.helpers import cprograms
from tests.helpers.built import built
from tests.helpers.cprograms import CACHE, READER, needs_c, needs_cxx, run
from tests.helpers.defences import DEFENCES
from tests.helpers.engines import EngineTables, MockEngine
from tests.helpers.paths import ROOT
from tests.helpers.play import Ending, play_drawn, play_won
from tests.helpers.starts import drawn, endangered, rule_decided
from tests.helpers.strategies import played, random_position
from tests.oracles.naive_filter import NaiveFilter

OFFENCES = ROOT / "tests" / "probing" / "offences.c"
ARGUMENT, MISSING, ILLEGAL, CORRUPT = "-8", "-1", "-3", "-4"


@pytest.fixture(scope="module")
def directory() -> Path:
    return built("KRAKR", rules="wxf")


@pytest.fixture(scope="module")
def tables(directory: Path) -> Iterator[GameTablebase]:
    with open_tablebase(directory, rules="wxf") as opened:
        yield opened


def record_of(game: Sequence[Position]) -> bytes:
    """Return a game as bytes for the C test program: first side and board, move count, moves."""
    moves = [move_between(*pair) for pair in pairwise(game)]
    squares = [square for move in moves if move for square in move]
    return bytes([game[0].side]) + game[0].board + bytes([len(moves), *squares])


def filtered(
    directory: Path, games: Sequence[Sequence[Position]], mode: str = "filter"
) -> list[list[str]]:
    """Let the C reader filter the moves after each game.

    mode : `filter` for `xq_filter_root`, `outcomes` for `xq_filter_outcomes`
    Returns the words of one line per game: status, optional outcome, and moves "FROM-TO".
    """
    records = b"".join(record_of(game) for game in games)
    files = sorted(directory.glob("*.dt?.xqt"))
    output = run(cprograms.harness(), mode, "wxf", CACHE, *files, records=records)
    return [line.split() for line in output.decode().splitlines()]


def wandering(rng: random.Random, start: Position, plies: int) -> list[Position]:
    """Return the positions of a random game of up to `plies` plies, with many repetitions."""
    game = [start]
    for _ in range(plies):
        near = [game[-1].after(*move) for move in legal_moves(game[-1])]
        known = [position for position in near if position in game]
        if not near:
            break
        game.append(rng.choice(known if known and rng.random() < 0.7 else near))
    return game


@needs_c
@pytest.mark.parametrize(
    ("some", "direct_wins"), [(20, 8), pytest.param(60, 20, marks=pytest.mark.certification)]
)
def test_the_filter_agrees_with_the_naive_filter(
    directory: Path, tables: GameTablebase, some: int, direct_wins: int
) -> None:
    rng = random.Random(11)
    starts = rule_decided(tables, "KRAKR", 2, rng)
    starts += drawn(tables, "KRAKR", 20, rng) + endangered(tables, "KRAKR", 12, rng)
    starts += [random_position(rng, ("KRAKR",)) for _ in range(15)]
    games = [wandering(rng, start, rng.randrange(9)) for start in rng.sample(starts, some)]
    decided = rule_decided(tables, "KRAKR", 12, rng)
    direct = [start for start in decided if is_direct_win(tables.probe(start))]
    games += [wandering(rng, start, rng.choice([0, 0, 4])) for start in direct[:direct_wins]]
    seen: Counter[str] = Counter()
    for game, (status, *left) in zip(games, filtered(directory, games), strict=True):
        assert status == "0"
        kept = NaiveFilter(tables, game).kept
        if kept is not None:
            assert set(left) == {f"{move.source}-{move.target}" for move in kept}, game[-1].fen
            value = tables.probe(game[-1])
            seen["direct" if is_direct_win(value) else value.outcome.name] += 1
    assert min(seen[kind] for kind in ("direct", "WIN", "DRAW", "LOSS")) >= 2, seen


@needs_c
def test_a_win_is_not_repeated(directory: Path, tables: GameTablebase) -> None:
    """The filter leaves out a shortest win that repeats a check of the game."""
    game = played("9/2R1k4/9/9/9/9/9/5K3/9/9 b", "e8e9 c8c9 e9e8")
    assert {move.move.iccs for move in tables.probe_root(game[-1]) if move.best} == {"c9c8", "c9d9"}
    (status, *left), (_, *alone) = filtered(directory, [game, game[-1:]])
    kept = {Move(*map(int, word.split("-"))).iccs for word in left}
    assert (status, kept) == ("0", {"c9d9"})
    assert len(alone) == 2


@needs_c
def test_a_drawing_attack_is_not_repeated(directory: Path) -> None:
    """In a draw, the filter leaves out an attack after which a reply can repeat a position.

    The attack, g6f6 on the advisor, is kept if it is the first move of the game.
    """
    game = played("8R/5k3/9/5r3/9/9/9/5A3/3K5/9 b", "f6g6 i9b9")
    (status, *left), (_, *alone) = filtered(directory, [game, game[-1:]])
    assert status == "0"
    assert set(alone) - set(left) == {"60-59"}
    assert set(left) < set(alone)


def wins(tables: GameTablebase, position: Position) -> bool:
    """Return whether the side to move wins a position, by the tables."""
    return tables.probe(position).outcome == Outcome.WIN


def shuffling(tables: GameTablebase, rng: random.Random, start: Position) -> list[Position]:
    """Return the positions of a game of up to 8 plies in which both sides keep the outcome.

    They repeat a position whenever a move that keeps the outcome leads to one.
    """
    game = [start]
    for _ in range(rng.randrange(2, 9, 2)):
        value = tables.probe(game[-1])
        kept = [m.after for m in tables.probe_root(game[-1]) if m.outcome == value.outcome]
        known = [after for after in kept if after in game]
        if not kept:
            break
        game.append(rng.choice(known or kept))
    return game


def goes_on_after(
    tables: GameTablebase,
    known: Sequence[Position],
    after: Position,
    wanted: Outcome = Outcome.WIN,
    depth: int = 2,
) -> bool:
    """Return whether a side that has moved to `after` keeps an outcome without repetition.

    After every reply it must have a move that keeps the outcome. Neither the position after the
    reply nor that after its own move may be in `known`. A draw must come to an idle move, to any
    position, within `depth` moves; a win needs `depth` moves to new positions. An irreversible
    reply or move, and a move with a better outcome, need no further test.
    """

    def is_anew(now: Position, move: RootMove) -> bool:
        if is_irreversible(now, move.move) or move.outcome != wanted:
            return True
        if wanted == Outcome.DRAW:
            if not Offences(tables.rule_set).threats(now, move.move, move.after):
                return True
            ahead = depth > 1 and goes_on_after(tables, known, move.after, wanted, depth - 1)
        else:
            ahead = depth == 1 or goes_on_after(tables, known, move.after, wanted, depth - 1)
        return move.after not in known and ahead

    def keeps_anew(now: Position) -> bool:
        kept = [m for m in tables.probe_root(now) if m.outcome is not None and m.outcome >= wanted]
        return any(is_anew(now, move) for move in kept)

    return all(
        is_irreversible(after, reply) or (now not in known and keeps_anew(now))
        for reply, now in ((reply, after.after(*reply)) for reply in legal_moves(after))
    )


DEPTHS = range(1, 5)
"""Numbers of moves up to an idle one; the C reader looks further, which is slow in Python."""


def kept_by_outcomes(tables: GameTablebase, game: Sequence[Position]) -> tuple[Outcome, set[str]]:
    """Return the best outcome from a game's last position, and the moves to keep as "FROM-TO".

    `xq_filter_outcomes` should keep these moves, by the comments in contrib/xqprobe.h. Only moves
    with the best outcome are compared. An idle move neither checks nor chases.

    All losing moves are kept. Else those that go on are: irreversible moves, winning ones with two
    more to new positions, and drawing ones that are idle or come to an idle move soonest. If there
    are none, idle winning moves to new positions are kept. Any other move costs three times the
    number of earlier occurrences (at least 1) of the position after it, plus 1 for a chase or 2 for
    a check; the cheapest moves are kept.
    """
    offences = Offences(tables.rule_set)
    moves = tables.probe_root(game[-1])
    outcome = max((m.outcome for m in moves if m.outcome is not None), default=Outcome.LOSS)
    moves = [move for move in moves if move.outcome == outcome]
    known = game[last_irreversible(game) :]
    threats = {m: offences.threats(game[-1], m.move, m.after) for m in moves}

    def goes_on(move: RootMove, depth: int) -> bool:
        if outcome == Outcome.LOSS or is_irreversible(game[-1], move.move):
            return True
        if outcome == Outcome.DRAW and not threats[move]:
            return True
        return move.after not in known and goes_on_after(tables, known, move.after, outcome, depth)

    def cost(move: RootMove) -> int:
        repeated = known.count(move.after)
        if not repeated and not threats[move]:
            return 0
        return 3 * max(repeated, 1) + (2 if threats[move] == CHECK else bool(threats[move]))

    kept: list[RootMove] = []
    for depth in DEPTHS if outcome == Outcome.DRAW else [2]:
        kept = kept or [move for move in moves if goes_on(move, depth)]
    least = min(map(cost, moves), default=0)
    kept = kept or [move for move in moves if cost(move) == least]
    return outcome, {f"{m.move.source}-{m.move.target}" for m in kept}


def last_irreversible(game: Sequence[Position]) -> int:
    """Return the index in the game of the first position that may recur.

    The last irreversible move led to this position; the index is 0 without such a move.
    """
    for number in range(len(game) - 1, 0, -1):
        move = move_between(game[number - 1], game[number])
        if move is None or is_irreversible(game[number - 1], move):
            return number
    return 0


@needs_c
def test_outcomes_and_the_game(directory: Path, tables: GameTablebase) -> None:
    rng = random.Random(12)
    starts = drawn(tables, "KRAKR", 2, rng) + endangered(tables, "KRAKR", 2, rng)
    games = [wandering(rng, start, rng.randrange(12)) for start in starts]
    won = [start for start in rule_decided(tables, "KRAKR", 3, rng) if wins(tables, start)]
    games += [shuffling(tables, rng, start) for start in won]
    for game, (status, outcome, *left) in zip(
        games, filtered(directory, games, "outcomes"), strict=True
    ):
        expected = kept_by_outcomes(tables, game)
        assert (status, int(outcome), set(left)) == ("0", *expected), game[-1].fen


@needs_c
def test_a_draw_by_outcomes_alone_is_not_lost_by_checks(directory: Path) -> None:
    """The filter leaves out a check after which a reply repeats a position of the game."""
    game = played("5k3/9/9/4r4/9/9/7R1/9/3K5/9 b", "e6d6 d1e1")
    ((status, outcome, *left),) = filtered(directory, [game], "outcomes")
    assert (status, outcome) == ("0", "0")
    assert {Move(*map(int, word.split("-"))).iccs for word in left} == {"d6f6"}


@needs_c
def test_outcomes_report_damage_that_only_later_positions_reach(
    directory: Path, tmp_path: Path
) -> None:
    """The filter by outcomes reports a damaged block that only positions after replies need.

    The block with the positions after the moves themselves is undamaged.
    """
    copied = Path(shutil.copytree(directory, tmp_path / "copied"))
    file = copied / "KRAKR.wxf.dtm.xqt"
    content = bytearray(file.read_bytes())
    content[len(content) * 6 // 10] ^= 255
    file.write_bytes(content)
    game = [Position.from_fen("4k4/4a4/9/9/9/9/3r5/4K4/5R3/9 b")]
    assert filtered(directory, [game], "outcomes")[0][:2] == ["0", "1"]
    assert filtered(copied, [game], "outcomes") == [[CORRUPT, "0"]]


@needs_c
@pytest.mark.parametrize("rules", [*Rules, "wxf-nominor"])
def test_offences_of_moves(rules: str) -> None:
    """The C reader finds the same checks and new attacks as Python.

    Tested are all legal moves of 30 random positions with nearly all pieces.
    """
    name, _, choice = rules.partition("-")
    offences = Offences(RuleSet(Rules(name), minor_chases=not choice))
    rng = random.Random(3)
    records, expected = [], []
    for _ in range(30):
        position = random_position(rng, ("KRNCPAABBKRNCPAAB", "KRRNCPAKNNCPPAB"))
        for move in legal_moves(position):
            threats = offences.threats(position, move, position.after(*move))
            expected.append(f"{2 if threats == CHECK else bool(threats):d}")
            records.append(bytes([position.side]) + position.board + bytes(move))
    program = cprograms.compiled("offences", (OFFENCES, READER[0]), "-O2")
    output = run(program, rules, records=b"".join(records)).decode().split()
    assert output == expected
    assert set(expected) == {"0", "1", "2"} or rules in ("none", "check")


@needs_c
def test_invalid_games(directory: Path) -> None:
    start = Position.from_fen("4k4/9/9/9/9/9/9/9/9/3K1R3 w")
    unknown = Position.from_fen("4k4/9/9/9/9/9/9/9/9/3K1N3 w")
    records = [
        record_of([start])[:-1] + bytes([1, 0, 1]),
        record_of([unknown]),
        record_of([Position.from_fen("4k4/9/9/9/9/9/9/9/9/4KR3 w")]),
    ]
    files = sorted(directory.glob("*.xqt"))
    output = run(cprograms.harness(), "filter", "wxf", CACHE, *files, records=b"".join(records))
    assert output.decode().split() == [ARGUMENT, MISSING, ILLEGAL]


def play(directory: Path, material: str, per_kind: int, depth: int) -> Counter[Ending]:
    """Let the mock engine play won and drawn positions against random defences.

    per_kind : `2 * per_kind` games start from decided positions, up to half of them chosen among
        those that the repetition rules decide; `per_kind` games start from draws, and up to
        `per_kind // 2` for each side to move from draws kept only by checks and attacks
    depth : depth of the engine's search

    Checks that the engine keeps each win and draw. Returns the number of games by ending.
    """
    rng = random.Random(5)
    endings: Counter[Ending] = Counter()
    with (
        EngineTables.open(directory, rules="wxf") as tables,
        MockEngine(cprograms.mock_engine(), tables.rule_set, depth, directory) as engine,
    ):
        tables.engine = engine
        decided = rule_decided(tables, material, per_kind, rng)
        won = rng.sample(decided, min(per_kind, len(decided)))
        while len(won) < 2 * per_kind:
            position = random_position(rng, (material,))
            if tables.probe(position).outcome != Outcome.DRAW:
                won.append(position)
        for start in won:
            defence = rng.choice(list(DEFENCES))
            game = play_won(tables, start, DEFENCES[defence], rng, plies=300)
            assert game.ending not in (Ending.OPEN, Ending.LOST), (defence, game.fens)
            endings[game.ending] += 1
        level = rng.sample(drawn(tables, material, per_kind, rng), per_kind)
        for start in level + endangered(tables, material, per_kind // 2, rng):
            defence = rng.choice(list(DEFENCES))
            game = play_drawn(tables, start, start.side, DEFENCES[defence], rng, plies=40)
            assert game.ending != Ending.LOST, (defence, game.fens)
            endings[game.ending] += 1
    return endings


@needs_cxx
def test_the_engine_keeps_every_result(directory: Path) -> None:
    endings = play(directory, "KRAKR", 2, depth=1)
    assert endings.total() >= 6
    assert endings[Ending.LOOP] >= 1


@needs_cxx
@pytest.mark.certification
def test_the_engine_keeps_every_result_of_a_thousand_games() -> None:
    endings: Counter[Ending] = Counter()
    for material in ("KRAKR", "KRKN", "KCAKP", "KNAKP"):
        endings += play(built(material, rules="wxf"), material, 90, depth=1)
    assert endings.total() >= 1000


@needs_cxx
def test_the_search_probes_tables_after_captures(directory: Path, tables: GameTablebase) -> None:
    """An engine's search probes tables after captures, from a position that has no table."""
    game = [Position.from_fen("4k4/9/9/9/4r4/9/4P4/9/4A4/3K1R3 w")]
    with MockEngine(cprograms.mock_engine(), tables.rule_set, 3, directory) as engine:
        answer = engine.ask(game)
    assert answer["root"] == "0"
    assert int(answer["tbhits"]) > 0


@needs_cxx
def test_outcomes_alone_keep_a_win(tmp_path: Path, directory: Path, tables: GameTablebase) -> None:
    for path in directory.glob("*.dtm.xqt"):
        with TableFile(path) as file:
            pack_table(file, tmp_path)
    rng = random.Random(2)
    with MockEngine(cprograms.mock_engine(), tables.rule_set, 1, tmp_path) as engine:
        for _ in range(50):
            position = random_position(rng, ("KRAKR",))
            answer = engine.ask([position])
            moves = {move.move.iccs: move for move in tables.probe_root(position)}
            if moves:
                assert moves[answer["bestmove"]].outcome == tables.probe(position).outcome
                assert answer["root"] == "1"
            else:
                assert answer == {"bestmove": "(none)"}
