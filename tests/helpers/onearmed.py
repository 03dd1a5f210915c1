"""Materials with only one attacking side ("armed"): search for loops that would decide positions.

The solver searches no loops in such materials, and their tables have no orders. This module checks
that there are none. A candidate is a drawn position in which every legal move loses or is the same
offence: a check, or a chase of one piece. A pattern is the largest set of candidates in which the
other side can answer every offence by a move that stays in the set.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tbgen.building.sets import materials_of
from tbgen.indexing import Material, Side
from tbgen.indexing.squares import SQUARES
from tbgen.system.threads import thread_pool
from tbgen.tables.rule_sets import RuleSet
from tbgen.verify.arrays import NO_NODES, Numbers, Table, gather
from tbgen.verify.chase_patterns import ChasePatterns
from tbgen.verify.chasers import NUMBER, list_chasers
from tbgen.verify.checks import CheckPatterns
from tbgen.verify.moves import split_nodes
from tests.helpers.memory_tables import canonical, completed


class Candidates(NamedTuple):
    """Candidates of a material in which only one side, the armed one, has attackers.

    Fields `armed_...` are on candidates with the armed side to move, `armless_...` on the others.
    `..._checkers` are numbers of candidates whose offence is the check. `..._chasers` list those
    whose offence is a chase, as nodes (2 * slot + side to move).
    """

    armed_checkers: int
    armless_checkers: int
    armed_chasers: Numbers
    armless_chasers: Numbers
    in_patterns: int
    """Size of the patterns of order 1; 0 if there are none.

    Counts the positions in check in patterns of checks, and the pairs (position, chased piece) with
    the chasing side to move in patterns of chases.
    """

    @property
    def counts(self) -> tuple[int, ...]:
        """Numbers of armed checkers and chasers, of armless checkers and chasers; `in_patterns`."""
        return (
            self.armed_checkers, len(self.armed_chasers),
            self.armless_checkers, len(self.armless_chasers), self.in_patterns,
        )  # fmt: skip


def one_armed_materials(men: int) -> list[Material]:
    """List the materials of at most `men` men in which only one side can attack."""
    return [material for material in materials_of([], men) if not material.both_armed]


def find_candidates(
    table: Table, supporting: Callable[[Material], Table], rule_set: RuleSet
) -> Candidates:
    """Search a correct table for candidates and patterns, as the module defines them.

    The proof of the table must find no wrong value.

    supporting : function that returns the supporting table of a material
    """
    arrays, _, _, captures = gather(table, supporting, rule_set)
    index, found, draws = completed(table, arrays, captures)
    assert not found.findings
    held = np.sort(canonical(draws.held.astype(np.int64), table.layout))
    armless = Side.RED if table.layout.armies[0].attackers == 0 else Side.BLACK
    of = arrays, index
    checkers = [CheckPatterns(*of, split_nodes(held[held % 2 == side]), NO_NODES, 1).offenders
                for side in (1 - armless, armless)]  # fmt: skip
    checks = CheckPatterns(*of, split_nodes(held), NO_NODES, 1)
    with thread_pool(1) as pool:
        listed = list_chasers(split_nodes(np.sort(draws.chasers)), *of, pool)
    chasers = np.unique(listed[:, NUMBER] // SQUARES)
    alive, _ = ChasePatterns(*of, split_nodes(np.sort(draws.chasers)), found.chase_claims, 1).find(
        1
    )
    return Candidates(
        *checkers,
        chasers[chasers % 2 != armless],
        chasers[chasers % 2 == armless],
        int(alive.sum()) + int(checks.graph.find(1).sum()),
    )
