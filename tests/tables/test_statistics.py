"""Statistics from histograms, as `tbgen stats` prints them."""

import json
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest

from tbgen.indexing import Side
from tbgen.tables import CodeSpace, Outcome, Rules, TableFile, TableStatistics, Value, longest_codes
from tbgen.tables.checked_json import SchemaError
from tbgen.tables.writer import write_table
from tests.helpers.random_tables import random_planes, source_of, spec_of

CODES = CodeSpace(2)
UNKNOWN = {"check_patterns": None, "chase_patterns": None}
SPEC = spec_of("KRNKR", 2, Rules.CHECK, orders=3)


def histogram(**counts: int) -> dict[int, int]:
    """Return a histogram: the number of slots by code, with 1000 slots of code 0 (no position).

    Keywords add entries: `win_0_7=5` is five wins in 7 plies at order 0.
    """
    codes = {0: 1000}
    for key, positions in counts.items():
        outcome, order, plies = key.split("_")
        value = Value(Outcome[outcome.upper()], int(order), int(plies))
        codes[CODES.encode(value)] = positions
    return codes


RED = histogram(win_0_1=10, win_0_7=5, loss_0_8=2, draw_0_0=100, win_1_0=3, win_2_4=1)
BLACK = histogram(loss_0_0=20, draw_0_0=50, loss_1_1=4, loss_1_3=1)
FENS = {
    (0, Side.RED): "3k5/9/9/9/9/9/9/9/9/R3K4 w - - 0 1",
    (1, Side.BLACK): "3k5/9/9/9/9/9/9/9/9/R3K4 b",
    (2, Side.RED): "3k5/9/9/9/9/9/9/9/9/1R2K4 w",
}


def make() -> TableStatistics:
    return TableStatistics.from_histograms(SPEC.name, CODES, 5000, (RED, BLACK), FENS)


def test_counts() -> None:
    data = make().to_json()
    assert data["material"] == "KRNKR"
    assert (data["rules"], data["metric"], data["orders_limit"]) == ("check", "dtm", 3)
    assert data["index_size"] == 5000
    assert data["red_to_move"] == {"legal": 121, "wins": 19, "draws": 100, "losses": 2}
    assert data["black_to_move"] == {"legal": 75, "wins": 0, "draws": 50, "losses": 25}
    assert (data["legal"], data["draws"]) == (196, 150)
    assert data["max_distance"] == 8
    # The smallest rule value is 251 (a win four plies before a direct state).
    assert data["max_rule_distance"] == 4
    assert data["rule_decided"] == 9
    assert data["rule_decided_rate"] == 9 / 196
    assert data["orders"] == (
        {"order": 1, "positions": 8, "max_distance": 3} | UNKNOWN,
        {"order": 2, "positions": 1, "max_distance": 4} | UNKNOWN,
    )
    assert sum(line["positions"] for line in data["histogram"]) == 196


def test_longest() -> None:
    assert [(entry.order, entry.side, entry.fen, entry.value) for entry in make().longest] == [
        (0, Side.RED, FENS[0, Side.RED], 8),
        (1, Side.BLACK, FENS[1, Side.BLACK], 252),
        (2, Side.RED, FENS[2, Side.RED], 251),
    ]
    assert longest_codes(RED, CODES) == {
        0: CODES.encode(Value(Outcome.LOSS, 0, 8)),
        1: CODES.encode(Value(Outcome.WIN, 1, 0)),
        2: CODES.encode(Value(Outcome.WIN, 2, 4)),
    }
    assert longest_codes({0: 5, CODES.draw: 7}, CODES) == {}


def test_a_direct_loss_alone_gives_a_rule_distance_of_one() -> None:
    side = histogram(loss_1_1=1)
    statistics = TableStatistics.from_histograms(SPEC.name, CODES, 99, (side, {}), {})
    assert statistics.max_rule_distance == 1


def test_direct_wins_are_by_check_or_by_chase() -> None:
    sides = histogram(win_1_0=3, loss_1_1=5, win_2_0=4), histogram(win_1_0=2, loss_3_1=1)
    statistics = TableStatistics.from_histograms(SPEC.name, CODES, 99, sides, {}, {1: 2, 2: 4})
    patterns = [
        (order.order, order.check_patterns, order.chase_patterns) for order in statistics.orders
    ]
    assert patterns == [(1, 3, 2), (2, 0, 4), (3, 0, 0)]
    assert TableStatistics.from_text(json.dumps(statistics.to_json())) == statistics


