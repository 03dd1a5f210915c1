"""Phase 4: candidates for direct wins by the rules, and their pruning, as sweeps.

On what is still unknown, for a would-be winner and an offender:

    win candidates    the winner is to move, and the offender's last move can have been an offence
    loss candidates   the offender is to move, and every move leads to a win candidate or to a win

    prune   a win candidate without a move into a loss candidate,
            a loss candidate with a move into what is neither a win candidate nor won,
            until nothing changes: the greatest fixpoint

(Fang, Hsu & Hsu, section 5.1.) What counts as won are order 0, the orders before this one, and
captures into supporting tables' wins up to this order. Which win candidates there are to begin
with is for the pattern to say: `check_pattern.py`, `chase_pattern.py`. Only direct wins are
written down; the losses that lead to them follow in the next step of the propagation like all
losses, since all their moves lose by then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tbgen.indexing.squares import Side
from tbgen.jit import borrowing_kernel
from tbgen.retrograde.bitsets import ONE, count_bits, lowest_bit
from tbgen.retrograde.frame import LEADS, MIDS, TWIN, canonical
from tbgen.retrograde.journal import Bytes, Log, PackedRows
from tbgen.retrograde.parallel import FEW_RANGES
from tbgen.retrograde.propagation import Propagation
from tbgen.retrograde.sweep import Frontier, Rows, clear_lead, put_row
from tbgen.tables.codes import Outcome, Value


@borrowing_kernel
def k_difference(lead_0, lead_1, members, others, found, frame):
    """Put members & ~others on `found`."""
    mids = frame.size[MIDS]
    for lead in range(lead_0, lead_1):
        clear_lead(lead, found, mids)
        for mid in range(mids):
            row = lead * mids + mid
            lo, hi = members[row, 0] & ~others[row, 0], members[row, 1] & ~others[row, 1]
            if lo | hi:
                put_row(lead, mid, lo, hi, found, mids)


@borrowing_kernel
def k_common(lead_0, lead_1, members, others, found, frame):
    """Put members & others on `found`."""
    mids = frame.size[MIDS]
    for lead in range(lead_0, lead_1):
        clear_lead(lead, found, mids)
        for mid in range(mids):
            row = lead * mids + mid
            lo, hi = members[row, 0] & others[row, 0], members[row, 1] & others[row, 1]
            if lo | hi:
                put_row(lead, mid, lo, hi, found, mids)


@borrowing_kernel
def _k_transfer(lead_0, lead_1, found, source, target, rows, mids):
    """Take what is on `found` out of `source`, and add it to `target` (which may be `found`).

    rows : int64 (leads,), out: the rows that hold any of it, counted at the range's first lead
    """
    moved = 0
    for lead in range(lead_0, lead_1):
        whole = found.counts[lead] > found.limit
        for i in range(mids if whole else found.counts[lead]):
            mid = np.int64(i) if whole else np.int64(found.listed[lead * found.limit + i])
            row = lead * mids + mid
            lo, hi = found.rows[row, 0], found.rows[row, 1]
            source[row, 0] &= ~lo
            source[row, 1] &= ~hi
            target[row, 0] |= lo
            target[row, 1] |= hi
            moved += 1 if lo | hi else 0
    rows[lead_0] = moved


@borrowing_kernel
def _k_count(lead_0, lead_1, members, counts, frame):
    """Count the positions of a set, mirror images and exchanged twins once.

    members : uint64 (rows, 2)
    counts : int64 (leads,), out: the number at the range's first lead
    """
    mids = frame.size[MIDS]
    for lead in range(lead_0, lead_1):
        redundant = frame.self_mirrored[lead] or frame.size[TWIN] >= 0
        for mid in range(mids):
            row = lead * mids + mid
            for word in range(2):
                bits = members[row, word]
                if not redundant:
                    counts[lead_0] += count_bits(bits)
                    continue
                while bits:
                    square = lowest_bit(bits) + 45 * word
                    bits &= bits - ONE
                    slot_mid, slot_square = canonical(lead, mid, square, frame)
                    if slot_mid == mid and slot_square == square:
                        counts[lead_0] += 1


class Known(NamedTuple):
    """What the search of an offence at one order leaves to the next, packed."""

    offending: PackedRows
    """The winner's positions before which the last move can have been the offence."""
    open: PackedRows
    """Where loss candidates may be; other ones need something to be won that was not."""


