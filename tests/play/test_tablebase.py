"""The tablebase with rules: values and symmetry, moves that progress, lines that end."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

import tbgen
from tbgen import Environment, InputError, find, is_legal, judge, legal_moves, read_table
from tbgen.answers.reasons import explain_line, explain_move, explain_position
from tbgen.indexing import Material, Move, Position, Side
from tbgen.notation import format_move, format_position, parse_move, parse_position
from tbgen.play.choice import _earlier_occurrences
from tbgen.play.mainline import Ending
from tbgen.play.preference import RootMove, is_direct_win
from tbgen.play.repetition import is_lost_by, judge_repetition
from tbgen.play.safety import Aim, StreakGraph
from tbgen.play.streaks import Offences
from tbgen.play.tablebase import GameTablebase, open_tablebase
from tbgen.referee import Judgement, Verdict
from tbgen.rules import is_terminal
from tbgen.tables import IllegalPositionError, MissingTableError, Outcome, Rules, RuleSet, Value
from tests.helpers.built import built
from tests.helpers.random_outcomes import random_outcomes, write_outcomes
from tests.helpers.starts import drawn, rule_decided
from tests.helpers.strategies import played, positions, random_position

MATERIALS = ("KRK", "KPK", "KRKN", "KRKN", "KRKN")
SHARED = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])

MATE_IN_ONE = "3k5/9/9/9/9/9/9/9/9/R3K4 w"
MATED = "3k5/9/9/9/9/9/9/9/9/3RK4 b"
DIRECT_WIN = "9/9/4k4/9/9/9/9/9/1n7/R2K5 w"
DIRECT_LOSS = "9/9/4k4/9/9/9/9/3n5/9/R2K5 b"

CHECKS = RuleSet(Rules.CHECK)


@pytest.fixture(scope="module", params=["none", "check"])
def tables(request: pytest.FixtureRequest, tables_dir: Path) -> Iterator[GameTablebase]:
    with open_tablebase(tables_dir, rules=request.param) as opened:
        yield opened


@pytest.fixture(scope="module")
def check(tables_dir: Path) -> Iterator[GameTablebase]:
    with open_tablebase(tables_dir, rules="check") as opened:
        yield opened


# -- probing -----------------------------------------------------------------------------------


def test_exported_lazily(tables_dir: Path) -> None:
    assert tbgen.open_tablebase is open_tablebase
    with pytest.raises(AttributeError, match="nonsense"):
        _ = tbgen.nonsense


@given(positions(MATERIALS))
@SHARED
def test_mirrored_and_swapped_positions_agree(tables: GameTablebase, position: Position) -> None:
    result, moves = tables.probe_with_moves(position)
    for image in (position.mirrored(), position.swapped()):
        same, image_moves = tables.probe_with_moves(image)
        assert same == result
        assert [m.worth for m in image_moves] == [m.worth for m in moves]


@given(positions(MATERIALS))
@SHARED
def test_values_agree_with_best_moves(tables: GameTablebase, position: Position) -> None:
    result, moves = tables.probe_with_moves(position)
    assert (not moves) == is_terminal(position)
    assert moves == sorted(moves, key=lambda move: move.sort_key)
    if not moves:
        assert result.exact == Value(Outcome.LOSS, 0, 0)
    elif is_direct_win(result):
        assert moves[0].worth == Value(Outcome.WIN, result.order, 2)
    else:
        assert moves[0].worth == result.exact
    assert [move.best for move in moves] == [move.worth == moves[0].worth for move in moves]


@pytest.mark.parametrize(
    "fen", ["4k4/9/9/9/9/9/9/9/9/R3K4 w", "R2k5/9/9/9/9/9/9/9/9/4K4 w"], ids=["faces", "check"]
)
def test_illegal_positions_are_refused(check: GameTablebase, fen: str) -> None:
    position = Position.from_fen(fen)
    methods = (check.probe, check.probe_root, check.best_move, check.mainline, check.get)
    for ask in (*methods, check.probe_wdl):
        with pytest.raises(IllegalPositionError, match=r"king|check"):
            ask(position)
    with pytest.raises(IllegalPositionError):
        check.probe_many([Position.from_fen(MATE_IN_ONE), position])


def test_illegal_positions_have_no_outcome_in_win_draw_loss_files(tmp_path: Path) -> None:
    write_outcomes(tmp_path, "KRK", random_outcomes("KRK", 1, empty=0))
    with open_tablebase(tmp_path) as tables:
        assert tables.get_wdl(MATE_IN_ONE) is not None
        with pytest.raises(IllegalPositionError, match="king"):
            tables.probe_wdl("4k4/9/9/9/9/9/9/9/9/R3K4 w")


def test_materials_without_attackers_need_no_table(tmp_path: Path) -> None:
    with open_tablebase(tmp_path) as empty:
        position = Position.from_fen("3k1a3/9/9/9/9/9/9/9/9/4K4 w")
        result, moves = empty.probe_with_moves(position)
        assert result.outcome == Outcome.DRAW
        assert moves
        assert all(move.outcome == Outcome.DRAW for move in moves)
        assert empty.mainline(position).ending == Ending.DRAW


def test_terminal_positions_need_no_table(tmp_path: Path) -> None:
    with open_tablebase(tmp_path, rules="check") as empty:
        mated = Position.from_fen(MATED)
        assert empty.probe(mated).exact == Value(Outcome.LOSS, 0, 0)
        assert empty.probe_root(mated) == []
        assert empty.best_move(mated) is None
        assert empty.probe_many([mated, mated]) == [empty.probe(mated)] * 2
        for ask in (empty.probe, lambda position: empty.probe_many([mated, position])):
            with pytest.raises(MissingTableError, match="KRK"):
                ask(Position.from_fen(MATE_IN_ONE))


def test_moves_into_missing_tables_are_unknown(tables_dir: Path, tmp_path: Path) -> None:
    shutil.copy(tables_dir / "KRKN.check.dtm.xqt", tmp_path)
    with open_tablebase(tmp_path) as alone:
        position = Position.from_fen("3k5/9/9/9/9/9/9/9/n8/R3K4 w")
        moves = {move.move.iccs: move for move in alone.probe_root(position)}
        capture = moves["a0a1"]
        assert (capture.outcome, capture.value, capture.missing) == (None, None, "KRK")
        assert "no table of KRK" in explain_move(alone.probe(position), capture)
        outcomes = [move.outcome for move in alone.probe_root(position)]
        ranks = [(Outcome.WIN, Outcome.DRAW, None, Outcome.LOSS).index(o) for o in outcomes]
        assert ranks == sorted(ranks)


# -- playing -----------------------------------------------------------------------------------


def made_progress(position: Position, tables: GameTablebase, move: RootMove) -> bool:
    """Return whether a winner's move makes progress, by docs/values.md ("Outcomes and distances").

    The plies or the order fall, or the move is a capture and the table's distances count to
    conversion. From a direct win (the loser must offend for ever), the order may stay if the move
    is any capture or leads to a loss in one ply.
    """
    before, after = tables.probe(position), tables.probe(move.after)
    if after.outcome != Outcome.LOSS:
        return False
    if move.converts or after.order < before.order:
        return True
    assert after.plies is not None
    assert before.plies is not None
    if is_direct_win(before):
        return after.order == before.order and (move.capture or after.plies == 1)
    return after.order == before.order and after.plies < before.plies


def test_every_winning_move_is_progress(tables: GameTablebase) -> None:
    rng = random.Random(3)
    sample = [random_position(rng, MATERIALS) for _ in range(400)]
    if tables.rule_set.rules == Rules.CHECK:
        sample += rule_decided(tables, "KRKN", 20, rng)
    won = 0
    for position in sample:
        root = tables.probe(position)
        move = tables.best_move(position)
        if move is None:
            assert root.exact == Value(Outcome.LOSS, 0, 0)
            continue
        assert move.outcome == root.outcome
        if root.outcome == Outcome.WIN:
            won += 1
            assert made_progress(position, tables, move), position.fen
    assert won > 50


def test_lines_end_in_mate_at_the_distance_of_the_value(tables: GameTablebase) -> None:
    rng = random.Random(4)
    for _ in range(60):
        position = random_position(rng, MATERIALS)
        line = tables.mainline(position)
        if line.result.outcome == Outcome.DRAW:
            assert (line.ending, line.moves, line.winner) == (Ending.DRAW, (), None)
        elif line.result.order == 0:
            assert line.ending in (Ending.MATE, Ending.STALEMATE)
            assert len(line.moves) == line.result.plies
            assert is_terminal(line.final)
            won = line.result.outcome == Outcome.WIN
            assert line.winner == (position.side if won else position.side.other)


def test_lines_of_rule_wins_end_in_a_loop_won_by_the_referee(check: GameTablebase) -> None:
    for position in rule_decided(check, "KRKN", 8, random.Random(7)):
        line = check.mainline(position)
        won = line.result.outcome == Outcome.WIN
        winner = position.side if won else position.side.other
        assert line.winner == winner, position.fen
        assert line.ending == Ending.LOOP
        assert line.loop_start is not None
        assert line.final == line.moves[line.loop_start].position
        assert "check" in explain_line(line)


def test_the_loop_of_a_line_begins_with_the_judged_span(
    check: GameTablebase, monkeypatch: pytest.MonkeyPatch
) -> None:
    def begun_later(game: Sequence[Position], rule_set: RuleSet) -> Judgement | None:
        found = judge_repetition(game, rule_set)
        if found is None or found.span is None:
            return found
        return replace(found, span=(found.span[0] + 2, found.span[1]))

    line = check.mainline(Position.from_fen(DIRECT_WIN))
    monkeypatch.setattr("tbgen.play.mainline.judge_repetition", begun_later)
    assert check.mainline(line.start).loop_start == (line.loop_start or 0) + 2


def test_only_a_winner_avoids_drawn_repetitions() -> None:
    position = Position.from_fen(MATE_IN_ONE)
    move = Move.from_iccs("a0a1")
    choice: Any = SimpleNamespace(move=move, after=position.after(*move))
    trials: Any = SimpleNamespace(verdict=lambda *moves: Verdict.DRAW)
    repeated = [
        _earlier_occurrences(trials, [choice.after, position], choice, outcome)
        for outcome in (Outcome.WIN, Outcome.DRAW)
    ]
    assert repeated == [1, 0]


@pytest.mark.parametrize(
    "fen",
    ["3ck4/9/3a5/9/9/9/9/9/4A4/3KR4 w", "4k4/3c5/3a5/9/9/9/9/9/4A4/3KR4 w"],
)
def test_a_winner_forced_to_check_reaches_a_quiet_move(fen: str) -> None:
    position = Position.from_fen(fen)
    with open_tablebase(built("KRAKCA")) as tables:
        root, moves = tables.probe_with_moves(position)
        assert is_direct_win(root)
        assert all(move.check for move in moves if move.best)
        contest = StreakGraph(tables, root, Offences(CHECKS), Aim.WIN)
        # One check, and then a quiet move.
        assert min(rank.edges for _, rank in contest.ranked([position]) if rank) == 2
        line = tables.mainline(position)
        assert (line.ending, line.winner) == (Ending.LOOP, Side.RED)


def test_no_defence_repeats_a_won_position_without_losing() -> None:
    """In a win by the rules, the defender loses every repetition by the verdict.

    The defender plays random moves of longest resistance.
    """
    rng = random.Random(6)
    repeated = 0
    with open_tablebase(built("KRAKCA")) as tables:
        for start in rng.sample(rule_decided(tables, "KRAKCA", 2, rng), 6):
            game = [start]
            won = tables.probe(start).outcome == Outcome.WIN
            winner = start.side if won else start.side.other
            for _ in range(30):
                if game[-1].side == winner:
                    move = tables.best_move(game[-1], game[:-1])
                else:
                    moves = tables.probe_root(game[-1])
                    move = rng.choice([m for m in moves if m.best] or moves or [None])
                if move is None:
                    assert game[-1].side != winner
                    break
                game.append(move.after)
                verdict = judge_repetition(game, CHECKS)
                if verdict is not None:
                    repeated += 1
                    assert is_lost_by(verdict, winner.other), start.fen
    assert repeated > 5


def test_lines_cut_short(check: GameTablebase) -> None:
    line = check.mainline(Position.from_fen("4k4/9/9/9/9/9/9/9/9/R2K5 w"), 2)
    assert line.ending == Ending.CUT
    assert len(line.moves) == 2
    assert "cut" in explain_line(line)


def test_a_side_that_draws_does_not_check_perpetually(check: GameTablebase) -> None:
    """best_move repeats no check that loses by the game's history, if another move draws."""
    games = 0
    for position in drawn(check, "KRKN", 6, random.Random(1)):
        game = [position]
        drawer = position.side
        for _ in range(24):
            move = check.best_move(game[-1], game[:-1])
            if move is None:
                break
            if game[-1].side == drawer:
                # This side checks as long as it may, so that best_move must leave the loop.
                drawing = [m for m in check.probe_root(game[-1]) if m.outcome == Outcome.DRAW]
                checks = [m for m in drawing if m.check]
                offends = is_lost_by(judge_repetition([*game, move.after], CHECKS), drawer)
                choices = [
                    m
                    for m in drawing
                    if not is_lost_by(judge_repetition([*game, m.after], CHECKS), drawer)
                ]
                assert not (offends and choices), game[-1].fen
                if checks and checks[0] in choices:
                    move = checks[0]
                games += 1
            game.append(move.after)
    assert games


