"""Forced perpetual checks on a game graph (Fang, Hsu & Hsu 2002, section 5.1).

The search is for one prospective winner W against one offender O, on the undecided nodes:

    loss candidate  O to move; every move is won for W already, or checks into a win candidate
    win candidate   W to move, in check; some move leads to a loss candidate
                    (or leaves the graph for a position lost by the rules)

The pattern is the greatest such set from which W can also, endlessly, make moves without check;
otherwise both sides check perpetually, which is a draw (docs/values.md, "Patterns, exactly"). The
graph is abstract: nodes with a side to move and a mark on those in check, the moves between them,
and exits: moves that leave the graph for a decided position (in the tables: captures). A move to a
node marked `in_check` is a check.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

WIN, DRAW, LOSS = 1, 0, -1


class Verdict(NamedTuple):
    """Value of a position, for its side to move.

    Order 0: `value` is the number of plies to the end. Order k >= 1: decided by the rules, and
    `value` is 255 less the plies to a direct win by the repetition rules. A draw is `(DRAW, 0, 0)`.
    """

    outcome: int
    order: int = 0
    value: int = 0

    @property
    def plies(self) -> int:
        """Plies to the end at order 0, else to a direct win by the repetition rules."""
        return self.value if self.order == 0 else 255 - self.value


@dataclass
class Game:
    """A graph of positions of one material: side to move, checks, and moves between the positions.

    The lists are indexed by node. Sides are 0 (Red) and 1; `moves` lists the nodes that moves lead
    to. `exits` has the verdicts of positions outside the graph, by the node that a move leads from.
    """

    side: Sequence[int]
    in_check: Sequence[bool]
    moves: Sequence[Sequence[int]]
    exits: dict[int, list[Verdict]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.side)

    def predecessors(self) -> list[list[int]]:
        """Return for each node the nodes from which a move leads to it, each once per move."""
        before: list[list[int]] = [[] for _ in self.side]
        for node, targets in enumerate(self.moves):
            for target in targets:
                before[target].append(node)
        return before


class Pattern(NamedTuple):
    """Nodes of a pattern: `wins` with the winner to move, `losses` with the offender."""

    wins: frozenset[int]
    losses: frozenset[int]


def find_pattern(
    game: Game, known: Sequence[Verdict | None], winner: int, order: int, nodes: Iterable[int]
) -> Pattern:
    """Return the pattern of checks that `winner` wins, among the undecided `nodes`.

    known : verdicts found so far, None where undecided
    order : order of the present round; exits with a higher order count in a later round
    """
    undecided = [node for node in nodes if known[node] is None]
    wins = {node for node in undecided if game.side[node] == winner and game.in_check[node]}
    losses = {
        child
        for node in wins
        for child in game.moves[node]
        if known[child] is None and _no_way_out(game, known, child, wins, order)
    }
    while True:
        wins, losses = _prune(game, known, wins, losses, order)
        productive_wins, productive_losses = _not_for_ever_checking(
            game, known, wins, losses, order
        )
        if productive_wins == wins and productive_losses == losses:
            return Pattern(frozenset(wins), frozenset(losses))
        wins, losses = productive_wins, productive_losses


def _no_way_out(
    game: Game, known: Sequence[Verdict | None], node: int, wins: set[int], order: int
) -> bool:
    """Return whether every move of the offender at a node loses, so that it is a loss candidate.

    A losing move checks into `wins`, leads to a known win of W, or exits to one up to `order`.
    """
    for child in game.moves[node]:
        if child in wins:  # a win candidate is in check, so this move was one
            continue
        verdict = known[child]
        if verdict is None or verdict.outcome != WIN:
            return False
    return all(
        verdict.outcome == WIN and verdict.order <= order for verdict in game.exits.get(node, ())
    )


def _exits_to_a_rule_loss(game: Game, node: int, order: int) -> bool:
    """Return whether W has an exit to a loss of O by repetition, of order 1 to `order`."""
    return any(
        verdict.outcome == LOSS and 1 <= verdict.order <= order
        for verdict in game.exits.get(node, ())
    )


def _prune(
    game: Game, known: Sequence[Verdict | None], wins: set[int], losses: set[int], order: int
) -> tuple[set[int], set[int]]:
    """Remove candidates that do not meet the module's conditions, until nothing changes.

    Returns the remaining win candidates and loss candidates.
    """
    while True:
        kept_losses = {n for n in losses if _no_way_out(game, known, n, wins, order)}
        kept_wins = {
            n
            for n in wins
            if any(child in kept_losses for child in game.moves[n])
            or _exits_to_a_rule_loss(game, n, order)
        }
        if len(kept_losses) == len(losses) and len(kept_wins) == len(wins):
            return wins, losses
        wins, losses = kept_wins, kept_losses


def _not_for_ever_checking(
    game: Game, known: Sequence[Verdict | None], wins: set[int], losses: set[int], order: int
) -> tuple[set[int], set[int]]:
    """Return the candidates (wins, losses) from which W can force a move of W without check.

    All moves up to that one stay within the candidates.

    The set is a least fixpoint. It starts with the win candidates that have a move without check
    to a loss candidate, or an exit to a rule loss. A loss candidate is added when all its checks
    lead into the set. A win candidate is added when a check leads to such a loss candidate.
    """
    done_wins: set[int] = set()
    done_losses: set[int] = set()
    while True:
        more_losses = {
            n
            for n in losses - done_losses
            if all(child in done_wins for child in game.moves[n] if child in wins)
        }
        more_wins = {
            n
            for n in wins - done_wins
            if _exits_to_a_rule_loss(game, n, order)
            or any(
                child in done_losses or (child in losses and not game.in_check[child])
                for child in game.moves[n]
            )
        }
        if not more_losses and not more_wins:
            return done_wins, done_losses
        done_losses |= more_losses
        done_wins |= more_wins
