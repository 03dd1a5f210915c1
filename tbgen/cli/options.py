"""Options that several commands share, as decorators, and opening the tables that they name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from tbgen.notation import MOVE_NOTATIONS

if TYPE_CHECKING:
    from tbgen.tablebase import GameTablebase

Function = TypeVar("Function", bound=Callable[..., Any])

RULES = ("none", "check", "wxf")
DEFAULT_RULES = "wxf"
"""The rules that tables are built, and games judged, by where none are asked for."""

METRICS = ("dtm", "dtc")
DEFAULT_TABLES = "egtb"


def tables_option(function: Function) -> Function:
    """`--tables DIR`, as the parameter `tables` (a `Path`)."""
    return click.option(
        "--tables",
        type=click.Path(path_type=Path),
        envvar="TBGEN_TABLES",
        default=DEFAULT_TABLES,
        metavar="DIR",
        help="The directory of the tables. Default: $TBGEN_TABLES, else ./egtb.",
    )(function)


def rules_option(default: str | None = None) -> Callable[..., Any]:
    """`--rules`, as the parameter `rules` (a string or None).

    Without `default` the only rule set present is meant.
    """
    return click.option(
        "--rules",
        type=click.Choice(RULES),
        default=default,
        help="What repetition means: none = a draw, check = perpetual check loses, wxf = "
        f"perpetual check and perpetual chase lose. Default: {default or 'the only ones present'}.",
    )


def minor_chases_option(*, default: bool | None) -> Callable[..., Any]:
    """`--minor-chases/--no-minor-chases`, as the parameter `minor_chases` (a bool or None).

    Without `default` the only rule set present is meant.
    """
    return click.option(
        "--minor-chases/--no-minor-chases",
        default=default,
        help="Under wxf, whether an advisor or elephant that attacks a protected rook, knight or "
        f"cannon chases it. Default: {'it does' if default else 'as the only tables present'}.",
    )


def orders_option(function: Function) -> Function:
    """`--orders N`, as the parameter `orders` (an integer or None)."""
    return click.option(
        "--orders",
        type=click.IntRange(min=0),
        metavar="N",
        help="Tables limited to N orders of repetition, 0 = no limit. Default: the only present.",
    )(function)


def metric_option(function: Function) -> Function:
    """`--metric`, as the parameter `metric` (a string or None)."""
    return click.option(
        "--metric",
        type=click.Choice(METRICS),
        help="Distance to mate or to conversion, where a material has both tables.",
    )(function)


def json_option(function: Function) -> Function:
    """`--json`, as the parameter `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")(
        function
    )


def notation_option(function: Function) -> Function:
    """`--notation`, as the parameter `notation`."""
    return click.option(
        "--notation",
        type=click.Choice(MOVE_NOTATIONS),
        default="iccs",
        help="How to write moves. Default: iccs (h2e2).",
    )(function)


def table_options(function: Function) -> Function:
    """Which tables: `--tables --rules --minor-chases --orders --metric`."""
    minor_chases = minor_chases_option(default=None)
    for option in (metric_option, orders_option, minor_chases, rules_option(), tables_option):
        function = option(function)
    return function


def open_tables(
    tables: Path,
    rules: str | None,
    minor_chases: bool | None,
    orders: int | None,
    metric: str | None,
) -> GameTablebase:
    """The tables that the options name.

    A directory that does not exist has no tables: every probe then says which is missing, and
    how to build it.
    """
    from tbgen.tablebase import GameTablebase

    opened = GameTablebase(rules=rules, orders=orders, minor_chases=minor_chases, metric=metric)
    if tables.exists():
        opened.add_directory(tables)
    return opened
