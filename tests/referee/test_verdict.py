"""The referee against published cases and the naive referee, and its symmetries."""

import json
import random

import pytest

from tbgen.indexing import InputError, Move, MoveTextError, Position, PositionError, Side
from tbgen.indexing.squares import flip_square, mirror_square, parse_square, square_name
from tbgen.referee import Game, Label, Rules, Verdict, judge, judge_game, record, repetition_verdict
from tbgen.referee.game import Diagram
from tbgen.rules import legal_moves
from tests.helpers.loops import exchanging_loop, random_loop
from tests.helpers.paths import DATA
from tests.helpers.strategies import played
from tests.oracles import naive_referee

CASES = json.loads((DATA / "repetition_cases.json").read_text())

ROOK_CHASES_CANNON = "3k5/9/9/1c7/9/2R5r/9/9/9/5K3 w"
ROOK_LOOP = "c4b4 b6c6 b4c4 c6b6"
ROOK_CHECKS = "3k5/9/9/9/9/9/4r4/9/9/4K4 w"
CHECK_LOOP = "e0f0 e3f3 f0e0 f3e3"


def moves_of(text):
    return [Move.from_iccs(move) for move in text.split()]


def verdict_of(fen, moves, **options):
    return judge(Diagram.from_fen(fen), moves_of(moves), **options)


def loops(seed, count):
    rng = random.Random(seed)
    found = 0
    while found < count:
        loop = random_loop(rng)
        if loop is not None:
            found += 1
            yield loop


def swapped_verdict(verdict):
    swap = {Verdict.RED_WINS: Verdict.BLACK_WINS, Verdict.BLACK_WINS: Verdict.RED_WINS}
    return swap.get(verdict, verdict)


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
@pytest.mark.parametrize("length", ["moves", "moves_threefold"])
def test_published_cases(case, length):
    if case[length]:
        assert verdict_of(case["fen"], case[length]).verdict.text == case["verdict"]


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_published_cases_by_the_naive_referee(case):
    loop = moves_of(case["moves"])
    positions = played(Diagram.from_fen(case["fen"]), loop)
    start = positions.index(positions[-1])
    levels = naive_referee.levels(positions[-1], loop[start:])
    assert naive_referee.verdict(levels) == case["verdict"]


def test_random_loops_agree_with_the_naive_referee():
    for position, loop in loops(21, 50):
        judgement = judge(position, loop)
        assert judgement.levels == naive_referee.levels(position, loop), (position.fen, loop)
        off = naive_referee.levels(position, loop, naive_referee.Clauses(minor_chases=False))
        assert judge(position, loop, minor_chases=False).levels == off, (position.fen, loop)


def test_verdicts_do_not_depend_on_side_start_or_length():
    for position, loop in loops(22, 80):
        judgement = judge(position, loop)
        mirrored = [Move(mirror_square(a), mirror_square(b)) for a, b in loop]
        swapped = [Move(flip_square(a), flip_square(b)) for a, b in loop]
        assert judge(position.mirrored(), mirrored).levels == judgement.levels
        assert judge(position.swapped(), swapped).levels == judgement.levels[::-1]
        assert judge(position.swapped(), swapped).verdict == swapped_verdict(judgement.verdict)
        for extra in (2, 3, 4):
            assert judge(position, loop * extra).levels == judgement.levels
        now = position
        for turn in range(1, len(loop)):
            now = now.after(*loop[turn - 1])
            again = judge(now, loop[turn:] + loop[:turn])
            assert again.levels == judgement.levels, (position.fen, loop, turn)


def test_loops_in_which_identical_pieces_change_places():
    # One round brings the board back, but each twin stands where the other stood: the loop is
    # unrolled, because a piece chased in one round need not be the one chased in the next.
    rng = random.Random(23)
    for _ in range(10):
        position, loop = exchanging_loop(rng)
        expected = naive_referee.levels(position, loop)
        for rounds in (1, 2, 3):
            assert judge(position, loop * rounds).levels == expected, (position.fen, loop)


