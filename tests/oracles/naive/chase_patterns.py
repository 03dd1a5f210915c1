"""Forced perpetual chases among the positions of a material: docs/values.md, "Patterns, exactly".

For one prospective winner W against one offender O, who chases W's piece V, among the undecided
positions:

    (position, V)             O to move: every move is won for W, or chases V into the pattern
    (position, V, attackers)  W to move: some move answers the chase and leads into the pattern

The pattern is the greatest such set that meets two more conditions. Endlessly, and whatever O does,
W can make moves without check. Likewise, for each piece of O, W can make moves that do not chase
it. Squares are those of the numbered position. A position and its mirror image have one number, so
squares may have to be mirrored after a move.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

from .chases import Terms, chased, is_answered, owner
from .movegen import SIDES, Board, Move, legal_moves, mirror
from .patterns import LOSS, WIN, Game, Verdict

Known = Sequence[Verdict | None]


class Boards(Protocol):
    """Interface to the positions that a graph numbers as nodes."""

    def board(self, node: int) -> Board:
        """Return the pieces of a node's position by square."""

    def after(self, board: Board, move: Move) -> tuple[int, bool] | None:
        """Return (node after a move without capture, True if the node is the mirror image).

        None if the graph has no such node.
        """


class Offence(NamedTuple):
    """Node of the pattern with O to move, who must chase W's piece on the square `victim`."""

    node: int
    victim: int


class Reply(NamedTuple):
    """Node of the pattern with W to move, whose piece O has just chased.

    O's move has newly attacked W's piece on `victim` from the squares `attackers`.
    """

    node: int
    victim: int
    attackers: frozenset[int]


class Chase(NamedTuple):
    """A move of O in the pattern, and the node `goal` that it leads to.

    `mirrored` is True if the node has the mirror image of the position after the move.
    """

    move: Move
    goal: Reply
    mirrored: bool


class Step(NamedTuple):
    """A move of W in the pattern, and the node `goal` it leads to; `mirrored` as in `Chase`."""

    move: Move
    goal: Offence
    mirrored: bool
    check: bool


class Chasing:
    """Search for perpetual chases by O that W wins, called once in each round of the solver.

    A round decides the positions of one order.
    """

    def __init__(self, boards: Boards, game: Game, winner: int, terms: Terms) -> None:
        self.boards, self.game, self.winner, self.terms = boards, game, winner, terms
        self._saved_by: dict[int, list[int]] = {}
        """For each node of O outside all patterns: the nodes after some moves that chase no common
        piece. The node stays outside as long as none of these moves is won for W.
        """

    def wins(self, known: Known, order: int, nodes: Iterable[int]) -> set[int]:
        """Return the nodes with W to move in the pattern of a round.

        known : verdicts so far, by node
        order : order that the round decides
        nodes : nodes in which offences are sought
        """
        offences = {
            Offence(node, victim)
            for node in nodes
            if known[node] is None and self.game.side[node] != self.winner
            for victim in self._victims(known, order, node)
        }
        pattern = _Pattern(self, known, order, offences)
        return {chase.goal.node for o in pattern.offences for chase in pattern.forced[o]}

    def moves(self, node: int) -> Iterator[tuple[Move, int, bool]]:
        """Yield (move, node after it, True if mirrored) for moves without capture in the graph."""
        board, side = self.boards.board(node), self.game.side[node]
        for move in legal_moves(board, SIDES[side]):
            if move[1] not in board and (goal := self.boards.after(board, move)) is not None:
                yield move, *goal

    def is_won(self, known: Known, order: int, node: int) -> bool:
        """Return whether a node with W to move is known to be won, or has a capture that wins.

        The capture leads to a loss of O by the rules, of order 1 to `order`, the round's. No node
        after a move from an undecided node is known to be lost, so a known verdict is a win.
        """
        return known[node] is not None or any(
            verdict.outcome == LOSS and 1 <= verdict.order <= order
            for verdict in self.game.exits.get(node, ())
        )

    def _victims(self, known: Known, order: int, node: int) -> set[int]:
        """Return the squares of the pieces that O chases with every move that is not won for W.

        Empty if O has a capture or check that is not won for W, or if all its moves are won for W.
        """
        for verdict in self.game.exits.get(node, ()):
            if verdict.outcome != WIN or verdict.order > order:
                return set()
        if node in self._saved_by and not any(
            self.is_won(known, order, child) for child in self._saved_by[node]
        ):
            return set()
        common: set[int] | None = None
        looked_at = []
        for child in self.game.moves[node]:
            if self.game.in_check[child] and not self.is_won(known, order, child):
                common, looked_at = set(), [child]
        board = self.boards.board(node)
        for move, child, _ in self.moves(node) if common is None else ():
            if not self.is_won(known, order, child):
                new = set(chased(board, move, self.terms))
                common = new if common is None else common & new
                looked_at.append(child)
                if not common:
                    break
        if common is not None and not common:
            self._saved_by[node] = looked_at
        return common or set()


def _seen(mirrored: bool) -> Callable[[int], int]:
    """Return the function that maps squares of a board to squares of its node's position.

    It is `mirror` if the node has the mirror image, else the identity.
    """
    return mirror if mirrored else lambda square: square


