"""The revised propagation phase (Fang, Hsu & Hsu 2002, section 5): order after order.

    the original propagation                                    order 0
    repeat   find direct wins: checks, then chases              order 1, 2, ...
             propagate them
    until    no unknown position changes

A *k-th order* win or loss is one that iteration k finds. The final phase of the whole analysis,
which makes draws of what is still unknown, is `Solution`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from tbgen.indexing.layout import Layout
from tbgen.indexing.squares import Side
from tbgen.retrograde.candidates import Memory
from tbgen.retrograde.chase.search import ChaseSearch, k_attacked
from tbgen.retrograde.perpetual_check import declare_perpetual_checks, k_in_check
from tbgen.retrograde.state import Course
from tbgen.rows.boards import make_places
from tbgen.tables.names import RuleSet

Report = Callable[[str, int, int, int], None]
"""Progress: phase, order, plies, positions settled."""


def settle_orders(course: Course, layout: Layout, rule_set: RuleSet, report: Report) -> None:
    """Settle the orders of a rule set, after order 0 or from where the course has been left.

    report : is told of each phase as it begins: its name, its order, and twice 0

    An order without direct wins is still propagated where captures into supporting tables have
    values of it. Of each order, the course learns how many direct wins it has by chases.
    """
    propagation = course.propagation
    sets = propagation.sets
    room = sets.empty(), sets.empty(), sets.empty()
    checks = [Memory(propagation, winner, k_in_check, room) for winner in Side]
    of_chases: list[Memory] = []
    chases: list[ChaseSearch] = []
    if rule_set.rules is not None and rule_set.rules.judges_chases:
        places = make_places(layout, sets.frame)
        word = rule_set.chase_rules
        mark = partial(k_attacked, word)
        of_chases = [Memory(propagation, winner, mark, room) for winner in Side]
        chases = [ChaseSearch(memory, places, chase_rules=word) for memory in of_chases]
    course.take_up_searches([*checks, *of_chases])
    order, changed = 1, True
    if course.order:
        report("propagation", course.order, 0, 0)
        changed = propagation.run(course.order, course.number, course.changed)
        order = course.order + 1
    while (changed or order <= propagation.last_order) and order <= (rule_set.orders or order):
        report("checks", order, 0, 0)
        lost = [
            declare_perpetual_checks(memory, order, keep_losses=bool(chases)) for memory in checks
        ]
        report("chases", order, 0, 0)
        course.chase_patterns[order] = sum(
            search.declare(order, by_checks)
            for search, by_checks in zip(chases, lost, strict=False)
        )
        report("propagation", order, 0, 0)
        changed = propagation.run(order)
        order += 1
