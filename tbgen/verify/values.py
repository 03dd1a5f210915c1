"""Values as comparable numbers: *keys*; *ranks*, compared with moves; *marks*, for patterns.

    stored codes  --arrays, complete-->  ranks  --candidates-->  marks

**Keys** are the same numbers for every table; larger is better for the side to move.

    win     MATE - order * ORDER - plies
    draw    0
    loss    -(MATE - order * ORDER - plies)

After a move to a position of key `key` for the opponent, the mover has -key, one closer to 0.

**Ranks** number the keys that occur, separately for each side to move. Rank 1 is the best key for
the side to move, the last rank the worst; 0 is no position. So the best move leads to the largest
rank. If the rules judge checks, draws have three ranks, so that the largest one also shows which
draws may belong to a pattern: CHECKED < HANGING < FREE.

    CHECKED  the side to move is in check
    HANGING  the side to move is not in check, but one of its pieces hangs: it can be chased, and is
             attacked by a piece that can chase
    FREE     neither; or the position after a capture

**Marks** replace ranks after the comparison with moves: patterns need winner, order and checks, but
no distances. The best move is again a maximum. A mark consists of an order and a *role* of the side
to move: W, which would win by the repetition, or O, the offender. A *claim* is a win of W in 0
plies, as the table stores it. An *answer* is a move of W to a position in which O may still offend.

Marks of one order ascend as shown. Wins of lower orders come first, losses of lower orders last.

    W wins    CLAIM_EARLY < CLAIM < (ATTACKED_WIN < QUIET_WIN of the order before)
                          < CHECKED_WIN < (ATTACKED_WIN < QUIET_WIN, if no order follows)
    draws     CHECKED_DRAW < QUIET_DRAW < CHECKING_DRAW
    O loses   FREE_LOSS < CHECKING_LOSS < DIRECT_LOSS < EARLY_IN_CHECK < EARLY_LOSS

    CLAIM              W is in check, and the position is a claim
    CLAIM_EARLY        as CLAIM, but W may have an answer that leads to EARLY_LOSS or EARLY_IN_CHECK
    CHECKED_WIN        W is in check and may have an answer, and the position is no claim; or O has
                       just captured
    ATTACKED_WIN       W is not in check, and one of its pieces hangs or a capture wins by the rules
    QUIET_WIN          any other win, such as a CHECKED_WIN that turns out to have no answer
    CHECKED_DRAW       W is in check and may have an answer
    CHECKING_LOSS, CHECKING_DRAW
                       each move of O that keeps the order leads to CHECKED_WIN, CHECKED_DRAW or a
                       claim
    DIRECT_LOSS        each move of O that keeps the order leads to a claim, and O is not in check
                       (else CHECKING_LOSS); or W has just captured
    EARLY_LOSS         as DIRECT_LOSS, and the moves of O to the order before are checks, too: this
                       may have been a direct loss of that order; EARLY_IN_CHECK if O is in check
    FREE_LOSS, QUIET_DRAW
                       any other loss or draw

A position of O stays CHECKING while the best of its moves is at most CHECKED_WIN or CHECKED_DRAW. A
position of W stays CHECKED while the best of its moves is at least CHECKING. `checks` judges the
positions that remain at the fixpoint, and those that marks do not decide (`candidates`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import by_pointer
from tbgen.indexing import Side
from tbgen.system.scalar import scalar
from tbgen.tables.codes import CodeSpace, LimitExceededError, Outcome, Value

ORDER = 1 << 24
"""Difference of keys between orders; larger than every distance in plies, so that a ply more never
gives a key of the next order. No code has 2 * `tbgen.tables.codes.LONG_SPAN` plies or more.
"""

MATE = 1 << 56
"""Key above all wins: a win of order 0 in n plies has MATE - n. A side without moves: -MATE."""

DECIDED_BY_RULES = MATE - ORDER
"""Largest key of wins of order 1 and above."""


@scalar
def key_of_code(code: int, top: int, draw: int, span: int) -> int:
    """Return the key of a stored code; `NO_KEY`, below every loss, for code 0 (no position).

    top, draw, span : int, attributes of the table's `CodeSpace`
    """
    if code == draw:
        return 0
    win = code > draw
    rank = top - code if win else code - 1
    order = 0
    if rank >= span:
        order = rank // span
        rank -= order * span
    # Plies of wins are odd at order 0, and even at orders above; plies of losses the reverse.
    plies = 2 * rank
    if win == (order == 0):
        plies += 1
    key = MATE - order * ORDER - plies
    return key if win else -key


@scalar
def key_after_move(child: int) -> int:
    """Return the mover's key for a move to a position whose key for the opponent is `child`."""
    if child > 0:
        return 1 - child
    if child < 0:
        return -1 - child
    return 0


