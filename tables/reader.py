"""Reader of table files, whose codes encode values with distances; the result of a probe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from html import escape

from tbgen.indexing import Material, MaterialError
from tbgen.indexing.layout import Layout
from tbgen.indexing.rulesets import Rules
from tbgen.tables.blockfile import BlockFile
from tbgen.tables.codes import CodeSpace, LimitExceededError, Outcome, Value
from tbgen.tables.errors import CorruptTableError, UnsupportedMaterialError
from tbgen.tables.header import TableSpec
from tbgen.tables.names import Metric
from tbgen.tables.rule_sets import RuleSet
from tbgen.tables.statistics import TableStatistics


class TableFile(BlockFile[TableSpec]):
    """An open table file; safe to use from several threads (`BlockFile`)."""

    _kind = TableSpec

    @property
    def code_space(self) -> CodeSpace:
        """Encoding of the file's codes."""
        return self.header.spec.codes

    @property
    def metric(self) -> Metric:
        """Metric of distances: to mate, or to mate or conversion."""
        return self.header.spec.name.metric

    @cached_property
    def statistics(self) -> TableStatistics:
        """Statistics stored in the file; raises `CorruptTableError`."""
        return self._read_statistics(TableStatistics)

    def occurring_codes(self, side: int) -> set[int]:
        """Return the codes of the positions with `side` to move, from the stored statistics.

        Raises `CorruptTableError`.
        """
        try:
            return {
                self.code_space.encode(line.exact)
                for line in self.statistics.histogram
                if line.side == side
            }
        except (ValueError, LimitExceededError):
            raise CorruptTableError(self.path, "the statistics have a value without code") from None

    def check(self, *, threads: int = 1) -> None:
        """Read the whole file, and verify every checksum, block, digest and the statistics."""
        super().check(threads=threads)
        _ = self.statistics


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """Value of a position in a table, for the side to move.

    `value` is the printed number (`Value.number`). `plies` is None for a draw. `rule_set` and
    `metric` are the table's. Two results need no table: a draw for lack of attackers, and, with
    `tbgen.play`, a loss for lack of moves. Then `metric` is None, `rule_set` the tablebase's.
    """

    outcome: Outcome
    value: int
    order: int
    plies: int | None
    material: Material
    rule_set: RuleSet
    metric: Metric | None

    @property
    def rules(self) -> Rules | None:
        """Rules of the `rule_set`; None if unknown."""
        return self.rule_set.rules

    def _repr_html_(self) -> str:
        return as_html({
            "material": self.material,
            "outcome": self.outcome.name.lower(),
            "order": self.order,
            "plies": "-" if self.plies is None else self.plies,
            "rules": self.rule_set,
        })  # fmt: skip

    @property
    def exact(self) -> Value:
        """Outcome, order and plies as a `Value`; 0 plies for a draw."""
        return Value(self.outcome, self.order, self.plies or 0)


def as_html(fields: Mapping[str, object]) -> str:
    """Return an HTML table with a row for each name and value of `fields`."""
    rows = (
        f"<tr><th>{escape(name)}</th><td>{escape(str(value))}</td></tr>"
        for name, value in fields.items()
    )
    return f"<table>{''.join(rows)}</table>"


def result_of(file: TableFile, code: int) -> ProbeResult:
    """Return the probe result for a position whose code in the table `file` is `code`."""
    spec = file.header.spec
    value = spec.codes.decode(code)
    plies = None if value.outcome == Outcome.DRAW else value.plies
    name = spec.name
    return ProbeResult(
        value.outcome, value.number, value.order, plies, name.material, name.rule_set, name.metric
    )


def require_index(material: Material) -> None:
    """Raise `UnsupportedMaterialError` if a material needs no table, or is too large for one."""
    if not material.needs_table:
        raise UnsupportedMaterialError(material.name, "without an attacker every position is drawn")
    try:
        Layout.of(material)
    except MaterialError as error:
        raise UnsupportedMaterialError(material.name, error.message) from None