@pytest.mark.parametrize("prelude", ["", "e8e9 c8c9 e9e8 c9c8 "])
def test_a_winner_does_not_complete_a_perpetual_check(check: GameTablebase, prelude: str) -> None:
    """best_move leaves a loop of earlier checks, although the check is a shortest win."""
    game = played("9/2R1k4/9/9/9/9/9/5K3/9/9 b", prelude + "e8e9 c8c9 e9e8")
    assert {move.move.iccs for move in check.probe_root(game[-1]) if move.best} == {"c9c8", "c9d9"}
    move = check.best_move(game[-1], game[:-1])
    assert move is not None
    assert (move.move.iccs, move.outcome) == ("c9d9", Outcome.WIN)


def test_history_with_gaps(check: GameTablebase) -> None:
    position = Position.from_fen(MATE_IN_ONE)
    assert check.best_move(position, [Position.from_fen(MATED), position]) is not None


# -- words -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fen", "words"),
    [
        (MATE_IN_ONE, "Red mates in 1 ply (1 move)"),
        (MATED, "Black is mated"),
        ("3k5/R8/9/9/9/9/9/9/9/4K4 b", "Black is stalemated, which loses"),
        (DIRECT_WIN, "Black's longest defence is a perpetual check, which loses (order 1)"),
        (DIRECT_LOSS, "Black loses by perpetual check, order 1, in 1 ply"),
        ("3k1a3/9/9/9/9/9/9/9/9/4K4 w", "draw: neither side has a piece that can attack"),
    ],
)
def test_reasons(check: GameTablebase, fen: str, words: str) -> None:
    position = Position.from_fen(fen)
    assert explain_position(position, check.probe(position)) == words


