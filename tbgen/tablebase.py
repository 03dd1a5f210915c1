"""The tablebase that knows the rules: positions in; values, moves and lines out.

    Position  ->  legal?  ->  tbgen.tables.Tablebase  ->  value
              ->  legal moves, each probed  ->  sorted (`preference`)  ->  chosen (`choice`)

Plain Python over the scalar rules: nothing here imports numba, and nothing prints.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tbgen.choice import choose
from tbgen.indexing import Position, PositionError
from tbgen.indexing.squares import EMPTY
from tbgen.preference import RootMove, equally_good
from tbgen.rules import check_legal, in_check, is_terminal, legal_moves
from tbgen.tables import (
    IllegalPositionError,
    Metric,
    MissingTableError,
    Outcome,
    ProbeResult,
    Rules,
    Tablebase,
)
from tbgen.tables.cache import DEFAULT_CACHE_BYTES
from tbgen.tables.tablebase import DEFAULT_MAX_OPEN

if TYPE_CHECKING:
    from tbgen.mainline import Mainline


class GameTablebase(Tablebase):
    """A `tbgen.tables.Tablebase` that refuses illegal positions, and plays.

    Every method that takes a position raises `IllegalPositionError` for one that cannot arise
    (the kings face each other, or the side not to move is in check), beside what
    `Tablebase.probe` raises. A position without a legal move is lost in 0 plies whether there is
    a table for it or not.
    """

    def probe(self, position: Position) -> ProbeResult:
        """The value of a position for the side to move."""
        _require_legal(position)
        return self._probe_legal(position)

    def probe_many(self, positions: Iterable[Position]) -> list[ProbeResult]:
        """The values of many positions, in their order; raises like `probe`."""
        checked = list(positions)
        for position in checked:
            _require_legal(position)
        return super().probe_many(checked)

    def probe_root(self, position: Position) -> list[RootMove]:
        """Every legal move with the value of the position it leads to, best first.

        Where that position's table is missing the move's outcome is None; the table of the
        position itself must be there. No moves: the side to move has lost. Raises like `probe`.
        """
        return self.probe_with_moves(position)[1]

    def probe_with_moves(self, position: Position) -> tuple[ProbeResult, list[RootMove]]:
        """What `probe` and `probe_root` say, for the price of one."""
        root = self.probe(position)
        moves = []
        for move in legal_moves(position):
            after = position.after(*move)
            capture = position.board[move.target] != EMPTY
            result, missing = None, None
            try:
                result = self._probe_legal(after)
            except MissingTableError as error:
                missing = error.material
            moves.append(
                RootMove(
                    move,
                    after,
                    result,
                    converts=capture and root.metric == Metric.DTC,
                    capture=capture,
                    check=in_check(after),
                    missing=missing,
                )
            )
        moves.sort(key=lambda move: move.sort_key)
        best = equally_good(root, moves)
        return root, [replace(move, best=True) if move in best else move for move in moves]

    def best_move(self, position: Position, history: Sequence[Position] = ()) -> RootMove | None:
        """A move that keeps the value of the position; None if there is no legal move.

        `history` has the positions of the game before this one, oldest first. A winner makes
        progress with every move: a lower order, or the same order and a shorter distance, or a
        conversion; where the opponent is already forced to repeat for ever (value 255), a move
        that keeps him there without becoming an offender as grave. A loser resists as long as he
        can. A side that draws never becomes the greater offender: it makes an idle move, or is
        on the shortest way to one, or to what else breaks its run of offences; the history says
        what that run is (`tbgen.safety`). Raises like `probe`.
        """
        root, moves = self.probe_with_moves(position)
        return choose(self, position, root, moves, history)

    def mainline(self, position: Position, plies: int | None = None) -> Mainline:
        """Best play of both sides to the end, or for so many plies; raises like `probe`."""
        from tbgen.mainline import follow

        return follow(self, position, plies)

    def _probe_legal(self, position: Position) -> ProbeResult:
        try:
            return super().probe(position)
        except MissingTableError:
            if not is_terminal(position):
                raise
        rule_set = self.rule_set
        return ProbeResult(
            Outcome.LOSS, 0, 0, 0, position.material, rule_set.rules, None, rule_set.minor_chases
        )


def open_tablebase(
    path: Path | str,
    *,
    rules: Rules | str | None = None,
    orders: int | None = None,
    minor_chases: bool | None = None,
    metric: Metric | str | None = None,
    cache_bytes: int = DEFAULT_CACHE_BYTES,
    max_open: int = DEFAULT_MAX_OPEN,
) -> GameTablebase:
    """Open the tables of a directory for probing and play.

    `rules` ("none", "check", "wxf"), `orders` (a limit on orders, 0 for none) and `minor_chases`
    (whether an advisor or elephant that attacks a protected rook, knight or cannon chases it) may
    be left out where the directory has one rule set; `metric` ("dtm", "dtc") where no material has
    two tables of it. Decoded blocks take at most `cache_bytes`, and at most `max_open` files are
    open.

    >>> with open_tablebase("egtb") as tables:  # doctest: +SKIP
    ...     tables.best_move(Position.from_fen("4k4/9/9/9/9/9/9/9/9/R3K4 w")).move.iccs
    'a0a9'

    Raises `OSError` if there is no such directory. All methods may be used from several threads.
    """
    return GameTablebase.open(
        path,
        rules=rules,
        orders=orders,
        minor_chases=minor_chases,
        metric=metric,
        cache_bytes=cache_bytes,
        max_open=max_open,
    )


def _require_legal(position: Position) -> None:
    try:
        check_legal(position)
    except PositionError as error:
        raise IllegalPositionError(position.fen, str(error)) from error
