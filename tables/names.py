"""Names of tables and of their files, all of which may be in one directory.

    KRNKR.none.dtm.xqt           a table: material, rule set, metric
    KRNKR.check-o1.dtm.xqt       orders limited to one
    KRNKR.wxf-nominor.dtm.xqt    minor pieces do not chase protected ones
    KRNKR.wxf.wdl.xqt            a win-draw-loss file, derived from a table of either metric

Rule sets are defined in `rule_sets`.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar, Self, TypedDict

from tbgen.indexing import Material
from tbgen.indexing.rulesets import Rules
from tbgen.tables.rule_sets import RuleSet

DEFAULT_TABLES = "egtb"
"""Directory of tables if neither the caller nor $TBGEN_TABLES names one."""

SUFFIX = ".xqt"
"""End of the file name of a table or a win-draw-loss file."""


class Metric(StrEnum):
    """Metric of distances (docs/values.md): to mate (`dtm`), or to mate or conversion (`dtc`).

    Files store a member's index: only append members.
    """

    DTM = "dtm"
    DTC = "dtc"

    @property
    def number(self) -> int:
        """Index among all members, stored in files as one byte."""
        return list(Metric).index(self)


class Options(TypedDict, total=False):
    """Keyword arguments of `Tablebase`, for functions that pass them on."""

    rules: Rules | str | None
    orders: int | None
    minor_chases: bool | None
    metric: Metric | str | None
    cache_bytes: int
    max_open: int


_NAME = re.compile(
    rf"(K[A-Z]{{1,31}})\.({'|'.join(map(re.escape, Rules))})(-nominor)?"
    r"(?:-o([1-9][0-9]{0,9}))?\.([a-z]+)\.xqt"
)


@dataclass(frozen=True, slots=True)
class _Name:
    """Base class of `TableName` and `WdlName`; checks that the rules are known."""

    material: Material
    rule_set: RuleSet

    def __post_init__(self) -> None:
        _ = self.rules

    @property
    def rules(self) -> Rules:
        """Rules of the rule set; never None, unlike those of a `RuleSet`."""
        return self.rule_set.known_rules

    @property
    def filename(self) -> str:
        """Name of the file, such as `KRNKR.none.dtm.xqt`."""
        return f"{self}{SUFFIX}"

    @classmethod
    def parse(cls, filename: str) -> Self | None:
        """Return the name that a file name states; None if it is no name of this class."""
        found = parse_name(filename)
        return found if isinstance(found, cls) else None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"


@dataclass(frozen=True, slots=True, repr=False)
class TableName(_Name):
    """Name of a table: material, rule set and metric; raises `InputError` for unknown rules."""

    metric: Metric

    @property
    def orders(self) -> int | None:
        """Limit on orders, or None."""
        return self.rule_set.orders

    @property
    def lock(self) -> str:
        """Name of the lock file while the table is written: one for both metrics."""
        return f".{self.material}.{self.rule_set}.{Metric.DTM}.lock"

    def __str__(self) -> str:
        return f"{self.material}.{self.rule_set}.{self.metric}"

    def to_json(self) -> dict[str, Any]:
        """Return the members of a JSON object that identify the table."""
        return {
            "material": self.material.name,
            "rules": str(self.rules),
            "minor_chases": self.rule_set.choice,
            "orders_limit": self.orders,
            "metric": str(self.metric),
        }


@dataclass(frozen=True, slots=True, repr=False)
class WdlName(_Name):
    """Name of a win-draw-loss file: material, rule set; raises `InputError` for unknown rules."""

    metric: ClassVar[str] = "wdl"
    """Part of the file name, in the place of a table's metric."""

    @classmethod
    def of(cls, table: TableName) -> WdlName:
        """Return the name of the win-draw-loss file that is derived from a table."""
        return cls(table.material, table.rule_set)

    def __str__(self) -> str:
        return f"{self.material}.{self.rule_set}.{self.metric}"


def tables_directory() -> Path:
    """Return the default directory of tables: $TBGEN_TABLES, or `egtb` if unset or empty."""
    return Path(os.environ.get("TBGEN_TABLES") or DEFAULT_TABLES)


def parse_name(filename: str) -> TableName | WdlName | None:
    """Return the `TableName` or `WdlName` of a file name; None for names of other files.

    Also None for a noncanonical spelling: `KRKRN.none.dtm.xqt`, whose material is KRNKR.
    """
    match = _NAME.fullmatch(filename)
    if match is None:
        return None
    try:
        rule_set = RuleSet(Rules(match[2]), int(match[4]) if match[4] else None, match[3] is None)
        material = Material.parse(match[1])
        name = (
            WdlName(material, rule_set)
            if match[5] == WdlName.metric
            else TableName(material, rule_set, Metric(match[5]))
        )
    except ValueError:  # InputError is a ValueError
        return None
    return name if name.filename == filename else None
