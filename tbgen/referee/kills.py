"""Forced mates by checks, and forced gains by checks and captures, for a side that is to move.

The referee searches the position after a ply as if the same side moved again. If that side could
then mate by a run of checks, the ply may be a *kill* (`chinese` has the other conditions).

The search builds a graph of positions with the side to move. A position is won if all replies to
one of its moves lead to won positions; after a mate or stalemate there is no reply. For `can_gain`,
a position in which the side may have gained material is won, too. The replies to a move are
searched one at a time, each after the one before is known to lead to a won position. True and False
are exact for the moves that are searched; repetitions are not considered.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from operator import itemgetter

from tbgen.indexing.squares import EMPTY, PieceType, piece_kind, piece_side
from tbgen.rules import attacks, moves
from tbgen.rules.board import MAX_MOVES, Board

MOST_POSITIONS = 200
"""Limit on the positions that a search expands; about 50 milliseconds."""

_MOST_KNOWN = 1 << 14
"""Maximum number of results in the cache; games repeat positions, so searches repeat, too."""

_LEAST_WORTH, _MOST_WORTH = (0, 2, 2, 8, 4, 4, 0), (0, 3, 3, 12, 5, 5, 3)
"""Least and greatest relative worth of each `PieceType`, to weigh captured pieces against lost ones
of other kinds; 0 for kings, which are not captured.
"""


def can_mate(board: bytes | bytearray, side: int) -> bool | None:
    """Return whether a side can mate by checks if it moves; None if the search reaches its limit.

    The opponent must not be in check.
    """
    return _search(bytes(board), side, takes=False)


def can_gain(board: bytes | bytearray, side: int) -> bool | None:
    """Return whether a side can mate or gain material by checks and captures if it moves.

    True also if a gain cannot be excluded: captured and lost pieces of one kind offset each other;
    of the rest, captured pieces count with the greatest worth of their kind, lost ones with the
    least. None if the search reaches its limit. The opponent must not be in check.
    """
    return _search(bytes(board), side, takes=True)


@lru_cache(_MOST_KNOWN)
def _search(board: bytes, side: int, *, takes: bool) -> bool | None:
    """Return the result of `can_gain` with `takes`, else that of `can_mate`."""
    return _Search(side, _count(board) if takes else Counter(), takes).run(board)


@dataclass(slots=True)
class _Search:
    """Search for a forced win by checks, or by checks and captures, as a graph of positions.

    side : int, the searching side
    pieces : counts of the piece codes of the first position; empty without `takes`
    takes : whether captures are searched as well as checks
    tried : depth, in moves of the side, of each position that has been searched
    won : the positions that are known to be won
    origins : `origins[n]` is the position in which move number n was played
    replies : `replies[n]` are the positions after the replies to move n that are still to be
        examined, without the *current reply*, which is examined now
    parents : a position -> the numbers of the moves whose current reply leads to it
    worklist : heap of (depth, number to break ties, position): the positions to search next
    """

    side: int
    pieces: Counter[int]
    takes: bool
    tried: dict[bytes, int] = field(default_factory=dict)
    won: set[bytes] = field(default_factory=set)
    origins: list[bytes] = field(default_factory=list)
    replies: list[list[bytes]] = field(default_factory=list)
    parents: defaultdict[bytes, list[int]] = field(default_factory=lambda: defaultdict(list))
    worklist: list[tuple[int, int, bytes]] = field(default_factory=list)

    def run(self, first: bytes) -> bool | None:
        """Search, and return whether the position `first` is won; None at `MOST_POSITIONS`."""
        self.worklist.append((0, 0, first))
        while self.worklist and first not in self.won:
            depth, _, board = heapq.heappop(self.worklist)
            if board in self.won or board in self.tried:
                continue
            if len(self.tried) == MOST_POSITIONS:
                return None
            self.tried[board] = depth
            if self.takes and self._has_gained(board):
                self._win(board)
                continue
            for replies in self._moves(board):
                self.origins.append(board)
                self.replies.append(replies)
                self._queue_next_reply(len(self.origins) - 1)
        return first in self.won

    def _queue_next_reply(self, move: int) -> None:
        """Make the next reply to move number `move` the current one; skip those to won positions.

        If no reply is left, the position before the move is won.
        """
        origin, replies = self.origins[move], self.replies[move]
        while replies:
            reply = replies.pop()
            if reply not in self.won:
                self.parents[reply].append(move)
                if reply not in self.tried:
                    depth = self.tried[origin] + 1
                    heapq.heappush(self.worklist, (depth, len(self.origins), reply))
                return
        self._win(origin)

    def _win(self, board: bytes) -> None:
        """Mark a position as won, and queue the next reply to each move in its `parents`."""
        if board not in self.won:
            self.won.add(board)
            for move in self.parents.pop(board, ()):
                self._queue_next_reply(move)

    def _moves(self, board: bytes) -> Iterator[list[bytes]]:
        """Yield, for each check that the side can give, the positions after the opponent's replies.

        With `takes`, the side's captures are included. Captures come last in a list, to be popped
        first.
        """
        other = 1 - self.side
        for captures, after in _successors(board, self.side):
            forces = attacks.in_check(after, other) or (self.takes and captures)
            if forces and not attacks.in_check(after, self.side):
                replies = sorted(_successors(after, other), key=itemgetter(0))
                yield [bytes(reply) for _, reply in replies if not attacks.in_check(reply, other)]

    def _has_gained(self, board: bytes) -> bool:
        """Return whether the side may have gained material since the search began (`can_gain`)."""
        lost = self.pieces - _count(board)
        worth = 0
        for kind in PieceType:
            codes = [code for code in lost if piece_kind(code) == kind]
            count = sum(lost[c] if piece_side(c) != self.side else -lost[c] for c in codes)
            worth += count * (_MOST_WORTH if count > 0 else _LEAST_WORTH)[kind]
        return worth > 0


def _count(board: bytes | bytearray) -> Counter[int]:
    return Counter(code for code in board if code != EMPTY)


def _successors(board: Board, side: int) -> Iterator[tuple[bool, bytearray]]:
    """Yield, for each pseudo-legal move of a side, whether it captures, and the board after it."""
    sources, targets = [0] * MAX_MOVES, [0] * MAX_MOVES
    for i in range(moves.generate_moves(board, side, sources, targets)):
        after = bytearray(board)
        after[targets[i]], after[sources[i]] = after[sources[i]], EMPTY
        yield board[targets[i]] != EMPTY, after
