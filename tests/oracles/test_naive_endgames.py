"""The naive solver against published figures and positions (sources in tests/data)."""

from __future__ import annotations

import csv

import pytest

from tbgen.indexing.rulesets import Rules
from tbgen.tables.names import Metric
from tests.helpers.paths import DATA
from tests.oracles.naive.cache import naive_solution
from tests.oracles.naive.movegen import from_fen, to_fen
from tests.oracles.naive.patterns import DRAW, LOSS, WIN, Verdict
from tests.oracles.naive.solver import Solution, solve
from tests.retrograde import test_naive

OUTCOMES = {"win": WIN, "draw": DRAW, "loss": LOSS}


def rows(file: str) -> list[dict[str, str]]:
    """Read the rows of a CSV file in tests/data, by column; skips lines that begin with `#`."""
    lines = [line for line in (DATA / file).read_text().splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines))


@pytest.mark.parametrize(
    ("fen", "verdict"),
    [
        ("3k5/9/9/9/3R5/9/9/9/9/4K4 b", Verdict(LOSS, 0, 0)),  # mated: Red's king guards e9
        ("3k5/R8/9/9/9/9/9/9/9/4K4 b", Verdict(LOSS, 0, 0)),  # stalemated, which loses as well
        ("3k5/9/9/9/R8/9/9/9/9/4K4 w", Verdict(WIN, 0, 1)),
    ],
)
def test_ends_of_the_game(fen: str, verdict: Verdict) -> None:
    assert naive_solution("KRK").probe(fen) == verdict


@pytest.mark.parametrize("name", ["KK", "KABK", "KAKB", "KABKAB"])
def test_materials_without_attackers_are_drawn(name: str) -> None:
    solution = naive_solution(name)
    assert solution.count(DRAW) == len(solution)


@pytest.mark.certification
@pytest.mark.parametrize("material", ["KRKN", "KRKR", "KRKC"])
def test_counts_under_the_check_rule(material: str) -> None:
    check_counts(material)


@pytest.mark.certification
def test_counts_with_a_second_order() -> None:
    check_counts("KRAKR", published_as="KRKRA")


def check_counts(material: str, published_as: str | None = None) -> None:
    """Compare counts of the naive solver with those of the data file naive_check_counts.csv.

    published_as : name of the material in the file, if the file names the other side first
    """
    table = rows("naive_check_counts.csv")
    row = next(row for row in table if row["material"] == (published_as or material))
    assert len(naive_solution(material)) == int(row["legal"])
    assert naive_solution(material).count(DRAW) == int(row["draws_no_rule"])
    first = naive_solution(material, rules="check", orders=1)
    assert first.count(DRAW) == int(row["draws_first_order"])
    full = naive_solution(material, rules="check")
    assert full.count(DRAW) == int(row["draws_all_orders"])
    assert len(full.orders()) == int(row["orders"])
    by_order = ";".join(f"{order}:{count}" for order, count in full.orders().items())
    assert by_order == row["positions_per_order"]


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, marks=pytest.mark.certification if row["material"] == "KRKN" else ())
        for row in rows("naive_peer_counts.csv")
    ],
    ids=lambda row: row["material"] + row["side_to_move"],
)
def test_counts_by_side_and_longest_conversion(row: dict[str, str]) -> None:
    side = row["side_to_move"]
    solution = naive_solution(row["material"], rules="check", metric="dtc")
    counts = {outcome: solution.count(OUTCOMES[outcome], side) for outcome in OUTCOMES}
    assert counts == {
        "win": int(row["wins"]),
        "draw": int(row["draws"]),
        "loss": int(row["losses"]),
    }
    if counts["win"]:
        longest = max(
            entry.value
            for entry in solution.items()
            if entry.outcome == WIN and entry.order == 0 and f" {side} " in entry.fen
        )
        assert longest == int(row["longest_dtc_raw"]) - 1


@pytest.mark.certification
def test_sampled_positions_of_krkn() -> None:
    check_samples("KRKN", "naive_samples_krkn.csv")


