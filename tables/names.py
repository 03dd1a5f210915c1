"""Names of tables and of their files.

    KRNKR . none     . dtm . xqt
    KRNKR . check-o1 . dtm . xqt         orders limited to one
    KRNKR . wxf-nominor . dtm . xqt      minor pieces do not chase protected ones
    KRNKR . wxf      . wdl . xqt         outcomes alone, derived from a table of either metric
    material, rule set, metric           one directory may contain files of all kinds

*Orders* number the values by the repetition rules (`codes`). *Minor pieces* are advisors and
elephants; a piece is *protected* if it can be recaptured.

Beside a table, `KRNKR.none.dtm.build.json` records what differs between builds, such as their
time; the table itself has the same bytes on every machine.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Self, TypedDict

from tbgen.indexing import InputError, Material
from tbgen.indexing.rulesets import Rules
from tbgen.tables import checked_json
from tbgen.tables.files import open_to_read, replacing

DEFAULT_TABLES = "egtb"
"""Directory of tables if neither a program nor $TBGEN_TABLES names one."""

SUFFIX = ".xqt"
"""End of a table's file name."""

MAX_ORDERS = 2**32 - 1
"""Largest limit on orders that a file can store."""

RECORD_FIELDS = ("build_seconds", "cpu_seconds")
"""Fields of a build record: wall and processor time of the table, in seconds."""

MAX_RECORD = 1 << 14
"""Most characters read of a build record."""


class Metric(StrEnum):
    """Metric of distances (docs/values.md, "Outcomes and distances").

    Distances count to mate (`dtm`), or to mate or conversion (`dtc`). Files store a member's index:
    only append members.
    """

    DTM = "dtm"
    DTC = "dtc"

    @property
    def number(self) -> int:
        """Index among all members, stored in files as one byte."""
        return list(Metric).index(self)


@dataclass(frozen=True, slots=True)
class RuleSet:
    """Rules under which a table's values hold; tables of different rule sets never mix.

    `rules` is None if unknown. `orders` limits the number of orders; None is no limit.
    `minor_chases` is whether an advisor or elephant chases a protected rook, knight or cannon that
    it attacks; only `wxf` leaves this choice. Raises `InputError` if `minor_chases` is False under
    other known rules, and for a limit that no file can store.
    """

    rules: Rules | None
    orders: int | None = None
    minor_chases: bool = True

    def __post_init__(self) -> None:
        if self.orders is not None and not 1 <= self.orders <= MAX_ORDERS:
            raise InputError(
                f"{self.orders} is no limit on orders: it is from 1 to {MAX_ORDERS}",
                "leave --orders out: all orders are searched",
            )
        if not self.minor_chases and not (
            self.rules is None or self.rules.leaves_minor_chases_open
        ):
            raise InputError(
                f"the rules '{self.rules}' leave no choice about chases by minor pieces",
                "leave --no-minor-chases out, or ask for --rules wxf",
            )

    @property
    def known_rules(self) -> Rules:
        """The rules; raises `InputError` if they are unknown."""
        if self.rules is None:
            raise InputError("the rules of the table are unknown", "name them, such as --rules wxf")
        return self.rules

    @property
    def choice(self) -> bool | None:
        """`minor_chases` if the rules leave this choice open, else None."""
        open_choice = self.rules is not None and self.rules.leaves_minor_chases_open
        return self.minor_chases if open_choice else None

    @property
    def chase_rules(self) -> int:
        """Definition of a chase as bits (`Chases.word`); that of `wxf` without rules on chases."""
        return (self.rules or Rules.WXF).chase_rules(minor_chases=self.minor_chases)

    @property
    def options(self) -> int:
        """Field `options` of a file's header: 1 if `choice` is True, 0 if it is False or None."""
        return int(self.choice or False)

    @property
    def unlimited(self) -> RuleSet:
        """This rule set without a limit on orders."""
        return replace(self, orders=None)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    def __str__(self) -> str:
        """Return `wxf`, `check-o1`, `wxf-nominor-o2`: as in file names."""
        limit = f"-o{self.orders}" if self.orders else ""
        return f"{self.rules}{'' if self.minor_chases else '-nominor'}{limit}"


