"""docs/longest-studies.md agrees with docs/facts-moves.csv, and that with tables."""

from __future__ import annotations

import sys

import pytest

from tbgen import Outcome, find, open_tablebase
from tests.helpers.built import built
from tests.helpers.paths import ROOT
from tests.helpers.strategies import played

sys.path.insert(0, str(ROOT / "scripts" / "docs"))

import figures
import studies
from figures import Moves


def test_the_page_agrees_with_the_csv() -> None:
    """docs/longest-studies.md is what `python scripts/docs/studies.py` writes."""
    rows = figures.read(Moves)
    assert studies.PAGE.read_text("utf-8") == studies.page(rows)
    pictures = studies.pictures(rows)
    assert len(pictures) == studies.SHOWN_ROWS
    assert {path.name for path in studies.PICTURES.glob("study-*.svg")} == set(pictures)
    for name, picture in pictures.items():
        assert (studies.PICTURES / name).read_text("utf-8") == picture


@pytest.mark.parametrize(
    "material", [pytest.param("KRKN", marks=pytest.mark.certification), "KNKP"]
)
def test_the_csv_agrees_with_tables(material: str) -> None:
    directory = built(material, rules="wxf")
    (row,) = studies.measured(directory, [material])
    assert row in figures.read(Moves)
    with open_tablebase(directory) as tables:
        assert row.unique == find(material, tables, outcome=Outcome.WIN, only=True).count()
        lengths = find(material, tables, study=True).columns()["length"]
        assert (row.studies, row.length) == (len(lengths), lengths.max())
        game = played(row.fen, row.line)
        assert row.end == "capture"
        assert game[-1].material != game[-2].material
