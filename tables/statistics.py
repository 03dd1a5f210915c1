"""Statistics of a table, as printed by `tbgen stats` and stored in the file.

Counts are of legal positions; mirror images count once. The material names Red's pieces first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Self

from tbgen.indexing import InputError, Position, Side
from tbgen.indexing.rulesets import Rules
from tbgen.tables import checked_json
from tbgen.tables.checked_json import enum_member, one_of, optional
from tbgen.tables.codes import DIRECT_WIN, CodeSpace, Outcome, Value
from tbgen.tables.names import Metric, TableName
from tbgen.tables.rule_sets import MAX_ORDERS

Histogram = Mapping[int, int]
"""Number of legal positions of one side to move by code, mirror images once; without code 0."""


# -- types and ranges in files -----------------------------------------------------------------

_COUNT, _POSITIONS = checked_json.integer(), checked_json.integer(1)
_ORDER = checked_json.integer(0, MAX_ORDERS)
_PLIES = checked_json.integer(0, MAX_ORDERS)
_NUMBER = checked_json.integer(DIRECT_WIN - MAX_ORDERS, MAX_ORDERS)
_SIDE = enum_member(Side)
_FEN = re.compile(r"[1-9A-Za-z/]{1,100} [wb](?: - - 0 1)?")


def _is_fen(text: str) -> bool:
    """Return whether a text is the FEN of a position."""
    try:
        return bool(_FEN.fullmatch(text) and Position.from_fen(text))
    except InputError:
        return False


# -- statistics --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SideCounts:
    """Numbers of legal positions with one side to move, and of its wins, draws and losses."""

    legal: Annotated[int, _COUNT]
    wins: Annotated[int, _COUNT]
    draws: Annotated[int, _COUNT]
    losses: Annotated[int, _COUNT]


@dataclass(frozen=True, slots=True)
class OrderCounts:
    """Number of `positions` that the repetition rules decide at one order, both sides to move.

    `max_distance` is the largest distance to a direct win, in plies. `check_patterns` and
    `chase_patterns` count direct wins by perpetual check and chase, both None if not recorded.
    """

    order: Annotated[int, _ORDER]
    positions: Annotated[int, _POSITIONS]
    max_distance: Annotated[int, _PLIES]
    check_patterns: Annotated[int | None, optional(_COUNT)] = None
    chase_patterns: Annotated[int | None, optional(_COUNT)] = None


@dataclass(frozen=True, slots=True)
class LongestPosition:
    """A position with the longest distance of its order and side; `value` is its `Value.number`."""

    order: Annotated[int, _ORDER]
    side: Annotated[Side, _SIDE]
    fen: Annotated[str, checked_json.string(_is_fen, "no FEN")]
    value: Annotated[int, _NUMBER]


@dataclass(frozen=True, slots=True)
class HistogramLine:
    """Number of `positions` with one side to move and one value; `plies` is None for draws.

    `value` is the `Value.number`.
    """

    side: Annotated[Side, _SIDE]
    outcome: Annotated[Outcome, enum_member(Outcome)]
    order: Annotated[int, _ORDER]
    plies: Annotated[int | None, optional(_PLIES)]
    value: Annotated[int, _NUMBER]
    positions: Annotated[int, _POSITIONS]

    @property
    def exact(self) -> Value:
        """Outcome, order and plies as a `Value`; 0 plies for a draw."""
        return Value(self.outcome, self.order, self.plies or 0)


@dataclass(frozen=True)
class FileStatistics:
    """Statistics in a table or a win-draw-loss file.

    `metric` is `wdl` for a win-draw-loss file. `index_size` is the number of slots for each side to
    move. `orders_limit` is None without a limit.
    """

    material: Annotated[str, checked_json.text(r"K[A-Z]{1,31}", "material")]
    rules: Annotated[str, one_of(Rules)]
    metric: Annotated[str, one_of(Metric)]
    orders_limit: Annotated[int | None, optional(checked_json.integer(1, MAX_ORDERS))]
    index_size: Annotated[int, _COUNT]
    red_to_move: SideCounts
    black_to_move: SideCounts

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Parse the JSON text of a `to_json` object; members that are no fields are ignored.

        Raises `checked_json.SchemaError`, a `ValueError`, for values of another type or range, and
        for inconsistent counts.
        """
        found = checked_json.parse_record(text, cls)
        for counts in (found.red_to_move, found.black_to_move):
            if counts.legal != counts.wins + counts.draws + counts.losses:
                raise checked_json.SchemaError("the counts do not add up")
            if counts.legal > found.index_size:
                raise checked_json.SchemaError("more positions than slots")
        return found

    def to_json(self) -> dict[str, Any]:
        """Return the JSON object that a file stores; `Side` and `Outcome` are lower-case names."""
        return asdict(self, dict_factory=_named)


