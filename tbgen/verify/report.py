"""Report of a proof: counts, and the first finding; also the progress callback.

Nothing here computes or prints; `tbgen verify --json` shows `VerifyReport.to_json`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from tbgen.indexing import Side
from tbgen.indexing.layout import Layout
from tbgen.system.units import counted
from tbgen.tables.codes import Outcome, Value

METHOD = "sums-3"
"""Name of the method of proof, stored in certificates; another method needs another name."""

PATTERNS, ALL_PATTERNS = "patterns", "patterns among all positions"
"""Names of phases: search for patterns among candidates, and among all positions (much slower)."""

Progress = Callable[[str, int, int], None]
"""Callback with the name of a phase, the amount done and the total amount, in any unit."""


def no_progress(phase: str, done: int, total: int) -> None:
    """Progress callback that does nothing."""


def describe(value: Value | None) -> str:
    """Return a value in words, "no value" for None."""
    if value is None:
        return "no value"
    if value.outcome == Outcome.DRAW:
        return "a draw"
    name = value.outcome.name.lower()
    distance = counted(value.plies, "ply", "plies")
    if not value.order:
        return f"a {name} in {distance}"
    if value.outcome == Outcome.WIN and not value.plies:
        return f"a direct win of order {value.order}"
    return f"a {name} of order {value.order}, {distance} from a direct win"


def fen_of(layout: Layout, node: int) -> str:
    """Return the FEN of a position; node : 2 * slot + side to move."""
    position = layout.position(node // 2, Side(node % 2))
    assert position is not None, "only positions are judged"
    return position.fen


@dataclass(frozen=True, slots=True)
class Refuted:
    """Position whose stored value the pattern of an order refutes."""

    node: int
    """Number of the position: 2 * slot + side to move."""
    order: int
    is_pattern: bool
    """True: the position is a direct win of `order`, but not stored as such. False: it is stored as
    a direct win of `order`, but the pattern lacks it.
    """
    by_chase: bool = False
    """Whether the pattern is one of chases, not of checks."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Position whose stored value the rules refute.

    `stored` is None for a code that is no value. `expected` is the value by the rules, or None if
    it is not known. `reason` is one line of text.
    """

    fen: str
    stored: Value | None
    expected: Value | None
    reason: str

    def __str__(self) -> str:
        """Return the finding on one line of text."""
        return f"{self.fen}: {self.reason}"


@dataclass(frozen=True, slots=True)
class SideTotals:
    """Numbers of positions that a proof has checked, with one side to move.

    `rule_decided` counts wins and losses by the repetition rules, `direct` the direct wins among
    them: `direct_checks` of a side in check, `direct_chases` of one that is not.
    """

    positions: int
    wins: int
    draws: int
    losses: int
    rule_decided: int
    direct: int
    direct_checks: int
    direct_chases: int


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """Result of the proof of one table.

    minor_chases : whether advisors and elephants chase protected pieces, None under rules that do
        not leave this choice
    orders_limit : the rule set's limit on orders, None without one
    index_size : number of slots
    offenders_examined : number of positions in which every move checks or loses; 0 if the rules do
        not judge checks
    chasers_examined : number of pairs of a position and a piece, in which every move chases the
        piece or loses; 0 if the rules do not judge chases
    orders_examined : number of orders searched for patterns
    complete : False if the rule set limits the orders: draws may hide patterns of higher orders
    findings : number of refuted positions; `first` is the first of them, or None
    file_problems : faults of the file's statistics; empty after `verify`, which reads none
    histograms : number of positions of each code that the table lists, with Red and with Black to
        move; positions of other codes are findings, and in no histogram or total
    chase_patterns : number of direct wins by perpetual chase, by order
    seconds : duration of the proof, without compiling
    """

    material: str
    rules: str
    metric: str
    minor_chases: bool | None
    orders_limit: int | None
    index_size: int
    red_to_move: SideTotals
    black_to_move: SideTotals
    offenders_examined: int
    chasers_examined: int
    orders_examined: int
    complete: bool
    findings: int
    first: Finding | None
    file_problems: tuple[str, ...]
    histograms: tuple[dict[int, int], dict[int, int]]
    chase_patterns: dict[int, int]
    seconds: float

    @property
    def positions(self) -> int:
        """Number of positions checked, both sides to move."""
        return self.red_to_move.positions + self.black_to_move.positions

    @property
    def ok(self) -> bool:
        """Return whether the table is proven: no findings, and no file problems."""
        return not self.findings and not self.file_problems

    def to_json(self) -> dict[str, Any]:
        """Return the object of `tbgen verify --json` without its digest, proof and notes."""
        shown = {"ok": self.ok, "by": "proof", "positions": self.positions, **asdict(self)}
        del shown["histograms"], shown["chase_patterns"]
        if self.first is not None:
            shown["first"] = asdict(self.first) | {
                "stored": _value_to_json(self.first.stored),
                "expected": _value_to_json(self.first.expected),
            }
        return {
            **shown,
            "file_problems": list(self.file_problems),
            "seconds": round(self.seconds, 3),
        }


def _value_to_json(value: Value | None) -> dict[str, Any] | None:
    if value is None:
        return None
    return {
        "outcome": value.outcome.name.lower(),
        "value": value.number,
        "order": value.order,
        "plies": None if value.outcome == Outcome.DRAW else value.plies,
    }