@scalar
def order_of_key(key: int) -> int:
    """Return the order of the value of a key; for a draw `NEVER`, above all orders."""
    if key == 0:
        return NEVER
    return (MATE - abs(key)) // ORDER


@scalar
def is_open(key: int) -> bool:
    """Return whether a key is that of an open position: drawn, or decided by repetition rules."""
    return -DECIDED_BY_RULES <= key <= DECIDED_BY_RULES


NEVER = MATE // ORDER
"""Order of draws in comparisons: above all orders."""


def value_of_key(key: int) -> Value | None:
    """Return the value of a key; None for the key of a code that is no value."""
    if abs(key) > MATE:
        return None
    if key == 0:
        return Value(Outcome.DRAW)
    order, plies = divmod(MATE - abs(key), ORDER)
    return Value(Outcome.WIN if key > 0 else Outcome.LOSS, order, plies)


def orders_of_keys(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the orders of the values of keys, int64 (n,); `NEVER` for draws."""
    return np.where(keys == 0, NEVER, (MATE - np.abs(keys)) // ORDER)


def are_direct_wins(keys: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return for each key whether it is that of a direct win by the repetition rules, bool (n,)."""
    return (keys > 0) & ((MATE - keys) % ORDER == 0)


CHECKED, HANGING, FREE, KINDS = range(4)
"""Kinds of draws (the module's docstring), and their number; all other values have the kind FREE.
"""

NO_VALUE = MATE + 2
"""Entry of `Values.expected` that equals no key."""

NO_KEY = key_of_code(0, 255, 128, 127)
"""Key of code 0, below every loss."""


@by_pointer
class Values(NamedTuple):
    """Lookup tables of ranks, for kernels; the first axis is the side to move.

    The last ranks stand for codes that are no values. Shapes: R, the number of ranks of the side
    that has more. Once marks have replaced ranks (`mark_planes`), `keys` and `confirmed` are
    indexed by marks, and the other fields are not used.
    """

    keys: NDArray[np.int64]
    """int64 (2, R): the key for the side to move; `NO_KEY` for rank 0 and for the last ranks."""
    kinds: NDArray[np.int64]
    """int64 (2, R): the kind of each rank: CHECKED, HANGING or FREE for draws, else FREE."""
    expected: NDArray[np.int64]
    """int64 (2, R): for the rank that the best move leads to, the key that the position before the
    move must have; never a direct win, which has 0 plies. It is `NO_VALUE` where `passes` must
    examine the position more closely.
    """
    confirmed: NDArray[np.bool_]
    """bool (2, R): for each mark, whether it is a *confirmed* direct loss: the passes over rows
    found no fault with the claims that its moves lead to. All False while the planes hold ranks.
    """

    def translate(self, side: int, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the ranks, int64 (n,), of keys that occur with `side` to move; draws as FREE."""
        ascending = self.keys[side, :0:-1]
        return len(ascending) - np.searchsorted(ascending, keys)


def keys_of_codes(codes: NDArray[np.int64], space: CodeSpace) -> NDArray[np.int64]:
    """Return the keys of stored codes, int64 (n,)."""
    keys = [key_of_code(code, space.top, space.draw, space.span) for code in codes.tolist()]
    return np.array(keys, np.int64)


def after_conversion(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the keys that a DTC table gives to positions after a capture, int64 (n,).

    The distance to conversion ends with the capture. So only the outcome is kept: won in 1 ply,
    drawn, or lost in 0 plies, all of order 0.
    """
    return np.select([keys > 0, keys < 0], [MATE - 1, -MATE], 0)


def make_values(
    own: Sequence[NDArray[np.int64]],
    others: Sequence[Sequence[NDArray[np.int64]]],
    *,
    judges_checks: bool,
) -> Values:
    """Return the lookup tables of ranks of all values that occur.

    own : int64 (n,) each, the keys of this table, by side to move
    others : int64 (n,) each, the keys of supporting tables, by side to move after the capture (its
        colour in this table)
    judges_checks : whether the rules judge perpetual checks

    Raises `LimitExceededError` if 16 bits are too few.
    """
    sides = [np.unique(np.concatenate([own[side], *others[side], [0]])) for side in Side]
    listed = [_list_ranks(keys, judges_checks=judges_checks) for keys in sides]
    most = max(map(len, listed))
    if most > 1 << 16:
        raise LimitExceededError(f"{most} ranks of values are more than 16 bits can tell apart")
    shape = len(Side), most
    keys, kinds = np.full(shape, NO_KEY), np.full(shape, FREE)
    for side, ranks in zip(Side, listed, strict=True):
        keys[side, : len(ranks)], kinds[side, : len(ranks)] = zip(*ranks, strict=True)
    worth = np.sign(keys) - keys
    # Rank 0: without moves a position is lost.
    worth[:, 0] = -MATE
    # Without repetition rules no value is rule-decided.
    is_possible = judges_checks | (worth == 0) | (np.abs(worth) > DECIDED_BY_RULES)
    expected = np.where((kinds == FREE) & is_possible, worth, NO_VALUE)
    return Values(keys, kinds, expected, np.zeros(shape, np.bool_))


def _list_ranks(keys: NDArray[np.int64], *, judges_checks: bool) -> list[tuple[int, int]]:
    """Return the key and kind of each rank of a side, in the order of ranks.

    keys : (n,), ascending, the keys that occur, and `NO_KEY`
    judges_checks : whether draws have a rank for each kind, and not a single one
    """
    ranks = [(NO_KEY, FREE)]
    for key in keys[::-1].tolist():
        kinds = range(KINDS) if judges_checks and key == 0 else (FREE,)
        ranks += [(key, kind) for kind in kinds]
    return ranks


CLAIM_EARLY, CLAIM, CHECKED_WIN, ATTACKED_WIN, QUIET_WIN, WIN_ROLES = range(6)
FREE_LOSS, CHECKING_LOSS, DIRECT_LOSS, EARLY_IN_CHECK, EARLY_LOSS, LOSS_ROLES = range(5, 11)
CHECKED_DRAW, QUIET_DRAW, CHECKING_DRAW, ROLES = range(10, 14)
"""Roles of marks (the module's docstring), and the ends of their ranges: WIN_ROLES of wins,
LOSS_ROLES of losses, ROLES of draws.
"""

_LOSSES = range(FREE_LOSS, LOSS_ROLES)
_DRAWS = range(CHECKED_DRAW, ROLES)

SHARED, IN_CHECK, ATTACKED, QUIET, STATES = range(5)
"""States of a slot and a side to move, and their number. SHARED: two pieces share a square.
IN_CHECK: the side is in check. ATTACKED: it wins by the repetition rules, and one of its pieces
hangs or one of its captures wins by them. QUIET: none of these.
"""


@by_pointer
class Marks(NamedTuple):
    """Lookup tables of marks, for kernels; the first axis is the side to move.

    Mark 0 is no position. Shapes: M, the number of marks of the side that has more.
    """

    of_ranks: NDArray[np.int64]
    """int64 (2, STATES, ranks): the mark that replaces each rank, by the state of the slot."""
    role: NDArray[np.int64]
    """int64 (2, M): the role of a mark; -1 for mark 0 and for values of order 0."""
    group: NDArray[np.int64]
    """int64 (2, M): index in `number` of the mark's order; 0 for mark 0 and values of order 0."""
    number: NDArray[np.int64]
    """int64 (2, orders, ROLES): the mark of each order and role, draws last; 0 if there is none."""
    keys: NDArray[np.int64]
    """int64 (2, M): a key with the mark's outcome and order. Only the roles CLAIM and CLAIM_EARLY
    have the key of a direct win.
    """


def make_marks(keys: NDArray[np.int64]) -> Marks:
    """Return the lookup tables of marks for all values that occur.

    keys : int64 (2, ranks), the key of each rank, by side to move
    """
    orders = orders_of_keys(keys)
    orders[:, 0] = -1
    by_rules = (orders > 0) & (orders < NEVER)
    # Orders in which the side wins or the other side loses.
    won = [np.union1d(orders[side][by_rules[side] & (keys[side] > 0)],
                      orders[1 - side][by_rules[1 - side] & (keys[1 - side] < 0)]).tolist()
           for side in range(2)]  # fmt: skip
    listed = [_list_marks(won[side], won[1 - side]) for side in range(2)]
    groups = np.unique([0, *won[0], *won[1], NEVER])
    shape = 2, max(map(len, listed))
    role, group, of_keys = np.full(shape, -1), np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    number = np.zeros((2, len(groups), ROLES), np.int64)
    of_ranks = np.zeros((2, STATES, keys.shape[1]), np.int64)
    for side, line in enumerate(listed):
        of_keys[side, [0, 1, len(line) - 1]] = -MATE - 1, MATE - 1, -MATE
        for mark, (order, own) in enumerate(line):
            if own < 0:
                continue
            role[side, mark], group[side, mark] = own, groups.searchsorted(order)
            number[side, group[side, mark], own] = mark
            if own < WIN_ROLES:
                of_keys[side, mark] = MATE - order * ORDER - (0 if own <= CLAIM else 2)
            elif own < LOSS_ROLES:
                of_keys[side, mark] = order * ORDER + 1 - MATE
        for rank in range(1, keys.shape[1]):
            key, order = int(keys[side, rank]), int(orders[side, rank])
            if order == 0:
                of_ranks[side, :, rank] = 1 if key > 0 else len(line) - 1
            elif order > 0:
                roles = [*_roles(key, order)]
                of_ranks[side, :, rank] = number[side, groups.searchsorted(order), roles]
    return Marks(of_ranks, role, group, number, of_keys)


def _list_marks(won: list[int], lost: list[int]) -> list[tuple[int, int]]:
    """Return order and role of each mark of a side, from the worst to the best for the opponent.

    The role is -1 for no position (first), and for wins and losses of order 0 (second and last).

    won, lost : ascending, the orders above 0 in which the side wins or loses
    """
    listed = [(0, -1), (0, -1)]
    for order in won:
        listed += [(order, CLAIM_EARLY), (order, CLAIM)] if order > 1 else [(order, CLAIM)]
        if order - 1 in won:
            listed += [(order - 1, ATTACKED_WIN), (order - 1, QUIET_WIN)]
        listed += [(order, CHECKED_WIN)]
        if order + 1 not in won:
            listed += [(order, ATTACKED_WIN), (order, QUIET_WIN)]
    listed += [(NEVER, role) for role in _DRAWS]
    listed += [(order, role) for order in lost[::-1] for role in _LOSSES]
    return [*listed, (0, -1)]


def _roles(key: int, order: int) -> tuple[int, int, int, int]:
    """Return the initial roles of a value for the states SHARED, IN_CHECK, ATTACKED and QUIET.

    key, order : those of the value, a draw or of order 1 or above
    """
    if key == 0:
        return QUIET_DRAW, CHECKED_DRAW, QUIET_DRAW, QUIET_DRAW
    if key < 0:
        return DIRECT_LOSS, FREE_LOSS, FREE_LOSS, FREE_LOSS
    claim = CLAIM_EARLY if order > 1 else CLAIM
    checked = claim if (MATE - key) % ORDER == 0 else CHECKED_WIN
    return CHECKED_WIN, checked, ATTACKED_WIN, QUIET_WIN
