"""Phase 4: candidates for direct wins by the rules: initialise, prune, final phase.

On what is still unknown, for a would-be winner and an offender (the *attacking* and the
*defending* side of Fang, Hsu & Hsu 2002, section 5.1):

    win candidates    the winner is to move, and the offender's last move can have been an offence
    loss candidates   the offender is to move, and every move leads to a win candidate or to a win

    initialise   find both; a position may be of both kinds, one for either winner (*dual status*)
    prune        a win candidate without a move into a loss candidate,
                 a loss candidate with a move into what is neither a win candidate nor won,
                 until nothing changes: the greatest fixpoint
    declare      the final phase: the win candidates that are left are direct wins

What counts as won are order 0, the orders before this one, and captures into supporting tables'
wins up to this order. Which offence is meant, and what else a pattern asks of its candidates, is
for `perpetual_check.py` and `chase/search.py` to say.

Only direct wins are written down, as seeds for the propagation, which the paper numbers 255
(`tbgen.tables.codes.DIRECT_WIN`). The loss candidates that lead to them, its 254, follow in the
next step of the propagation like all losses, since all their moves lose by then.

    Memory    what the searches for one winner and offence know, order after order
    Search    one of them: the candidates at one order
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tbgen.indexing.squares import Side
from tbgen.retrograde.propagation import Propagation
from tbgen.rows.records import Log, PackedRows, Records
from tbgen.rows.sets import Frontier, Rows
from tbgen.tables.codes import Outcome, Value

Mark = Callable[..., None]
"""`mark(lead_0, lead_1, side, within, found, frame)`: a kernel that makes `found` the positions of
`within` (Rows) with `side` to move after which the opponent's last move can have been the
offence, whatever the order."""


class Memory:
    """What a winner's searches for one offence know, order after order.

    Nearly all of the offender's positions have an escape out of the pattern, and fail for good.
    They are looked at once: a later order begins with those that did not fail (`open`), and
    those with a move into what has been won since.
    """

    def __init__(
        self, propagation: Propagation, winner: Side, mark: Mark, room: tuple[Rows, Rows]
    ) -> None:
        """Nothing is known yet.

        room : two sets to work on, which all searches may share
        """
        self.propagation = propagation
        self.winner, self.offender = winner, winner.other
        self.mark = mark
        self.room = room
        self.offending: PackedRows | None = None
        """The winner's positions after which the offence is possible, once they are known."""
        self.open: PackedRows | None = None
        """Where loss candidates may be: other positions need something to be won that was not."""
        self.won = Log()
        """What the winner has won since the last search."""
        propagation.logs[winner].append(self.won)

    @contextmanager
    def search(self, order: int) -> Iterator[Search]:
        """A search at one order, to be initialised; at its end it is remembered.

        Meanwhile the frontiers of the propagation, which are idle between orders, are lent to
        the search, and captures that lose at this order count as lost. Both end with the search.
        """
        p = self.propagation
        with p.lending_frontiers() as frontiers, p.expecting_losses(self.offender, order):
            search = Search(self, order, frontiers)
            yield search
            self.open = p.sets.packed(search.open)


