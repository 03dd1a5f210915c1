"""Spellings of material names, and the materials after captures."""

import random
from itertools import product

import pytest

from tbgen.indexing import Army, Material, MaterialError, PieceType, Position
from tbgen.indexing.material import MAX_COUNT


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("KRNKRAA", "KRNKRAA"),
        ("KRKAAN", "KRKNAA"),
        ("KAAKRN", "KRNKAA"),
        ("KRNKRGG", "KRNKRAA"),
        ("KCPGMKGGMM", "KCPABKAABB"),
        ("KNKEE", "KNKBB"),
        ("KHKA", "KNKA"),
        ("krnkraa", "KRNKRAA"),
        ("KRN-KRAA", "KRNKRAA"),
        ("KRNvKRAA", "KRNKRAA"),
        ("krn v kraa".replace(" ", ""), "KRNKRAA"),
        ("  KRNKR\n", "KRNKR"),
        ("KRKRN", "KRNKR"),
        ("KPPPPPKPPPPP", "KPPPPPKPPPPP"),
        ("KBAPCNRK", "KRNCPABK"),
        ("KKR", "KRK"),
        ("KK", "KK"),
        ("KCKN", "KNKC"),
        ("KPKC", "KCKP"),
        ("KBKA", "KAKB"),
    ],
)
def test_spellings(text: str, name: str) -> None:
    material = Material.parse(text)
    assert material.name == str(material) == name
    assert Material.parse(name) == material


@pytest.mark.parametrize(
    "text",
    [
        *["", "K", "KKK", "RNK", "KRNR", "KRQK", "KRRRK", "KAAAK", "KBBBK", "KPPPPPPK", "K" * 40],
        *["KR/KA", "KRNKR.none", "ßKK", "K\0K", "帅K", "vKK-" * 20],
    ],
)
def test_invalid_names(text: str) -> None:
    with pytest.raises(MaterialError) as caught:
        Material.parse(text)
    assert "\n" not in str(caught.value)
    assert caught.value.hint


def test_mutated_names_are_materials_or_material_errors() -> None:
    rng = random.Random(3)
    alphabet = "KRNCPABGMEHkrncpabv- \0é" + chr(0x130)
    for _ in range(20_000):
        letters = list("KRNCPABKRNPAB")
        for _ in range(rng.randrange(6)):
            letters[rng.randrange(len(letters))] = rng.choice(alphabet)
        try:
            material = Material.parse("".join(letters))
        except MaterialError:
            continue
        assert Material.parse(material.name) == material


def some_materials() -> list[Material]:
    rng = random.Random(5)
    counts = [range(limit + 1) for limit in MAX_COUNT[1:]]
    return [
        Material(*(Army(*(rng.choice(list(range_)) for range_ in counts)) for _ in range(2)))
        for _ in range(300)
    ]


def test_the_stronger_side_comes_first_in_either_order() -> None:
    for material in some_materials():
        assert Material(material.second, material.first) == material
        assert material.first.strength >= material.second.strength


def test_captures_take_one_piece() -> None:
    for material in some_materials():
        for (index, kind), child in material.captures().items():
            assert child.men == material.men - 1
            left = list(material.armies)
            left[index] = left[index].without(kind)
            assert {child.first, child.second} == set(left)
        kinds = sum(
            army.count(kind) > 0 for army in material.armies for kind in list(PieceType)[1:]
        )
        assert len(material.captures()) == kinds


@pytest.mark.parametrize("name", ["KRNKRAA", "KCPPKAABB", "KRRKRR", "KPPPPPKA", "KRNCKAB"])
def test_closures_are_closed_and_bottom_up(name: str) -> None:
    closure = Material.parse(name).closure()
    assert closure[-1].name == name
    assert len({material.name for material in closure}) == len(closure)
    for place, material in enumerate(closure):
        assert material.needs_table
        for child in material.captures().values():
            assert not child.needs_table or child in closure[:place]
    # The naive version: every choice of fewer pieces.
    armies = Material.parse(name).armies
    smaller = [
        [
            Army(*counts)
            for counts in product(*(range(army.count(kind) + 1) for kind in list(PieceType)[1:]))
        ]
        for army in armies
    ]
    expected = {m.name for a in smaller[0] for b in smaller[1] if (m := Material(a, b)).needs_table}
    assert {material.name for material in closure} == expected


def test_small_closures() -> None:
    assert [m.name for m in Material.parse("KRNKR").closure()] == [
        "KNK", "KRK", "KRKN", "KRKR", "KRNK", "KRNKR",
    ]  # fmt: skip
    assert Material.parse("KAABBKAABB").closure() == []
    assert not Material.parse("KAKB").needs_table
    assert Material.parse("KPKAB").needs_table
    assert Material.parse("KRKC").both_armed
    assert not Material.parse("KRKAABB").both_armed


def test_positions_name_their_material() -> None:
    position = Position.from_fen("3rk4/4a4/9/9/9/9/9/9/9/4K3N w")
    assert position.material.name == "KRAKN"
    assert position.is_swapped
    assert position.swapped().material == position.material
    assert not position.swapped().is_swapped