UNKNOWN_RULES = RuleSet(None)
"""Rule set of a tablebase without tables, if none was chosen."""


@dataclass(frozen=True, slots=True)
class RuleChoice:
    """Filter of rule sets: None in a field admits any value, `orders` 0 only sets without limit."""

    rules: Rules | None = None
    orders: int | None = None
    minor_chases: bool | None = None

    def admits(self, found: RuleSet) -> bool:
        """Return whether a rule set agrees with every part of the choice that is not None."""
        return (
            self.rules in (None, found.rules)
            and (self.orders is None or (self.orders or None) == found.orders)
            and self.minor_chases in (None, found.minor_chases)
        )

    @property
    def rule_set(self) -> RuleSet:
        """Rule set to assume before any table of an admitted rule set is known.

        Parts of the choice that are None become: unknown rules, no limit on orders, minor chases
        count. Raises `InputError` for an impossible limit, and for `minor_chases` False under
        rules that leave no choice.
        """
        return RuleSet(self.rules, self.orders or None, self.minor_chases is not False)


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

_WDL = "wdl"
"""Part of a win-draw-loss file's name, in the place of the metric."""


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
    """Name of a table: material, rule set and metric.

    Raises `InputError` if the rules of the rule set are unknown.
    """

    metric: Metric

    @property
    def orders(self) -> int | None:
        """Limit on orders, or None."""
        return self.rule_set.orders

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
    """Name of a win-draw-loss file: material and rule set.

    Raises `InputError` if the rules of the rule set are unknown.
    """

    @classmethod
    def of(cls, table: TableName) -> WdlName:
        """Return the name of the win-draw-loss file that is derived from a table."""
        return cls(table.material, table.rule_set)

    def __str__(self) -> str:
        return f"{self.material}.{self.rule_set}.{_WDL}"


def tables_directory() -> Path:
    """Return the default directory of tables: $TBGEN_TABLES, else `egtb`."""
    return Path(os.environ.get("TBGEN_TABLES") or DEFAULT_TABLES)


def parse_name(filename: str) -> TableName | WdlName | None:
    """Return the `TableName` or `WdlName` of a file name; None for names of other files."""
    match = _NAME.fullmatch(filename)
    if match is None:
        return None
    try:
        rule_set = RuleSet(Rules(match[2]), int(match[4]) if match[4] else None, match[3] is None)
        material = Material.parse(match[1])
        name = (
            WdlName(material, rule_set)
            if match[5] == _WDL
            else TableName(material, rule_set, Metric(match[5]))
        )
    except ValueError:  # InputError is a ValueError
        return None
    return name if name.filename == filename else None


def build_record_path(table: Path) -> Path:
    """Return the path of the build record of a table, beside its file `table`."""
    return table.with_name(table.name.removesuffix(SUFFIX) + ".build.json")


def write_build_record(table: Path, record: dict[str, float]) -> None:
    """Write the build record of the table file `table` as a JSON object of `RECORD_FIELDS`."""
    with replacing(build_record_path(table)) as file:
        file.write((json.dumps(record, sort_keys=True) + "\n").encode())


def read_build_record(table: Path) -> dict[str, float]:
    """Return the valid `RECORD_FIELDS` of a table's build record; empty if it cannot be read."""
    try:
        path = build_record_path(table)
        with os.fdopen(open_to_read(path), "r", encoding="utf-8") as file:
            found = checked_json.parse_object(file.read(MAX_RECORD), {})
    except (OSError, ValueError):
        return {}
    record = {}
    for name in RECORD_FIELDS:
        with contextlib.suppress(KeyError, checked_json.SchemaError):
            record[name] = checked_json.non_negative(found[name])
    return record
