"""The proof position by position: the oracle of the proof by rows.

The scalar witness of the product (`tbgen.verify.positions`), asked of every node of a table, and
then the same patterns: with everything open as what may belong to one. It knows neither rows nor
completed planes; the planes are translated as they are, holes and all.
"""

from __future__ import annotations

import numpy as np

from tbgen.indexing import Side
from tbgen.tables.names import RuleSet
from tbgen.verify.forward.first_pass import FirstPass
from tbgen.verify.keys import DECIDED_BY_RULES, MATE, ORDER
from tbgen.verify.loading import gather
from tbgen.verify.positions import BEST, EXISTS, IS_CHECKED, IS_WRONG, STORED, examine
from tbgen.verify.prove import conclude
from tbgen.verify.report import VerifyReport, no_progress
from tests.kits.verifykit import believe


def prove_by_positions(table, supporting, rule_set: RuleSet, threads: int = 1) -> VerifyReport:
    """The report of a proof that looks at every position by itself; without a sample."""
    loaded = gather(table, supporting, rule_set)
    arrays = loaded.arrays
    slots = table.layout.slots
    places = believe(loaded)
    nodes = np.arange(2 * slots)
    testimony = examine(nodes, arrays, threads)
    exists = testimony[:, EXISTS] != 0
    nodes, testimony = nodes[exists], testimony[exists]
    stored, checked = testimony[:, STORED], testimony[:, IS_CHECKED] != 0
    is_open = np.abs(stored) <= DECIDED_BY_RULES
    is_win = is_open & (stored > 0)
    wrong = np.flatnonzero(testimony[:, IS_WRONG])
    first = None
    if len(wrong):
        first = (int(nodes[wrong[0]]), *testimony[wrong[0], [STORED, BEST]].tolist())
    seek = arrays.seek_patterns
    direct = is_win & ~checked & ((MATE - stored) % ORDER == 0) & arrays.seek_chases
    place = places[nodes % 2 * slots + nodes // 2]
    counts = [
        np.bincount(place[nodes % 2 == side], minlength=max(map(len, loaded.codes)))
        for side in Side
    ]
    found = FirstPass(
        len(wrong),
        first,
        checkers=nodes[is_open & seek],
        checked_wins=nodes[is_win & checked & seek],
        chasers=nodes[is_open & arrays.seek_chases],
        claims=nodes[direct],
        held_draws=nodes[:0],
        counts=np.array(counts),
    )
    return conclude(table, loaded, found, rule_set, threads, no_progress)
