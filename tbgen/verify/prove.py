"""The proof of one table: positions against their children, then patterns.

    gather the tables  ->  first pass over all slots  ->  patterns, order by order  ->  report

The order of work is fixed and ranges do not depend on the threads, so that the same table gives
the same report whatever their number.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tbgen.indexing import Side
from tbgen.indexing.material import Material
from tbgen.jit import compile_lock
from tbgen.tables.codes import CodeSpace, Outcome, Value
from tbgen.tables.names import Metric, Rules
from tbgen.verify.chases import ChasePatterns
from tbgen.verify.keys import MATE, value_of_key
from tbgen.verify.material_arrays import TOP, Arrays, Supporting, Table, gather
from tbgen.verify.move_kernels import make_scratch
from tbgen.verify.patterns import Patterns, Wrong
from tbgen.verify.prove_kernels import (
    CHECKED,
    FINDINGS,
    FIRST_BEST,
    FIRST_SIDE,
    FIRST_SLOT,
    FIRST_STORED,
    OFFENDERS,
    RESULTS,
    k_prove_rows,
)
from tbgen.verify.report import Finding, SideTotals, VerifyReport, describe

Progress = Callable[[str, int, int], None]
"""Called with the phase, and how much of how much of it is done."""

RANGE_SLOTS = 1 << 16
"""Slots per task, about: short enough for progress, and for lists of nodes to stay small."""


def no_progress(phase: str, done: int, total: int) -> None:
    """Report to nobody."""


@dataclass(frozen=True)
class FirstPass:
    """What the first pass found, over all ranges.

    A node is 2 * slot + side to move. `offenders` and `checked_wins` are ascending;
    `first_orders` goes with `offenders`.
    """

    findings: int
    first: tuple[int, int, int, int] | None
    """Slot, side, stored key and best key of the first finding."""
    offenders: NDArray[np.int64]
    first_orders: NDArray[np.int64]
    checked_wins: NDArray[np.int64]


def verify(
    table: Table,
    supporting: Supporting,
    *,
    rules: Rules,
    orders_limit: int | None = None,
    minor_chases: bool = True,
    threads: int = 2,
    report: Progress = no_progress,
) -> VerifyReport:
    """Prove every position of a table, given that its supporting tables are right.

    supporting : opens the table of any material that a capture leads to and that needs one, of
        the same rules and limit on orders
    minor_chases : under `wxf`, whether advisors and elephants chase protected rooks, knights and
        cannons
    """
    start = time.monotonic()
    report("load", 0, 1)
    arrays = gather(table, supporting, rules)
    found = _run_first_pass(arrays, table, threads, report)
    first = None
    if found.first is not None:
        slot, side, stored, best = found.first
        values = _value(stored), _value(best)
        reason = f"{describe(values[0])} is stored, {describe(values[1])} is the best of its moves"
        first = Finding(_fen(table, slot, side), *values, reason)
    wrong: list[Wrong] = []
    orders = 0
    chases: ChasePatterns | None = None
    if rules == Rules.WXF:
        chases = ChasePatterns(
            arrays, table.layout, minor_chases=minor_chases, threads=threads, report=report
        )
    if rules != Rules.NONE:
        wrong, orders = _check_patterns(arrays, table, found, chases, orders_limit, threads, report)
    if wrong and first is None:
        first = _describe_wrong(table, wrong[0])
    histograms = _count(arrays, table.code_space)
    by_chase = [0 if chases is None else int((chases.claims % 2 == side).sum()) for side in Side]
    return VerifyReport(
        material=Material(*table.layout.armies).name,
        rules=str(rules),
        metric=str(Metric(table.metric)),
        minor_chases=minor_chases if rules == Rules.WXF else None,
        orders_limit=orders_limit,
        index_size=table.layout.slots,
        red_to_move=_totals(histograms[Side.RED], table.code_space, by_chase[Side.RED]),
        black_to_move=_totals(histograms[Side.BLACK], table.code_space, by_chase[Side.BLACK]),
        offenders_examined=len(found.offenders),
        chasers_examined=0 if chases is None else len(chases.numbers),
        orders_examined=orders,
        complete=orders_limit is None,
        findings=found.findings + len(wrong),
        first=first,
        file_problems=(),
        histograms=histograms,
        chase_patterns={} if chases is None else chases.count_claims(),
        seconds=time.monotonic() - start,
    )


def _run_first_pass(arrays: Arrays, table: Table, threads: int, report: Progress) -> FirstPass:
    """Prove all rows, in ranges, and put together what they found."""
    layout = table.layout
    step = max(1, RANGE_SLOTS // layout.inner_size)

    def prove(row_0: int) -> tuple[NDArray[np.int64], ...]:
        row_1 = min(row_0 + step, layout.rows)
        nodes = 2 * (row_1 - row_0) * layout.inner_size
        offenders, first_orders, checked = (np.empty(nodes, np.int64) for _ in range(3))
        result = np.zeros(RESULTS, np.int64)
        k_prove_rows(
            row_0, row_1, layout.mids, *arrays, offenders, first_orders, checked,
            *make_scratch(len(layout.piece_codes)), result,
        )  # fmt: skip
        count = result[OFFENDERS]
        return (
            result,
            offenders[:count].copy(),
            first_orders[:count].copy(),
            checked[: result[CHECKED]].copy(),
        )

    with compile_lock():
        prove_nothing = np.empty(0, np.int64)
        k_prove_rows(
            0, 0, layout.mids, *arrays, prove_nothing, prove_nothing, prove_nothing,
            *make_scratch(len(layout.piece_codes)), np.zeros(RESULTS, np.int64),
        )  # fmt: skip
    parts = []
    with ThreadPoolExecutor(threads) as pool:
        starts = range(0, layout.rows, step)
        for done, part in enumerate(pool.map(prove, starts), start=1):
            parts.append(part)
            report("positions", min(done * step, layout.rows), layout.rows)
    results = np.array([part[0] for part in parts])
    first = None
    refuted = results[results[:, FINDINGS] > 0]
    if len(refuted):
        slot, side, stored, best = (
            int(refuted[0, column]) for column in (FIRST_SLOT, FIRST_SIDE, FIRST_STORED, FIRST_BEST)
        )
        first = slot, side, stored, best
    return FirstPass(
        int(results[:, FINDINGS].sum()),
        first,
        np.concatenate([part[1] for part in parts]),
        np.concatenate([part[2] for part in parts]),
        np.concatenate([part[3] for part in parts]),
    )


def _check_patterns(
    arrays: Arrays,
    table: Table,
    found: FirstPass,
    chases: ChasePatterns | None,
    orders_limit: int | None,
    threads: int,
    report: Progress,
) -> tuple[list[Wrong], int]:
    """Search the patterns of every order: who is refuted, and how many orders were searched."""
    report("patterns", 0, 1)
    patterns = Patterns(
        arrays, table.layout, found.offenders, found.first_orders, found.checked_wins, threads
    )
    searches: list[Patterns | ChasePatterns] = [patterns]
    if chases is not None:
        searches.append(chases)
    wrong: list[Wrong] = []
    if orders_limit is None:
        orders = max(search.last_order for search in searches) + 1
    else:
        orders = orders_limit
        for search in searches:
            wrong += search.check_limit(orders_limit)
    for order in range(1, orders + 1):
        for search in searches:
            wrong += search.check_order(order)
        report("patterns", order, orders)
    # A pattern that the table lacks shows up again at every later order.
    first_of_node: dict[int, Wrong] = {}
    for entry in wrong:
        first_of_node.setdefault(entry.node, entry)
    return list(first_of_node.values()), orders


def _value(key: int) -> Value | None:
    """The value of a key; keys beyond mate come from codes that stand for no value."""
    return value_of_key(key) if abs(key) <= MATE else None


def _fen(table: Table, slot: int, side: int) -> str:
    """The FEN of a position that was judged."""
    position = table.layout.position(slot, Side(side))
    assert position is not None
    return position.fen


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


def _count(arrays: Arrays, space: CodeSpace) -> tuple[dict[int, int], dict[int, int]]:
    """How many positions have each code, Red to move and Black to move."""
    line = arrays.tables[0]
    assert line[TOP] == space.top
    slots = (line[1] - line[0]) // space.width
    histograms = []
    for side in Side:
        plane = arrays.codes[line[side] :][: slots * space.width]
        counts: dict[int, int] = {}
        # In pieces: numpy's counting makes 64-bit copies.
        for first in range(0, slots, 1 << 22):
            part = plane[first * space.width : (first + (1 << 22)) * space.width]
            words = np.ascontiguousarray(part).view(np.dtype(space.dtype).newbyteorder("<"))
            for code, n in zip(*np.unique(words, return_counts=True), strict=True):
                if code:
                    counts[int(code)] = counts.get(int(code), 0) + int(n)
        histograms.append(dict(sorted(counts.items())))
    return histograms[0], histograms[1]


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
