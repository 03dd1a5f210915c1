"""The solver: all phases for one material, from its layout to the codes of its positions.

    legality  ->  captures  ->  initialisation  ->  propagation of order 0  ->  orders 1, 2, ...

The caller's function opens the supporting tables, so the solver is independent of files. A
`Solution` can be a supporting table of the next material.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from tbgen.indexing.layout import Layout
from tbgen.indexing.material import Material
from tbgen.indexing.rulesets import Rules
from tbgen.indexing.squares import Side
from tbgen.retrograde.candidates import SearchState
from tbgen.retrograde.captures import Captures
from tbgen.retrograde.chase.search import declare_perpetual_chases, k_mark_attacked
from tbgen.retrograde.initialisation import sort_by_captures
from tbgen.retrograde.legality import find_legal
from tbgen.retrograde.memory import has_orders, require_numbers_of_32_bits
from tbgen.retrograde.perpetual_check import declare_perpetual_checks, k_mark_in_check
from tbgen.retrograde.propagation import Propagation, Report
from tbgen.retrograde.solution import Solution
from tbgen.retrograde.state import BuildState, Checkpoint, resume_state
from tbgen.retrograde.supporting import BYTE_CODES, SupportingTable
from tbgen.rows.boards import make_converter
from tbgen.rows.frame import make_frame
from tbgen.rows.sets import Sets
from tbgen.rows.storage import Storage
from tbgen.rows.workers import Meter, Workers
from tbgen.system.platform import trim_process
from tbgen.tables.codes import CodeSpace
from tbgen.tables.names import Metric
from tbgen.tables.palettes import Palette
from tbgen.tables.rule_sets import RuleSet

NO_RULES = RuleSet(Rules.NONE)
"""Rule set in which repetitions draw."""


def solve(
    material: Material,
    supporting: Callable[[Material], SupportingTable],
    *,
    rule_set: RuleSet = NO_RULES,
    metric: Metric = Metric.DTM,
    code_space: CodeSpace = BYTE_CODES,
    threads: int = 2,
    storage: Storage | None = None,
    meter: Meter | None = None,
    report: Report = lambda phase, order, plies, settled: None,
    ready: Callable[[Palette], None] = lambda palette: None,
    checkpoint: Checkpoint | None = None,
) -> Solution:
    """Solve one material, up to the last order that `settle_orders` defines.

    Only order 0 is solved if the rules cannot decide anything (`memory.has_orders`).

    supporting : function that opens the table of a material after a capture, under `rule_set`
    rule_set, metric, code_space : of the table that is solved
    storage : of the large arrays (None: in memory)
    meter : counts the sweeps and the rows that they read
    report : called as `propagation.Report` describes
    ready : called once for each side, with the palette of its captures, before these are found
    checkpoint : storage of the state; if it has a saved state, `supporting` is not called

    Raises `LimitExceededError` if a value has no code in `code_space`, `InputError` for unknown
    rules, `MaterialError` for too large an index, `UnsupportedMaterialError` for too many
    placements of the attackers, `MemoryError`, and the errors of the checkpoint, the storage
    (`OSError`) and the supporting tables.
    """
    layout, rules = Layout.of(material), rule_set.known_rules
    require_numbers_of_32_bits(material)
    trim_process()
    with Workers(threads, storage, meter) as workers:
        report("legality", 0, 0, 0)
        sets = Sets(make_frame(layout), workers)

        def begin() -> BuildState:
            report("captures", 0, 0, 0)
            positions = []
            for side in Side:
                captures = Captures(
                    layout, sets.frame, side, supporting, code_space, metric, workers, ready
                )
                positions.append(sort_by_captures(sets, side, captures.palette, captures.find))
                del captures  # with its supporting tables
            # Found again, since keeping the legal positions takes memory.
            red, black = (find_legal(sets.frame, side, workers) for side in Side)
            report("propagation", 0, 0, 0)
            propagation = Propagation(sets, (red, black), positions, code_space, report)
            propagation.start()
            return BuildState(propagation, report, checkpoint)

        state = resume_state(checkpoint, sets, code_space, report) or begin()
        if state.order == 0:
            state.propagate(0)
        if has_orders(material, rules):
            settle_orders(state, layout, rule_set)
        state.propagation.settle_draws()
        return Solution(
            layout, code_space, metric, sets.frame, Workers(threads, storage), sets.chunks,
            state.propagation.journals, state.chase_patterns,
        )  # fmt: skip


def settle_orders(state: BuildState, layout: Layout, rule_set: RuleSet) -> None:
    """Revised propagation phase: find direct wins and propagate them, order by order.

    Continues after the last step of the given state. Ends after the rule set's limit on orders, or
    after the first order that settles no position, if no capture waits for a higher order. Raises
    the errors of `BuildState.propagate`.
    """
    propagation = state.propagation
    sets = propagation.sets
    shared = sets.empty(), sets.empty(), sets.empty(), sets.empty_frontier()
    check_states = [SearchState(propagation, winner, k_mark_in_check, shared) for winner in Side]
    chase_states: list[SearchState] = []
    chase_rules, converter = rule_set.chase_rules, make_converter(layout, sets.frame)
    if rule_set.known_rules.judges_chases:
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