class Candidates:
    """The candidates of one winner, order after order.

    The frontiers of the propagation are idle between orders, and lend their rows: `wins` and
    `losses` hold the candidates, `gone_wins` and `gone_losses` what was pruned last. `live` are
    the winner's positions that are no win by this order, known or by a capture; only they can be
    candidates. `escapes` are those that save the offender: neither known to be won nor
    candidates.

    Nearly all of the offender's positions have an escape out of the pattern, and fail for good.
    They are looked at once: a later order begins with those that did not fail (`open`, for each
    kind of offence), and those with a move into what has been won since.
    """

    wins: Frontier
    losses: Frontier
    gone_wins: Frontier
    gone_losses: Frontier
    live: Rows

    def __init__(
        self, propagation: Propagation, winner: Side, offences: int, room: tuple[Rows, Rows]
    ) -> None:
        """Nothing is known yet of any offence.

        offences : how many kinds are searched at every order
        room : two sets to work on, which the searches of both winners may share
        """
        self.propagation = propagation
        self.winner, self.offender = winner, winner.other
        self.open, self.escapes = room
        self._known: list[Known | None] = [None] * offences
        self._won = [Log() for _ in range(offences)]
        """What the winner has won since the last search of each offence."""
        propagation.logs[winner].extend(self._won)
        self._beaten: PackedRows | None = None
        """The losses that an earlier search of this order has found."""

    def begin(self, order: int, offence: int, mark: Callable[..., None]) -> None:
        """Begin the search of one kind of offence at one order; the frontiers are lent.

        Captures that wait for this order count as won, or lost, already.
        mark : kernel that puts the positions of a set after which an offence is possible on
            `wins`, whatever the order
        """
        p, winner, offender = self.propagation, self.winner, self.offender
        self.order, self._offence = order, offence
        self.wins, self.losses = p.spare[winner], p.spare[offender]
        self.gone_wins, self.gone_losses = p.fronts[winner], p.fronts[offender]
        self._expect_losses()
        self.live = p.unwon[winner]
        if waiting := p.waiting_records(winner, order, Outcome.WIN):
            self.live = p.copied(self.live)
            p.mark(waiting, p.unknown[winner], self.live, present=False)
            self._won[offence].add_all(waiting)
        won = self._won[offence].take()
        known = self._known[offence]
        if known is None:
            p.copy(self.losable, self.open)
            self.over(mark, int(winner), p.unknown[winner], self.wins)
            self._offending = p.packed(self.wins.rows)
        else:
            self._reopen(known, won)
            self._offending = known.offending
            p.put_packed(self._offending, self.wins, p.unknown[winner])
        if self._beaten is not None:
            p.unpack(self._beaten, self.open, present=False)
            self._beaten = None

    def _expect_losses(self) -> None:
        """Count the offender's captures that lose at this order among the losable positions."""
        p, offender, order = self.propagation, self.offender, self.order
        p.mark_waiting(offender, order, Outcome.LOSS, self.losable, present=True)
        # What is a direct win for the offender loses no more.
        p.mark_waiting(offender, order, Outcome.WIN, self.losable, present=False)

    def _reopen(self, known: Known, won: list[tuple[int, list[Bytes]]]) -> None:
        """Find where loss candidates may be: known places, and those with a new way to lose.

        That is a move into what has been won since, or a capture that loses since this order.
        """
        p = self.propagation
        p.put(won, self.gone_wins)
        p.sweeper.sweep(self.offender, self.gone_wins, self.losable, self.gone_losses)
        p.copy(self.gone_losses.rows, self.open)
        p.unpack(known.open, self.open)
        p.mark_waiting(self.offender, self.order, Outcome.LOSS, self.open, present=True)
        p.keep_in(self.losable, self.open)

    @property
    def captures_win(self) -> bool:
        """Whether captures of the winner come to win at this order."""
        return self.live is not self.propagation.unwon[self.winner]

    @property
    def losable(self) -> Rows:
        """The offender's positions that may yet be lost."""
        return self.propagation.losable[self.offender]

    def find(self) -> None:
        """Prune the candidates to the greatest fixpoint."""
        p = self.propagation
        p.difference(self.live, self.wins.rows, self.escapes)
        p.sweeper.sweep(self.offender, None, self.open, self.losses, self.escapes)
        p.copy(self.losses.rows, self.open)
        if self.captures_win:
            # What only a capture wins is won when its ply has come; until then it is an escape,
            # unless the offender's move to it is the offence.
            p.difference(p.unwon[self.winner], self.wins.rows, self.escapes)
            p.keep_in(self.live, self.wins.rows)
        self._narrow()

    def _narrow(self) -> None:
        """Prune by looking at all that is left: wins without a loss, and losses with an escape.

        Where few losses are left this is quick; spreading what was pruned would take full plies.
        """
        sweep = self.propagation.sweeper.sweep
        sweep(self.winner, None, self.wins.rows, self.gone_wins, self.losses.rows)
        self.transfer(self.gone_wins, self.wins.rows, self.escapes)
        sweep(self.offender, None, self.losses.rows, self.gone_wins, self.escapes)
        self.over(k_difference, self.losses.rows, self.gone_wins.rows, self.gone_losses)
        self.prune_without_losses()

    def prune(self) -> None:
        """Prune losses that escape into the wins pruned last, then wins without a loss, ..."""
        self.propagation.sweeper.sweep(
            self.offender, self.gone_wins, self.losses.rows, self.gone_losses
        )
        self.prune_without_losses()

    def prune_without_losses(self) -> bool:
        """Take the losses on `gone_losses` away, and prune what falls with them.

        Returns whether there were any.
        """
        sweep, winner, offender = self.propagation.sweeper.sweep, self.winner, self.offender
        changed = False
        while self.transfer(self.gone_losses, self.losses.rows, self.gone_losses.rows):
            changed = True
            sweep(winner, self.gone_losses, self.wins.rows, self.gone_wins, self.losses.rows)
            if not self.transfer(self.gone_wins, self.wins.rows, self.escapes):
                break
            sweep(offender, self.gone_wins, self.losses.rows, self.gone_losses)
        return changed

    def fail(self) -> None:
        """Take away, now and for later orders, the many losses that fail by themselves.

        They are on `gone_losses`.
        """
        self.transfer(self.gone_losses, self.open, self.gone_losses.rows)
        self.over(k_difference, self.losses.rows, self.gone_losses.rows, self.gone_wins)
        self.losses, self.gone_wins = self.gone_wins, self.losses
        self._narrow()

    def remember(self) -> None:
        """Keep for the next order what has been seen; `open` is not needed any more."""
        self._known[self._offence] = Known(self._offending, self.propagation.packed(self.open))

    def beat(self) -> None:
        """Tell the other searches of this order that the losses found need no more looking at."""
        if len(self._known) > 1:
            self._beaten = self.propagation.packed(self.losses.rows)

    def count_wins(self) -> int:
        """How many positions the wins that are left are, counted as the index does."""
        counts = np.zeros(int(self.propagation.frame.size[LEADS]), np.int64)
        self.over(_k_count, self.wins.rows, counts)
        return int(counts.sum())

    def declare(self, wins: Frontier) -> None:
        """Make positions due as direct wins; from now on they are no escapes."""
        p, winner = self.propagation, self.winner
        if self.transfer(wins, p.unwon[winner], wins.rows):
            self.transfer(wins, p.losable[winner], wins.rows)
            p.declare(winner, wins.rows, Value(Outcome.WIN, self.order, 0))

    def end(self) -> None:
        """End the search: the lent frontiers, and `losable`, as the propagation expects them."""
        p, offender = self.propagation, self.offender
        p.mark_waiting(offender, self.order, Outcome.LOSS, self.losable, present=False)
        del self.live
        for front in p.fronts:
            p.sweeper.clear(front)

    def over(self, kernel_of_leads: Callable[..., None], *arguments: Any) -> None:
        """Run a kernel over all leads."""
        p = self.propagation
        p.workers.over(p.chunks.leads, kernel_of_leads, *arguments, p.frame, ranges=FEW_RANGES)

    def transfer(self, found: Frontier, source: Rows, target: Rows) -> bool:
        """Move what is on `found` from one set to another; whether there is any."""
        p = self.propagation
        rows = np.zeros(p.chunks.leads, np.int64)
        ranges = p.sweeper.ranges(found)
        p.workers.over(p.chunks.leads, _k_transfer, found, source, target, rows, p.chunks.mids,
                       ranges=ranges)  # fmt: skip
        return bool(rows.any())
