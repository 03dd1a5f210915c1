"""Files known to a tablebase by name, and the choice of one rule set and metric among them.

A catalogue opens no files. It is not thread-safe: its `Tablebase` calls the methods under a lock.
"""

from __future__ import annotations

from pathlib import Path

from tbgen.indexing import Material
from tbgen.tables.errors import RulesMismatchError
from tbgen.tables.names import Metric, TableName, WdlName
from tbgen.tables.rule_sets import RuleChoice, RuleSet


class Catalogue:
    """Paths of table and win-draw-loss files by name, of any rules.

    `choice` restricts the rule sets to choose among. `metric` chooses between two tables of one
    material; None if the user has not chosen. Raises `InputError` if no rule set fits `choice`.
    """

    def __init__(self, choice: RuleChoice, metric: Metric | None) -> None:
        self.choice, self.metric = choice, metric
        self.paths: dict[TableName | WdlName, Path] = {}
        self._requested = choice.rule_set
        self._present: set[RuleSet] = set()
        """Rule sets of the files, as far as `choice` admits them."""
        self._chosen: dict[Material, TableName] = {}
        """Results of `table_name`."""

    def add(self, name: TableName | WdlName, path: Path) -> bool:
        """Add a file, unless there is one of its name; return whether it is new."""
        if name in self.paths:
            return False
        self.paths[name] = path
        self._chosen.clear()
        if self.choice.admits(name.rule_set):
            self._present.add(name.rule_set)
        return True

    def remove(self, name: TableName | WdlName) -> None:
        """Remove a file, if it is there."""
        self.paths.pop(name, None)
        self._chosen.clear()
        self._present = {
            other.rule_set for other in self.paths if self.choice.admits(other.rule_set)
        }

    def rule_set(self, material: Material | None = None) -> RuleSet:
        """Return the one rule set of the admitted files; without such files, `choice.rule_set`.

        Raises `RulesMismatchError` for files of several rule sets. The message lists these rule
        sets, and the ones under which there are files of `material`.
        """
        if len(self._present) > 1:
            own = {name.rule_set for name in self.paths if name.material == material}
            listed, mine = (sorted(map(str, each)) for each in (self._present, own & self._present))
            where = f", {material} under {', '.join(mine) or 'none of them'}" if material else ""
            raise RulesMismatchError("several rule sets", listed, f"say which one to use{where}")
        return next(iter(self._present), self._requested)

    def table_name(self, material: Material) -> TableName | None:
        """Return the name of a material's table under the rule set; None if there is none.

        Of tables of both metrics, that of `metric` is taken; a single table is taken whatever its
        metric. Raises `RulesMismatchError` for files of several rule sets, and for tables of both
        metrics if `metric` is None.
        """
        if material in self._chosen:
            return self._chosen[material]
        rule_set = self.rule_set(material)
        if rule_set.rules is None:
            return None
        candidates = [TableName(material, rule_set, metric) for metric in Metric]
        names = [name for name in candidates if name in self.paths]
        if not names:
            return None
        if len(names) > 1 and self.metric is None:
            both = list(map(str, Metric))
            raise RulesMismatchError(f"several metrics of {material}", both, "say which one to use")
        names = [name for name in names if name.metric == self.metric] or names
        self._chosen[material] = names[0]
        return names[0]

    def wdl_name(self, material: Material) -> WdlName | None:
        """Return the name of a material's win-draw-loss file under the rule set; None without one.

        Raises `RulesMismatchError` for files of several rule sets.
        """
        rule_set = self.rule_set(material)
        if rule_set.rules is None:
            return None
        name = WdlName(material, rule_set)
        return name if name in self.paths else None
