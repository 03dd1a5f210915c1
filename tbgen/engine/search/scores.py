"""Results of the search, and scores: one integer that orders all kinds of results.

    band            score of a win              meaning
    mate            MATE - plies                mate found by the search, or for the root in a table
    table           TABLE_WIN - plies           other win by mate or conversion in a table
    rules           RULE_WIN - ORDER_STEP * order - plies
                                                win by the repetition rules in a table
    verdict         VERDICT_WIN - plies         repetition that the referee decides for this side
    proof           PROVEN_WIN                  win proven by a graph (`proof_search`), any length
    evaluation      at most MAX_EVALUATION      estimate

Plies are counted from the root of the search; a loss has the negative score of a win. A score is
*decided* if it is a win or a loss of any band but the last. Values of tables are in the order of
`tbgen.play.preference`.
"""

from __future__ import annotations

from dataclasses import dataclass

from tbgen.indexing import Move
from tbgen.system.scalar import scalar

INFINITE = 2_000_000
"""Larger than any score."""
MATE = 1_000_000
TABLE_WIN = 900_000
RULE_WIN = 800_000
VERDICT_WIN = 300_000
PROVEN_WIN = VERDICT_WIN - 500
MAX_EVALUATION = 30_000
UNKNOWN = -(1 << 40)
"""Value in place of a score that is not known: the position must be searched."""
DRAW = 0

ORDER_STEP = 10_000
MAX_ORDER = 40
"""Maximum order in a score; a larger one counts as this one. `MAX_TABLE_PLIES` and `MAX_RULE_PLIES`
limit the plies likewise, so that the bands of scores do not overlap.
"""
MAX_TABLE_PLIES = 50_000
MAX_RULE_PLIES = 9_000

_SHOWN_TABLE, _SHOWN_RULES, _SHOWN_VERDICT = 25_000, 22_000, 20_000
"""Largest centipawns reported for wins of the bands table, rules, and verdict or proof."""


@dataclass(frozen=True, slots=True)
class Line:
    """A principal variation: its moves, and its score for the side to move (`scores`)."""

    score: int
    moves: tuple[Move, ...]


@dataclass(frozen=True, slots=True)
class Iteration:
    """Result of a search to one depth; numbers count from the start of the search.

    `lines` are the best lines, the best first. `deepest` is the maximum ply reached, `table_hits`
    the number of positions valued by tables, `filled` the number of used entries among the first
    thousand of the hash table. `judged` is the number of repetitions that the referee judged, and
    `spared` the number of these that were draws and caused a cutoff.
    """

    depth: int
    deepest: int
    lines: tuple[Line, ...]
    nodes: int
    table_hits: int
    filled: int
    judged: int = 0
    spared: int = 0


def is_decided(score: int) -> bool:
    """Return whether a score is a win or loss by mate, table, verdict or proof."""
    return abs(score) > MAX_EVALUATION


@scalar
def score_of_value(outcome: int, order: int, plies: int, mates: bool) -> int:
    """Return the score of a position from its table value, with plies counted from that position.

    outcome : int; 1, 0 or -1
    order, plies : int; of the value; larger ones count as `MAX_ORDER`, `MAX_TABLE_PLIES` or
        `MAX_RULE_PLIES`
    mates : bool; whether plies of order 0 count to mate (DTM); the score is then in the band mate
    """
    if outcome == 0:
        return DRAW
    if order == 0:
        size = (MATE if mates else TABLE_WIN) - min(plies, MAX_TABLE_PLIES)
    else:
        size = RULE_WIN - ORDER_STEP * min(order, MAX_ORDER) - min(plies, MAX_RULE_PLIES)
    return size if outcome > 0 else -size


def mate_plies(score: int) -> int | None:
    """Return the plies to mate, negative for a loss, 0 if mated; None outside the band of mates."""
    if abs(score) <= TABLE_WIN:
        return None
    return MATE - score if score > 0 else -(MATE + score)


def centipawns(score: int) -> int:
    """Return the centipawns to report, monotonic, for a score outside the band of mates."""
    size = abs(score)
    if size <= MAX_EVALUATION:  # estimates stay below decided scores
        shown = min(size, _SHOWN_VERDICT - 1_000)
    elif size <= VERDICT_WIN:
        shown = _SHOWN_VERDICT - (VERDICT_WIN - size)
    elif size <= RULE_WIN:
        shown = _SHOWN_RULES - (RULE_WIN - size) // ORDER_STEP
    else:
        shown = _SHOWN_TABLE - min(TABLE_WIN - size, 2_000)
    return shown if score > 0 else -shown