@pytest.mark.parametrize("seed", range(3))
def test_conversion(check: GameTablebase, seed: int) -> None:
    """With a table in distance to conversion (DTC), values, lines and explanations are consistent.

    Outcomes are those of the table in distance to mate. A capture ranks by the value that the
    DTC table gives it. Lines of best play continue in the table after the capture.
    """
    rng = random.Random(seed)
    converted = 0
    with open_tablebase(built("KRKN", metric="dtc"), metric="dtc") as tables:
        for position in [random_position(rng, ["KRKN"]) for _ in range(60)]:
            root, moves = tables.probe_with_moves(position)
            assert root.outcome == check.probe(position).outcome
            if not moves:
                continue
            if not is_direct_win(root):
                assert moves[0].worth == root.exact
            reasons = [explain_move(root, m) for m in moves if m.converts and m.outcome]
            assert all("converts" in why or "mates" in why for why in reasons)
            line = tables.mainline(position)
            if root.outcome != Outcome.DRAW:
                won = root.outcome == Outcome.WIN
                assert line.winner == (position.side if won else position.side.other)
                converted += any(m.choice.converts for m in line.moves)
    assert converted


def test_names_of_materials(check: GameTablebase) -> None:
    assert {name.material for name in check.available()} == {
        Material.parse(name) for name in ("KRK", "KNK", "KPK", "KRKN")
    }


