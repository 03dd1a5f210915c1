"""Searches of whole tables, against probes of single positions."""

from __future__ import annotations

import json
import pickle
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from tbgen import (
    GameTablebase,
    Outcome,
    Position,
    Query,
    RulesMismatchError,
    Search,
    Side,
    find,
    open_tablebase,
)
from tbgen.cli import main
from tbgen.finding.query import NO_END
from tbgen.finding.sample import sample
from tbgen.indexing import InputError, Material
from tbgen.indexing.squares import piece_code
from tbgen.probing.columns import sampled_columns
from tbgen.rules import is_legal
from tbgen.tables import TableFile
from tests.helpers.built import built


@pytest.fixture(scope="module")
def krkn() -> Iterator[GameTablebase]:
    with open_tablebase(built("KRKN", rules="wxf")) as tables:
        yield tables


def command(*arguments: str) -> Result:
    tables = ("--tables", str(built("KRKN", rules="wxf")))
    return CliRunner().invoke(main, ["find", *arguments, *tables])


def places(tables: GameTablebase, **asked: object) -> set[tuple[int, int]]:
    """Search KRKN by the conditions `asked`; return (side to move, slot) of each position found.

    Checks that the search gives positions in ascending order and none twice.
    """
    columns = find("KRKN", tables, **asked).columns()  # type: ignore[arg-type]
    found = list(zip(columns["side"].tolist(), columns["slot"].tolist(), strict=True))
    assert found == sorted(set(found))
    return set(found)


def unique_plies(tables: GameTablebase, position: Position) -> int:
    """Return the length in plies of the unique solution of a won position, by the definition.

    The winner must have one winning move, at first and after every best defence. The length is the
    least over the best defences. Mate, a capture or a direct win ends the solution. Returns 0 if
    the solution is not unique, and if the position is not won or is a direct win.
    """
    value, moves = tables.probe_with_moves(position)
    if value.outcome != Outcome.WIN or (value.order and value.plies == 0):
        return 0
    winning = [move for move in moves if move.outcome == Outcome.WIN]
    if len(winning) != 1:
        return 0
    _, defences = tables.probe_with_moves(winning[0].after)
    if not defences or winning[0].capture:
        return 1
    lengths = []
    for defence in defences:
        if not defence.best:
            continue
        ends = defence.capture or (defence.order and defence.plies == 0)
        rest = 0 if ends else unique_plies(tables, defence.after)
        if not ends and not rest:
            return 0
        lengths.append(2 + rest)
    return min(lengths)


def has_one_move(tables: GameTablebase, position: Position) -> bool:
    """Return whether exactly one of several moves keeps the win or the draw."""
    value, moves = tables.probe_with_moves(position)
    kept = [move for move in moves if move.outcome == value.outcome]
    return value.outcome != Outcome.LOSS and len(kept) == 1 and len(moves) > 1


def test_draws_have_no_plies(krkn: GameTablebase) -> None:
    """A range of plies leaves out draws, unless draws are asked for."""
    mated, drawn = places(krkn, outcome=Outcome.LOSS, plies=0), places(krkn, outcome=Outcome.DRAW)
    won = places(krkn, outcome=Outcome.WIN, plies=0)
    assert places(krkn, plies=0) == mated | won
    assert mated
    assert places(krkn, outcome=Outcome.DRAW, plies=0) == drawn
    assert drawn
    assert places(krkn, plies=(0, NO_END)) == places(krkn) - drawn
    every = command("KRKN", "--plies", "0-", "--count").stdout
    assert every == command("KRKN", "--plies", "0-99", "--count").stdout


