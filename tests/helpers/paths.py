"""Paths of the repository, its documentation, and the test data."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
DATA = ROOT / "tests" / "data"