def test_twin_victims_are_common_only_over_both_rounds():
    before, after = [-1] * 90, [-1] * 90
    before[10], before[20], before[30] = 0, 1, 2
    after[10], after[20], after[30] = 1, 0, 2
    for mask, common in ((0b001, 0), (0b010, 0), (0b011, 0b011), (0b101, 0b100), (0b111, 0b111)):
        assert record._follow_exchanges([before, after], 0, 1, mask) == common


@pytest.mark.parametrize(
    ("rules", "fen", "loop", "verdict"),
    [
        (Rules.WXF, ROOK_CHASES_CANNON, ROOK_LOOP, Verdict.BLACK_WINS),
        (Rules.CHECK, ROOK_CHASES_CANNON, ROOK_LOOP, Verdict.DRAW),
        (Rules.NONE, ROOK_CHASES_CANNON, ROOK_LOOP, Verdict.DRAW),
        (Rules.WXF, ROOK_CHECKS, CHECK_LOOP, Verdict.RED_WINS),
        (Rules.CHECK, ROOK_CHECKS, CHECK_LOOP, Verdict.RED_WINS),
        (Rules.NONE, ROOK_CHECKS, CHECK_LOOP, Verdict.DRAW),
    ],
)
def test_rule_sets(rules, fen, loop, verdict):
    assert verdict_of(fen, loop, rules=rules).verdict == verdict


def test_labels_name_victims_and_attackers():
    plies = verdict_of(ROOK_CHASES_CANNON, ROOK_LOOP).plies
    assert [ply.label for ply in plies] == [Label.CHASE, Label.IDLE, Label.CHASE, Label.IDLE]
    assert [square_name(ply.chased[0]) for ply in plies[::2]] == ["b6", "c6"]
    assert [square_name(ply.by[0]) for ply in plies[::2]] == ["b4", "c4"]
    assert [ply.side for ply in plies] == [Side.RED, Side.BLACK] * 2
    checks = verdict_of(ROOK_CHECKS, CHECK_LOOP).plies
    assert [ply.label for ply in checks[1::2]] == [Label.CHECK, Label.CHECK]
    assert checks[1].chased == ()


@pytest.mark.parametrize(
    ("diagram", "words"),
    [
        ("D1", "Red checks on every move"),
        ("D4", "both sides check on every move: draw"),
        ("D13", "Red mixes checks and chases"),
        ("D19", "Red's cannon chases the rook on every move"),
        ("D28", "Red chases different pieces in turn"),
        ("D48", "Red's rook chases the knight on every move, Black's knight chases the rook"),
        ("D72", "Red's knights chase the cannon"),
        ("D93", "Red's knights chase the rook"),
        ("D105", "Red's rook chases the knight"),
    ],
)
def test_reasons_name_the_right_piece(diagram, words):
    (case, *_) = [case for case in CASES if case["diagram"] == diagram]
    assert words in verdict_of(case["fen"], case["moves"]).reason


def test_undecided_until_the_position_returns():
    moves = moves_of(ROOK_LOOP)
    position = Position.from_fen(ROOK_CHASES_CANNON)
    for count in range(4):
        judgement = judge(position, moves[:count])
        assert judgement.verdict == Verdict.UNDECIDED
        assert judgement.span is None
        assert judgement.levels == (0, 0)
    assert judge(position, moves).span == (0, 4)
    assert judge(position, moves * 2).span == (0, 8)
    assert judge(position, moves * 3).span == (4, 12)
    assert judge(position, moves, occurrences=3).verdict == Verdict.UNDECIDED
    assert judge(position, moves * 2, occurrences=3).verdict == Verdict.BLACK_WINS
    assert judge(position, moves * 2, occurrences=4).verdict == Verdict.UNDECIDED
    with pytest.raises(ValueError, match="at least 2"):
        judge(position, moves, occurrences=1)
    with pytest.raises(InputError, match="is no number of occurrences"):
        judge(position, moves, occurrences=2.5)  # type: ignore[arg-type]


