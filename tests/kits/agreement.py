"""Agreement of pyffish's referee, and the clause of the rules behind each difference.

pyffish (Fairy-Stockfish, AXF rules) is independent, but not the law: it is known to differ from
the rule book (D105). For each disagreement the slow referee is asked again with one clause
switched off, or two, or three; if that gives pyffish's verdict, it is the explanation.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import combinations

from tbgen.indexing import Move, Position
from tbgen.referee import judge
from tests.kits.loops import random_loop
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
    """The outcome of a comparison; samples are (position, loop, our verdict, theirs)."""

    loops: int = 0
    verdicts: Counter[str] = field(default_factory=Counter)
    differences: Counter[str] = field(default_factory=Counter)
    samples: dict[str, list[tuple[Position, list[Move], str, str]]] = field(
        default_factory=lambda: defaultdict(list)
    )


def compare(seed: int, loops: int) -> Agreement:
    """Judge random loops, three occurrences each, with both referees."""
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
    """The fewest clauses (up to three) without which the rules give this verdict."""
    for size in (1, 2, 3):
        for names in combinations(CLAUSES, size):
            clauses = naive_referee.Clauses(**dict.fromkeys(names, False))
            both = naive_referee.levels(position, loop, clauses)
            if naive_referee.verdict(both) == verdict:
                return "+".join(names)
    return UNEXPLAINED
