"""The revised propagation phase (Fang, Hsu & Hsu 2002, section 5): order after order.

    the original propagation                                    order 0
    repeat   find direct wins: checks, then chases              order 1, 2, ...
             propagate them
    until    no unknown position changes

A *k-th order* win or loss is found by iteration k. The final phase of the whole analysis is
`Propagation.settle_draws`, which makes the positions that are still unknown draws.
"""

from __future__ import annotations

from functools import partial

from tbgen.indexing.layout import Layout
from tbgen.indexing.squares import Side
from tbgen.retrograde.candidates import SearchState, SharedSets
from tbgen.retrograde.chase.search import declare_perpetual_chases, k_mark_attacked
from tbgen.retrograde.perpetual_check import declare_perpetual_checks, k_mark_in_check
from tbgen.retrograde.state import BuildState
from tbgen.rows.boards import make_converter
from tbgen.tables.names import RuleSet


def settle_orders(state: BuildState, layout: Layout, rule_set: RuleSet) -> None:
    """Settle the orders of a rule set; continue after the last step that a state contains.

    The last order is one that settles no position, or the limit of the rule set. An order without
    direct wins is still propagated if captures wait for a ply of it or of a higher order.
    """
    propagation = state.propagation
    sets = propagation.sets
    shared = SharedSets(sets.empty(), sets.empty(), sets.empty(), sets.empty_frontier())
    check_states = [SearchState(propagation, winner, k_mark_in_check, shared) for winner in Side]
    chase_states: list[SearchState] = []
    chase_rules, converter = rule_set.chase_rules, make_converter(layout, sets.frame)
    if rule_set.rules is not None and rule_set.rules.judges_chases:
        mark = partial(k_mark_attacked, chase_rules)
        chase_states = [SearchState(propagation, winner, mark, shared) for winner in Side]
    state.add_searches([*check_states, *chase_states])
    changed = state.order == 0 or state.propagate(state.order)
    order = state.order + 1
    while (changed or order <= propagation.last_order) and order <= (rule_set.orders or order):
        state.report("checks", order, 0, 0)
        lost = [
            declare_perpetual_checks(search_state, order, keep_losses=bool(chase_states))
            for search_state in check_states
        ]
        state.report("chases", order, 0, 0)
        state.chase_patterns[order] = sum(
            declare_perpetual_chases(
                search_state, order, by_checks, converter, chase_rules=chase_rules
            )
            for search_state, by_checks in zip(chase_states, lost, strict=False)
        )
        changed = state.propagate(order)
        order += 1
