"""Sets of materials on a command line: words and numbers of men."""

from __future__ import annotations

import csv
from itertools import product
from pathlib import Path

import pytest
from click.testing import CliRunner

from tbgen.building.sets import materials_of
from tbgen.cli import main
from tbgen.indexing import InputError, Material
from tbgen.indexing.material import needed_materials
from tbgen.system.units import counted
from tests.helpers.paths import DATA


def names(*words: str, men: int | None = None, attackers: int | None = None) -> list[str]:
    return [material.name for material in materials_of(words, men, attackers)]


def spelled(men: int) -> set[str]:
    """Return all materials of at most `men` men, by enumerating strings of piece letters."""
    found = set()
    for count in range(men - 1):
        for pieces in product("RNCPAB", repeat=count):
            for cut in range(count + 1):
                text = "K" + "".join(pieces[:cut]) + "K" + "".join(pieces[cut:])
                try:
                    material = Material.parse(text)
                except InputError:
                    continue
                if material.needs_table:
                    found.add(material.name)
    return found


def test_a_material_may_be_named_in_words() -> None:
    assert names("rook against knight", "车对马", "KNKR") == ["KRKN"]
    planned = CliRunner().invoke(main, ["plan", "单车必胜单马", "--tables", "nowhere"])
    assert planned.exit_code == 0
    assert "KRKN " in planned.stdout


@pytest.mark.parametrize("men", [3, 4, 5])
def test_all_materials_of_so_many_men(men: int) -> None:
    listed = names(men=men)
    assert set(listed) == spelled(men)
    assert len(listed) == len(set(listed))


def test_numbers_of_materials_of_five_and_six_men() -> None:
    assert (len(names(men=5)), len(names(men=6))) == (209, 831)


def test_materials_keep_the_order_of_words_without_duplicates() -> None:
    assert names("krkn", "KRvKA", "KNKR") == ["KRKN", "KRKA"]
    assert names("KRKN", "KRK", men=3) == ["KRK"]


def test_materials_by_attackers_agree_with_a_filter_of_all() -> None:
    for attackers in (1, 2, 3):
        of_six = [m.name for m in materials_of([], 6) if m.attackers <= attackers]
        assert names(men=6, attackers=attackers) == of_six


def test_two_attackers_against_any_defenders() -> None:
    materials = materials_of(["practical"])
    assert materials == materials_of([], attackers=2)
    assert [sum(m.men <= men for m in materials) for men in (9, 10, 12)] == [1504, 1704, 1800]
    assert {"KRAABBKRAABB", "KNAABBKCAABB", "KCPABKAABB"} < {m.name for m in materials}
    assert needed_materials(materials) == materials


def test_the_rows_of_table_1() -> None:
    with (DATA / "fang_hsu_table1.csv").open(newline="") as file:
        rows = [Material.parse(row["material"]).name for row in csv.DictReader(file)]
    listed = names("table1")
    assert [name for name in listed if name in rows] == rows
    assert len(set(listed)) == len(listed) == 43


def test_sets_filter_present_materials() -> None:
    there = [Material.parse(name) for name in ("KRKN", "KRNKR", "KNK", "KRNCKRN")]

    def chosen(*words: str, men: int | None = None, attackers: int | None = None) -> list[str]:
        return [m.name for m in materials_of(words, men, attackers, there)]

    assert chosen() == ["KNK", "KRKN", "KRNKR", "KRNCKRN"]
    assert chosen("practical") == chosen(attackers=2) == ["KNK", "KRKN"]
    assert chosen("table1", men=4) == ["KRKN"]
    assert chosen("KRN*") == ["KRNKR", "KRNCKRN"]
    assert chosen("krk", "KNK") == ["KRK", "KNK"]
    with pytest.raises(InputError, match="matches no table here"):
        chosen("KC*")


def test_a_pattern_matches_from_either_side_in_any_spelling() -> None:
    expected = ["KRKN", "KRKNA", "KRKNB", "KRKNC", "KRKNN", "KRKNP"]
    assert names("KRKN*", men=5) == expected
    assert set(names("KN*KR", men=5)) == set(expected)
    assert names("kh?kr", men=5) == names("KN?KR", men=5)
    assert names("KRK[GM]", men=4) == ["KRKA", "KRKB"]


def test_a_pattern_reaches_six_men_or_a_given_limit() -> None:
    assert max(material.men for material in materials_of(["KR*K"])) == 6
    assert max(material.men for material in materials_of(["KR*K"], 4)) == 4


def test_a_file_lists_materials_sets_and_patterns(tmp_path: Path) -> None:
    listed = tmp_path / "list"
    listed.write_text("KRKN  # the first\n\n# nothing here\nKNK KRRK?\n")
    assert names(f"@{listed}", men=5) == ["KRKN", "KNK", *(f"KRRK{letter}" for letter in "ABCNPR")]


@pytest.mark.parametrize(
    ("words", "limits", "message"),
    [
        ((), (), "no materials are named"),
        (("table3",), (), "is no piece"),
        (("KQ*",), (), "matches no material of at most 6 men"),
        (("KQ*",), (None, 2), "matches no material of at most 2 attackers"),
        (("[" * 201,), (4,), "is longer than any name"),
        (("KRKNAABB",), (4, 2), "none of the materials named has at most 4 men and 2 attackers"),
    ],
)
def test_invalid_words_are_refused(
    words: tuple[str, ...], limits: tuple[int | None, ...], message: str
) -> None:
    with pytest.raises(InputError, match=message) as caught:
        materials_of(words, *limits)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("text", "message"), [("# nothing\n", "names no material"), ("KRK\n" * 1_100_000, "more than")]
)
@pytest.mark.parametrize("present", [None, [Material.parse("KRK")]])
def test_a_list_without_materials_and_a_long_one_are_refused(
    tmp_path: Path, text: str, message: str, present: list[Material] | None
) -> None:
    listed = tmp_path / "list"
    listed.write_text(text)
    words = [f"@{listed}"]
    with pytest.raises(InputError, match=message):
        materials_of(words, present=present)


def test_a_list_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    listed = tmp_path / "list"
    listed.write_text("KRK\n", encoding="utf-8-sig")
    assert names(f"@{listed}") == ["KRK"]


def test_a_list_in_a_list_is_refused(tmp_path: Path) -> None:
    listed = tmp_path / "list"
    listed.write_text("KRK\n@list\n")
    with pytest.raises(InputError, match=r"line 2: a list cannot name another list"):
        materials_of([f"@{listed}"])
    with pytest.raises(FileNotFoundError):
        materials_of([f"@{tmp_path / 'missing'}"])


@pytest.mark.parametrize(
    ("words", "tables"),
    [
        (("--men", "3"), 4),
        (("--men", "3", "--attackers", "1"), 4),
        (("KNK", "--men", "5"), 1),
        (("KRK[NR]",), 4),
    ],
)
def test_plan_accepts_sets(tmp_path: Path, words: tuple[str, ...], tables: int) -> None:
    result = CliRunner().invoke(main, ["plan", *words, "--tables", str(tmp_path)])
    assert result.exit_code == 0
    assert f"of {counted(tables, 'table')} to build" in result.stdout