def test_only_the_span_is_judged():
    # The span has the last two rounds: two chasing ones, or an idle and a chasing one.
    position = Position.from_fen(ROOK_CHASES_CANNON)
    idle, chase = moves_of("f0f1 d9d8 f1f0 d8d9"), moves_of(ROOK_LOOP)
    assert judge(position, idle * 2).verdict == Verdict.DRAW
    assert judge(position, idle * 2 + chase * 2).verdict == Verdict.BLACK_WINS
    assert judge(position, idle * 2 + chase).verdict == Verdict.DRAW


def test_captures_and_pawn_advances_end_a_loop():
    fen = "3k5/9/9/9/9/4P4/9/9/9/R3K4 w"
    shuffle = "a0a1 d9d8 a1a0 d8d9"
    assert verdict_of(fen, shuffle).verdict == Verdict.DRAW
    assert verdict_of(fen, f"{shuffle} e4e5 d9d8").verdict == Verdict.UNDECIDED
    assert verdict_of(fen, f"{shuffle} e4e5 d9d8 a0a1 d8d9 a1a0 d9d8").verdict == Verdict.DRAW


def test_the_end_of_the_game_is_no_repetition():
    judgement = verdict_of("4k4/8R/9/9/9/9/9/9/R8/3K5 w", "a1a9")
    assert judgement.verdict == Verdict.RED_WINS
    assert judgement.reason == "Black has no legal move: Red wins"


def test_impossible_starts_and_illegal_moves_are_refused():
    with pytest.raises(PositionError, match="kings face"):
        verdict_of("4k4/9/9/9/9/9/9/9/9/4K4 w", "")
    with pytest.raises(MoveTextError, match="ply 2: d9d8: there is no piece on d9") as caught:
        verdict_of("4k4/9/9/9/9/9/9/9/9/3K5 w", "d0d1 d9d8")
    assert caught.value.hint


def test_diagrams_may_have_pawns_on_unreachable_squares():
    fen = "4k4/9/p8/9/9/9/9/9/9/3K5 w"
    with pytest.raises(PositionError, match="pawn cannot stand on a7"):
        Position.from_fen(fen)
    assert Diagram.from_fen(fen).board[parse_square("a7")] == 15
    with pytest.raises(PositionError, match="elephant cannot stand"):
        Diagram.from_fen("4k4/9/1b7/9/9/9/9/9/9/3K5 w")


def test_advisors_and_elephants_chase_protected_pieces_as_an_option():
    fen = "3C1a1R1/5k3/4b4/9/9/r8/9/3K5/9/9 b"
    loop = "f9e8 d9a9 e8f9 a9d9"
    assert verdict_of(fen, loop).verdict == Verdict.RED_WINS
    assert verdict_of(fen, loop, minor_chases=False).verdict == Verdict.DRAW


def test_pushing_and_popping_judges_like_a_new_game():
    rng = random.Random(41)
    judged = 0
    for start, loop in loops(42, 12):
        game, moves = Game(start, Rules.WXF.chase_rules(minor_chases=False)), []
        for _ in range(60):
            if moves and rng.random() < 0.3:
                game.pop()
                moves.pop()
            else:
                legal = legal_moves(game.last)
                following = loop[len(moves) % len(loop)]
                if following not in legal or rng.random() < 0.1:
                    following = rng.choice(legal)
                game.push(following)
                moves.append(following)
            fresh = judge(start, moves, minor_chases=False)
            assert judge_game(game, rules=Rules.WXF) == fresh
            if fresh.span is not None:
                judged += 1
                assert repetition_verdict(game, rules=Rules.WXF) == fresh.verdict
            if not legal_moves(game.last):
                break
    assert judged > 50


def test_an_illegal_move_leaves_the_game_unchanged():
    game = Game(Position.from_fen(ROOK_CHASES_CANNON))
    with pytest.raises(MoveTextError):
        game.push(Move.from_iccs("c4d5"))
    assert (game.plies, len(game.log), game.last.fen) == (0, 1, game.first.fen)
    with pytest.raises(IndexError):
        game.pop()
