"""Phase 4: candidates for direct wins by the rules: initialise, prune, declare.

The *offender* loses if it can only commit *offences* (checks, or chases of one piece) for ever; its
opponent is the *winner* (Fang, Hsu & Hsu 2002, section 5.1). Candidates have no value so far:

    win candidates    the winner is to move, and the offender's last move can have been an offence
    loss candidates   the offender is to move, and every move leads to a win candidate or to a
                      position that the winner has won

    initialise   find both
    prune        remove win candidates without a move into a loss candidate, and loss candidates
                 with an *escape*, a move to a position that is neither a win candidate nor won,
                 until nothing changes: the greatest fixpoint
    declare      the final phase of section 5.1: the remaining win candidates are *direct wins*

A position counts as won if its value is a win of a lower order, or if a capture wins at this order;
`captures_wait` of `Search.initialise` restricts the second case. Sweeps test quiet moves only;
`losable` excludes positions in which a capture saves the offender. A *pattern* is a set of
candidates that remain. `perpetual_check.py` and `chase/search.py` add conditions.

Only direct wins are recorded, as seeds of the propagation: its first step of the order settles
them, its second the remaining loss candidates.

    SearchState    state of the searches for one winner and offence, kept across orders
    Search         the candidates at one order
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tbgen.indexing.squares import Side
from tbgen.retrograde.propagation import Propagation
from tbgen.rows.records import Records, StoredRecords
from tbgen.rows.sets import Frontier, Rows
from tbgen.tables.codes import Outcome

Mark = Callable[..., None]
"""Kernel `mark(lead_0, lead_1, side, within, found, frame)` for one kind of offence.

It sets the frontier `found` to the positions of `within` (Rows), with `side` to move, in which the
opponent's last move may have been the offence.
"""

LossFilter = Callable[[Frontier], object]
"""Function `loss_filter(losses)` that removes from a frontier positions that are in no pattern.