class _Pattern:
    """Greatest pattern of chases within a set of offences.

    `offences` and `replies` are the nodes that remain. `forced` has O's moves from each offence,
    `steps` W's moves from each reply.
    """

    def __init__(self, search: Chasing, known: Known, order: int, offences: set[Offence]) -> None:
        self.search, self.offences = search, offences
        self.forced = {o: list(self._chases(known, order, o)) for o in offences}
        self.replies = {chase.goal for chases in self.forced.values() for chase in chases}
        self.steps = {reply: list(self._answers(reply)) for reply in self.replies}
        self._spared: dict[tuple[Reply, Step], dict[int, frozenset[int]]] = {}
        self._shrink()

    def _chases(self, known: Known, order: int, offence: Offence) -> Iterator[Chase]:
        """Yield O's moves from an offence, all chases of its victim, except those won for W."""
        board = self.search.boards.board(offence.node)
        for move, child, mirrored in self.search.moves(offence.node):
            if not self.search.is_won(known, order, child):
                attackers = chased(board, move, self.search.terms)[offence.victim]
                seen = _seen(mirrored)
                reply = Reply(child, seen(offence.victim), frozenset(map(seen, attackers)))
                yield Chase(move, reply, mirrored)

    def _answers(self, reply: Reply) -> Iterator[Step]:
        """Yield W's moves that undo one of the attacks and lead to an offence of the pattern.

        Checks are left out if a check voids all chases (`Terms.check_voids`).
        """
        board, terms = self.search.boards.board(reply.node), self.search.terms
        for move, child, mirrored in self.search.moves(reply.node):
            check = self.search.game.in_check[child]
            if check and terms.check_voids:
                continue
            goal = Offence(child, _seen(mirrored)(_followed(reply.victim, move)))
            if goal in self.offences and is_answered(
                board, reply.attackers, reply.victim, move, terms
            ):
                yield Step(move, goal, mirrored, check)

    def _shrink(self) -> None:
        """Remove offences and replies that violate the module's conditions, until none does."""
        while True:
            before = len(self.offences) + len(self.replies)
            self._prune()
            self.replies &= self._may_stop_checking()
            self._prune()
            spared = self._may_spare()
            self.replies = {
                reply
                for reply in self.replies
                if all((reply, square) in spared for square in self._chaseable(reply.node))
            }
            self._prune()
            if len(self.offences) + len(self.replies) == before:
                return

    def _prune(self) -> None:
        """Remove offences and replies that lack a move into the pattern, until nothing changes.

        An offence stays if all of O's moves lead to replies that remain. A reply stays if one of
        W's moves leads to an offence that remains.
        """
        while True:
            offences = {
                o for o in self.offences if all(c.goal in self.replies for c in self.forced[o])
            }
            replies = {r for r in self.replies if any(s.goal in offences for s in self.steps[r])}
            if len(offences) == len(self.offences) and len(replies) == len(self.replies):
                return
            self.offences, self.replies = offences, replies

    def _may_stop_checking(self) -> set[Reply]:
        """Return the replies from which W can force a move of W without check, at once or later.

        All moves up to that one stay in the pattern.
        """
        done: set[Reply] = set()
        while True:
            ends = {o for o in self.offences if all(c.goal in done for c in self.forced[o])}
            more = {
                reply
                for reply in self.replies - done
                for step in self.steps[reply]
                if step.goal in self.offences and (not step.check or step.goal in ends)
            }
            if not more:
                return done
            done |= more

    def _may_spare(self) -> set[tuple[Reply, int]]:
        """Return the pairs (reply, square of O's piece) from which W can force a sparing move.

        A move of W spares a piece if it does not chase the piece. W must not chase the same piece
        of O on every move: otherwise W commits the offence, too. From the returned pairs W can make
        a move that spares the piece, whatever O plays. All moves until then stay in the pattern.
        """
        open_ = {(r, square) for r in self.replies for square in self._chaseable(r.node)}
        done: set[tuple[Reply, int]] = set()
        while True:
            more = {
                (reply, square)
                for reply, square in open_ - done
                for step in self.steps[reply]
                if step.goal in self.offences and self._spares(reply, square, step, done)
            }
            if not more:
                return done
            done |= more

    def _spares(self, reply: Reply, square: int, step: Step, done: set[tuple[Reply, int]]) -> bool:
        """Return whether, after each next move of O, W's step is no chase of O's piece on a square.

        The step is no chase if it makes no new attack on this piece, or if O's move does not answer
        the attack. A move of O to a (reply, square) in `done`, found before, also suffices.
        """
        seen, board = _seen(step.mirrored), self.search.boards.board(step.goal.node)
        if (reply, step) not in self._spared:
            found = {}
            if not step.check:
                found = chased(self.search.boards.board(reply.node), step.move, self.search.terms)
            self._spared[reply, step] = found
        attackers = frozenset(map(seen, self._spared[reply, step].get(square, ())))
        there = seen(square)
        return all(
            not attackers
            or not is_answered(board, attackers, there, chase.move, self.search.terms)
            or (chase.goal, _seen(chase.mirrored)(_followed(there, chase.move))) in done
            for chase in self.forced[step.goal]
        )

    def _chaseable(self, node: int) -> list[int]:
        """List the squares of O's pieces that W might chase in its turn: all but the king."""
        own = SIDES[1 - self.search.winner]
        board = self.search.boards.board(node)
        return [s for s, letter in board.items() if owner(letter) == own and letter not in "Kk"]


def _followed(square: int, move: Move) -> int:
    """Return the square of the piece that stands on `square` before a move of its own side."""
    return move[1] if move[0] == square else square
