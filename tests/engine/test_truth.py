"""Tables that the search does not see prove what it says: the script that measures it, small here
and at the size of the claim in docs/engine.md as a certification."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pytest

from tbgen.play.tablebase import open_tablebase
from tbgen.tables import Rules
from tests.conftest import build
from tests.kits.paths import ROOT

sys.path.insert(0, str(ROOT / "scripts" / "measure"))

from engine_truth import Truth

MATERIALS = (
    "KRKN", "KRKC", "KNKC", "KCKP", "KRKP", "KRAKN", "KNKCA", "KRCKN", "KRKNA", "KRNKC",
    "KPPKA", "KCPKN", "KNNKC", "KRPKR", "KNKAA",
)  # fmt: skip


def test_no_claim_is_wrong(tables_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with open_tablebase(tables_dir, rules="check") as tables:
        truth = Truth(tables)
        truth.claims("KRKN", 40, 6)
        options = argparse.Namespace(fewer=True, plies=8, count=10, nodes=20_000)
        truth.kept("KRKN", options)
    assert truth.wrong == 0
    said = capsys.readouterr().out
    assert "'wrong': 0" in said
    assert "order 0: kept 100.0" in said


@pytest.mark.certification
@pytest.mark.parametrize("material", MATERIALS)
def test_no_claim_is_wrong_at_length(material: str, tmp_path: Path) -> None:
    """Twenty thousand positions in all."""
    build(tmp_path, Rules.WXF, material)
    with open_tablebase(tmp_path, rules="wxf") as tables:
        truth = Truth(tables)
        truth.claims(material, 1_340, 7)
    assert truth.wrong == 0
