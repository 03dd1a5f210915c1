"""Compare the referee of repetitions with pyffish's, and find the rule clause behind a difference.

pyffish (Fairy-Stockfish, AXF rules) is independent, but known to differ from the rule book in
diagram D105. A clause is a switch of `tests.oracles.naive_referee.Clauses`. For each disagreement
the naive referee judges again with one, two or three clauses switched off. If that gives pyffish's
verdict, the clauses explain the difference. A loop is a series of moves that leads back to its
first position.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import combinations

from tbgen.indexing import Move, Position
from tbgen.referee import judge
from tests.helpers.loops import random_loop
from tests.oracles import naive_referee
from tests.oracles.fairy_stockfish import repetition_verdict

CLAUSES = (
    "answered",
    "new",
    "check_only",
    "common_victim",
    "free_chasers",
    "xray",
    "legal_captures",
    "legal_roots",
    "standing_check",
    "same_attacker",
    "exchanges",
    "minor_chases",
    "root_cuts",
)
UNEXPLAINED = "unexplained"


@dataclass
class Agreement:
    """Result of a comparison of tbgen's referee with pyffish's on random loops.

    `loops` is the number of loops. `verdicts` counts the loops by tbgen's verdict, and
    `differences` counts the disagreements by cause. A cause is the names of the clauses that
    explain a disagreement, joined by `+`, or `UNEXPLAINED`. `samples` has the disagreements of each
    cause as (first position, loop, tbgen's verdict, pyffish's verdict).
    """

    loops: int = 0
    verdicts: Counter[str] = field(default_factory=Counter)
    differences: Counter[str] = field(default_factory=Counter)
    samples: dict[str, list[tuple[Position, list[Move], str, str]]] = field(
        default_factory=lambda: defaultdict(list)
    )


def compare(seed: int, loops: int) -> Agreement:
    """Judge a number of random loops with both referees, and compare the verdicts.

    Each loop is played twice, so that its first position occurs three times.
    """
    rng = random.Random(seed)
    result = Agreement()
    while result.loops < loops:
        found = random_loop(rng)
        if found is None:
            continue
        position, loop = found
        result.loops += 1
        ours = judge(position, loop * 2).verdict.text
        theirs = repetition_verdict(position, loop * 2)
        result.verdicts[ours] += 1
        if ours != theirs:
            cause = explain(position, loop, theirs)
            result.differences[cause] += 1
            result.samples[cause].append((position, loop, ours, theirs))
    return result


def explain(position: Position, loop: list[Move], verdict: str) -> str:
    """Return the fewest clauses without which the naive referee gives pyffish's verdict on a loop.

    The names of up to three clauses are joined by `+`; `UNEXPLAINED` if three do not suffice. The
    loop leads from `position` back to it.
    """
    for size in (1, 2, 3):
        for names in combinations(CLAUSES, size):
            clauses = naive_referee.Clauses(**dict.fromkeys(names, False))
            both = naive_referee.levels(position, loop, clauses)
            if naive_referee.verdict(both) == verdict:
                return "+".join(names)
    return UNEXPLAINED
