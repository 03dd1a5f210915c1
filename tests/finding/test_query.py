"""Conditions of searches: `Query` and ranges as text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tbgen import Outcome, Query, Search, Side, find, open_tablebase
from tbgen.finding.query import NO_END, range_of, read_range
from tbgen.indexing import InputError
from tbgen.indexing.squares import piece_code
from tests.helpers.built import built


def test_queries_convert_names_and_numbers() -> None:
    """A `Query` accepts what `find` accepts, and refuses the rest."""
    named: dict[str, Any] = {"turn": "red", "outcome": "win", "orders": 0, "pieces": ["R@e5"]}
    query = Query(**named)
    assert (query.turn, query.outcome, query.orders) == (Side.RED, Outcome.WIN, (0, 0))
    assert query == Query(Side.RED, Outcome.WIN, (0, 0), pieces=((piece_code(0, 3), 49),))
    with open_tablebase(built("KRKN", rules="wxf")) as tables:
        assert Search(tables, "KRKN", query).count() == find("KRKN", tables, **named).count() > 0
    faults: list[dict[str, Any]] = [
        {"turn": "green"}, {"offence": "chess"}, {"orders": (-3, -1)}, {"plies": 2.5},
    ]  # fmt: skip
    for wrong in faults:
        with pytest.raises(InputError):
            Query(**wrong)


def test_the_statistics_of_a_closed_table_are_no_damage() -> None:
    with open_tablebase(built("KRKN", rules="wxf")) as tables:
        search = find("KRKN", tables, outcome=Outcome.WIN)
    with pytest.raises(ValueError, match="has been closed"):
        search.columns()


@pytest.mark.parametrize(
    ("text", "ends"),
    [("5", (5, 5)), ("5-9", (5, 9)), ("5-", (5, NO_END)), ("-9", (0, 9)), ("007", (7, 7))],
)
def test_ranges(text: str, ends: tuple[int, int]) -> None:
    assert read_range(text, "plies") == ends


def test_integers_of_numpy_are_ranges() -> None:
    assert range_of(np.int64(5)) == range_of((np.int64(5), 5)) == (5, 5)


@pytest.mark.parametrize("text", ["", "-", "9-5", "5-9-", "1e3", "0000000005", "1000000000-"])
def test_other_texts_are_no_ranges(text: str) -> None:
    with pytest.raises(InputError, match="is no range of plies"):
        read_range(text, "plies")
