"""Sets of materials, as a command line names them: which materials are meant.

    KRNKR               the material itself, in any spelling
    'KR*KN*'            a pattern: every material whose name matches, from either side
    table1              a named set, `NAMED`
    @FILE               what a file lists, in any of these ways
    --men N             all of at most N men; beside the others, those of them with at most N

Only materials that need a table are in a set; one that is named alone is taken as it is. The same
words mean the same for every command that takes materials. Nothing here knows of tables or costs.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from tbgen.indexing.errors import InputError, excerpt
from tbgen.indexing.material import ALIASES, MAX_COUNT, Army, Material

PATTERN_MEN = 6
"""The men that a pattern reaches to where nothing else is asked for."""

MAX_MEN = 12
"""The most that `--men` may ask for: beyond, the names alone are hundreds of thousands."""

MAX_PATTERN = 200
"""Characters of a pattern: of 34, the longest name, each may be a choice of some."""

MAX_FILE = 1 << 22
"""Characters of a list of materials that are read."""

TABLE_1 = (
    "KRNKRAA KRNKRA KRNKR KRPKRB KRPKR KRKNN KRKCC KRKNPAA KRKNPA KRKNP KRKPPP KRKPPBB KRKPPA "
    "KNPKCA KNPKC KCPKC KRKRA KRKRB KRKR KRKNAABB KRKNABB KRKNAA KRKNA KRKN KRKCAA KRKCB KRKC"
)
"""Rows of Table 1 of Fang, Hsu & Hsu 2002, in the paper's order: 27 of its 43, those whose names
this project has (tests/data/fang_hsu_table1.csv, and KRKPPP)."""

NAMED = {"table1": TABLE_1}
"""Sets by name; more are a line each."""

_WILD = "*?["


def materials_of(words: Sequence[str], men: int | None = None) -> list[Material]:
    """The materials that words and a number of men mean, each once, in the order of the words.

    men : at most so many pieces on the board, kings included; without words, all of these

    Raises `InputError` for a word that means nothing, and where nothing is left; `OSError` for a
    file that cannot be read.
    """
    if men is not None and not 3 <= men <= MAX_MEN:
        raise InputError(f"--men {men} is no set of tables", f"ask for 3 to {MAX_MEN} men")
    if not words and men is None:
        raise InputError("no materials are named", "name some, as in KRNKR, or ask for --men 5")
    if not words and men is not None:
        return list(_all_materials(men))
    found = {material.name: material for word in words for material in _meant_by(word, men)}
    chosen = [material for material in found.values() if men is None or material.men <= men]
    if not chosen:
        raise InputError(
            f"none of the materials named has at most {men} men", "ask for more with --men"
        )
    return chosen


def _meant_by(word: str, men: int | None) -> Iterable[Material]:
    if word.startswith("@"):
        return itertools.chain.from_iterable(
            _meant_by(listed, men) for listed in _listed(Path(word[1:]))
        )
    if word in NAMED:
        return map(Material.parse, NAMED[word].split())
    if any(sign in word for sign in _WILD):
        return _matching(word, men or PATTERN_MEN)
    return (Material.parse(word),)


def _matching(pattern: str, men: int) -> list[Material]:
    """The materials that a pattern matches, whichever side it names first."""
    if len(pattern) > MAX_PATTERN:
        # To read one takes time in proportion to the square of its brackets.
        raise InputError(
            f"{excerpt(pattern)} is longer than any name",
            f"a pattern has at most {MAX_PATTERN} characters",
        )
    wanted = pattern.upper().translate(ALIASES)
    matching = [
        material
        for material in _all_materials(men)
        if fnmatchcase(material.name, wanted)
        or fnmatchcase(material.second.name + material.first.name, wanted)
    ]
    if not matching:
        raise InputError(
            f"{excerpt(pattern)} matches no material of at most {men} men",
            "a pattern reaches further with --men",
        )
    return matching


def _listed(path: Path) -> Iterator[str]:
    """The words of a file, without what stands behind `#`. A list names no other list."""
    if path.is_dir():
        raise InputError(f"@{path} is a directory, no list of materials", "name a text file")
    with path.open(encoding="utf-8", errors="replace") as file:
        text = file.read(MAX_FILE)
    for number, line in enumerate(text.splitlines(), 1):
        for word in line.partition("#")[0].split():
            if word.startswith("@"):
                raise InputError(
                    f"{path}, line {number}: a list cannot name another list",
                    "write the materials themselves",
                )
            yield word


@cache
def _all_materials(men: int) -> tuple[Material, ...]:
    """Every material of at most so many men that needs a table, by men and name."""
    armies = sorted(_armies(men - 2), key=lambda army: army.strength, reverse=True)
    sizes = [sum(army.strength) for army in armies]
    found = [
        Material(first, second)
        for at, first in enumerate(armies)
        for second, size in zip(armies[at:], sizes[at:], strict=True)
        if sizes[at] + size <= men - 2 and (first.has_attackers or second.has_attackers)
    ]
    return tuple(sorted(found, key=lambda material: (material.men, material.name)))


def _armies(pieces: int) -> Iterator[Army]:
    """Every army of at most so many pieces beside its king."""
    counts = [range(min(most, pieces) + 1) for most in MAX_COUNT[1:]]
    for chosen in itertools.product(*counts):
        if sum(chosen) <= pieces:
            yield Army(*chosen)
