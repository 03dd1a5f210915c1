"""Streaks and ranks: the game by which best_move keeps out of the referee's hands."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from tbgen import safety
from tbgen.choice import choose
from tbgen.indexing import Move, Position, PositionError, Side
from tbgen.preference import RootMove
from tbgen.referee import Judgement, Label, Verdict, judge
from tbgen.repetition import is_lost_by, judge_repetition, move_between
from tbgen.rules import in_check, legal_moves
from tbgen.safety import Aim, Arena, Kind, Option, Rank, Stake, Step, StreakGame, rank_of, solve
from tbgen.streaks import KING, Offences, extended, follow, is_irreversible
from tbgen.tables import Outcome, ProbeResult, Rules, Value
from tests.loops import random_loop
from tests.naive import graph_game, streak_game

CASES = json.loads((Path(__file__).parent / "data" / "repetition_cases.json").read_text())
WXF = Offences(Rules.WXF, minor_chases=True)
CHECKS = Offences(Rules.CHECK, minor_chases=True)
A, B = 10, 20


def game(fen: str, moves: str) -> list[Position]:
    positions = [Position.from_fen(fen)]
    for move in moves.split():
        positions.append(positions[-1].after(*Move.from_iccs(move)))
    return positions


def names(squares: frozenset[int]) -> set[str]:
    return {"king" if s == KING else Move(s, s).iccs[:2] for s in squares}


# -- streaks -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("streak", "offence", "after", "breaks"),
    [
        pytest.param((), (), (), True, id="idle"),
        pytest.param((), (A,), (A,), False, id="first offence"),
        pytest.param((A,), (A, B), (A,), False, id="goes on"),
        pytest.param((A, B), (B,), (B,), False, id="narrows"),
        pytest.param((A,), (), (), True, id="broken by an idle move"),
        pytest.param((A,), (B,), (B,), True, id="two victims in turn"),
        pytest.param((KING,), (A,), (A,), True, id="a chase after checks"),
        pytest.param((A,), (KING,), (KING,), True, id="a check after chases"),
    ],
)
def test_extended(
    streak: tuple[int, ...], offence: tuple[int, ...], after: tuple[int, ...], breaks: bool
) -> None:
    assert extended(frozenset(streak), frozenset(offence)) == (frozenset(after), breaks)


def test_victims_are_followed() -> None:
    assert follow(frozenset({A, KING}), Move(A, B)) == {B, KING}
    assert follow(frozenset({A}), Move(B, A)) == {A}


CHASE = "3k5/9/9/1c7/9/2R5r/9/9/9/5K3 w"
CHECKING = "3k5/9/9/9/9/9/4r4/9/9/4K4 w"


@pytest.mark.parametrize(
    ("fen", "moves", "rules", "streak"),
    [
        (CHASE, "c4b4 b6c6", WXF, {"c6"}),
        (CHASE, "c4b4 b6c6 b4c4 c6b6", WXF, {"b6"}),
        # The cannon stays: the attack has not been answered, and is no chase.
        (CHASE, "c4b4 i4i5", WXF, set()),
        (CHASE, "c4b4 b6c6 f0f1 c6b6", WXF, set()),
        (CHASE, "c4b4 b6c6 b4c4 c6b6", CHECKS, set()),
        (CHASE, "", WXF, set()),
        # One ply later the other side is to move, whose moves were idle.
        (CHASE, "c4b4 b6c6 b4c4", WXF, set()),
        (CHECKING, "e0f0 e3f3 f0e0 f3e3 e0f0", WXF, {"king"}),
        (CHECKING, "e0f0 e3f3 f0e0 f3e3 e0f0", CHECKS, {"king"}),
        (CHECKING, "e0f0 e3d3 f0e0 d3e3 e0f0", CHECKS, {"king"}),
    ],
)
def test_streak_of_a_game(fen: str, moves: str, rules: Offences, streak: set[str]) -> None:
    assert names(rules.streak(game(fen, moves))) == streak


def test_a_streak_ends_at_a_gap_and_at_a_capture() -> None:
    positions = game(CHASE, "c4b4 b6c6 b4c4 c6b6")
    assert names(WXF.streak(positions)) == {"b6"}
    assert names(WXF.streak([positions[0], *positions[2:]])) == {"b6"}
    assert WXF.streak(positions[-2:]) == frozenset()
    capture = game("3k5/9/9/1c7/9/2R1p3r/9/9/9/5K3 w", "c4e4 d9e9")
    assert is_irreversible(capture[0], Move.from_iccs("c4e4"))
    assert WXF.streak(capture) == frozenset()
    pawn = Position.from_fen("3k5/9/9/9/9/P8/9/9/9/5K3 w")
    assert is_irreversible(pawn, Move.from_iccs("a4a5"))
    assert not is_irreversible(pawn, Move.from_iccs("f0f1"))


@pytest.mark.parametrize("rules", [Rules.WXF, Rules.CHECK])
def test_streaks_agree_with_the_referee(rules: Rules) -> None:
    """A side is convicted of a loop if and only if its streak lasts all the way round."""
    rng = random.Random(11)
    offences = Offences(rules, minor_chases=True)
    convicted = acquitted = 0
    for _ in range(80):
        found = random_loop(rng)
        if found is None:
            continue
        start, loop = found
        positions = [start]
        for move in [*loop, *loop, loop[0]]:
            positions.append(positions[-1].after(*move))
        judgement = judge(start, loop * 2, rules=rules)
        for side, game in ((start.side, positions[:-1]), (start.side.other, positions)):
            level = judgement.levels[side]
            assert lasts(offences, game, len(loop)) == (level > 0), (start.fen, loop)
            if level:
                assert (KING in offences.streak(game)) == (level == 2)
            convicted += level > 0
            acquitted += level == 0
    assert convicted > 3
    assert acquitted > 50


def lasts(offences: Offences, game: list[Position], plies: int) -> bool:
    """Whether the moves of the side to move within the last plies have a victim in common."""
    streak: frozenset[int] = frozenset()
    for end in range(len(game) - plies + 1, len(game), 2):
        before, made, now = game[end - 2 : end + 1]
        move, reply = move_between(before, made), move_between(made, now)
        assert move is not None
        assert reply is not None
        offence = offences.offence(offences.threats(before, move, made), reply, now)
        streak, breaks = extended(follow(streak, reply), offence)
        if breaks:
            return False
    return True


# -- ranks -------------------------------------------------------------------------------------


def arena_of(table: dict[str, list[list[tuple[Kind, str]]]]) -> Arena:
    """An arena of named Stakes."""
    return {
        stake(name): [
            Option(None, [Step(kind, stake(target)) for kind, target in steps])  # type: ignore[arg-type]
            for steps in options
        ]
        for name, options in table.items()
    }


def stake(name: object) -> Stake:
    return Stake(name, frozenset())  # type: ignore[arg-type]


N, G, BAD = Kind.NEUTRAL, Kind.GOOD, Kind.BAD


@pytest.mark.parametrize(
    ("table", "ranks"),
    [
        pytest.param({"a": [[]]}, {"a": (0, 1)}, id="an idle move"),
        pytest.param({"a": [[(N, "a")]]}, {}, id="offends for ever"),
        pytest.param({"a": []}, {}, id="no move"),
        pytest.param({"a": [[(N, "elsewhere")]]}, {}, id="beyond the arena"),
        pytest.param({"a": [[(G, "a")]]}, {"a": (0, 1)}, id="mutual offences"),
        pytest.param({"a": [[(BAD, "a")]]}, {}, id="the rival breaks for ever"),
        pytest.param(
            {"a": [[(N, "b")]], "b": [[(N, "c")]], "c": [[(N, "a")], []]},
            {"a": (0, 3), "b": (0, 2), "c": (0, 1)},
            id="a long forced way",
        ),
        pytest.param(
            {"a": [[(N, "a"), (N, "b")]], "b": [[]]}, {"b": (0, 1)}, id="the rival keeps one there"
        ),
        pytest.param(
            {"a": [[(N, "b")], [(N, "a")]], "b": [[(G, "a")]]},
            {"a": (0, 2), "b": (0, 1)},
            id="again and again",
        ),
        pytest.param(
            {"a": [[(BAD, "b")]], "b": [[(G, "b")]]}, {"a": (1, 1), "b": (0, 1)}, id="one bad step"
        ),
        pytest.param(
            {"a": [[(G, "a"), (BAD, "b")]], "b": [[(N, "a")]]}, {}, id="bad as often as good"
        ),
    ],
)
def test_solve(
    table: dict[str, list[list[tuple[Kind, str]]]], ranks: dict[str, tuple[int, int]]
) -> None:
    assert solve(arena_of(table)) == {stake(name): Rank(*rank) for name, rank in ranks.items()}


def test_rank_of() -> None:
    ranks = {stake("a"): Rank(0, 3), stake("b"): Rank(1, 1)}
    (option,) = arena_of({"x": [[(N, "a"), (G, "a")]]})[stake("x")]
    assert rank_of(option, ranks) == Rank(0, 4)
    (option,) = arena_of({"x": [[(N, "a"), (G, "b")]]})[stake("x")]
    assert rank_of(option, ranks) == Rank(1, 1)
    (option,) = arena_of({"x": [[(BAD, "b")]]})[stake("x")]
    assert rank_of(option, ranks) == Rank(2, 1)
    (option,) = arena_of({"x": [[]]})[stake("x")]
    assert rank_of(option, ranks) == Rank(0, 0)
    (option,) = arena_of({"x": [[(N, "c")]]})[stake("x")]
    assert rank_of(option, ranks) is None


LABELS = {Kind.NEUTRAL: 1, Kind.GOOD: 2, Kind.BAD: 3}


def test_solve_agrees_with_zielonka() -> None:
    """On random arenas; and a rank never rises by the option of the lowest rank, but by a break."""
    rng = random.Random(2)
    won = lost = 0
    for _ in range(1500):
        size = rng.randint(1, 6)
        kinds = rng.choice(([N, G, BAD], [N, N, G], [G, BAD], [G, G, G, BAD], [N, N, N]))
        arena = arena_of(
            {
                str(n): [
                    [
                        (rng.choice(kinds), str(rng.randrange(size)))
                        for _ in range(rng.choice((0, 1, 1, 2, 2, 3)))
                    ]
                    for _ in range(rng.choice((0, 1, 1, 2, 3)))
                ]
                for n in range(size)
            }
        )
        ranks = solve(arena)
        assert set(ranks) == by_zielonka(arena)
        won += len(ranks)
        lost += len(arena) - len(ranks)
        for here, rank in ranks.items():
            known = [(rank_of(option, ranks), i) for i, option in enumerate(arena[here])]
            least, best = min((r, i) for r, i in known if r is not None)
            assert least <= rank
            for step in arena[here][best].steps:
                if step.kind == Kind.NEUTRAL:
                    assert ranks[step.next] < rank
                else:
                    assert ranks[step.next].bad <= rank.bad - (step.kind == Kind.BAD)
    assert won > 500
    assert lost > 500


def by_zielonka(arena: Arena) -> set[Stake]:
    label: dict[object, int] = {"good": 2, "bad": 1}
    ours: dict[object, bool] = {"good": True, "bad": True}
    edges: dict[object, list[object]] = {"good": ["good"], "bad": ["bad"]}
    for here, options in arena.items():
        label[here], ours[here] = 1, True
        edges[here] = [(here, i) for i in range(len(options))] or ["bad"]
        for i, option in enumerate(options):
            label[here, i], ours[here, i] = 1, False
            edges[here, i] = [(here, i, j) for j in range(len(option.steps))] or ["good"]
            for j, step in enumerate(option.steps):
                label[here, i, j], ours[here, i, j] = LABELS[step.kind], True
                edges[here, i, j] = [step.next]
    won = graph_game.zielonka(set(label), label, ours, edges)
    return {here for here in arena if here in won}


# -- streaks are enough ------------------------------------------------------------------------


def random_streak_game(rng: random.Random, victims: list[int]) -> streak_game.StreakGame:
    size = rng.randint(1, 5)
    idle, checks = rng.choice((0.05, 0.2)), rng.choice((0.1, 0.4, 0.7))

    def offence() -> frozenset[int]:
        if rng.random() < idle:
            return frozenset()
        if rng.random() < checks:
            return frozenset({KING})
        return frozenset(v for v in victims if rng.random() < 0.7)

    return streak_game.StreakGame(
        victims,
        tuple(
            tuple(
                tuple(
                    streak_game.Step(rng.randrange(size), offence(), offence())
                    for _ in range(rng.choice((1, 1, 2)))
                )
                for _ in range(rng.choice((1, 1, 2)))
            )
            for _ in range(size)
        ),
    )


def succeeding(play: streak_game.StreakGame, aim: Aim, safe: set[int]) -> set[int]:
    """The positions from which an aim is reached by streaks and ranks.

    A break of one's own streak ends the matter, unless it is won by the rival's offence; it must
    lead to a position that is `safe`.
    """
    unsafe = Stake(-1, frozenset())  # type: ignore[arg-type]
    starts = [Stake(node, frozenset()) for node in range(len(play.options))]  # type: ignore[arg-type]
    arena: Arena = {}
    agenda = list(starts)
    while agenda:
        here = agenda.pop()
        if here in arena:
            continue
        arena[here] = options = []
        for steps in play.options[here.position]:  # type: ignore[call-overload]
            option: list[Step] = []
            for step in steps:
                own, breaks = extended(here.own, step.own)
                rival, rival_breaks = extended(here.rival, step.rival)
                if breaks and aim != Aim.WIN:
                    if step.target not in safe:
                        option.append(Step(Kind.BAD, unsafe))
                    continue
                if aim == Aim.BREAK:
                    rival = frozenset()
                following = Stake(step.target, own, rival)  # type: ignore[arg-type]
                option.append(Step(aim.kind(own, breaks, rival, rival_breaks), following))
                agenda.append(following)
            options.append(Option(None, option))  # type: ignore[arg-type]
    ranks = solve(arena)
    return {start.position for start in starts if start in ranks}  # type: ignore[misc]


def holding(play: streak_game.StreakGame) -> set[int]:
    """The greatest set of positions where a break within the set, or the rival's streak, holds."""
    safe = set(range(len(play.options)))
    while True:
        kept = safe & (succeeding(play, Aim.BREAK, safe) | succeeding(play, Aim.OUTLAST, safe))
        if kept == safe:
            return safe
        safe = kept


