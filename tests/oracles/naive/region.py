"""Naive solution of some positions, with the values of all others given.

Replacing other positions by their values does not change the value of a position. So any set of
positions can be solved, and rule decisions can be compared in materials too large for `solver`.
Only outcomes are compared: orders depend on rounds over all positions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from .chase_patterns import Chasing
from .chases import TERMS
from .movegen import SIDES, Board, Move, after, from_fen, in_check, legal_moves, other, to_fen
from .patterns import Game, Verdict
from .retrograde import decide


class Region:
    """Graph of some positions of a material, the region, with the outcomes of all others given."""

    def __init__(self, fens: Iterable[str], outside: Callable[[str], int]) -> None:
        """Generate the moves between the positions, and the exits to positions outside the region.

        outside : function (FEN) that returns the outcome of a position outside the region
        """
        self.fens = list(fens)
        self.positions = [from_fen(fen) for fen in self.fens]
        self._nodes = {
            (frozenset(board.items()), side): node
            for node, (board, side) in enumerate(self.positions)
        }
        self.game = Game(
            side=[SIDES.index(side) for _, side in self.positions],
            in_check=[in_check(board, side) for board, side in self.positions],
            moves=[[] for _ in self.positions],
        )
        for node, (board, side) in enumerate(self.positions):
            for move in legal_moves(board, side):
                goal = self.after(board, move)
                if goal is not None:
                    self.game.moves[node].append(goal[0])
                else:
                    outcome = outside(to_fen(after(board, move), other(side)))
                    self.game.exits.setdefault(node, []).append(Verdict(outcome))

    def board(self, node: int) -> Board:
        """Return the board of position number `node`."""
        return self.positions[node][0]

    def after(self, board: Board, move: Move) -> tuple[int, bool] | None:
        """Return (node after a move, False); None if the position after the move is outside.

        False: the region has no mirror images, unlike `solver.Table`.
        """
        side = "b" if board[move[0]].isupper() else "w"
        node = self._nodes.get((frozenset(after(board, move).items()), side))
        return None if node is None else (node, False)

    def outcomes(self, rules: str) -> dict[str, int]:
        """Return the outcome of each position by FEN, under `check` or one of `chases.TERMS`."""
        chases = []
        if rules in TERMS:
            chases = [Chasing(self, self.game, winner, TERMS[rules]) for winner in (0, 1)]
        verdicts = decide(self.game, checks_lose=True, chases=chases)
        return {fen: verdict.outcome for fen, verdict in zip(self.fens, verdicts, strict=True)}
