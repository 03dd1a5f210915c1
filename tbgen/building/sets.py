"""Sets of materials, as named on a command line.

    KRNKR               one material, in any spelling: `tbgen.notation.materials`
    'KR*KN*'            a pattern: every material whose name matches, with either side first;
                        `PATTERN_MEN` limits it
    table1, practical   a named set, `NAMED`
    @FILE               the words of a file, each of a kind listed above
    --men N             all materials of at most N men; with words, only those that the words select
    --attackers N       all materials of at most N attackers; with words, only those they select

Patterns, sets and bounds select only materials that need a table; in commands on existing tables,
only those that have one. A material that is named by itself is selected even without a table. The
supporting tables of a material satisfy every bound that the material satisfies.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from tbgen.indexing.errors import InputError, excerpt
from tbgen.indexing.material import ALIASES, MAX_COUNT, Army, Material
from tbgen.indexing.squares import PieceType
from tbgen.notation.materials import parse_material

PATTERN_MEN = 6
"""Maximum men of materials that a pattern without bounds selects, except among existing tables."""

MAX_MEN = 12
"""Largest value of `--men`; it selects 109,979 materials."""

MAX_ATTACKERS = 4
"""Largest value of `--attackers`; it selects 17,883 materials."""

MAX_PATTERN = 200

MAX_FILE = 1 << 22  # characters


@dataclass(frozen=True, slots=True)
class Bounds:
    """Upper limits on the pieces of the materials in a set; None for no limit."""

    men: int | None = None
    """Most pieces on the board, including kings."""
    attackers: int | None = None
    """Most attackers (pieces that can cross the river) of both sides together."""

    def __bool__(self) -> bool:
        return self.men is not None or self.attackers is not None

    def __str__(self) -> str:
        """Format the limits, of which there is one at least: `at most 9 men and 2 attackers`."""
        limits = [
            f"{limit} {of}"
            for limit, of in ((self.men, "men"), (self.attackers, "attackers"))
            if limit is not None
        ]
        return f"at most {' and '.join(limits)}"

    def satisfied_by(self, material: Material) -> bool:
        """Return whether a material satisfies the limits."""
        return (self.men is None or material.men <= self.men) and (
            self.attackers is None or material.attackers <= self.attackers
        )


NAMED: dict[str, Path | Bounds] = {
    "practical": Bounds(attackers=2),
    "table1": Path(__file__).with_name("table1.txt"),
}
"""Named sets: bounds on men and attackers, or the path of a file that lists materials."""

_Present = Collection[Material] | None
"""Materials of existing tables among which patterns and sets select; None for all materials."""


def materials_of(
    words: Sequence[str],
    men: int | None = None,
    attackers: int | None = None,
    present: _Present = None,
) -> list[Material]:
    """Return the materials selected by words and bounds, each once, in the order of the words.

    Without words, all materials within the bounds are selected, sorted by men and name.

    men : most pieces on the board, including kings
    attackers : most attackers of both sides together
    present : materials among which to select; a material that is named by itself need not be
        present. None for all materials

    Raises `InputError` for an unknown word, a pattern that is too long or matches nothing, an
    unusable list, for words of which none is within the bounds, and if neither words nor bounds
    nor `present` are given; `OSError` for an unreadable file.
    """
    bounds = Bounds(men, attackers)
    if not words:
        if not bounds and present is None:
            raise InputError("no materials are named", "name some, as in KRNKR, or ask for --men 5")
        return list(_materials_within(bounds, present))
    meant = (material for word in words for material in _meant_by(word, bounds, present))
    found = {material.name: material for material in meant}
    selected = [material for material in found.values() if bounds.satisfied_by(material)]
    if not selected and bounds:
        raise InputError(
            f"none of the materials named has {bounds}", "ask for more with --men or --attackers"
        )
    return selected


def _meant_by(word: str, bounds: Bounds, present: _Present) -> Iterable[Material]:
    """Return the materials of one word: a list `@FILE`, a named set, a pattern or a material.

    The bounds apply to patterns and to sets that are bounds themselves, not to other words.
    """
    if word.startswith("@"):
        return itertools.chain.from_iterable(
            _meant_by(listed, bounds, present) for listed in _words_of_file(Path(word[1:]))
        )
    if word in NAMED:
        meant = NAMED[word]
        if isinstance(meant, Bounds):
            return filter(bounds.satisfied_by, _materials_within(meant, present))
        listed = map(Material.parse, _words_of_file(meant))
        return (material for material in listed if present is None or material in present)
    if any(sign in word for sign in "*?["):
        within = bounds if bounds or present is not None else Bounds(men=PATTERN_MEN)
        return _matching(word, within, present)
    return (parse_material(word),)


def _matching(pattern: str, bounds: Bounds, present: _Present) -> list[Material]:
    """Return the materials within bounds that match a pattern, with either side first."""
    if len(pattern) > MAX_PATTERN:
        # Compiling a pattern takes time quadratic in its brackets.
        raise InputError(
            f"{excerpt(pattern)} is longer than any name",
            f"a pattern has at most {MAX_PATTERN} characters",
        )
    wanted = pattern.upper().translate(ALIASES)
    matching = [
        material
        for material in _materials_within(bounds, present)
        if fnmatchcase(material.name, wanted)
        or fnmatchcase(material.second.name + material.first.name, wanted)
    ]
    if not matching:
        if present is not None:
            raise InputError(f"{excerpt(pattern)} matches no table here", "tbgen ls lists all")
        raise InputError(
            f"{excerpt(pattern)} matches no material of {bounds}",
            "a pattern reaches further with --men or --attackers",
        )
    return matching


def _words_of_file(path: Path) -> list[str]:
    """Return the words of a file without comments (from `#` to the end of the line)."""
    if path.is_dir():
        raise InputError(f"@{path} is a directory, no list of materials", "name a text file")
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        text = file.read(MAX_FILE + 1)
    if len(text) > MAX_FILE:
        raise InputError(f"@{path} has more than {MAX_FILE:,} characters", "split the list")
    words = []
    for number, line in enumerate(text.splitlines(), 1):
        for word in line.partition("#")[0].split():
            if word.startswith("@"):
                raise InputError(
                    f"{path}, line {number}: a list cannot name another list",
                    "write the materials themselves",
                )
            words.append(word)
    if not words:
        raise InputError(f"@{path} names no material", "write some into it, as in KRNKR")
    return words


def _materials_within(bounds: Bounds, present: _Present) -> Iterable[Material]:
    """Return the materials within bounds, sorted by men and name; of `present` only, if given."""
    if present is None:
        return _all_materials(bounds)
    ordered = sorted(present, key=lambda material: (material.men, material.name))
    return filter(bounds.satisfied_by, ordered)


@cache
def _all_materials(bounds: Bounds) -> tuple[Material, ...]:
    """Return every material within bounds that needs a table, sorted by men and name."""
    most = math.inf if bounds.men is None else bounds.men - 2  # without the kings
    most_attackers = math.inf if bounds.attackers is None else bounds.attackers
    counts = (range(MAX_COUNT[kind] + 1) for kind in PieceType if kind != PieceType.KING)
    armies = [
        (army, sum(army.strength), army.attackers)
        for army in itertools.starmap(Army, itertools.product(*counts))
        if sum(army.strength) <= most and army.attackers <= most_attackers
    ]
    found = [
        Material(first, second)
        for (first, size, attackers), (second, other_size, other_attackers) in (
            itertools.combinations_with_replacement(armies, 2)
        )
        if size + other_size <= most and 0 < attackers + other_attackers <= most_attackers
    ]
    return tuple(sorted(found, key=lambda material: (material.men, material.name)))