@pytest.mark.parametrize("value", [None, b"4k4/9/9/9/9/9/9/9/9/R2K5 w", 5, ["KRKN"]])
def test_values_of_other_types_are_input_errors(tables_dir: Path, value: Any) -> None:
    """Where a FEN, a material or a move is expected, values that are no text are refused."""
    fen, kind = "4k4/9/9/9/9/9/9/9/9/R2K5 w", type(value).__name__
    with open_tablebase(tables_dir, rules="check") as tables:
        for expected, ask in (
            ("FEN", tables.probe),
            ("FEN", tables.get),
            ("FEN", lambda each: tables.probe_many([each])),
            ("FEN", tables.best_move),
            ("FEN", tables.mainline),
            ("FEN", legal_moves),
            ("FEN", is_legal),
            ("FEN", lambda each: judge(each, ["a0a1"])),
            ("FEN", lambda each: Environment(tables, each)),
            ("FEN", format_position),
            ("position", parse_position),
            ("material", tables.stats),
            ("material", Material.parse),
            ("material", lambda each: find(each, tables)),
            ("material", lambda each: read_table(each, tables)),
            ("move", Move.from_iccs),
            ("move", lambda each: judge(fen, [each])),
            ("move", lambda each: parse_move(fen, each)),
            ("move", lambda each: format_move(fen, each)),
            ("move", Environment(tables, fen).step),
        ):
            with pytest.raises(InputError, match=f"a value of type {kind} is no {expected}; "):
                ask(value)
