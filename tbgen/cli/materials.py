"""The arguments that name materials, one by one or as sets, and what is asked of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

import click

from tbgen.building.sets import MAX_MEN, materials_of
from tbgen.indexing import InputError, Material


def material_arguments(function: Callable[..., Any]) -> Callable[..., Any]:
    """`MATERIAL... --men N`, as the parameter `wanted`: the materials, each once.

    What the words mean is in `tbgen.building.sets`.
    """

    @wraps(function)
    def with_materials(
        *arguments: Any, materials: tuple[str, ...], men: int | None, **others: Any
    ) -> Any:
        return function(*arguments, wanted=materials_of(materials, men), **others)

    command: Callable[..., Any] = with_materials
    command = click.option(
        "--men", type=click.IntRange(3, MAX_MEN), metavar="N",
        help="All materials of at most N men, kings included; with MATERIAL..., those of them.",
    )(command)  # fmt: skip
    return click.argument("materials", nargs=-1, metavar="[MATERIAL...]")(command)


def require_tables(materials: Iterable[Material]) -> None:
    """Raise `InputError` for a material that has no table, since nobody can win there."""
    for material in materials:
        if not material.needs_table:
            raise InputError(
                f"{material} has no table: without a rook, knight, cannon or pawn all is drawn",
                "name a material with an attacker, as in KRKAA",
            )
