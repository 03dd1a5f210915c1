"""Positions decided by the tables, played against an external engine."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest

from tests.helpers.commands import ENGINE, run
from tests.helpers.paths import ROOT

OPPONENT = shutil.which("fairy-stockfish", path="/usr/bin:/usr/local/bin:/usr/games")


@pytest.mark.skipif(OPPONENT is None, reason="fairy-stockfish is not installed")
def test_the_tables_win_won_positions_and_hold_draws(tables_dir: Path) -> None:
    """The tables win won positions and hold draws against an external engine.

    Some of the wins are by the rules of repetition. The referee judges whole games.
    """
    script = ROOT / "scripts" / "match" / "infallible.py"
    played = run(
        sys.executable, script, "--tables", tables_dir, "--rules", "check", "--count", "6",
        "--engine", f"uci:{ENGINE}", "--opponent", f"uci:{OPPONENT}", "--nodes", "1000", "KRKN",
    )  # fmt: skip
    found = re.findall(r"^KRKN +(.*?) +2: \+(\d) =(\d) -(\d)", played.stdout, re.MULTILINE)
    assert sorted(found) == [
        ("drawn", "0", "2", "0"), ("won", "2", "0", "0"), ("won by the rules", "2", "0", "0")
    ]  # fmt: skip
