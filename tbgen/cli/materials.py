"""Arguments that name materials, singly or as sets."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import partial, wraps
from pathlib import Path
from typing import Any

import click

from tbgen.building.sets import MAX_ATTACKERS, MAX_MEN, materials_of
from tbgen.indexing import InputError, Material

_MATERIAL = (
    "MATERIAL is a material (KRNKR), a pattern ('KR*KN*'), a set (practical: two attackers against "
    "any defenders; table1), or @FILE, which lists any of these"
)


@dataclass(frozen=True, slots=True)
class MaterialChoice:
    """Materials that a user has selected: by words, and by greatest numbers of men and attackers.

    `men` and `attackers` are None if not given.
    """

    words: tuple[str, ...]
    men: int | None
    attackers: int | None

    def __bool__(self) -> bool:
        return bool(self.words or self.men or self.attackers)

    def among(self, present: Iterable[Material]) -> list[Material]:
        """Return the selected materials (`materials_of`) among those `present`."""
        return materials_of(self.words, self.men, self.attackers, frozenset(present))

    def required(self, present: Collection[Material], directory: Path) -> list[Material]:
        """Return the selected materials like `among`; raise `InputError` if there are none.

        directory : directory of the tables, for the message
        """
        chosen = self.among(present)
        if chosen:
            return chosen
        if present:
            message = f"{directory} has tables, but none of those selected"
            raise InputError(message, "tbgen ls lists all")
        raise InputError(f"no tables in {directory}", "tbgen build makes some")


def _arguments(
    function: Callable[..., Any], name: str, chosen: Callable[..., Any], meaning: str
) -> Callable[..., Any]:
    """Add MATERIAL..., --men N and --attackers N to a command, and return it.

    function : the command
    name : parameter of the command that receives the result of `chosen`
    chosen : called with the words of MATERIAL..., --men and --attackers; None for those not given
    meaning : end of the paragraph on MATERIAL in the command's help
    """

    @wraps(function)
    def with_materials(*arguments: Any, **others: Any) -> Any:
        selected = [others.pop(each) for each in ("materials", "men", "attackers")]
        return function(*arguments, **others, **{name: chosen(*selected)})

    first, _, rest = (function.__doc__ or "").partition("\n\n")
    with_materials.__doc__ = f"{first}\n\n    {_MATERIAL}{meaning}\n\n{rest}"
    command = click.option(
        "--attackers", type=click.IntRange(1, MAX_ATTACKERS), metavar="N",
        help="All materials with at most N rooks, knights, cannons and pawns; with --men or "
        "MATERIAL..., only those among them.",
    )(with_materials)  # fmt: skip
    command = click.option(
        "--men", type=click.IntRange(3, MAX_MEN), metavar="N",
        help="All materials with at most N men, kings included; with MATERIAL..., only those among "
        "them.",
    )(command)  # fmt: skip
    return click.argument("materials", nargs=-1, metavar="[MATERIAL...]")(command)


material_arguments = partial(
    _arguments, name="wanted", chosen=materials_of,
    meaning="; --men 5 alone is every material of at most five men, --men 9 --attackers 2 that of "
    "at most nine men, at most two of them attackers.",
)  # fmt: skip
"""Decorator that adds the arguments to a command, as `wanted`: a list of different materials."""

choice_arguments = partial(
    _arguments, name="choice", chosen=MaterialChoice,
    meaning=". MATERIAL..., --men and --attackers select among the tables present.",
)  # fmt: skip
"""Decorator that adds the arguments to a command, as `choice`: a `MaterialChoice`."""


def require_tables(materials: Iterable[Material]) -> None:
    """Raise `InputError` for a material without attackers: it has no table."""
    for material in materials:
        if not material.needs_table:
            raise InputError(
                f"{material} has no table: without an attacker every position is drawn",
                "name a material with an attacker, as in KRKAA",
            )
