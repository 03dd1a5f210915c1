"""The driver: the proof of one table, positions against their children, then patterns.

    gather the tables  ->  first pass, by rows  ->  patterns, order by order  ->  sample  ->  report

The order of work is fixed and ranges do not depend on the threads, so that the same table gives
the same report whatever their number. How rows, patterns and a sample are proven is in `forward`,
`checks`, `chase` and `positions`; here is only what follows from it for the report.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.trimming import trim_process
from tbgen.indexing import Side
from tbgen.indexing.material import Material
from tbgen.indexing.rulesets import Rules
from tbgen.tables.codes import CodeSpace, LimitExceededError, Outcome, Value
from tbgen.tables.names import Metric, RuleSet
from tbgen.verify.arrays import NOBODY, Arrays, Numbers
from tbgen.verify.chase.patterns import ChasePatterns
from tbgen.verify.chase.sieve import sift
from tbgen.verify.checks import Patterns
from tbgen.verify.forward.first_pass import FirstPass, Passes
from tbgen.verify.keys import MATE, NEVER, orders_of_keys, value_of_key
from tbgen.verify.loading import Loaded, Stated, gather, gather_views, state_nothing
from tbgen.verify.planes import Supporting, Table
from tbgen.verify.positions import (
    BEST,
    EXISTS,
    IS_WRONG,
    STORED,
    TESTIMONY_COLUMNS,
    examine,
)
from tbgen.verify.ranks import keys_of_palette
from tbgen.verify.report import (
    Finding,
    Progress,
    SideTotals,
    VerifyReport,
    Wrong,
    describe,
    no_progress,
)
from tbgen.verify.sample import choose_sample
from tbgen.verify.warm_up import warm_up

SAMPLE = 10_000
"""Positions that are proven again by the scalar rules, about."""


def verify(
    table: Table,
    supporting: Supporting,
    *,
    rule_set: RuleSet,
    threads: int = 2,
    report: Progress = no_progress,
    sample: int = SAMPLE,
    memory: int | None = None,
    folder: Path | None = None,
    stated: Stated = state_nothing,
) -> VerifyReport:
    """Prove every position of a table, given that its supporting tables are right.

    supporting : opens the table of any material that a capture leads to and that needs one, of
        the same rule set
    rule_set : what the values are to hold under; with a limit on orders, draws are not searched
        for patterns of orders beyond it
    sample : how many positions are proven again by the scalar rules, about
    memory : bytes; planes for which there is none left are kept in files without names
    folder : where that file is, by default where the system keeps temporary files
    stated : the codes that tables are said to have; it saves reading some of them once more

    Raises `InputError` for a rule set without rules, and what `supporting` raises.
    """
    start = time.monotonic()
    prove = partial(
        _prove, table, supporting, rule_set, threads, report, sample, memory, folder, stated
    )
    # A limit on orders leaves draws that are none, which the argument for rows does not know.
    by_rows = rule_set.rules not in (None, Rules.NONE) and not rule_set.orders
    if by_rows:
        assert rule_set.rules is not None
        report("compile", 0, 1)
        warm_up(rule_set.rules, memory)
    proof = prove(by_rows=by_rows)
    if by_rows and not proof.ok:
        proof = prove(by_rows=False)
    return replace(proof, seconds=time.monotonic() - start)


def _prove(
    table: Table,
    supporting: Supporting,
    rule_set: RuleSet,
    threads: int,
    report: Progress,
    sample: int,
    memory: int | None,
    folder: Path | None,
    stated: Stated,
    *,
    by_rows: bool,
) -> VerifyReport:
    """The report, without seconds.

    by_rows : let rows settle most checks; if anything is refuted then, findings may be missing
    """
    report("load", 0, 1)
    trim_process()
    tables = table, supporting, rule_set, memory, folder
    views = gather_views(*tables, stated=stated) if by_rows else iter([gather(*tables)])
    parts = _look_at(table, views, threads, report, sample, list_checks=not by_rows)
    loaded, passes, found, nodes, testimony = _put_together(parts, table.code_space)
    parts.clear()
    if by_rows and not found.findings:
        arrays, found = passes.settle(found)
        loaded = loaded._replace(arrays=arrays)
        trim_process()
    if loaded.arrays.seek_chases:
        report("sieve", 0, 1)
        left = sift(found.chasers, found.claims, loaded.arrays, passes.index, threads)
        found = replace(found, chasers=left)
    trim_process()
    proof = conclude(table, loaded, found, rule_set, threads, report)
    return _hear_witness(table, nodes, testimony, proof)


class _Part(NamedTuple):
    """What a view has shown."""

    loaded: Loaded
    passes: Passes
    found: FirstPass
    nodes: Numbers
    """int64 (n,): the sample."""
    testimony: NDArray[np.int64]
    """int64 (n, TESTIMONY_COLUMNS)."""


def _look_at(
    table: Table,
    views: Iterable[Loaded],
    threads: int,
    report: Progress,
    sample: int,
    *,
    list_checks: bool,
) -> list[_Part]:
    """Prove all rows in each view, and what is sampled of what it tells by the scalar rules.

    list_checks : whether to list what may have to do with perpetual checks
    """
    parts: list[_Part] = []
    nodes, testimony = NOBODY, np.empty((0, TESTIMONY_COLUMNS), np.int64)
    for loaded in views:
        passes = Passes(loaded.arrays, table.layout, threads, report)
        found = passes.prove(list_checks=list_checks)
        if sample:
            report("sample", 0, 1)
            if not parts:
                # Chosen by outcome and order, which every view knows.
                nodes = choose_sample(loaded.arrays, found.counts, sample, threads)
            testimony = examine(nodes, loaded.arrays, threads)
        told = loaded.view.tells(orders_of_keys(testimony[:, STORED]))
        parts.append(_Part(loaded, passes, found, nodes[told], testimony[told]))
    return parts


def _put_together(parts: list[_Part], space: CodeSpace) -> _Part:
    """What all views have shown: the last one, with what the others have found and counted.

    Its places are those of the values that views tell, one view after another. So each position is
    counted once, which is made sure of here, however views were chosen.
    """
    codes, counts = [], []
    for side in Side:
        told_codes, told_counts, positions = [], [], []
        for part in parts:
            own = part.loaded.codes[side]
            line = part.found.counts[side, : len(own)]
            told = part.loaded.view.tells(orders_of_keys(keys_of_palette(own, space)))
            told_codes.append(own[told])
            told_counts.append(line[told])
            positions.append(int(line.sum()))
        codes.append(np.concatenate(told_codes))
        counts.append(np.concatenate(told_counts))
        if set(positions) != {int(counts[side].sum())}:
            raise LimitExceededError("a table has values that no view tells")
    nodes = np.concatenate([part.nodes for part in parts])
    order = np.argsort(nodes)
    first = [part.found.first for part in parts if part.found.first is not None]
    last = parts[-1]
    found = replace(
        last.found,
        findings=sum(part.found.findings for part in parts),
        first=min(first, default=None),
        counts=np.stack([np.pad(line, (0, max(map(len, counts)) - len(line))) for line in counts]),
    )
    testimony = np.concatenate([part.testimony for part in parts])
    return _Part(
        last.loaded._replace(codes=codes), last.passes, found, nodes[order], testimony[order]
    )


def _hear_witness(
    table: Table, nodes: Numbers, testimony: NDArray[np.int64], proof: VerifyReport
) -> VerifyReport:
    """What refutes a sample that the rows have not refuted is a finding too."""
    exists = testimony[:, EXISTS] != 0
    wrong = np.flatnonzero(exists & (testimony[:, IS_WRONG] != 0))
    proof = replace(proof, sampled=int(exists.sum()))
    if not len(wrong) or proof.findings:
        return proof
    stored, best = testimony[wrong[0], [STORED, BEST]].tolist()
    return replace(
        proof, findings=len(wrong), first=_describe_first(table, int(nodes[wrong[0]]), stored, best)
    )


def conclude(
    table: Table,
    loaded: Loaded,
    found: FirstPass,
    rule_set: RuleSet,
    threads: int,
    report: Progress,
) -> VerifyReport:
    """Search the patterns among what a first pass found, and say what was proven.

    The report counts neither seconds nor a sample.
    """
    arrays = loaded.arrays
    first = None if found.first is None else _describe_first(table, *found.first)
    wrong: list[Wrong] = []
    orders = offenders = 0
    chases = ChasePatterns(arrays, found, threads, report) if arrays.seek_chases else None
    if arrays.seek_patterns:
        report("patterns", 0, 1)
        checks = Patterns(arrays, found, threads)
        offenders = checks.offenders
        searches: list[Patterns | ChasePatterns] = [checks]
        if chases is not None:
            searches.append(chases)
        orders = rule_set.orders or _last_order(arrays) + 1
        wrong = _check_patterns(searches, orders, report, limited=bool(rule_set.orders))
    if wrong and first is None:
        first = _describe_wrong(table, wrong[0])
    space = table.code_space
    histograms = _histograms(found.counts, loaded.codes)
    by_chase = [0 if chases is None else int((chases.claims % 2 == side).sum()) for side in Side]
    return VerifyReport(
        material=Material(*table.layout.armies).name,
        rules=str(rule_set.rules),
        metric=str(Metric(table.metric)),
        minor_chases=rule_set.choice,
        orders_limit=rule_set.orders,
        index_size=table.layout.slots,
        red_to_move=_totals(histograms[Side.RED], space, by_chase[Side.RED]),
        black_to_move=_totals(histograms[Side.BLACK], space, by_chase[Side.BLACK]),
        offenders_examined=offenders,
        chasers_examined=0 if chases is None else len(chases.numbers),
        orders_examined=orders,
        complete=not rule_set.orders,
        findings=found.findings + len(wrong),
        first=first,
        file_problems=(),
        histograms=histograms,
        chase_patterns={} if chases is None else chases.count_claims(),
        sampled=0,
        seconds=0.0,
    )


def _last_order(arrays: Arrays) -> int:
    """The highest order of a value of this table or of a supporting one."""
    # The first rank is none.
    orders = orders_of_keys(arrays.values.keys[:, 1:])
    return int(orders[orders < NEVER].max(initial=0))


def _check_patterns(
    searches: list[Patterns | ChasePatterns], orders: int, report: Progress, *, limited: bool
) -> list[Wrong]:
    """Search the patterns of the first orders: who is refuted.

    limited : whether the table is meant to have no further orders
    """
    wrong: list[Wrong] = []
    if limited:
        for search in searches:
            wrong += search.check_limit(orders)
    for order in range(1, orders + 1):
        for search in searches:
            wrong += search.check_order(order)
        report("patterns", order, orders)
    # A pattern that the table lacks shows up again at every later order.
    first_of_node: dict[int, Wrong] = {}
    for entry in wrong:
        first_of_node.setdefault(entry.node, entry)
    return list(first_of_node.values())


def _value(key: int) -> Value | None:
    """The value of a key; keys beyond mate come from codes that stand for no value."""
    return value_of_key(key) if abs(key) <= MATE else None


def _fen(table: Table, slot: int, side: int) -> str:
    """The FEN of a position that was judged."""
    position = table.layout.position(slot, Side(side))
    assert position is not None
    return position.fen


def _describe_first(table: Table, node: int, stored: int, best: int) -> Finding:
    """The finding of a position whose value is not what its moves give; keys stored and best."""
    values = _value(stored), _value(best)
    reason = f"{describe(values[0])} is stored, {describe(values[1])} is the best of its moves"
    return Finding(_fen(table, *divmod(node, 2)), *values, reason)


def _describe_wrong(table: Table, wrong: Wrong) -> Finding:
    """The finding of a pattern that the table lacks, or has and should not."""
    stored = _value(wrong.stored)
    fen = _fen(table, *divmod(wrong.node, 2))
    if not wrong.is_pattern:
        offence = "chase" if wrong.by_chase else "check"
        reason = f"{describe(stored)} is stored, but it is in no perpetual {offence} of that order"
        return Finding(fen, stored, None, reason)
    expected = Value(Outcome.WIN, wrong.order)
    return Finding(
        fen, stored, expected, f"{describe(stored)} is stored, but it is {describe(expected)}"
    )


def _histograms(
    counts: NDArray[np.int64], codes: Sequence[NDArray[np.int64]]
) -> tuple[dict[int, int], dict[int, int]]:
    """How many positions have each code, Red to move and Black to move.

    Code 0 is no value, and not counted.
    """
    red, black = (
        dict(sorted((code, n) for code, n in zip(own.tolist(), line.tolist(), strict=False)
                    if code and n))
        for own, line in zip(codes, counts, strict=True)
    )  # fmt: skip
    return red, black


def _totals(histogram: dict[int, int], space: CodeSpace, by_chase: int) -> SideTotals:
    """The counts of one side, with so many direct wins by chase."""
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
