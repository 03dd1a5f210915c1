"""Retrograde propagation on a game graph: order 0 first, then one round for each order.

    round 0   positions without a move are lost in 0; wins and losses spread, nearest first
    round k   finds the patterns of both sides among the undecided positions. Wins of a pattern
              have distance 0. Distances spread in the same way, and are stored as 255 less the
              distance. Exits (moves out of the graph) with a verdict of order k join at the
              distance of that verdict.

One loop does both: it settles positions by increasing distance, a win when one move leads to a
loss, a loss when the last of its moves is known to be a win for the opponent. So a winner gets the
lower order, then the shorter distance; a loser the higher order, then the longer distance.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from .chase_patterns import Chasing
from .patterns import DRAW, LOSS, WIN, Game, Verdict, find_pattern


def decide(
    game: Game,
    *,
    checks_lose: bool,
    orders: int | None = None,
    chases: Sequence[Chasing] = (),
) -> list[Verdict]:
    """Return the verdict of every node, for its side to move.

    checks_lose : True if perpetual check loses; False if every endless play is a draw
    orders : maximum number of rounds after round 0; None to go on until a round changes nothing and
        no exit has a higher order
    chases : searches for perpetual chases, one for each winner; empty if chases do not lose
    """
    solver = _Propagation(game)
    solver.spread(0, direct_wins=())
    if checks_lose:
        last_exit_order = max((v.order for vs in game.exits.values() for v in vs), default=0)
        undecided = [node for node, verdict in enumerate(solver.known) if verdict is None]
        order = 0
        while orders is None or order < orders:
            order += 1
            patterns = [find_pattern(game, solver.known, w, order, undecided) for w in (0, 1)]
            seeds = [node for pattern in patterns for node in pattern.wins]
            # Checks first: positions that lose by checks are not searched for chases.
            lost = frozenset().union(*(pattern.losses for pattern in patterns))
            others = [node for node in undecided if node not in lost] if chases else []
            known = list(solver.known) if chases else []
            for node in seeds if chases else ():
                known[node] = Verdict(WIN, order, 255)
            for search in chases:
                seeds += search.wins(known, order, others)
            changed = solver.spread(order, seeds)
            if not changed and order >= last_exit_order:
                break
            undecided = [node for node in undecided if solver.known[node] is None]
    return [verdict if verdict is not None else Verdict(DRAW) for verdict in solver.known]


class _Propagation:
    """Verdicts found so far (`known`, None if undecided), and counters of moves (`unrefuted`).

    A node's counter is the number of its moves, exits included, that are not known to lose.
    """

    def __init__(self, game: Game) -> None:
        self.game = game
        self.before = game.predecessors()
        self.known: list[Verdict | None] = [None] * len(game)
        self.unrefuted = [
            len(moves) + len(game.exits.get(node, ())) for node, moves in enumerate(game.moves)
        ]

    def spread(self, order: int, direct_wins: Sequence[int]) -> bool:
        """Settle all positions of one order; return whether there was any.

        Starts with the nodes `direct_wins`, at order 0 with those that have no move.
        """
        # By distance, the exits (node, outcome of the verdict) to positions of this distance.
        arriving: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for node, verdicts in self.game.exits.items():
            for verdict in verdicts:
                if verdict.order == order and verdict.outcome != DRAW:
                    arriving[verdict.plies].append((node, verdict.outcome))
        settled: list[tuple[int, int]] = []
        if order == 0:
            settled = [
                (node, LOSS) for node, unrefuted in enumerate(self.unrefuted) if unrefuted == 0
            ]
        else:
            settled = [(node, WIN) for node in direct_wins]
        self._record(settled, order, plies=0)
        changed = bool(settled)
        plies = 0
        while settled or arriving:
            settled = self._parents(
                [*self._moves_into(settled), *arriving.pop(plies, ())], order, plies + 1
            )
            changed = changed or bool(settled)
            plies += 1
        return changed

    def _moves_into(self, settled: Iterable[tuple[int, int]]) -> Iterable[tuple[int, int]]:
        """Yield every move to a settled node as (its source node, the outcome it leads to)."""
        for node, outcome in settled:
            for parent in self.before[node]:
                yield parent, outcome

    def _parents(
        self, moves: Iterable[tuple[int, int]], order: int, plies: int
    ) -> list[tuple[int, int]]:
        """Decide nodes by their moves to settled positions; record and return (node, outcome).

        A node is won by a move to a loss, and lost when all its moves lead to wins of the opponent.

        moves : (node, outcome of the position that its move leads to)
        plies : distance of the nodes that are decided
        """
        settled: list[tuple[int, int]] = []
        for node, child_outcome in moves:
            if child_outcome == WIN:
                self.unrefuted[node] -= 1
            if self.known[node] is not None:
                continue
            if child_outcome == LOSS or self.unrefuted[node] == 0:
                settled.append((node, -child_outcome))
                self._record(settled[-1:], order, plies)
        return settled

    def _record(self, settled: Iterable[tuple[int, int]], order: int, plies: int) -> None:
        for node, outcome in settled:
            assert self.known[node] is None, "decided twice"
            self.known[node] = Verdict(outcome, order, plies if order == 0 else 255 - plies)
