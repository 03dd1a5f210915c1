# mypy: allow-untyped-calls
"""Driver of proofs that the side to move wins: start, continue, and use of a finished proof.

Proofs are tried with few pieces on the board, where wins by the repetition rules are frequent and
proofs small. A successful proof also gives the moves in later positions, even in a winning loop,
where a search would judge repetitions.

Parameter `state` of the methods: array (n,) of records (`state.STATE`), the first set up for a
search; the others are not used.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbgen.engine.search.graph import LOST, NODES, WON, Graph, new_graph, number_of
from tbgen.engine.search.proof_search import prove
from tbgen.engine.search.state import MAX_PLY, move_of_number
from tbgen.indexing import Move
from tbgen.probing import Buffers
from tbgen.referee.record import FIRST

FEW_MEN = 6
"""Maximum pieces on the board for a proof."""
_SHARE, _LATE_SHARE = 2, 8
"""Number of nodes that the proof search may use for each node of the ordinary search: `_SHARE` for
each of its first `_LATE_NODES` nodes, `_LATE_SHARE` for each later one, since the ordinary search
rarely finds a win that late.
"""
_LATE_NODES = 65_000
_LEAST_SEARCHED = 4_000
"""Least nodes of the ordinary search before a proof starts. So a near win is found with its
distance, which a proven win does not have.
"""
_MAX_NODES = 1 << 21
"""Maximum nodes of a proof: 216 MiB when full; unused memory is not allocated."""


class Prover:
    """Driver of one proof at a time; keeps the current one and the last that succeeded."""

    def __init__(self) -> None:
        self._graph: Graph | None = None  # of the current proof
        self._found: Graph | None = None  # of the last proof that succeeded
        self._inside = np.zeros(_MAX_NODES, np.int8)
        self._scratch = np.zeros((2, MAX_PLY), np.int64)
        self._nodes = 0  # nodes that the current proof has used

    def forget(self) -> None:
        """Discard the last successful proof: it may depend on other tables or rules."""
        self._found = None

    def warm_up(self, state: NDArray[np.void], buffers: Buffers) -> None:
        """Compile or load the kernel of the proof search; `state` is set up for any position."""
        prove(state, buffers, new_graph(_MAX_NODES), self._inside, self._scratch, 0)

    def begin(self, state: NDArray[np.void]) -> None:
        """Drop the current proof; with at most `FEW_MEN` pieces, start one for the side to move.

        Raises `MemoryError`.
        """
        self._graph, self._nodes = None, 0
        if state["men_left"][0, state["root"][0]] <= FEW_MEN:
            self._graph = new_graph(_MAX_NODES)

    def continue_proof(self, state: NDArray[np.void], buffers: Buffers) -> Move | None:
        """Continue the proof after an iteration of the search; return the winning move once proven.

        Returns None while the win is not proven, if no proof runs, and before the search has
        `_LEAST_SEARCHED` nodes. Drops a failed proof. `node_limit` of `state` limits the sum of the
        nodes of search and proof; `_SHARE` limits those of the proof.
        """
        searched = int(state["nodes"][0]) - self._nodes
        if self._graph is None or searched < _LEAST_SEARCHED:
            return None
        before = int(state["nodes"][0])
        share = _SHARE * searched + (_LATE_SHARE - _SHARE) * max(0, searched - _LATE_NODES)
        until = min(int(state["node_limit"][0]), before + max(0, share - self._nodes))
        status = prove(state, buffers, self._graph, self._inside, self._scratch, until)
        self._nodes += int(state["nodes"][0]) - before
        if status == WON:
            self._found = self._graph
            return winning_move(self._graph, 0)
        if status < 0:
            self._graph = None
        return None

    def least_to_prove(self) -> Move | None:
        """Return the root move with the smallest proof number.

        Returns None on a tie, if no proof runs, and before the root of the proof is expanded.
        """
        graph = self._graph
        if graph is None or graph.counts[NODES] == 0:
            return None
        left = sorted((int(child.proof), move) for child, move in _children(graph, 0))
        if not left or (left[1:] and left[0][0] == left[1][0]):
            return None
        return left[0][1]

    def known(self, state: NDArray[np.void]) -> Move | None:
        """Return the winning move of the last successful proof for the current position, or None.

        All positions of the game since the root of the proof must be won nodes of its graph. All
        earlier positions, back to the last capture or pawn's advance, must be missing from the
        graph or lost in it (as `prove` marks those before its root), so that the proof avoids them.
        """
        graph, root = self._found, int(state["root"][0])
        if graph is None:
            return None
        numbers = [int(number_of(graph, key)) for key in state["keys"][0, : root + 1]]
        statuses = [graph.nodes[number].status if number >= 0 else LOST for number in numbers]
        first_won = max((row + 1 for row in range(root + 1) if statuses[row] != WON), default=0)
        begin = next((row for row in range(first_won, root + 1) if numbers[row] == 0), None)
        if begin is None or graph.nodes[numbers[root]].defender:
            return None
        before = statuses[int(state["log"][0, root, FIRST]) : begin]
        reachable = any(status != LOST for status in before)
        return None if reachable else winning_move(graph, numbers[root])


def _children(graph: Graph, number: int) -> list[tuple[np.record, Move]]:
    """Return the children of a node with the moves to them; empty before expansion."""
    first = int(graph.nodes[number].first_edge)
    edges = range(first, first + int(graph.nodes[number].children))
    return [
        (graph.nodes[graph.children[edge]], move_of_number(graph.moves[edge])) for edge in edges
    ]


def winning_move(graph: Graph, number: int) -> Move | None:
    """Return the move to the child that was marked as won first; None if no child is won.

    Outside winning loops, the rank falls with each such move: play comes nearer to the win.
    """
    children = _children(graph, number)
    won = [(int(child.rank), move) for child, move in children if child.status == WON]
    return min(won)[1] if won else None
