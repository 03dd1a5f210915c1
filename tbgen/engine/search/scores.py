"""Score of a search: one number that orders all kinds of results, best first.

    band            a win is worth              is
    mate            MATE - plies                proven by the moves
    table           TABLE_WIN - plies           a win by mate or conversion in a table
    rules           RULE_WIN - orders, plies    a win by the repetition rules in a table
    verdict         VERDICT_WIN - plies         a repetition that the referee gives to this side
    proof           PROVEN_WIN                  a win that a graph proves (`proving`), no matter how
    evaluation      at most MAX_EVALUATION      a guess

The preference of `tbgen.play.preference` (mate and conversion before the rules, then the lower
order, then the shorter way), with the verdicts of the search behind. Plies are counted from the
root of the search; a loss is the negative. Plain numbers: nothing here imports numba.
"""

from __future__ import annotations

from tbgen.indexing.scalar import scalar

INFINITE = 2_000_000
"""More than any score."""
MATE = 1_000_000
TABLE_WIN = 900_000
RULE_WIN = 800_000
VERDICT_WIN = 300_000
PROVEN_WIN = VERDICT_WIN - 500
MAX_EVALUATION = 30_000
UNKNOWN = -(1 << 40)
"""No score: nothing is known, so search."""
DRAW = 0

ORDER_STEP = 10_000
MAX_ORDER = 40
"""Orders and plies beyond these are not told apart: RULE_WIN - 40 steps stays above VERDICT_WIN."""
MAX_TABLE_PLIES = 50_000
MAX_RULE_PLIES = 9_000

_SHOWN_TABLE, _SHOWN_RULES, _SHOWN_VERDICT = 25_000, 22_000, 20_000
"""Centipawns shown for a win that is no mate: protocols know mates and centipawns only."""


def is_decided(score: int) -> bool:
    """Return whether a score is decided: a mate, a table's win or a verdict, or its loss."""
    return abs(score) > MAX_EVALUATION


@scalar
def of_table(outcome: int, order: int, plies: int, mates: bool) -> int:
    """The score of a table's value, seen from the position itself.

    outcome : int; 1, 0 or -1
    order, plies : int
    mates : bool; the table counts to mate: a value of order 0 is a mate in so many plies
    """
    if outcome == 0:
        return DRAW
    if order == 0:
        size = (MATE if mates else TABLE_WIN) - min(plies, MAX_TABLE_PLIES)
    else:
        size = RULE_WIN - ORDER_STEP * min(order, MAX_ORDER) - min(plies, MAX_RULE_PLIES)
    return size if outcome > 0 else -size


def mate_plies(score: int) -> int | None:
    """In how many plies a score mates (negative: is mated); None where it does not say so."""
    if abs(score) <= TABLE_WIN:
        return None
    return MATE - score if score > 0 else -(MATE + score)


def centipawns(score: int) -> int:
    """Return centipawns for a score that is no mate: decided wins as large numbers, in order."""
    size = abs(score)
    if size <= MAX_EVALUATION:
        # Guesses stay below what is known.
        shown = min(size, _SHOWN_VERDICT - 1_000)
    elif size <= VERDICT_WIN:
        shown = _SHOWN_VERDICT - (VERDICT_WIN - size)
    elif size <= RULE_WIN:
        shown = _SHOWN_RULES - (RULE_WIN - size) // ORDER_STEP
    else:
        shown = _SHOWN_TABLE - min(TABLE_WIN - size, 2_000)
    return shown if score > 0 else -shown
