"""docs/classical.md, in both languages, agrees with its CSV files, and these with tables."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tbgen.indexing import Material
from tests.helpers.built import built
from tests.helpers.paths import ROOT

sys.path.insert(0, str(ROOT / "scripts" / "docs"))

import classical
from classical import BOOKS, ENGLISH, FIGURES, PAGES, Book, Endgame, Words, read


@pytest.mark.parametrize("words", PAGES, ids=lambda words: words.file.parent.name)
def test_the_page_agrees_with_the_csv(words: Words) -> None:
    """docs/classical.md and its Chinese version are what `scripts/docs/classical.py` writes."""
    assert words.file.read_text("utf-8") == classical.page(words)


def test_the_csv_agrees_with_tables() -> None:
    measured = classical.endgames(built("KRKN", rules="wxf"))
    assert {"KRK", "KNK", "KRKN"} <= {row.material for row in measured}
    assert set(measured) <= set(read(Endgame, FIGURES))


def test_tables_of_other_rules_make_no_rows(tmp_path: Path) -> None:
    for rules in ("check", "wxf-nominor", "wxf-o3"):
        (tmp_path / f"KRK.{rules}.dtm.xqt").touch()
    assert classical.endgames(tmp_path) == []


def test_books_use_canonical_names() -> None:
    books = read(Book, BOOKS)
    assert [book.material for book in books] == [Material.parse(b.material).name for b in books]
    assert {book.verdict for book in books} == {"win", "draw", "divided"}


def test_a_verdict_differs_if_it_holds_for_less_than_half() -> None:
    book = Book("KRK", "", "win", "")
    row = Endgame("KRK", "dtm", 100, 49, 51, 0, 100, 0, 100, 0, 0, "", 0, "")
    assert classical.differs(book, row)
    assert not classical.differs(book._replace(verdict="draw"), row)
    assert classical.outcome(ENGLISH, 100, 49, 50) == "won 49%, drawn 50%, lost 1%"