@pytest.mark.parametrize(("victims", "games"), [([A], 600), ([A, B], 200)])
def test_streaks_decide_every_endless_play(victims: list[int], games: int) -> None:
    """Against a solver that follows whole plays, not streaks."""
    rng = random.Random(len(victims))
    counts = {"won": 0, "drawn": 0, "lost": 0, "outlasted": 0}
    for _ in range(games):
        play = random_streak_game(rng, victims)
        size = len(play.options)
        won = streak_game.wins(play)
        assert succeeding(play, Aim.WIN, set()) == won, play
        drawn = streak_game.draws(play)
        assert holding(play) == drawn, play
        counts["won"] += len(won)
        counts["drawn"] += len(drawn - won)
        counts["lost"] += size - len(drawn)
        counts["outlasted"] += len(drawn - succeeding(play, Aim.BREAK, drawn))
    assert min(counts.values()) > games // 20, counts


# -- loops of the rule book --------------------------------------------------------------------


class LoopTables:
    """Values of a loop in which every move is forced: whoever leaves it loses at once.

    `value` is that of the positions in which `side` is to move: a draw, or a direct win.
    """

    def __init__(self, loop: list[Position], side: Side, value: Value) -> None:
        self.loop = loop
        self.side = side
        self.value = value

    def probe(self, position: Position) -> ProbeResult:
        if position not in self.loop:
            value = Value(Outcome.WIN, 0, 1)
        elif position.side == self.side or self.value.outcome == Outcome.DRAW:
            value = self.value
        else:
            value = Value(Outcome.LOSS, 1, 1)
        plies = None if value.outcome == Outcome.DRAW else value.plies
        return ProbeResult(
            value.outcome, value.number, value.order, plies, position.material, Rules.WXF, None
        )

    def probe_with_moves(self, position: Position) -> tuple[ProbeResult, list[RootMove]]:
        moves = []
        for move in legal_moves(position):
            after = position.after(*move)
            capture = position.board[move.target] != 0
            moves.append(RootMove(move, after, self.probe(after), False, capture, in_check(after)))
        return self.probe(position), sorted(moves, key=lambda move: move.sort_key)


