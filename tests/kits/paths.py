"""Paths of the repository, its pages and the data of the tests."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
DATA = ROOT / "tests" / "data"
