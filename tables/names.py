"""What a table is of, and the file name that says so.

    KRNKR . none     . dtm . xqt
    KRNKR . check-o1 . dtm . xqt         orders limited to one
    material, rules, metric              one directory may hold tables of all kinds

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

from tbgen.indexing import Material, MaterialError

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
    """Variants within a rule set."""

    NONE = 0
    DEFENDER_CHASES = 1
    """Chases of, and by, advisors and elephants count (meaningful under `wxf`)."""


_NAME = re.compile(r"(K[A-Z]{1,31})\.([a-z]+)(?:-o([1-9][0-9]{0,9}))?\.([a-z]+)\.xqt")


@dataclass(frozen=True, slots=True)
class TableName:
    """What a table is of. `orders` limits the number of orders; 0 is no limit."""

    material: Material
    rules: Rules
    metric: Metric
    orders: int = 0

    @property
    def rule_set(self) -> str:
        """`check`, or `check-o1` with a limit on orders."""
        return f"{self.rules}-o{self.orders}" if self.orders else str(self.rules)

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
        material, rules, orders, metric = match.groups()
        try:
            name = cls(Material.parse(material), Rules(rules), Metric(metric), int(orders or 0))
        except (MaterialError, ValueError):
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