The offender is to move in `losses`, and all captures lose there. A removed position can be in a
pattern of a later order only if one more of its moves loses by then.
"""


SharedSets = tuple[Rows, Rows, Rows, Frontier]
"""Sets that all searches of a material use, one search at a time: `possible_losses`, `escapes` and
`unwon_storage` of `Search`, and a fourth frontier beside the three of the propagation.
"""


@dataclass(eq=False)
class SearchState:
    """State of a winner's searches for one kind of offence, kept across orders.

    A position of the offender that has an escape, or that a `LossFilter` removes, is tested again
    only when one more of its moves loses. A pattern that the previous order did not find contains
    a position with one more losing move. So later orders test only positions from which play may
    reach such a position.
    """

    propagation: Propagation
    winner: Side
    mark: Mark
    shared: SharedSets
    after_offence: StoredRecords | None = None
    """Positions, the winner to move, that `mark` found in the first search; None before it."""
    possible_losses: StoredRecords | None = None
    """Positions that later orders may test as loss candidates, besides those with one more losing
    move; None before the first search.
    """

    @contextmanager
    def search(self, order: int) -> Iterator[Search]:
        """Context manager: yields a search at one order, for which the caller calls `initialise`.

        The search uses the frontiers of the propagation, which are idle between orders. During the
        search, positions whose best capture loses at this order are losable. At the end,
        `possible_losses` is stored if the search is the first one, or has found any candidates.
        """
        p = self.propagation
        with p.borrowed_frontiers() as frontiers, p.losable_captures(self.winner.other, order):
            search = Search(self, order, [*frontiers, self.shared[-1]])
            yield search
            if search.found_any or self.possible_losses is None:
                self.possible_losses = p.sets.packed(search.possible_losses)


class Search:
    """Candidates for one winner and kind of offence at one order.

    "The winner's positions" are those with the winner to move, likewise the offender's.

    win_candidates, loss_candidates : frontiers; candidates that have not been pruned
    unwon : the winner's unknown positions that no capture wins at this order; only they can be
        candidates
    unwon_storage : array of `unwon` if any capture wins at this order, else scratch. A search for
        checks overwrites it after `prune`
    escapes : the winner's positions that save the offender: not won, and no candidates
    possible_losses : the offender's positions that had no escape when they were last tested, before
        pruning, and that no filter has removed
    found_any : whether `initialise` has found any loss candidates
    """

    def __init__(self, state: SearchState, order: int, frontiers: list[Frontier]) -> None:
        """Find `unwon`; all other sets are arbitrary until `initialise`.

        frontiers : four, of arbitrary content
        """
        self.order = order
        self.propagation, self.sets = state.propagation, state.propagation.sets
        self.winner, self.offender = state.winner, state.winner.other
        self.win_candidates, self.loss_candidates, *self._idle = frontiers
        self.possible_losses, self.escapes, self.unwon_storage, _ = state.shared
        self.found_any = False
        self._state = state
        sweeper = state.propagation.sweeper
        self.predecessors, self.without_move_into = sweeper.predecessors, sweeper.without_move_into
        self.unwon = self._find_unwon()

    def _find_unwon(self) -> Rows:
        """Return `unwon`, in `unwon_storage` if it differs from the winner's unknown positions."""
        p = self.propagation
        unwon = unknown = p.unknown[self.winner]
        for records in p.waiting_for(self.winner, self.order, Outcome.WIN):
            if unwon is unknown:
                unwon = self.unwon_storage
                self.sets.copy(unknown, unwon)
            self.sets.remove(records, unwon)
        return unwon

    @property
    def captures_win(self) -> bool:
        """Return whether any positions of the winner wait for captures that win at this order."""
        return self.unwon is not self.propagation.unknown[self.winner]

    def discard_idle(self) -> None:
        """Return the memory of the two idle frontiers to the system until they are used again."""
        for front in self._idle:
            self.sets.workers.storage.discard(front.rows)

    @contextmanager
    def idle_frontier(self) -> Iterator[Frontier]:
        """Context manager: yields one of the two idle frontiers, with arbitrary content."""
        front = self._idle.pop()
        try:
            yield front
        finally:
            self._idle.append(front)

    def initialise(
        self,
        lost: Records | None = None,
        loss_filter: LossFilter | None = None,
        *,
        captures_wait: bool,
    ) -> bool:
        """Find the candidates of both kinds: at the first order all, later those that may be new.

        lost : the offender's positions that lose by another search of this order; they are left out
        loss_filter : applied at later orders only, and not to positions with one more losing move,
            which are left to `rule_out`
        captures_wait : if True, positions that a capture wins at this order are escapes, except
            those after a possible offence; if False, all of them count as won

        Returns `found_any`. If it is False, both kinds are empty, and `escapes` is arbitrary.
        """
        if self._state.possible_losses is None:
            self._find_all(lost)
        else:
            self._find_affected(lost, loss_filter)
        self.found_any = bool(self.loss_candidates.counts.any())
        if self.found_any:
            self._find_escapes(captures_wait)
        else:
            self.sets.clear(self.win_candidates)
        return self.found_any

    def _find_all(self, lost: Records | None) -> None:
        """Find all candidates at the first order; parameter as for `initialise`."""
        state, sets = self._state, self.sets
        unknown = self.propagation.unknown[self.winner]
        sets.run_kernel(state.mark, int(self.winner), unknown, self.win_candidates)
        state.after_offence = sets.packed(self.win_candidates.rows)
        sets.copy(self.propagation.losable[self.offender], self.possible_losses)
        if lost is not None:
            sets.remove(lost, self.possible_losses)
        sets.difference(self.unwon, self.win_candidates.rows, self.escapes)
        self.without_move_into(
            self.offender, self.possible_losses, self.loss_candidates, self.escapes
        )
        sets.copy(self.loss_candidates.rows, self.possible_losses)

    def _find_affected(self, lost: Records | None, loss_filter: LossFilter | None) -> None:
        """Find the candidates of a later order from which play may reach a newly losing position.

        `_find_newly_losing` defines these positions. Parameters as for `initialise`.
        """
        state, sets, p = self._state, self.sets, self.propagation
        assert state.after_offence is not None
        assert state.possible_losses is not None
        losable = p.losable[self.offender]
        with self.idle_frontier() as newly_losing:
            self._find_newly_losing(newly_losing)
            if not newly_losing.counts.any():
                sets.clear(self.loss_candidates)
                return
            marked = self.possible_losses
            sets.clear_rows(marked)
            sets.add(state.after_offence, marked, within=p.unknown[self.winner])
            sets.difference(self.unwon, marked, self.escapes)
            # Remove `lost` here: `join` would list again rows emptied in `loss_candidates`.
            if lost is not None:
                sets.remove(lost, newly_losing.rows)
            self.without_move_into(self.offender, newly_losing, self.loss_candidates, self.escapes)
        if not self.loss_candidates.counts.any():
            return
        # The present escapes are not read any more: `possible_losses` takes their array.
        self.possible_losses, self.escapes = self.escapes, marked
        sets.clear_rows(self.possible_losses)
        sets.add(state.possible_losses, self.possible_losses, within=losable)
        if lost is not None:
            sets.remove(lost, self.possible_losses)
        self._keep_affected(loss_filter)

    def _find_newly_losing(self, newly_losing: Frontier) -> None:
        """Set `newly_losing` to the offender's losable positions with one more losing move.

        A quiet move counts if it leads to a position that was won after the last search, or that a
        capture wins at this order. A capture counts if it is the best one and loses at this order.
        """
        sets, p = self.sets, self.propagation
        losable = p.losable[self.offender]
        with self.idle_frontier() as cause:
            sets.put(p.last_wins(self.winner), cause)
            for records in p.waiting_for(self.winner, self.order, Outcome.WIN):
                sets.put_more(records, cause)
            self.predecessors(self.offender, cause, losable, newly_losing)
        for records in p.waiting_for(self.offender, self.order, Outcome.LOSS):
            sets.put_more(records, newly_losing, within=losable)

    def _keep_affected(self, loss_filter: LossFilter | None) -> None:
        """Find the *affected* candidates: play from them may reach a newly losing position.

        On entry, `loss_candidates` has the newly losing positions, and `escapes` the positions
        after a possible offence. On return, `loss_candidates` also has the affected positions of
        `possible_losses`, and `possible_losses` all loss candidates, both without the positions
        that the filter removes. The affected positions of `escapes` have moved to `win_candidates`.
        """
        sets, wins, losses = self.sets, self.win_candidates, self.loss_candidates
        unaffected = self.escapes
        sets.clear(wins)
        sets.transfer(losses, self.possible_losses)
        with self.idle_frontier() as new_wins, self.idle_frontier() as new_losses:
            self.predecessors(self.winner, losses, unaffected, new_wins)
            while sets.transfer(new_wins, unaffected):
                sets.join(new_wins, wins)
                self.predecessors(self.offender, new_wins, self.possible_losses, new_losses)
                if not sets.transfer(new_losses, self.possible_losses):
                    break
                if loss_filter is not None:
                    loss_filter(new_losses)
                sets.join(new_losses, losses)
                self.predecessors(self.winner, new_losses, unaffected, new_wins)
        sets.unite(losses.rows, self.possible_losses)

    def _find_escapes(self, captures_wait: bool) -> None:
        """Set `escapes`; remove from `win_candidates` those that a capture wins at this order.

        With `captures_wait` (`initialise`), positions that a capture wins are escapes unless they
        follow a possible offence. On entry, a position that a capture wins is in `win_candidates`
        or in the old `escapes` exactly if it follows a possible offence.
        """
        sets, wins = self.sets, self.win_candidates.rows
        if captures_wait and self.captures_win:
            marked = self.escapes
            sets.difference(self.escapes, self.unwon, marked)
            sets.unite(wins, marked)
            sets.difference(self.propagation.unknown[self.winner], marked, self.escapes)
        else:
            sets.difference(self.unwon, wins, self.escapes)
        if self.captures_win:
            sets.intersect(self.unwon, wins)

    def prune(self) -> None:
        """Prune the candidates down to the greatest fixpoint.

        The first two sweeps test all candidates: so many are pruned that sweeps backwards from the
        pruned ones would take longer.
        """
        wins, losses = self.win_candidates.rows, self.loss_candidates.rows
        with self.idle_frontier() as pruned_wins:
            self.without_move_into(self.winner, self.win_candidates, pruned_wins, losses)
            self.sets.transfer(pruned_wins, wins, self.escapes)
        with self.idle_frontier() as pruned_losses:
            with self.idle_frontier() as kept_losses:
                self.without_move_into(
                    self.offender, self.loss_candidates, kept_losses, self.escapes
                )
                self.sets.put_difference(losses, kept_losses.rows, pruned_losses)
            with self.idle_frontier() as pruned_wins:
                self._prune_dependent(pruned_wins, pruned_losses)

    def prune_wins(self, pruned_wins: Frontier) -> bool:
        """Prune `pruned_wins`, and all candidates that depend on them.

        Returns False if `pruned_wins` is empty. Afterwards its content is arbitrary.
        """
        if not self.sets.transfer(pruned_wins, self.win_candidates.rows, self.escapes):
            return False
        with self.idle_frontier() as pruned_losses:
            self.predecessors(self.offender, pruned_wins, self.loss_candidates.rows, pruned_losses)
            self._prune_dependent(pruned_wins, pruned_losses)
        return True

    def _prune_dependent(self, pruned_wins: Frontier, pruned_losses: Frontier) -> None:
        """Prune the loss candidates in `pruned_losses`, and all candidates that depend on them.

        Pruned win candidates become escapes. `pruned_wins` is scratch.
        """
        wins, losses = self.win_candidates.rows, self.loss_candidates.rows
        while self.sets.transfer(pruned_losses, losses):
            self.predecessors(self.winner, pruned_losses, wins, pruned_wins, losses)
            if not self.sets.transfer(pruned_wins, wins, self.escapes):
                break
            self.predecessors(self.offender, pruned_wins, losses, pruned_losses)

    def rule_out(self, loss_filter: LossFilter) -> None:
        """Remove what a filter rejects from `loss_candidates` and from `possible_losses`.

        The caller then calls `prune`, for the candidates that depend on the removed positions.
        """
        self.sets.transfer(self.loss_candidates, self.possible_losses)
        loss_filter(self.loss_candidates)
        self.sets.unite(self.loss_candidates.rows, self.possible_losses)

    def declare(self, wins: Frontier) -> None:
        """Make the winner's positions `wins` direct wins, the seeds of this order.

        They are removed from the sets `unknown` and `losable` of the propagation.
        """
        p, winner = self.propagation, self.winner
        if self.sets.transfer(wins, p.unknown[winner]):
            self.sets.transfer(wins, p.losable[winner])
            p.seed(winner, wins.rows, self.order)
