"""The script engine_truth.py, which compares the search with tables, on small samples.

A certification runs it at the size of the claim in docs/engine.md.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
import pytest

from tbgen.play.tablebase import open_tablebase
from tbgen.probing.columns import TableColumns, all_columns
from tbgen.tables import Outcome, Rules
from tests.conftest import build
from tests.helpers.paths import ROOT

sys.path.insert(0, str(ROOT / "scripts" / "measure"))

from engine_truth import Truth
from short_wins import Share, ShortWins, share_of, weighted

MATERIALS = (
    "KRKN", "KRKC", "KNKC", "KCKP", "KRKP", "KRAKN", "KNKCA", "KRCKN", "KRKNA", "KRNKC",
    "KPPKA", "KCPKN", "KNNKC", "KRPKR", "KNKAA",
)  # fmt: skip


def test_claims_agree_with_the_tables(tables_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with open_tablebase(tables_dir, rules="check") as tables:
        truth = Truth(tables)
        truth.claims("KRKN", 40, 6)
        options = argparse.Namespace(fewer=True, plies=8, count=10, seed=1, nodes=20_000)
        truth.kept("KRKN", options)
    assert truth.wrong == 0
    said = capsys.readouterr().out
    assert "'wrong': 0" in said
    assert "order 0: kept 100.0" in said


def places_of(columns: TableColumns) -> set[tuple[int, int]]:
    """Return (side to move, slot) of every position of a table that was read as columns."""
    return set(zip(columns["side"].tolist(), columns["slot"].tolist(), strict=True))


def test_short_wins_agree_with_all_rows(tables_dir: Path) -> None:
    with open_tablebase(tables_dir, rules="check") as tables:
        file = tables.table("KRKN")
        rows = TableColumns.concatenate(all_columns(file))
        rows = rows.take((rows["outcome"] == Outcome.WIN) & (rows["plies"] <= 8))
        wins = ShortWins(file, 8)
        assert sorted(wins.positions) == np.unique(rows["order"]).tolist() == [0, 1]
        for order, positions in wins.positions.items():
            meant = places_of(rows.take(rows["order"] == order))
            assert len(meant) == positions
            drawn = places_of(wins.draw(order, 50, 1))
            assert len(drawn) == 50
            assert drawn < meant
            assert len({side for side, _ in drawn}) == len({side for side, _ in meant})
            everything = wins.draw(order, 10**9, 1)
            assert everything.rows == positions
            assert places_of(everything) == meant


def test_shares_are_weighted_by_numbers_of_positions() -> None:
    assert share_of(3, 4, 4) == Share(0.75, 0)
    many, few = share_of(40, 40, 10**9), share_of(0, 40, 40)
    assert many.mean == 1
    assert many.error == pytest.approx(0.024, abs=1e-3)
    assert weighted([many, few], [3, 1]) == pytest.approx((0.75, 0.75 * many.error))


@pytest.mark.certification
@pytest.mark.parametrize("material", MATERIALS)
def test_claims_agree_with_the_tables_in_large_samples(material: str, tmp_path: Path) -> None:
    """Decided scores of the search agree with the table in 1,340 positions of each material.

    In all 15 materials together, twenty thousand positions are tested.
    """
    build(tmp_path, Rules.WXF, material)
    with open_tablebase(tmp_path, rules="wxf") as tables:
        truth = Truth(tables)
        truth.claims(material, 1_340, 7)
    assert truth.wrong == 0
