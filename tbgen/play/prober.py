"""Probing with the rules: values of legal positions, and of every move from them.

Position  ->  legal?  ->  tbgen.tables.Tablebase  ->  value
          ->  legal moves, each probed  ->  sorted (`preference`)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from tbgen.indexing import Position, PositionError, as_position
from tbgen.indexing.squares import EMPTY
from tbgen.play.preference import RootMove, equally_good
from tbgen.rules import check_legal, in_check, is_terminal, legal_moves
from tbgen.tables import (
    IllegalPositionError,
    Metric,
    MissingTableError,
    Outcome,
    ProbeResult,
    Tablebase,
)


class Prober(Tablebase):
    """A `tbgen.tables.Tablebase` that rejects illegal positions and can probe all legal moves.

    Every method that takes a `Position` or FEN raises `IllegalPositionError` for an illegal one:
    the kings face each other, or the side not to move is in check. Methods that take arrays of
    boards do not test this. A position without a legal move is lost in 0 plies, even without a
    table.
    """

    def probe(self, position: Position | str) -> ProbeResult:
        """Return the value of a position for the side to move; raises like `Tablebase.probe`."""
        return self._probe_legal(_legal(position))

    def probe_many(self, positions: Iterable[Position | str]) -> list[ProbeResult]:
        """Return the values of many positions, in their order; raises like `probe`."""
        checked = list(map(_legal, positions))
        try:
            return super().probe_many(checked)
        except MissingTableError:
            return list(map(self._probe_legal, checked))

    def probe_wdl(self, position: Position | str) -> Outcome:
        """Return the outcome of a position for the side to move; raises like `probe`."""
        return super().probe_wdl(_legal(position))

    def probe_root(self, position: Position | str) -> list[RootMove]:
        """Return every legal move with the value of the position it leads to, best first.

        The outcome of a move is None if the table of the position after it is missing, unless the
        move ends the game. If a table is missing, perhaps no move is marked as best
        (docs/values.md, "Best moves"). The list is empty if the side to move has no legal move;
        otherwise the table of the position itself is needed, too. Raises like `probe`.
        """
        return self.probe_with_moves(position)[1]

    def probe_with_moves(self, position: Position | str) -> tuple[ProbeResult, list[RootMove]]:
        """Return the results of `probe` and of `probe_root`, computed together."""
        position = _legal(position)
        root = self._probe_legal(position)
        moves = []
        for move in legal_moves(position):
            after = position.after(*move)
            capture = position.board[move.target] != EMPTY
            result, missing = None, None
            try:
                result = self._probe_legal(after)
            except MissingTableError as error:
                missing = error.material
            converts = capture and root.metric == Metric.DTC
            check = in_check(after)
            moves.append(RootMove(move, after, result, converts, capture, check, missing))
        moves.sort(key=lambda move: move.sort_key)
        best = equally_good(root, moves)
        return root, [replace(move, best=True) if move in best else move for move in moves]

    def _probe_legal(self, position: Position) -> ProbeResult:
        """Return the value of a legal position: a loss if it has neither a table nor a move."""
        try:
            return super().probe(position)
        except MissingTableError:
            if not is_terminal(position):
                raise
        return ProbeResult(Outcome.LOSS, 0, 0, 0, position.material, self.rule_set, None)


def _legal(position: Position | str) -> Position:
    """Return a position, parsed if it is text; raises `IllegalPositionError` if it is illegal."""
    position = as_position(position)
    try:
        check_legal(position)
    except PositionError as error:
        raise IllegalPositionError(position.fen, error.message) from error
    return position
