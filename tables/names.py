"""What a table is of, and the file name that says so.

    KRNKR . none     . dtm . xqt
    KRNKR . check-o1 . dtm . xqt         orders limited to one
    KRNKR . wxf-nominor . dtm . xqt      minor pieces do not chase protected ones
    material, rule set, metric           one directory may hold tables of all kinds

Beside a table, `KRNKR.none.dtm.build.json` keeps what differs from build to build (how long it
took); the table itself has the same bytes on every machine.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from enum import IntFlag, StrEnum
from pathlib import Path
from typing import Any

from tbgen.indexing import InputError, Material

SUFFIX = ".xqt"
"""How the name of a table file ends."""

MAX_ORDERS = 2**32 - 1
"""The largest limit on orders that a file can state."""


class Rules(StrEnum):
    """The rule sets (DESIGN 2); files store the place in this list, so append only."""

    NONE = "none"
    CHECK = "check"
    WXF = "wxf"

    @property
    def number(self) -> int:
        """The byte that files store."""
        return list(Rules).index(self)


class Metric(StrEnum):
    """What distances count to (DESIGN 2); files store the place in this list, so append only."""

    DTM = "dtm"
    DTC = "dtc"

    @property
    def number(self) -> int:
        """The byte that files store."""
        return list(Metric).index(self)


class Option(IntFlag):
    """Variants of the rules, as files store them."""

    NONE = 0
    MINOR_CHASES = 1
    """Under `wxf`, an advisor or elephant that attacks a protected rook, knight or cannon chases
    it. Never set under other rules."""


@dataclass(frozen=True, slots=True)
class RuleSet:
    """What the values of a table hold under; tables of different rule sets never mix.

    `rules` is None where none are known. `orders` limits the number of orders; 0 is no limit.
    `minor_chases` says whether an advisor or elephant that attacks a protected rook, knight or
    cannon chases it; only `wxf` leaves a choice. Raises `InputError` for a choice elsewhere.
    """

    rules: Rules | None
    orders: int = 0
    minor_chases: bool = True

    def __post_init__(self) -> None:
        """Check that the rules leave a choice."""
        if not self.minor_chases and self.rules not in (None, Rules.WXF):
            raise InputError(
                f"the rules '{self.rules}' know no chases, so none by minor pieces to leave out",
                "leave --no-minor-chases out, or ask for --rules wxf",
            )

    @property
    def choice(self) -> bool | None:
        """`minor_chases` where the rules leave a choice, else None."""
        return self.minor_chases if self.rules == Rules.WXF else None

    @property
    def options(self) -> Option:
        """The options that the header of a file states."""
        return Option.MINOR_CHASES if self.choice else Option.NONE

    def __str__(self) -> str:
        """`wxf`, `check-o1`, `wxf-nominor-o2`: as in the names of files."""
        limit = f"-o{self.orders}" if self.orders else ""
        return f"{self.rules}{'' if self.minor_chases else '-nominor'}{limit}"


_NAME = re.compile(r"(K[A-Z]{1,31})\.([a-z]+)(-nominor)?(?:-o([1-9][0-9]{0,9}))?\.([a-z]+)\.xqt")


@dataclass(frozen=True, slots=True)
class TableName:
    """What a table is of: a material, a rule set (see `RuleSet`), a metric."""

    material: Material
    rules: Rules
    metric: Metric
    orders: int = 0
    minor_chases: bool = True

    def __post_init__(self) -> None:
        """Check the rule set."""
        _ = self.rule_set

    @property
    def rule_set(self) -> RuleSet:
        """What its values hold under."""
        return RuleSet(self.rules, self.orders, self.minor_chases)

    @property
    def filename(self) -> str:
        """The name of the table's file."""
        return f"{self.material}.{self.rule_set}.{self.metric}{SUFFIX}"

    @classmethod
    def parse(cls, filename: str) -> TableName | None:
        """The table that a file name stands for; None for names that `filename` never gives."""
        match = _NAME.fullmatch(filename)
        if match is None:
            return None
        material, rules, nominor, orders, metric = match.groups()
        try:
            name = cls(
                Material.parse(material),
                Rules(rules),
                Metric(metric),
                int(orders or 0),
                nominor is None,
            )
        except ValueError:  # InputError is one
            return None
        return name if name.filename == filename and name.orders <= MAX_ORDERS else None

    def __str__(self) -> str:
        """The file name without its suffix."""
        return self.filename.removesuffix(SUFFIX)


def build_record_path(table: Path) -> Path:
    """Where the build record of a table file lies."""
    return table.with_name(table.name.removesuffix(SUFFIX) + ".build.json")


def write_build_record(table: Path, record: dict[str, Any]) -> None:
    """Write the build record of a table: a JSON object, with `build_seconds` by convention."""
    text = json.dumps(record, sort_keys=True) + "\n"
    build_record_path(table).write_text(text, encoding="utf-8")


def read_build_record(table: Path) -> dict[str, Any]:
    """The build record of a table; empty where there is none, or none that can be read."""
    try:
        record = json.loads(build_record_path(table).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}
