"""Names of endgames, as letters, in English and in Chinese."""

from __future__ import annotations

import csv

import pytest

from tbgen.indexing.material import MaterialError
from tbgen.notation import parse_material
from tests.helpers.paths import DOCS


def test_names_in_books_are_read() -> None:
    with (DOCS / "classical-books.csv").open(encoding="utf-8", newline="") as file:
        books = list(csv.DictReader(file))
    assert [(str(parse_material(row["name"])), row["name"]) for row in books] == [
        (row["material"], row["name"]) for row in books
    ]


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("krn-kr", "KRNKR"),
        ("KRN v KR", "KRNKR"),
        ("rn/r", "KRNKR"),
        ("rook and knight against rook", "KRNKR"),
        ("Two soldiers versus a bare king", "KPPK"),
        ("車馬對車", "KRNKR"),
        ("單馬例勝單缺仕", "KNKABB"),
        ("车对单将", "KRK"),
        ("单象对车", "KRKB"),
    ],
)
def test_spellings_name_one_material(words: str, name: str) -> None:
    assert str(parse_material(words)) == name


@pytest.mark.parametrize(
    "words",
    ["", "马兵单缺象", "车对", "对车", "车对龙", "rook", "KR", "车对马对炮", "and against lone"],
)
def test_other_texts_name_no_material(words: str) -> None:
    with pytest.raises(MaterialError):
        parse_material(words)
