"""Positions from papers and reports of wrong tables: outcomes as claimed, won positions played."""

from __future__ import annotations

import csv
import random

import pytest

from tbgen.indexing import Position
from tbgen.play.tablebase import open_tablebase
from tbgen.tables import Outcome
from tests.helpers.built import built
from tests.helpers.defences import DEFENCES
from tests.helpers.paths import DATA
from tests.helpers.play import Ending, play_won

SOURCE = DATA / "study_positions.csv"
SMALL = {"KRKP"}
"""Materials whose tables are built quickly."""

with SOURCE.open(newline="") as file:
    ROWS = [
        pytest.param(
            row,
            id=f"{row['id']}-{row['rules']}",
            marks=[] if row["material"] in SMALL else pytest.mark.certification,
        )
        for row in csv.DictReader(file)
    ]


@pytest.mark.parametrize("row", ROWS)
def test_claim(row: dict[str, str]) -> None:
    position = Position.from_fen(row["fen"])
    with open_tablebase(built(row["material"], rules=row["rules"]), rules=row["rules"]) as tables:
        outcome = tables.probe(position).outcome
        assert outcome == Outcome[row["outcome"].upper()]
        if row["best"]:
            best = {move.move.iccs for move in tables.probe_root(position) if move.best}
            assert row["best"] in best
        if outcome != Outcome.DRAW:
            for defence in DEFENCES.values():
                for seed in range(5):
                    game = play_won(tables, position, defence, random.Random(seed), plies=200)
                    assert game.ending in (Ending.MATE, Ending.CONVERSION, Ending.LOOP), game.fens