@dataclass(frozen=True)
class TableStatistics(FileStatistics):
    """Statistics of one table; distances are in plies.

    `max_distance` is the largest distance of order 0, and 0 if order 0 has draws only.
    `max_rule_distance` is that of orders 1 and above, None without them. `orders` lists orders from
    1 on. `longest` has at most one position per order and side to move.
    """

    max_distance: Annotated[int, _PLIES]
    max_rule_distance: Annotated[int | None, optional(_PLIES)]
    orders: tuple[OrderCounts, ...]
    longest: tuple[LongestPosition, ...]
    histogram: tuple[HistogramLine, ...]

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.legal:,} positions of {self.material}, {self.rules}>"

    @property
    def legal(self) -> int:
        """Number of legal positions, counting both sides to move."""
        return self.red_to_move.legal + self.black_to_move.legal

    @property
    def draws(self) -> int:
        """Number of drawn positions, counting both sides to move."""
        return self.red_to_move.draws + self.black_to_move.draws

    @property
    def rule_decided(self) -> int:
        """Number of positions that the repetition rules decide, counting both sides to move."""
        return sum(order.positions for order in self.orders)

    @property
    def rule_decided_rate(self) -> float:
        """Fraction of the legal positions that the repetition rules decide, 0 to 1."""
        return self.rule_decided / self.legal if self.legal else 0.0

    @classmethod
    def from_histograms(
        cls,
        name: TableName,
        codes: CodeSpace,
        index_size: int,
        histograms: Sequence[Histogram],
        longest_fens: Mapping[tuple[int, Side], str],
        chase_patterns: Mapping[int, int] | None = None,
    ) -> TableStatistics:
        """Compute the statistics from two histograms: with Red to move, and with Black to move.

        codes : code space of the codes in the histograms
        index_size : number of slots for each side to move
        longest_fens : FEN of a position with the longest distance (`longest_codes`), by (order,
            side to move); may be incomplete
        chase_patterns : number of direct wins by perpetual chase, by order (or 0); None if unknown
        """
        lines = [
            _line(side, codes.decode(code), positions)
            for side in Side
            for code, positions in sorted(histograms[side].items())
            if code and positions
        ]
        decided = [(line.order, line.plies, line) for line in lines if line.plies is not None]
        orders = []
        for order in sorted({order for order, _, _ in decided if order}):
            members = [(plies, line.positions) for k, plies, line in decided if k == order]
            checks = chases = None
            if chase_patterns is not None:
                chases = chase_patterns.get(order, 0)
                # Above order 0 only wins have an even number of plies: 0 plies is a direct win.
                checks = sum(n for plies, n in members if not plies) - chases
            positions, longest_plies = sum(n for _, n in members), max(members)[0]
            orders.append(OrderCounts(order, positions, longest_plies, checks, chases))
        longest = []
        for side in Side:
            for order, code in longest_codes(histograms[side], codes).items():
                fen = longest_fens.get((order, side))
                if fen is not None:
                    value = codes.decode(code).number
                    longest.append(LongestPosition(order, side, fen, value))
        return cls(
            material=name.material.name,
            rules=str(name.rules),
            metric=str(name.metric),
            orders_limit=name.orders,
            index_size=index_size,
            red_to_move=_side_counts(Side.RED, lines),
            black_to_move=_side_counts(Side.BLACK, lines),
            max_distance=max((plies for order, plies, _ in decided if not order), default=0),
            max_rule_distance=max((order.max_distance for order in orders), default=None),
            orders=tuple(orders),
            longest=tuple(sorted(longest, key=lambda entry: (entry.order, entry.side))),
            histogram=tuple(lines),
        )

    def to_json(self) -> dict[str, Any]:
        """Return the object that a file stores, which is part of `tbgen stats --json`."""
        return {
            **super().to_json(),
            "legal": self.legal,
            "draws": self.draws,
            "rule_decided": self.rule_decided,
            "rule_decided_rate": self.rule_decided_rate,
        }

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Parse like `FileStatistics.from_text`.

        Raises `SchemaError` also if the counts are not those of the histogram.
        """
        found = super().from_text(text)
        for side, counts in zip(Side, (found.red_to_move, found.black_to_move), strict=True):
            if counts != _side_counts(side, found.histogram):
                raise checked_json.SchemaError(f"the counts of {side.name.lower()} do not add up")
        return found


def longest_codes(histogram: Histogram, codes: CodeSpace) -> dict[int, int]:
    """Return the code of the longest distance of each order in a histogram, by order.

    Wins and losses of one order have plies of different parity, so the code is unique.
    """
    longest: dict[int, tuple[int, int]] = {}
    for code, positions in histogram.items():
        if not code or not positions:
            continue
        value = codes.decode(code)
        if value.outcome != Outcome.DRAW:
            longest[value.order] = max(longest.get(value.order, (-1, 0)), (value.plies, code))
    return {order: code for order, (_, code) in sorted(longest.items())}


def _named(fields: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return fields for JSON: sides and outcomes are replaced by their lower-case names."""
    return {
        name: each.name.lower() if isinstance(each, Side | Outcome) else each
        for name, each in fields
    }


def _line(side: Side, value: Value, positions: int) -> HistogramLine:
    plies = None if value.outcome == Outcome.DRAW else value.plies
    return HistogramLine(side, value.outcome, value.order, plies, value.number, positions)


def _side_counts(side: Side, lines: Sequence[HistogramLine]) -> SideCounts:
    counts = dict.fromkeys(Outcome, 0)
    for line in lines:
        if line.side == side:
            counts[line.outcome] += line.positions
    numbers = (counts[outcome] for outcome in (Outcome.WIN, Outcome.DRAW, Outcome.LOSS))
    return SideCounts(sum(counts.values()), *numbers)
