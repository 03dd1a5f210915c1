"""Tablebase for play: values (`prober`), moves (`choice`) and lines (`mainline`) of positions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tbgen.indexing import Position, as_position
from tbgen.indexing.errors import integer
from tbgen.play.choice import choose
from tbgen.play.mainline import Mainline, follow_best_moves
from tbgen.play.preference import RootMove
from tbgen.play.prober import Prober
from tbgen.tables import Metric, Rules
from tbgen.tables.cache import DEFAULT_CACHE_BYTES
from tbgen.tables.tablebase import DEFAULT_MAX_OPEN


class GameTablebase(Prober):
    """A `Prober` with best moves and lines; its methods raise the errors of `Prober`."""

    def best_move(
        self, position: Position | str, history: Sequence[Position | str] = ()
    ) -> RootMove | None:
        """Return a move that keeps the outcome of the position; None if there is no legal move.

        history : positions of the game before this one, oldest first

        - A winner makes progress with every move: a lower order, the same order and a shorter
          distance, or a conversion. A move into a repetition that is judged as no win is replaced
          by another winning move.
        - In a direct win, the move keeps the opponent in the repetition, without an offence as
          grave by the winner.
        - A loser takes the longest resistance.
        - A side that draws avoids becoming the greater offender (`tbgen.play.safety`): it makes an
          idle move (no check, no chase), or a move on the shortest way to one, or breaks its run
          of offences, which is found in `history`.

        Raises like `probe`, and `MissingTableError` if no move with a value is best
        (docs/values.md, "Best moves") and several moves lead to missing tables.
        """
        position = as_position(position)
        root, moves = self.probe_with_moves(position)
        return choose(self, position, root, moves, list(map(as_position, history)))

    def mainline(self, position: Position | str, plies: int | None = None) -> Mainline:
        """Return best play of both sides to the end, or for at most `plies` plies.

        Raises like `probe`; but a table that is missing after the first position ends the line.
        Raises `InputError` if `plies` is no integer.
        """
        plies = None if plies is None else integer(plies, "plies")
        return follow_best_moves(self, as_position(position), plies)


def open_tablebase(
    path: Path | str | None = None,
    *,
    rules: Rules | str | None = None,
    orders: int | None = None,
    minor_chases: bool | None = None,
    metric: Metric | str | None = None,
    cache_bytes: int = DEFAULT_CACHE_BYTES,
    max_open: int = DEFAULT_MAX_OPEN,
) -> GameTablebase:
    """Open the tables of a directory for probing and play.

    path : the directory; None for $TBGEN_TABLES or else `egtb`
    rules : name of the rules ("none", "check", "wxf", ...)
    orders : limit on orders, 0 for tables without a limit
    minor_chases : whether an advisor or elephant that attacks a protected rook, knight or cannon
        chases it
    metric : "dtm" or "dtc", preferred where a material has tables of both
    cache_bytes : maximum bytes of decoded blocks
    max_open : maximum number of open files

    `rules`, `orders` and `minor_chases` may be left out where the directory has one rule set,
    `metric` where no material has tables of both; a single table is used whatever its metric.

    >>> with open_tablebase("egtb") as tables:  # doctest: +SKIP
    ...     tables.best_move("3k5/9/9/9/9/9/9/9/9/R3K4 w").move.iccs
    'a0a8'

    Raises `OSError` if there is no such directory, and `InputError` for an empty path, unknown
    rules, an unknown metric, an impossible limit on orders, or `minor_chases` False under rules
    without this choice.
    If several rule sets are admitted, probing raises `RulesMismatchError`. All methods may be
    called from several threads.
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