@pytest.mark.certification
def test_sampled_positions_with_a_second_order() -> None:
    check_samples("KRAKR", "naive_samples_krakr.csv")


def check_samples(material: str, file: str) -> None:
    plain = naive_solution(material)
    first = naive_solution(material, rules="check", orders=1)
    full = naive_solution(material, rules="check")
    for row in rows(file):
        fen = row["fen"]
        verdict = plain.probe(fen)
        assert verdict.outcome == OUTCOMES[row["wdl_norule"]], fen
        if verdict.outcome != DRAW:
            assert verdict.value == int(row["dtm_plies"]), fen
        verdict = first.probe(fen)
        assert verdict.outcome == OUTCOMES[row["wdl_first"]], fen
        metric = {"mate": 0, "draw": 0, "check": 1}[row["metric_first"]]
        assert (verdict.order, verdict.value) == (metric, int(row["value_first"])), fen
        verdict = full.probe(fen)
        assert verdict.outcome == OUTCOMES[row["wdl_all"]], fen
        assert verdict.order == int(row["order"]), fen
        if verdict.order:
            assert verdict.plies == int(row["dist"]), fen


@pytest.mark.certification
def test_the_solver_agrees_in_every_position_of_krkn() -> None:
    test_naive.test_every_position_agrees("KRKN", Rules.CHECK, Metric.DTM)


@pytest.mark.certification
@pytest.mark.parametrize(("material", "plies"), [("KRKN", 26), ("KRKC", 16), ("KRKR", 10)])
def test_longest_distances_of_table_1(material: str, plies: int) -> None:
    assert naive_solution(material).max_distance() == plies


@pytest.mark.certification
def test_the_distance_to_check_that_the_paper_calls_1() -> None:
    assert naive_solution("KRKN", rules="check", orders=1).max_rule_distance() == 1


def test_conversions_are_never_longer_than_mates() -> None:
    mates, conversions = naive_solution("KNKA"), naive_solution("KNKA", metric="dtc")
    for mate, conversion in zip(mates.verdicts, conversions.verdicts, strict=True):
        assert mate.outcome == conversion.outcome
        assert mate.value >= conversion.value


def test_a_losing_side_converts_in_two() -> None:
    """In distance to conversion, a side whose best move is a capture into a loss loses in 2 plies.

    Black takes the pawn; no other move lasts longer. In distance to mate the loss takes 18.
    """
    fen = "4k4/4P4/9/9/9/9/P8/9/9/3K5 b"
    assert naive_solution("KPPK").probe(fen) == Verdict(LOSS, 0, 18)
    assert naive_solution("KPPK", metric="dtc").probe(fen) == Verdict(LOSS, 0, 2)


@pytest.mark.parametrize(
    ("red", "black"),
    [("KP", "KB"), pytest.param("KN", "KA", marks=pytest.mark.certification), ("KPA", "K")],
)
def test_exchanged_colours_have_equal_values(red: str, black: str) -> None:
    swapped = solve((black, red))
    for entry in solve((red, black)).items():
        board, side = from_fen(entry.fen)
        flipped = {sq - sq % 10 + 9 - sq % 10: piece.swapcase() for sq, piece in board.items()}
        verdict = swapped.probe(to_fen(flipped, "b" if side == "w" else "w"))
        assert verdict == Verdict(entry.outcome, entry.order, entry.value), entry.fen


def test_letters_in_any_order_and_refusals() -> None:
    assert solve(("KBR", "K")) is solve(("KRB", "K"))
    solution: Solution = naive_solution("KRK")
    with pytest.raises(KeyError):
        solution.probe("4k4/9/9/9/9/9/9/9/9/4K3R w")  # kings face
    with pytest.raises(KeyError):
        solution.probe("4k4/9/9/9/9/9/9/9/9/3K3N1 w")  # other material
    with pytest.raises(ValueError, match="rules"):
        solve(("KR", "K"), rules="chinese")
