"""Driver of the proof of one table: every position against its moves, then the patterns.

    gather the tables  ->  passes over all positions  ->  patterns, order by order  ->  report

Tasks, their order and so the report (except `seconds`) do not depend on the number of threads.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tbgen.compiling.jit import compiling_seconds
from tbgen.indexing import Side
from tbgen.indexing.material import Material
from tbgen.system.platform import trim_process
from tbgen.tables.codes import CodeSpace, Outcome, Value
from tbgen.tables.names import Metric
from tbgen.tables.rule_sets import RuleSet
from tbgen.verify.arrays import NO_NODES, Arrays, Palette, Supporting, Table, gather
from tbgen.verify.candidates import find_candidates, mark_planes
from tbgen.verify.chase_patterns import ChasePatterns
from tbgen.verify.checks import CheckPatterns
from tbgen.verify.index import Index
from tbgen.verify.moves import split_nodes, stored_orders
from tbgen.verify.passes import Candidates, Compared, Passes
from tbgen.verify.report import (
    ALL_PATTERNS,
    PATTERNS,
    Finding,
    Progress,
    Refuted,
    SideTotals,
    VerifyReport,
    describe,
    fen_of,
    no_progress,
)
from tbgen.verify.values import NEVER, key_of_code, orders_of_keys, value_of_key


def verify(
    table: Table,
    supporting: Supporting,
    *,
    rule_set: RuleSet,
    threads: int = 2,
    progress: Progress = no_progress,
    plain: bool = False,
    counts_all: bool = True,
    memory: int | None = None,
    folder: Path | None = None,
) -> VerifyReport:
    """Prove every position of a table, assuming that its supporting tables are right.

    supporting : opens the supporting table of a material; called only for materials that need one
    rule_set : the rules that the values must satisfy; with a limit on orders, draws are not
        searched for patterns of higher orders
    plain : whether to examine single positions instead of rows, and to search patterns among all
        open positions instead of candidates: same findings, several times slower
    counts_all : whether a finding leads to another search, among all open positions, which takes
        many times as long; without it the report may lack further findings
    memory : bytes, None for no limit; planes that do not fit are kept in unnamed files
    folder : directory of those files, by default the system's temporary directory

    Raises `InputError` if the rules are None (unknown), `LimitExceededError` for more values than
    16-bit ranks can tell apart, `OSError` if the disk is full, `MemoryError` if the limits of the
    process leave too little for the threads, and the errors of `supporting` and of the tables.
    """
    start, start_compiling = time.monotonic(), compiling_seconds()
    progress("load", 0, 1)
    trim_process()
    arrays, marks, palettes, captures = gather(table, supporting, rule_set, memory, folder)
    passes = Passes(table.layout, threads, progress)
    compared, draws = passes.compare(arrays, captures, plain=plain)
    searched = _PatternResults(refuted=(), orders=0, offenders=0, chasers=0)
    if arrays.judges_checks:
        search = partial(_search, passes.index, compared, rule_set, threads)
        is_refuted = compared.findings > 0
        if not plain and not is_refuted:
            arrays = mark_planes(passes, arrays, marks)
            candidates = find_candidates(passes, arrays, draws, marks)
            del draws
            searched = search(partial(progress, PATTERNS), arrays, candidates)
            is_refuted = len(searched.refuted) > 0
        # If a stored value is wrong, candidates may be missing.
        if plain or (is_refuted and counts_all):
            phase = ALL_PATTERNS if is_refuted else PATTERNS
            searched = search(partial(progress, phase), *passes.all_candidates(arrays))
    trim_process()
    report = _make_report(table, palettes, arrays, compared, searched, rule_set)
    compiling = compiling_seconds() - start_compiling
    return replace(report, seconds=time.monotonic() - start - compiling)


class _PatternResults(NamedTuple):
    """Result of the search for perpetual checks and chases; all are 0 or empty without a search."""

    refuted: Sequence[Refuted]
    orders: int
    """Number of orders examined."""
    offenders: int
    """Number of positions whose side to move may check for ever (`CheckPatterns.offenders`)."""
    chasers: int
    """Number of chasers: pairs of a position and a piece that its moves may chase for ever."""


def _search(
    index: Index,
    compared: Compared,
    rule_set: RuleSet,
    threads: int,
    progress: Callable[[int, int], None],
    arrays: Arrays,
    candidates: Candidates,
) -> _PatternResults:
    """Search the candidates for perpetual checks and chases, order by order.

    Each refuted position is returned once, with the lowest order that refutes it. With a limit on
    orders, stored direct wins of higher orders are refuted, too; they come first, with that order.

    progress : called with the number of orders done, and the number of all orders
    """
    progress(0, 1)
    trim_process()
    checks = CheckPatterns(arrays, index, candidates.offenders, candidates.checked, threads)
    searches: list[CheckPatterns | ChasePatterns] = [checks]
    chasers = 0
    if arrays.judges_chases:
        # Load the kernels first, and drop the compiler's pages, before the lists are made.
        trim_process()
        empty = ChasePatterns(arrays, index, split_nodes(NO_NODES), NO_NODES, 1)
        trim_process()
        empty.check_order(1)
        trim_process()
        chases = ChasePatterns(arrays, index, candidates.chasers, compared.chase_claims, threads)
        searches.append(chases)
        chasers = len(chases.numbers)
    # The keys of this table and its supporting tables; rank 0 is no position.
    occurring = orders_of_keys(arrays.values.keys[:, 1:])
    orders = rule_set.orders or int(occurring[occurring < NEVER].max(initial=0)) + 1
    refuted: list[Refuted] = []
    if rule_set.orders:
        refuted += [
            Refuted(node, order, is_pattern=False, by_chase=by_chase)
            for nodes, by_chase in ((compared.check_claims, False), (compared.chase_claims, True))
            for node, order in zip(nodes.tolist(), stored_orders(nodes, arrays), strict=True)
            if order > orders
        ]
    for order in range(1, orders + 1):
        for search in searches:
            refuted += search.check_order(order)
        progress(order, orders)
    # A missing pattern is found again at every later order.
    first_of_node: dict[int, Refuted] = {}
    for entry in refuted:
        first_of_node.setdefault(entry.node, entry)
    found = [*first_of_node.values()]
    return _PatternResults(found, orders, checks.offenders, chasers)


def _make_report(
    table: Table,
    palettes: Sequence[Palette],
    arrays: Arrays,
    compared: Compared,
    searched: _PatternResults,
    rule_set: RuleSet,
) -> VerifyReport:
    """Return the report of a proof, with a duration of 0 that the caller replaces."""
    first = None
    if compared.first is not None:
        node, *keys = compared.first
        stored, best = map(value_of_key, keys)
        reason = f"{describe(stored)} is stored, {describe(best)} is the best of its moves"
        first = Finding(fen_of(table.layout, node), stored, best, reason)
    elif searched.refuted:
        first = _describe_refuted(table, searched.refuted[0])
    claims = compared.chase_claims
    orders, counts = np.unique(stored_orders(claims, arrays), return_counts=True)
    red, black = (
        palette.count_codes(line) for palette, line in zip(palettes, compared.counts, strict=True)
    )
    totals = [
        _totals(histogram, table.code_space, int((claims % 2 == side).sum()))
        for side, histogram in enumerate((red, black))
    ]
    return VerifyReport(
        material=Material(*table.layout.armies).name,
        rules=str(rule_set.rules),
        metric=str(Metric(table.metric)),
        minor_chases=rule_set.choice,
        orders_limit=rule_set.orders,
        index_size=table.layout.slots,
        red_to_move=totals[Side.RED],
        black_to_move=totals[Side.BLACK],
        offenders_examined=searched.offenders,
        chasers_examined=searched.chasers,
        orders_examined=searched.orders,
        complete=not rule_set.orders,
        findings=compared.findings + len(searched.refuted),
        first=first,
        file_problems=(),
        histograms=(red, black),
        chase_patterns=dict(zip(orders.tolist(), counts.tolist(), strict=True)),
        seconds=0.0,
    )


def _stored_key(table: Table, node: int) -> int:
    """Return the key of the value that a table stores for a node."""
    (slot, side), space = divmod(node, 2), table.code_space
    for number in range(table.tiles(side)):
        for first, codes in table.tile(side, number, lambda codes: codes):
            if first <= slot < first + len(codes):
                return key_of_code(int(codes[slot - first]), space.top, space.draw, space.span)
    raise IndexError(f"a table has no slot {slot}")


def _describe_refuted(table: Table, refuted: Refuted) -> Finding:
    """Return the finding for a position whose stored value a pattern refutes."""
    # Marks have no distances, so read the table.
    stored = value_of_key(_stored_key(table, refuted.node))
    fen = fen_of(table.layout, refuted.node)
    if not refuted.is_pattern:
        offence = "chase" if refuted.by_chase else "check"
        reason = f"{describe(stored)} is stored, but it is in no perpetual {offence} of that order"
        return Finding(fen, stored, None, reason)
    expected = Value(Outcome.WIN, refuted.order)
    return Finding(
        fen, stored, expected, f"{describe(stored)} is stored, but it is {describe(expected)}"
    )


def _totals(histogram: dict[int, int], space: CodeSpace, by_chase: int) -> SideTotals:
    """Return the counts of positions with one side to move.

    histogram : positions by stored code; by_chase : number of direct wins by chase among them
    """
    outcomes = dict.fromkeys(Outcome, 0)
    rule_decided = direct = 0
    for code, n in histogram.items():
        value = space.decode(code)
        outcomes[value.outcome] += n
        rule_decided += n if value.order else 0
        direct += n if value.order and value.plies == 0 else 0
    return SideTotals(
        sum(outcomes.values()), outcomes[Outcome.WIN], outcomes[Outcome.DRAW],
        outcomes[Outcome.LOSS], rule_decided, direct,
        direct - by_chase, by_chase,
    )  # fmt: skip