def test_statistics_without_pattern_counts_are_read() -> None:
    data = json.loads(json.dumps(make().to_json()))
    for order in data["orders"]:
        del order["check_patterns"], order["chase_patterns"]
    statistics = TableStatistics.from_text(json.dumps(data))
    assert [order.check_patterns for order in statistics.orders] == [None, None]
    assert statistics == make()


def test_without_decided_positions() -> None:
    draws = {CODES.draw: 7}
    spec = spec_of("KRNKR", 2)
    statistics = TableStatistics.from_histograms(spec.name, CODES, 99, (draws, {}), {})
    assert statistics.max_distance == 0
    assert statistics.max_rule_distance is None
    assert statistics.orders_limit is None
    assert statistics.orders == ()
    empty = TableStatistics.from_histograms(spec.name, CODES, 99, ({}, {}), {})
    assert (empty.legal, empty.rule_decided_rate) == (0, 0.0)


def test_json_round_trip_and_storage(tmp_path: Path) -> None:
    statistics = make()
    assert TableStatistics.from_text(json.dumps(statistics.to_json())) == statistics
    spec = spec_of("KPK")
    statistics = replace(
        statistics, material="KPK", rules="none", orders_limit=None, index_size=spec.slots
    )
    path = tmp_path / spec.name.filename
    write_table(path, spec, source_of(random_planes(spec, 1)), lambda: statistics)
    with TableFile(path) as file:
        assert file.statistics == statistics


def forged(**changes: object) -> str:
    """Return statistics as JSON, with the members named by keywords replaced.

    The keyword `entry__member` replaces a member of the object `entry`, or of the first object in
    the list `entry`.
    """
    data = json.loads(json.dumps(make().to_json()))
    for key, value in changes.items():
        name, _, member = key.partition("__")
        if member:
            held = data[name]
            (held[0] if isinstance(held, list) else held)[member] = value
        else:
            data[name] = value
    return json.dumps(data)


@pytest.mark.parametrize(
    "changes",
    [
        {"material": "K\x1b[2JRK"},
        {"material": None},
        {"rules": "wxf\n"},
        {"metric": 1},
        {"orders_limit": 0},
        {"index_size": 100},
        {"index_size": 2.5},
        {"red_to_move": []},
        {"red_to_move__legal": 10**9},
        {"red_to_move__wins": "19"},
        {"red_to_move__wins": 20},
        {"red_to_move__more": 1},
        {"max_distance": True},
        {"max_distance": float("nan")},
        {"max_distance": 10**40},
        {"max_rule_distance": "4"},
        {"orders": {}},
        {"orders": None},
        {"orders": [[]]},
        {"orders__order": -1},
        {"orders__chase_patterns": "2"},
        {"longest__fen": "red 0"},
        {"longest__fen": "3k5/9/9/9/9/9/9/9/9/R3K4 w \x1b[2J - 0 1"},
        {"longest__side": "green"},
        {"longest__value": 1.0},
        {"histogram__positions": 0},
        {"histogram__positions": 11},
        {"histogram__plies": -1},
        {"histogram__outcome": "x" * 500},
        {"histogram": []},
    ],
    ids=str,
)
def test_statistics_of_another_type_or_range_are_refused(changes: dict[str, object]) -> None:
    with pytest.raises(SchemaError):
        TableStatistics.from_text(forged(**changes))


def test_the_lowest_limit_of_orders_is_read() -> None:
    assert TableStatistics.from_text(forged(orders_limit=1)).orders_limit == 1


def test_unknown_members_of_statistics_are_ignored() -> None:
    assert TableStatistics.from_text(forged(figure=[1, {"a": 2}])) == make()


@pytest.mark.parametrize(
    "entry", ["[]", '"aa"', "1e1", '{"a":1}', "[" * 20, '{"side":"red"}'], ids=str
)
@pytest.mark.parametrize("name", ["histogram", "longest", "whatever"])
def test_reading_a_long_text_takes_bounded_memory(name: str, entry: str) -> None:
    text = f'{{"{name}":[' + ",".join([entry] * (1 << 20)) + "]}"
    tracemalloc.start()
    try:
        with pytest.raises(SchemaError):
            TableStatistics.from_text(text)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()