class Search:
    """The candidates for one winner and offence at one order.

    win_candidates, loss_candidates : what has not been pruned
    live : the winner's positions that are no win by this order, known or by a capture; only they
        can be candidates
    escapes : the winner's positions that save the offender: neither known to be won nor, any
        longer, candidates
    open : the offender's positions that had no escape to begin with, and do not fail by
        themselves: where the next order looks for loss candidates
    """

    def __init__(self, memory: Memory, order: int, frontiers: list[Frontier]) -> None:
        """Take four frontiers, with anything on them."""
        self.order = order
        self.propagation, self.sets = memory.propagation, memory.propagation.sets
        self.winner, self.offender = memory.winner, memory.offender
        self.win_candidates, self.loss_candidates, *self._idle = frontiers
        self.open, self.escapes = memory.room
        self._memory = memory
        self.sweep = memory.propagation.sweep
        self.live = self._expect_wins()

    def _expect_wins(self) -> Rows:
        """`live`: captures that wait for this order count as won already."""
        p = self.propagation
        live = unwon = p.unwon[self.winner]
        for records in p.waiting_for(self.winner, self.order, Outcome.WIN):
            if live is unwon:
                live = self.sets.copied(unwon)
            self.sets.remove(records, live)
            self._memory.won.add_all(records)
        return live

    @property
    def captures_win(self) -> bool:
        """Whether captures of the winner come to win at this order."""
        return self.live is not self.propagation.unwon[self.winner]

    @contextmanager
    def frontier(self) -> Iterator[Frontier]:
        """One of the two idle frontiers, with anything on it, to work on for a while."""
        front = self._idle.pop()
        try:
            yield front
        finally:
            self._idle.append(front)

    def initialise(self, lost: Records | None = None, *, captures_wait: bool) -> None:
        """Find the candidates of both kinds, as many as there may be.

        lost : the offender's positions that another search of this order has shown to be lost;
            they need no more looking at
        captures_wait : what only a capture wins is won when its ply has come; until then it is an
            escape, unless the offender's move to it is the offence
        """
        memory, sets = self._memory, self.sets
        won, unknown = memory.won.take(), self.propagation.unknown[self.winner]
        losable = self.propagation.losable[self.offender]
        if memory.open is None or memory.offending is None:
            sets.copy(losable, self.open)
            sets.over(memory.mark, int(self.winner), unknown, self.win_candidates)
            memory.offending = sets.packed(self.win_candidates.rows)
        else:
            self._reopen(memory.open, won, losable)
            sets.put(memory.offending, self.win_candidates, within=unknown)
        if lost is not None:
            sets.remove(lost, self.open)
        sets.difference(self.live, self.win_candidates.rows, self.escapes)
        self.sweep(self.offender, None, self.open, self.loss_candidates, self.escapes)
        sets.copy(self.loss_candidates.rows, self.open)
        if self.captures_win:
            if captures_wait:
                unwon = self.propagation.unwon[self.winner]
                sets.difference(unwon, self.win_candidates.rows, self.escapes)
            sets.intersect(self.live, self.win_candidates.rows)

    def _reopen(self, known: PackedRows, won: Records, losable: Rows) -> None:
        """Find where loss candidates may be: known places, and those with a new way to lose.

        That is a move into what has been won since, or a capture that loses since this order.
        """
        p, sets = self.propagation, self.sets
        with self.frontier() as newly_won, self.frontier() as newly_losing:
            sets.put(won, newly_won)
            self.sweep(self.offender, newly_won, losable, newly_losing)
            sets.copy(newly_losing.rows, self.open)
        sets.add(known, self.open)
        for records in p.waiting_for(self.offender, self.order, Outcome.LOSS):
            sets.add(records, self.open, within=p.unknown[self.offender])
        sets.intersect(losable, self.open)

    def prune(self) -> None:
        """Prune to the greatest fixpoint, looking at all candidates that are left first.

        Where few losses are left this is quick; spreading what was pruned would take full plies.
        """
        wins, losses = self.win_candidates.rows, self.loss_candidates.rows
        with self.frontier() as pruned_wins:
            self.sweep(self.winner, None, wins, pruned_wins, losses)
            self.sets.transfer(pruned_wins, wins, self.escapes)
        with self.frontier() as pruned_losses:
            with self.frontier() as kept_losses:
                self.sweep(self.offender, None, losses, kept_losses, self.escapes)
                self.sets.put_difference(losses, kept_losses.rows, pruned_losses)
            self.prune_losses(pruned_losses)

    def prune_wins(self, pruned_wins: Frontier) -> bool:
        """Prune the win candidates on a frontier, and what falls with them; whether any are."""
        if not self.sets.transfer(pruned_wins, self.win_candidates.rows, self.escapes):
            return False
        with self.frontier() as pruned_losses:
            self.sweep(self.offender, pruned_wins, self.loss_candidates.rows, pruned_losses)
            self._spread(pruned_wins, pruned_losses)
        return True

    def prune_losses(self, pruned_losses: Frontier) -> None:
        """Prune the loss candidates on a frontier, and what falls with them."""
        with self.frontier() as pruned_wins:
            self._spread(pruned_wins, pruned_losses)

    def _spread(self, pruned_wins: Frontier, pruned_losses: Frontier) -> None:
        """Prune the losses on a frontier, the wins without another loss, the losses that ..."""
        wins, losses = self.win_candidates.rows, self.loss_candidates.rows
        while self.sets.transfer(pruned_losses, losses):
            self.sweep(self.winner, pruned_losses, wins, pruned_wins, losses)
            if not self.sets.transfer(pruned_wins, wins, self.escapes):
                break
            self.sweep(self.offender, pruned_wins, losses, pruned_losses)

    def drop_losses(self, failed: Frontier) -> None:
        """Take away loss candidates that fail by themselves, for later orders too.

        As a rule they are so many that what falls with them is left to `prune`.
        """
        self.sets.transfer(failed, self.open)
        self.sets.transfer(failed, self.loss_candidates.rows)

    def declare(self, wins: Frontier) -> None:
        """The final phase: make win candidates direct wins; from now on they are no escapes."""
        p, winner = self.propagation, self.winner
        if self.sets.transfer(wins, p.unwon[winner]):
            self.sets.transfer(wins, p.losable[winner])
            p.seed(winner, wins.rows, Value(Outcome.WIN, self.order, 0))
