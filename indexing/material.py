"""Materials: the pieces of both sides, and the materials that captures lead to.

    KRNKRAA  =  first side K R N, second side K R A A

A `Material` is canonical: the side named first has more rooks; if equal, more knights, then
cannons, pawns, advisors, elephants.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from tbgen.indexing.errors import MaterialError, excerpt, require_text
from tbgen.indexing.squares import LETTERS, PieceType

MAX_COUNT = (1, 2, 2, 2, 2, 2, 5)
"""Number of pieces of each `PieceType` per side in the opening array."""

NAME_ORDER = (*list(PieceType)[PieceType.ROOK :], PieceType.ADVISOR, PieceType.ELEPHANT)
"""Order of piece types in a name."""

ALIASES = str.maketrans("GMEH", "ABBN")
"""Other letters for pieces in material names: guards, ministers, elephants, horses."""


@dataclass(frozen=True, order=True)
class Army:
    """Number of pieces of one side by type; the king, always one, has no field.

    `count` and `name` include the king; `strength` and `attackers` do not.
    """

    advisors: int = 0
    elephants: int = 0
    rooks: int = 0
    knights: int = 0
    cannons: int = 0
    pawns: int = 0

    def count(self, kind: int) -> int:
        """Return the side's number of pieces of a `PieceType`."""
        return (
            1, self.advisors, self.elephants, self.rooks, self.knights, self.cannons, self.pawns
        )[kind]  # fmt: skip

    @property
    def name(self) -> str:
        """Name such as `KRNAA`."""
        return "K" + "".join(LETTERS[kind] * self.count(kind) for kind in NAME_ORDER)

    @property
    def strength(self) -> tuple[int, ...]:
        """Counts of pieces in the order of `NAME_ORDER`; the larger tuple is named first."""
        return tuple(self.count(kind) for kind in NAME_ORDER)

    @property
    def attackers(self) -> int:
        """Number of pieces that can cross the river."""
        return self.rooks + self.knights + self.cannons + self.pawns

    def without(self, kind: int) -> Army:
        """Return the army after the loss of one piece of a `PieceType`, not the king."""
        counts = [self.count(k) for k in PieceType]
        counts[kind] -= 1
        return Army(*counts[1:])


@dataclass(frozen=True)
class Material:
    """Two armies in canonical order: the stronger (by `Army.strength`) first."""

    first: Army
    second: Army

    def __post_init__(self) -> None:
        """Put the armies in order; raises `MaterialError` for more pieces than a set has."""
        for army in (self.first, self.second):
            for kind in PieceType:
                if army.count(kind) > MAX_COUNT[kind]:
                    raise MaterialError(
                        f"{army.count(kind)} {LETTERS[kind]} on one side",
                        f"a set has {MAX_COUNT[kind]}",
                    )
        if self.second.strength > self.first.strength:
            stronger, weaker = self.second, self.first
            object.__setattr__(self, "first", stronger)
            object.__setattr__(self, "second", weaker)

    @classmethod
    def parse(cls, text: str) -> Material:
        """Parse a name: `KRNKRAA`, `krn-kraa`, `KRNvKRAA`, `KRNKRGG` (see `ALIASES`), `KRKAAN`.

        Either side may be named first, and each side's pieces after its king may have any order.
        Raises `MaterialError` with a hint.
        """
        hint = "write both sides from their kings on, as in KRNKRAA"
        require_text(text, "material", MaterialError, hint)
        name = text.strip().replace("-", "").replace("v", "").upper().translate(ALIASES)
        if not name or len(name) > 34:
            raise MaterialError(f"{excerpt(text)} is no material", hint)
        for letter in name:
            if letter not in LETTERS:
                raise MaterialError(
                    f"{excerpt(letter)} in {excerpt(text)} is no piece",
                    "pieces are K R N C P A B (also H=N, G=A, M=B, E=B)",
                )
        if name[0] != "K" or name.count("K") != 2:
            raise MaterialError(f"{excerpt(text)} does not name two sides", hint)
        first, second = (Army(*map(letters.count, LETTERS[1:])) for letters in name[1:].split("K"))
        return cls(first, second)

    @cached_property
    def name(self) -> str:
        """The canonical name, such as `KRNKRAA`."""
        return self.first.name + self.second.name

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def __str__(self) -> str:
        return self.name

    @property
    def armies(self) -> tuple[Army, Army]:
        """Both armies, the first-named one first."""
        return self.first, self.second

    @property
    def men(self) -> int:
        """Number of pieces on the board, kings included."""
        return sum(army.count(kind) for army in self.armies for kind in PieceType)

    @property
    def attackers(self) -> int:
        """Number of pieces of both sides that can cross the river."""
        return self.first.attackers + self.second.attackers

    @property
    def needs_table(self) -> bool:
        """Return whether any side has attackers; without attackers every position is a draw."""
        return self.attackers > 0

    @property
    def both_armed(self) -> bool:
        """Return whether both sides have attackers; otherwise the solver searches for no loops.

        If only one side has attackers, no perpetual check decides a position (a lemma cited in
        section 5 of Fang, Hsu & Hsu 2002). For chases this is not proven: `tbgen verify` searches
        for them (docs/proof.md).
        """
        return self.first.attackers > 0 and self.second.attackers > 0

    def captures(self) -> dict[tuple[int, PieceType], Material]:
        """Return the material after each capture, by (index of the losing army, captured type)."""
        return {
            (index, kind): Material(army.without(kind), self.armies[1 - index])
            for index, army in enumerate(self.armies)
            for kind in list(PieceType)[1:]
            if army.count(kind)
        }

    def supporting(self) -> list[Material]:
        """List the materials that one capture leads to and that need tables, each once."""
        return list(dict.fromkeys(m for m in self.captures().values() if m.needs_table))

    def closure(self) -> list[Material]:
        """List this material and all that captures lead to, like `needed_materials`."""
        return needed_materials([self])


def as_material(material: Material | str) -> Material:
    """Return a material, or parse its name; raises `MaterialError`."""
    return material if isinstance(material, Material) else Material.parse(material)


def needed_materials(materials: Iterable[Material]) -> list[Material]:
    """List the given materials and all that sequences of captures lead to, each once.

    Sorted by number of pieces, then by name, so that tables can be built in this order. Materials
    that need no table are left out.
    """
    found: dict[str, Material] = {}
    waiting = [material for material in materials if material.needs_table]
    while waiting:
        material = waiting.pop()
        if material.name not in found:
            found[material.name] = material
            waiting += material.supporting()
    return sorted(found.values(), key=lambda material: (material.men, material.name))