def book_loops() -> Iterator[ParameterSet]:
    """The loops of the rule book in which no position occurs twice, and the verdicts."""
    for case in CASES:
        try:
            start = Position.from_fen(case["fen"])
        except PositionError:
            continue  # a diagram that no game reaches
        judgement = judge(start, [Move.from_iccs(m) for m in case["moves_threefold"].split()])
        positions = [start]
        for move in case["moves_threefold"].split():
            positions.append(positions[-1].after(*Move.from_iccs(move)))
        loop = positions[positions.index(positions[-1]) :]
        loop = loop[: loop.index(loop[0], 1)]
        if len(set(loop)) == len(loop):
            yield pytest.param(loop, judgement, id=case["id"])


@pytest.mark.parametrize(("loop", "judgement"), list(book_loops()))
def test_loops_of_the_book(loop: list[Position], judgement: Judgement) -> None:
    """A side can hold a loop of forced moves, or win by it, if and only if the referee says so."""
    for side in Side:
        start = next(position for position in loop if position.side == side)
        ranked = {}
        for aim in Aim:
            value = Value(Outcome.WIN, 1, 0) if aim == Aim.WIN else Value(Outcome.DRAW)
            tables = LoopTables(loop, side, value)
            contest = StreakGame(tables, tables.probe(start), WXF, aim)  # type: ignore[arg-type]
            ranked[aim] = any(rank is not None for _, rank in contest.ranked([start]))
        own, rival = judgement.levels[side], judgement.levels[side.other]
        first, last = judgement.span or (0, 0)
        plies = [ply for ply in judgement.plies[first:last] if ply.side == side]
        assert ranked == {
            Aim.REST: any(ply.label == Label.IDLE for ply in plies),
            Aim.BREAK: own == 0,
            Aim.OUTLAST: own == 0 or own <= rival,
            Aim.WIN: own < rival,
        }