@pytest.mark.parametrize("condition", [("--turn", "red"), ("--at", "N@d2")])
def test_colours_of_a_material_named_weaker_first(condition: tuple[str, str]) -> None:
    """KNKR is the table KRKN, in which Red has the rook: a condition on colours is refused."""
    refused = command("KNKR", *condition)
    assert refused.exit_code == 2
    assert "'KNKR' names the table KRKN, in which Red has KR" in refused.stderr
    with pytest.raises(InputError, match="names the table KRKN, in which Red has KR"):
        find("马对车", built("KRKN", rules="wxf"), turn="red")
    assert command("KNKR", "--order", "1-", "--count").stdout == (
        command("KRKN", "--order", "1-", "--count").stdout
    )


@pytest.mark.parametrize(
    ("material", "metric", "least"),
    [
        ("KRKN", None, 20),
        ("KNKP", "dtc", 20),
        pytest.param("KNKP", None, 20, marks=pytest.mark.certification),
    ],
)
def test_studies(material: str, metric: str | None, least: int) -> None:
    """A search gives each study (position with a unique solution) the length of the solution.

    The lengths agree with a plain recursion, for the longest studies and for a sample. The sample
    includes positions that are no studies; their length is 0.
    """
    with open_tablebase(built(material, rules="wxf", metric=metric)) as tables:
        file = tables.table(material)
        search = find(material, tables, study=True)
        found = search.columns()
        places = zip(found["side"], found["slot"], strict=True)
        lengths = dict(zip(places, found["length"], strict=True))
        longest = find(material, tables, study=True, sort="-length", limit=15).columns()
        assert longest["length"].tolist() == sorted(lengths.values(), reverse=True)[:15]
        sample = [*sampled_columns(file, 100, 5).positions(), *longest.positions()]
        by_rules = find(material, tables, only=True, outcome=Outcome.WIN, orders=(1, 9), limit=15)
        sample += [each.position for each in by_rules]
        kept = 0
        for position in sample:
            place = position.side, file.layout.slot(position)
            assert lengths.get(place, 0) == unique_plies(tables, position), position.fen
            kept += place in lengths
        assert least < kept < len(sample)
        first = next(iter(search))
        assert (first.length, first.outcome) == (found["length"][0], Outcome.WIN)
        with pytest.raises(ValueError, match="only studies have a length"):
            find(material, tables, sort="length")


