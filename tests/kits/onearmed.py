"""Materials in which one side has no piece that can cross the river: who might offend there.

The solver searches no patterns in them, and their tables have no orders. Candidates are positions
that are drawn, and in which every legal move loses or is one offence: a check, or a chase of one
piece. A pattern is what is left of them when the other side has to answer, again and again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tbgen.building.sets import materials_of
from tbgen.indexing import Material, Side
from tbgen.indexing.squares import SQUARES
from tbgen.indexing.threads import thread_pool
from tbgen.tables.names import RuleSet
from tbgen.verify.arrays import NOBODY, Numbers, Table, gather
from tbgen.verify.chase_patterns import ChasePatterns
from tbgen.verify.chasers import NUMBER, list_chasers
from tbgen.verify.checks import Patterns
from tbgen.verify.moves import cut
from tests.kits.verifykit import canonical, completed


class Candidates(NamedTuple):
    """Possible offenders, and the number in a pattern. Nodes: 2 * slot + side to move."""

    armed_checkers: int
    armless_checkers: int
    armed_chasers: Numbers
    armless_chasers: Numbers
    in_patterns: int
    """Offenders and winners of the patterns of checks and of chases, of the first order."""

    @property
    def counts(self) -> tuple[int, ...]:
        """Count each."""
        return (
            self.armed_checkers, len(self.armed_chasers),
            self.armless_checkers, len(self.armless_chasers), self.in_patterns,
        )  # fmt: skip


def one_armed_materials(men: int) -> list[Material]:
    """All materials of at most so many men in which only one side is armed."""
    return [material for material in materials_of([], men) if not material.both_armed]


def find_candidates(
    table: Table, supporting: Callable[[Material], Table], rule_set: RuleSet
) -> Candidates:
    """Search a table, given its supporting tables; its first pass must find nothing wrong."""
    loaded = gather(table, supporting, rule_set)
    arrays = loaded.arrays
    passes, found = completed(table, loaded)
    assert not found.findings
    held = np.sort(canonical(found.held.astype(np.int64), table.layout))
    armless = Side.RED if not table.layout.armies[0].has_attackers else Side.BLACK
    of = arrays, passes.index
    checkers = [Patterns(*of, cut(held[held % 2 == side]), NOBODY, 1).offenders
                for side in (1 - armless, armless)]  # fmt: skip
    checks = Patterns(*of, cut(held), NOBODY, 1)
    with thread_pool(1) as pool:
        listed = list_chasers(cut(np.sort(found.chasers)), *of, pool)
    chasers = np.unique(listed[:, NUMBER] // SQUARES)
    alive, _, _ = ChasePatterns(*of, cut(np.sort(found.chasers)), found.chase_claims, 1).find(1)
    return Candidates(
        *checkers,
        chasers[chasers % 2 != armless],
        chasers[chasers % 2 == armless],
        int(alive.sum()) + int(checks.graph.find(1).sum()),
    )
