# mypy: allow-untyped-defs, allow-untyped-calls
"""The compiled referee: push and pop moves, and return the verdict at any moment.

Only this module of the package imports numba: import it on demand. A history must not be shared
between threads. `tbgen.referee` describes the parameters of kernels.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from tbgen.compiling.jit import compile_lock, kernel
from tbgen.indexing.move import Move
from tbgen.indexing.position import Position
from tbgen.indexing.rulesets import Rules
from tbgen.indexing.squares import SQUARES, Side
from tbgen.referee import record
from tbgen.referee.verdict import Verdict
from tbgen.rules import check_legal, play
from tbgen.rules.moves import is_legal_move
from tbgen.rules.positions import is_on_board

FIRST_CAPACITY = 512
"""Capacity of a new history in positions; it grows by doubling."""


@kernel
def _k_start(boards, ids, log, side):
    """Start a record: `record.start_record` as a kernel."""
    record.start_record(boards, ids, log, side)


@kernel
def _k_push(boards, ids, log, ply, side, source, target):
    """Play a ply by `record.append_ply`, and return True; for an illegal ply, only return False."""
    if not is_legal_move(boards[ply], side, source, target):
        return False
    record.append_ply(boards, ids, log, ply, side, source, target)
    return True


@kernel
def _k_judge(boards, ids, log, plies, side, offences, occurrences, chase_rules, draw_is_enough):
    """Return the verdict of `record.judge_record`; allocate its buffers only for a repetition."""
    if record.find_span(boards, log, plies, occurrences) == record.NO_SPAN:
        return record.UNDECIDED
    scratch = np.empty((2, record.PAIRS_ROOM), np.int64)
    return record.judge_record(
        boards, ids, log, plies, side, offences, occurrences, chase_rules, draw_is_enough,
        (scratch[0], scratch[1]),
    )  # fmt: skip


@cache
def _compile() -> None:
    """Compile the kernels, or load them from the cache on disk."""
    boards, ids = np.zeros((2, 2, SQUARES), np.int8)
    log = np.zeros((2, record.LOG_FIELDS), np.int64)
    position = Position.from_fen("3k5/9/9/9/9/9/9/9/9/4K4 w")
    boards[0] = np.frombuffer(position.board, np.int8)
    with compile_lock():
        _k_start(boards, ids, log, 0)
        _k_push(boards, ids, log, 0, 0, 4, 13)
        _k_judge(boards, ids, log, 1, 1, Rules.WXF.offences, 2, Rules.WXF.chase_rules(), False)


class History:
    """A game with push and pop, and the verdict on its last position.

    The options are as for `tbgen.referee.judge`. Raises `PositionError` if the position is illegal,
    and `ValueError` if `occurrences` is less than 2.

    >>> from tbgen.referee.history import History
    >>> history = History(Position.from_fen("3k5/9/9/9/9/9/4r4/9/9/4K4 w"))
    >>> for move in "e0f0 e3f3 f0e0 f3e3".split():
    ...     history.push(Move.from_iccs(move))
    >>> history.verdict().text
    'red wins'
    """

    def __init__(
        self,
        position: Position,
        *,
        rules: Rules = Rules.WXF,
        occurrences: int = 2,
        minor_chases: bool = True,
    ) -> None:
        check_legal(position)
        if occurrences < 2:
            raise ValueError("a repetition needs at least 2 occurrences")
        _compile()
        self.start, self.rules, self.occurrences = position, rules, occurrences
        self._chase_rules = rules.chase_rules(minor_chases=minor_chases)
        self._plies = 0
        self._side = int(position.side)
        self._boards = np.zeros((FIRST_CAPACITY, SQUARES), np.int8)
        self._ids = np.zeros((FIRST_CAPACITY, SQUARES), np.int8)
        self._log = np.zeros((FIRST_CAPACITY, record.LOG_FIELDS), np.int64)
        self._boards[0] = np.frombuffer(position.board, np.int8)
        _k_start(self._boards, self._ids, self._log, self._side)

    def __len__(self) -> int:
        """Return the number of plies of the game."""
        return self._plies

    @property
    def moves(self) -> list[Move]:
        """Moves of the game so far."""
        rows = self._log[: self._plies, [record.SOURCE, record.TARGET]]
        return [Move(*row) for row in rows.tolist()]

    @property
    def position(self) -> Position:
        """Last position of the game."""
        return type(self.start)(self._boards[self._plies].tobytes(), Side(self._side))

    def push(self, move: Move) -> None:
        """Play a move; an illegal one raises `MoveTextError` and changes nothing."""
        plies = self._plies
        if plies + 1 == len(self._log):
            # Double the capacity.
            self._boards, self._ids, self._log = (
                np.concatenate([rows, np.zeros_like(rows)])
                for rows in (self._boards, self._ids, self._log)
            )
        if not is_on_board(move) or not _k_push(
            self._boards, self._ids, self._log, plies, self._side, *move
        ):
            play(self.position, Move(*move))  # raises with the reason
        self._plies = plies + 1
        self._side = 1 - self._side

    def pop(self) -> Move:
        """Take the last move back and return it; raises `IndexError` if there is none."""
        if self._plies == 0:
            raise IndexError("there is no move to take back")
        self._plies -= 1
        self._side = 1 - self._side
        row = self._log[self._plies]
        return Move(int(row[record.SOURCE]), int(row[record.TARGET]))

    def verdict(self, *, draw_is_enough: bool = False) -> Verdict:
        """Return the verdict on the last position: `UNDECIDED` before `occurrences` occurrences.

        Mate and stalemate are not tested. With `draw_is_enough`, `DRAW` means at least a draw for
        the side to move (`record.judge_record`).
        """
        found = _k_judge(
            self._boards, self._ids, self._log, self._plies, self._side, self.rules.offences,
            self.occurrences, self._chase_rules, draw_is_enough,
        )  # fmt: skip
        return Verdict(found)
