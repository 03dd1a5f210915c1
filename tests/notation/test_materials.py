"""Names of endgames, as letters, in English and in Chinese."""

from __future__ import annotations

import csv

import pytest

from tbgen.indexing.material import MaterialError
from tbgen.notation import parse_material, require_stronger_first
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
        ("一车对一马", "KRKN"),
        ("单象对车", "KRKB"),
    ],
)
def test_spellings_name_one_material(words: str, name: str) -> None:
    assert str(parse_material(words)) == name


@pytest.mark.parametrize("words", ["KRKN", "rn/r", "KR-N-KR", "车对马", "KRKR", "KRKAAN"])
def test_the_stronger_army_may_be_named_first(words: str) -> None:
    require_stronger_first(words)


@pytest.mark.parametrize("words", ["KNKR", "r/rn", "KR-K-RN", "马对单车", "knight against rook"])
def test_the_weaker_army_named_first_is_refused(words: str) -> None:
    with pytest.raises(MaterialError, match="in which Red has KR"):
        require_stronger_first(words)


@pytest.mark.parametrize(
    "words",
    ["", "马兵单缺象", "车对", "对车", "车对龙", "rook", "KR", "车对马对炮", "and against lone"],
)
def test_other_texts_name_no_material(words: str) -> None:
    with pytest.raises(MaterialError):
        parse_material(words)


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        ("KRRRK", "3 R on one side", "a set has 2"),
        ("车车车对将", "3 R on one side", "a set has 2"),
        ("rrr/r", "3 R on one side", "a set has 2"),
        ("three rooks against king", "3 R on one side", "a set has 2"),
        ("车对龙", "'龙' in '车对龙' is no piece", "pieces are 车 马 炮 兵 士 象 (also 卒 仕 相)"),
        ("马兵單缺象", "'马兵單缺象' does not name two sides", "write both sides, as in 车马对车"),
    ],
)
def test_a_name_in_words_is_refused_for_the_reason_of_its_letters(
    words: str, message: str, hint: str
) -> None:
    with pytest.raises(MaterialError) as raised:
        parse_material(words)
    assert (raised.value.message, raised.value.hint) == (message, hint)