def test_a_search_with_little_memory(krkn: GameTablebase, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search whose cache is too small for a side's codes does not decompress them all at once.

    It ends even if `cache_bytes` is too small for a block for each move of a position.
    """
    small = Search(krkn, "KRKN", Query(study=True), cache_bytes=1 << 16)
    with monkeypatch.context() as patched:
        patched.setattr(TableFile, "plane", None)
        rows = small.count()
    assert rows == find("KRKN", krkn, study=True).count()


def test_searches_agree_with_probes_of_random_positions(krkn: GameTablebase) -> None:
    file = krkn.table("KRKN")
    sample = sampled_columns(file, 250, 4)
    only = places(krkn, only=True)
    zugzwang = places(krkn, zugzwang=True)
    ranges = places(krkn, turn=Side.BLACK, outcome=Outcome.LOSS, plies=(4, 10), orders=0)
    rook = piece_code(Side.RED, 3)
    on_file = places(krkn, pieces=["R@e2"])
    kept = 0
    for position in sample.positions():
        place = position.side, file.layout.slot(position)
        value = krkn.probe(position)
        assert (place in only) == has_one_move(krkn, position), position.fen
        kept += place in only
        other = Position(position.board, position.side.other)
        worse = is_legal(other) and value.outcome < -krkn.probe(other).outcome
        assert (place in zugzwang) == worse, position.fen
        meant = position.side == Side.BLACK and value.outcome == Outcome.LOSS
        meant = meant and value.order == 0 and 4 <= (value.plies or 0) <= 10
        assert (place in ranges) == meant, position.fen
        assert (place in on_file) == (position.board[22] == rook), position.fen
    assert kept > 3


def test_names_of_sides_and_outcomes(krkn: GameTablebase) -> None:
    named = find("KRKN", krkn, turn="black", outcome="win", limit=9)
    assert list(named) == list(find("KRKN", krkn, turn=Side.BLACK, outcome=Outcome.WIN, limit=9))
    with pytest.raises(InputError, match="'white' is none of red, black"):
        find("KRKN", krkn, turn="white")


def test_a_search_continues_an_earlier_one(krkn: GameTablebase) -> None:
    whole = [found.fen for found in find("KRKN", krkn, orders=(1, 9))]
    for end in (0, 1, len(whole) // 2, len(whole) - 1):
        rest = find("KRKN", krkn, orders=(1, 9), after=whole[end], limit=20)
        assert [found.fen for found in rest] == whole[end + 1 : end + 21]
    with pytest.raises(ValueError, match="no position of KRKN"):
        find("KRKN", krkn, after="3k5/9/9/9/9/9/9/9/9/R3K4 w")


def test_a_pickled_search_finds_the_same_positions(krkn: GameTablebase) -> None:
    search = find("KRKN", krkn, outcome="draw", only=True, limit=20)
    found = list(search)
    assert list(pickle.loads(pickle.dumps(search))) == found


@pytest.mark.parametrize("limit", [None, 7, 100_000])
def test_sorted_rows(krkn: GameTablebase, limit: int | None) -> None:
    unsorted = find("KRKN", krkn, outcome=Outcome.WIN).columns()
    order = np.argsort(-unsorted["plies"].astype(int), kind="stable")[:limit]
    columns = find("KRKN", krkn, outcome=Outcome.WIN, sort="-plies", limit=limit).columns()
    for name, column in columns.items():
        assert (column == unsorted[name][order]).all()


def test_share_of_a_sample(krkn: GameTablebase) -> None:
    """The share of a sample estimates the share of all matching positions that was kept.

    The query here has conditions on the value alone, so that all `candidates` match.
    """
    query, material = Query(outcome=Outcome.WIN), Material.parse("KRKN")
    rows, share = sample(krkn, material, query, seed=1, most=3, seconds=60)
    assert rows.rows == 3
    assert 1 < share * query.candidates(krkn.table(material).statistics) < 9


def test_loops_are_the_direct_wins_of_the_statistics() -> None:
    """Searches for loops find as many positions as the statistics have direct wins, by offence.

    KNKPP also has direct wins by chase whose best play ends in perpetual check.
    """
    with open_tablebase(built("KNKPP", rules="wxf")) as tables:
        orders = tables.stats("KNKPP").orders
        counts = [(order.check_patterns, order.chase_patterns) for order in orders]
        found = [
            tuple(
                find("KNKPP", tables, loop=loop, orders=order.order).count()
                for loop in ("check", "chase")
            )
            for order in orders
        ]
    assert found == counts
    assert all(map(sum, found))


def test_other_rules_and_loops(krkn: GameTablebase) -> None:
    loops = find("KRKN", krkn, loop="check", limit=5).columns()
    assert loops.rows == 5
    assert (loops["plies"] == 0).all()
    assert (loops["order"] > 0).all()
    with pytest.raises(ValueError, match="build KRKN --rules none"):
        find("KRKN", krkn, differs=True).count()
    with open_tablebase(built("KRKN", rules="wxf")) as both:
        both.add_directory(built("KRKN", rules="none"))
        with pytest.raises(RulesMismatchError, match="several rule sets"):
            find("KRKN", both, differs=True)
    with open_tablebase(built("KRKN", rules="wxf"), rules="wxf") as both:
        both.add_directory(built("KRKN", rules="none"))
        # Without rules of repetition exactly the rule-decided positions change, to draws.
        assert places(both, differs=True) == places(both, orders=(1, 99))


def test_a_chunk_counts_while_it_is_searched(krkn: GameTablebase) -> None:
    search = find("KRKN", krkn, loop="check")
    shares = [search.share for part in search.unsorted() if part.rows]
    assert shares == sorted(shares)
    assert 0 < shares[0] < 1
    assert search.share == 1


def test_the_command(krkn: GameTablebase) -> None:
    fens = command("KRKN", "--order", "1-", "--turn", "black").stdout.splitlines()
    found = [each.fen for each in find("KRKN", krkn, orders=(1, 99), turn=Side.BLACK)]
    assert fens == found
    assert command("KRKN", "--order", "1-", "--turn", "black", "--count").stdout == f"{len(fens)}\n"
    rows = command(
        "KRKN", "--order", "1-", "--turn", "black", "--format", "csv"
    ).stdout.splitlines()
    assert [row.split(",")[0] for row in rows[1:]] == fens
    studies = command("KRKN", "--study", "--limit", "2", "--format", "csv").stdout.splitlines()
    assert [line.count(",") for line in studies] == [6, 6, 6]
    game = command("KRKN", "--at", "R@e2", "--outcome", "win", "--limit", "1", "--format", "pgn")
    assert '[FEN "' in game.stdout
    assert "1. " in game.stdout
    assert game.exit_code == 0
    chinese = command("KRKN", "--limit", "1", "--format", "pgn", "--notation", "zh").stdout
    assert '[Event "车对马残局"]' in chinese
    assert command("KRKN", "--notation", "zh").exit_code == 2


def test_a_missing_table_ends_lines_and_is_told(tmp_path: Path) -> None:
    shutil.copy(next(built("KRKN", rules="wxf").glob("KRKN.*.xqt")), tmp_path)
    options = ("--sort", "-plies", "--limit", "1", "--format", "pgn", "--tables", str(tmp_path))
    found = CliRunner().invoke(main, ["find", "KRKN", *options])
    assert "no table of" in found.stdout
    assert found.exit_code == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--at", "x9"), "'x9' is no piece on a square"),
        (("--at", ""), "'' is no piece on a square"),
        (("--order", "z"), "'z' is no range of orders"),
        (("--plies", "9-4"), "'9-4' is no range of plies"),
        (("--after", "3k5/9/9/9/9/9/9/9/9/R3K4 w"), "is no position of KRKN"),
        (("--after", "4k4/9/9/9/9/9/9/9/9/R2nK4 w", "--sort", "plies"), "leave one out"),
        (("--outcome", "draw", "--plies", "3-"), "draws have no plies"),
        (("--format", "fen", "--count"), "use only one of --format and --count"),
    ],
)
def test_bad_input(arguments: tuple[str, ...], said: str) -> None:
    result = command("KRKN", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr


def test_repr_of_results(krkn: GameTablebase) -> None:
    search = find("KRKN", krkn)
    assert repr(search) == "<Search: KRKN>"
    assert repr(search.material) == "Material('KRKN')"
    assert repr(krkn.table("KRKN")) == "<TableFile: KRKN.wxf.dtm.xqt>"
    assert repr(krkn.stats("KRKN")) == "<TableStatistics: 380,325 positions of KRKN, wxf>"
    assert repr(krkn).startswith("<GameTablebase: ")
    assert "rule_set=RuleSet('wxf')" in repr(krkn.probe(next(iter(search)).position))


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"pieces": ["C@e5"]}, "has 0 of the piece C"),
        ({"pieces": ["R@e5", "R@e6"]}, "has 1 of the piece R"),
        ({"pieces": ["K@a0"]}, "cannot stand there"),
        ({"pieces": ["R@e5", "n@e5"]}, "two pieces on e5"),
        ({"pieces": ["红龙e5"]}, "'红龙e5' is no piece on a square"),
        ({"pieces": ["x@e5"]}, "is no piece on a square"),
        ({"pieces": [("R", "e5")]}, "a value of type tuple is no piece on a square; write R@e5"),
        ({"pieces": None}, "a value of type NoneType is no piece on a square"),
        ({"turn": ["red"]}, "is none of red, black"),
        ({"after": 5}, "a value of type int is no FEN"),
        ({"threads": None}, "None threads"),
        ({"study": True, "outcome": Outcome.DRAW}, "studies are won"),
        ({"only": True, "outcome": Outcome.LOSS}, "no move keeps a loss"),
        ({"zugzwang": True, "outcome": "win"}, "nobody wins a zugzwang"),
        ({"zugzwang": True, "study": True}, "nobody wins a zugzwang"),
        ({"zugzwang": True, "loop": "chase"}, "nobody wins a zugzwang"),
        ({"outcome": "draw", "orders": (1, 9)}, "draws have order 0"),
        ({"outcome": "draw", "plies": 3}, "draws have no plies"),
        ({"loop": "check", "outcome": "loss"}, "the winner of a loop is to move"),
        ({"loop": "check", "orders": 0}, "loops have order 1 or above"),
        ({"loop": "check", "plies": (1, 9)}, "wins in 0 plies"),
        ({"study": True, "loop": "check"}, "a study ends where a loop begins"),
        ({"study": True, "plies": 0}, "a study has 1 ply or more"),
        ({"outcome": "win", "orders": 0, "plies": 2}, "no value meets all"),
        ({"outcome": "loss", "orders": (2, 3), "plies": 4}, "no value meets all"),
        ({"only": True, "zugzwang": True, "plies": (1, 9)}, "no value meets all"),
        ({"only": True, "zugzwang": True, "orders": (1, 9)}, "no value meets all"),
        ({"study": True, "orders": (1, 9), "plies": (0, 1)}, "no value meets all"),
        ({"plies": "5-"}, "is no range"),
        ({"plies": (9, 5)}, "is no range"),
        ({"plies": (None, 20)}, "is no range"),
        ({"orders": -1}, "is no range"),
        ({"limit": 0}, "a limit of 0"),
        ({"limit": 2.5}, "a limit of 2.5"),
        ({"threads": 0}, "0 threads"),
    ],
)
def test_impossible_conditions_are_errors(
    krkn: GameTablebase, asked: dict[str, object], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        find("KRKN", krkn, **asked)  # type: ignore[arg-type]


def test_loops_need_a_table_with_orders(krkn: GameTablebase) -> None:
    none = open_tablebase(built("KRKN", rules="none"))
    with none, pytest.raises(InputError, match="decided by repetition"):
        find("KRKN", none, loop="check")
    with pytest.raises(InputError, match="KK is always a draw"):
        find("KK", krkn)


def test_one_text_or_several_for_pieces(krkn: GameTablebase) -> None:
    one, several = (find("KRKN", krkn, pieces=each) for each in ("R@e5,n@a9", ["R@e5", "n@a9"]))
    assert one.query == several.query
    assert len(one.query.pieces) == 2


def test_spellings_of_pieces_on_squares(krkn: GameTablebase) -> None:
    expected = places(krkn, pieces=["R@e5", "n@d7"])
    assert expected
    for pieces in (
        ["R@E5,h@D7"], ["R@e5, n@d7"], ["R@e5 n@d7"], ["红车e5，黑马d7"], ["紅俥@E5、黑馬d7"],
    ):  # fmt: skip
        assert places(krkn, pieces=pieces) == expected


def test_json_after_an_error_is_the_error_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """After Ctrl-C during a search, stdout has the error's object and no part of an answer."""

    def fails(self: object) -> Iterator[object]:
        yield next(found)
        raise KeyboardInterrupt

    with open_tablebase(built("KRKN", rules="wxf")) as tables:
        found = iter(find("KRKN", tables, limit=2))
        monkeypatch.setattr("tbgen.finding.search.Search.__iter__", fails)
        result = command("KRKN", "--json")
    (line,) = result.stdout.splitlines()
    assert list(json.loads(line)) == ["input", "error", "hint"]