MUTUAL = "9/4c4/3k5/3r5/9/9/4C4/9/4K4/3R5 w"
MUTUAL_MOVES = "e3d3 d6e6 d3e3 e6d6"


@pytest.mark.parametrize("limit", [safety.MAX_STAKES, 1])
def test_mutual_checks_go_on(monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    """Each side holds the draw by checks, as long as the other checks too; the bound is no harm."""
    monkeypatch.setattr(safety, "MAX_STAKES", limit)
    loop = game(MUTUAL, MUTUAL_MOVES)[:-1]
    tables = LoopTables(loop, Side.RED, Value(Outcome.DRAW))
    positions = loop[:1]
    for move in MUTUAL_MOVES.split() * 3:
        root, moves = tables.probe_with_moves(positions[-1])
        chosen = choose(tables, positions[-1], root, moves, positions[:-1])  # type: ignore[arg-type]
        assert chosen is not None
        assert chosen.move.iccs == move
        positions.append(chosen.after)
        verdict = judge_repetition(positions, Rules.WXF)
        assert verdict is None or verdict.verdict == Verdict.DRAW


@pytest.mark.parametrize("limit", [safety.MAX_STAKES, 1])
def test_a_check_is_given_up_for_an_idle_move(monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    """Two ways round with checks alone, and one in which the king steps aside."""
    monkeypatch.setattr(safety, "MAX_STAKES", limit)
    loop = game(CHECKING, "e0f0 e3f3 f0e0 f3e3 e0d0 e3d3 d0e0 d3e3")[:-1]
    aside = game(CHECKING, "e0f0 e3f3 f0e0 f3d3 e0f0 d3f3")
    tables = LoopTables([*loop, *aside], Side.BLACK, Value(Outcome.DRAW))
    rng = random.Random(1)
    positions = loop[:1]
    for _ in range(200):
        root, moves = tables.probe_with_moves(positions[-1])
        if positions[-1].side == Side.BLACK:
            move = choose(tables, positions[-1], root, moves, positions[:-1])  # type: ignore[arg-type]
            assert move is not None
        else:
            move = rng.choice([move for move in moves if move.outcome == Outcome.DRAW])
        positions.append(move.after)
        assert not is_lost_by(judge_repetition(positions, Rules.WXF), Side.BLACK)


def test_what_the_past_forbids_is_not_repeated() -> None:
    """A loop already entered by checks is left, although the tables call the check a draw."""
    positions = game(CHECKING, "e0f0 e3f3 f0e0 f3e3 e0f0")
    others = game(CHECKING, "e0f0 e3d3 f0e0")
    tables = LoopTables([*positions, *others], Side.BLACK, Value(Outcome.DRAW))
    root, moves = tables.probe_with_moves(positions[-1])
    chosen = choose(tables, positions[-1], root, moves, positions[:-1])  # type: ignore[arg-type]
    assert chosen is not None
    assert chosen.move.iccs == "e3d3"
