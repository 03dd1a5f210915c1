# mypy: allow-untyped-defs, allow-untyped-calls
"""Perpetual checks, settled by rows: what the scalar rules need not look at.

Let W be the winner-to-be and O the offender. The *class* of a value is the order of W's win, or
the last order and one for draws. Where every value is the best of its moves, O has a move that
keeps the class and W has none that betters it; so whatever the pattern of some order holds beyond
what is claimed shows among two neighbouring classes c - 1 and c at order c - 1, or in one class at
its own order (docs/proof.md, "Few candidates", has the argument). In a sound table

    claimed    a direct win of order c in check can go, without a check, to a loss of order c whose
               moves all lose before or check into such wins: they support each other
    not early  of these losses enough have a move that loses at order c - 1 only, so that no part of
               the class is a pattern an order earlier
    held       nothing else in check supports itself inside its class

The first is a look at each position; the others are greatest sets, which a few passes over the
rows shrink to almost nothing. Each pass takes the maximum of *marks* instead of ranks: marks are
ordered by class and, inside a class, by what the mover must not have (or wants to have) among his
moves. Of draws the first pass has said which of O's only checks hold: ranks tell that as marks
would. What is left is listed, and the scalar rules decide about it (`tbgen.verify.checks`).

    side of W, to move    HIDDEN -> EARLY_WIN -> LATE_WIN    direct wins in check
                          HELD -> ESCAPE                     others in check
                          TAKEN                              after captures
                          AMBUSH, TENSE, ESCAPE              not in check: where he only threatens
                                                             to win by a capture; where something of
                                                             his can be taken, and direct wins;
                                                             others
    side of O, to move    START, START_CHECKED -> EARLY_LOSS -> LATE_LOSS     settled
                                               -> MAYBE -> OUT                not settled;
                          OUT or MAYBE -> OUT                                 draws
                          EARLY_LOSS                         captures that win for W
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import borrowing_kernel
from tbgen.compiling.lending import lent
from tbgen.indexing import Side
from tbgen.tables.codes import LimitExceededError
from tbgen.verify.arrays import LAST_STAKE
from tbgen.verify.keys import DECIDED_BY_RULES, MATE, NEVER, ORDER, order_of_key, orders_of_keys
from tbgen.verify.ranks import (
    ASKS_ATTACKS,
    ASKS_CHECKS,
    ASKS_HUNG,
    ATTACKING,
    CAPTURE,
    CHASE,
    CHECK,
    FREE,
    KINDS,
    UNTOLD,
    Values,
)

(
    CLOSED, HIDDEN, TAKEN, EARLY_WIN, LATE_WIN, HELD, AMBUSH, TENSE, ESCAPE,
    OUT, OUT_CHECKED, OUT_TENSE, MAYBE, MAYBE_CHECKED, MAYBE_TENSE,
    LATE_LOSS, EARLY_LOSS, STATES,
) = range(18)  # fmt: skip
"""States, ascending as they are in a class. A draw has one of HELD, TENSE and ESCAPE, or of OUT and
MAYBE, which say besides what it was."""

START, START_CHECKED = LATE_LOSS, EARLY_LOSS
"""Losses of a side that has not been O yet, the second ones in check. The marks of settled ones do
for them, since nobody looks at both: so there are fewer marks for a byte to tell apart."""

_WINS = (TAKEN, EARLY_WIN, LATE_WIN, HELD, AMBUSH, TENSE, ESCAPE)
_DRAWS = (HELD, TENSE, ESCAPE, OUT, OUT_CHECKED, OUT_TENSE, MAYBE, MAYBE_CHECKED, MAYBE_TENSE)
_LOSSES = (OUT, MAYBE, LATE_LOSS, EARLY_LOSS)

_OF_WINS = {CAPTURE: (TAKEN, TAKEN), CHECK: (HELD, HIDDEN), CHASE: (TENSE, TENSE),
            FREE: (ESCAPE, TENSE), ATTACKING: (AMBUSH, TENSE)}  # fmt: skip
"""What wins of a kind begin as: those that are not direct, and those that are."""
_OF_DRAWS = {CHECK: (HELD, OUT_CHECKED, MAYBE_CHECKED), CHASE: (TENSE, OUT_TENSE, MAYBE_TENSE),
             FREE: (ESCAPE, OUT, MAYBE)}  # fmt: skip
"""What draws of a kind begin as, W's and O's; and what those of O's become."""

(
    FIRST_OFFENCE, FIRST_ANSWER, OFFENCE, ANSWER, LIST_OFFENDERS, LIST_ANSWERS, STEPS,
) = range(7)  # fmt: skip
"""What a pass over rows is for: marks of offenders, or of the winner-to-be."""

ANSWERS = FIRST_ANSWER, ANSWER, LIST_ANSWERS
"""The passes in which W is to move."""
LISTS = FIRST_OFFENCE, LIST_OFFENDERS, LIST_ANSWERS
"""The passes that list something: who may chase, and what is left of the checks."""


@lent
class Marks(NamedTuple):
    """What marks stand for. Shape: M marks, of which 0 is that of no position."""

    concerns: NDArray[np.uint8]
    """uint8 (STEPS, M): 1 if positions with that mark are looked at in a pass."""
    becomes: NDArray[Any]
    """marks (STEPS, M, M): what a position's mark becomes in a pass, by the best mark that a move
    leads to; the same where it is not looked at."""
    listed: NDArray[np.uint8]
    """uint8 (STEPS, M, M): 1 for those that the pass lists."""


@lent
class Beginning(NamedTuple):
    """What ranks of either side become, to begin with, for Red as W. Shape: R ranks."""

    becomes: NDArray[Any]
    """marks (2, KINDS + 1, R): by the kind of the position, the last line for ATTACKING."""
    asks: NDArray[np.uint8]
    """uint8 (2, R): what that depends on (`ranks`)."""
    orders: NDArray[np.uint8]
    """uint8 (2, R): of wins by rules, LAST_STAKE for higher ones."""
    direct: NDArray[np.bool_]
    """bool (2, R): direct wins."""


class Scope(NamedTuple):
    """Which wins by rules may be of a kind that needs a mark of its own. Shape: R ranks."""

    captured: NDArray[np.bool_]
    """bool (2, R): the ranks that captures lead to, by side to move."""
    stakes: list[int]
    """The last order by which captures win for either side; LAST_STAKE for higher ones."""


class Settling(NamedTuple):
    """Marks, and how planes come to hold them. Shape: M marks, the same for both sides."""

    marks: Marks
    values: Values
    """Whose keys and `settled` are those of marks."""
    of_ranks: Beginning
    of_marks: NDArray[np.int64]
    """int64 (2, M): what becomes of each, of W's and of O's, to begin again for the other one as W;
    what has been found of the first stays."""
    held: NDArray[np.int64]
    """int64 (M,): what becomes of the mark of a draw of O's that only checks hold."""


def make_marks(values: Values, *, seek_chases: bool, scope: Scope | None = None) -> Settling:
    """The marks of a proof. A mark has a key of its class: that of a direct win, or another.

    seek_chases : whether the first pass lists who may chase; scope : by default, all may occur

    Raises `LimitExceededError` for more of them than 16 bits tell apart.
    """
    orders = orders_of_keys(values.keys[:, 1:])
    last = int(orders[orders < NEVER].max(initial=0))
    listed = [(CLOSED, 0)]  # no position
    listed += [(HIDDEN, order) for order in range(1, last + 1)]
    listed += [(CLOSED, 0)]
    listed += [(state, order) for order in range(1, last + 1) for state in _WINS]
    listed += [(state, last + 1) for state in _DRAWS]
    listed += [(state, order) for order in range(last, 0, -1) for state in _LOSSES]
    listed += [(CLOSED, last + 2)]
    if len(listed) > 1 << 16:
        raise LimitExceededError(f"{len(listed)} marks are more than 16 bits can tell apart")
    state, order = np.array(listed).T
    mark = np.zeros((STATES, last + 3), np.int64)
    mark[state[1:], order[1:]] = np.arange(1, len(listed))
    keys = np.array([values.keys[0, 0], *(_key(*each, last) for each in listed[1:])], np.int64)
    marks = _rules_of_steps(state, order, mark, seek_chases=seek_chases)
    of_ranks, of_marks = _of_ranks(values, mark, scope), np.tile(np.arange(len(listed)), (2, 1))
    for states in _OF_DRAWS.values():
        of_marks[:, mark[list(states), last + 1]] = mark[list(states[:2]), last + 1][:, None]
    held = np.arange(len(listed))
    for _, out, maybe in _OF_DRAWS.values():
        held[mark[out, last + 1]] = mark[maybe, last + 1]
    dtype = np.min_scalar_type(len(listed) - 1)
    return Settling(
        marks,
        _of_both(values, keys, np.isin(state, (LATE_LOSS, EARLY_LOSS))),
        Beginning(
            of_ranks.astype(dtype),
            _asks(values),
            np.clip(orders_of_keys(values.keys), 0, LAST_STAKE).astype(np.uint8),
            _is_direct(values.keys),
        ),
        of_marks,
        held,
    )


def forget_states(values: Values) -> tuple[Values, NDArray[Any]]:
    """What patterns ask of marks, under as few numbers as will do; those of each side's marks.

    values : those of marks; the numbers have their shape
    """
    asked = np.stack([values.keys, values.settled], axis=-1)
    kept, numbers = np.unique(asked.reshape(-1, 2), axis=0, return_inverse=True)
    numbers = numbers.reshape(values.keys.shape).astype(np.min_scalar_type(len(kept) - 1))
    return _of_both(values, kept[:, 0], kept[:, 1] != 0), numbers


def _of_both(values: Values, keys: NDArray[np.int64], settled: NDArray[np.bool_]) -> Values:
    """Values of marks, which are the same for both sides."""
    return values._replace(keys=np.stack([keys, keys]), settled=np.stack([settled, settled]))


def _concerns(state: NDArray[np.int64]) -> NDArray[np.uint8]:
    """`Marks.concerns`."""
    maybe = np.isin(state, (MAYBE, MAYBE_CHECKED, MAYBE_TENSE))
    concerns = np.zeros((STEPS, len(state)), np.uint8)
    concerns[FIRST_OFFENCE] = np.isin(state, (START, START_CHECKED))
    concerns[FIRST_ANSWER] = np.isin(state, (HIDDEN, HELD))
    concerns[[OFFENCE, LIST_OFFENDERS]] = maybe | (state == EARLY_LOSS)
    concerns[[ANSWER, LIST_ANSWERS]] = np.isin(state, (HELD, EARLY_WIN))
    return concerns


def _of_ranks(values: Values, mark: NDArray[np.int64], scope: Scope | None) -> NDArray[np.int64]:
    """`Beginning.becomes`; mark : int64 (STATES, classes), by state and class."""
    draw = mark.shape[1] - 2
    becomes = np.zeros((len(Side), KINDS + 1, values.keys.shape[1]), np.int64)
    for side, kind, rank in np.ndindex(*becomes.shape):
        key, told = int(values.keys[side, rank]), int(values.kinds[side, rank])
        if not rank or abs(key) > MATE:
            continue
        of, told = min(order_of_key(key), draw), kind if told == UNTOLD else told
        if key == 0:
            state, of = _OF_DRAWS.get(told, _OF_DRAWS[FREE])[side], draw
        elif of == 0:
            state, of = CLOSED, 0 if key > 0 else draw + 1
        elif key < 0:
            state = {CAPTURE: EARLY_LOSS, CHECK: START_CHECKED}.get(told, START)
        else:
            if scope is not None and told == CAPTURE and not scope.captured[side, rank]:
                told = CHECK  # does not occur
            if scope is not None and told == ATTACKING and scope.stakes[side] < min(of, LAST_STAKE):
                told = CHASE  # does not occur: `kinds` has made it FREE
            state = _OF_WINS[told][int(_is_direct(np.int64(key)))]
        becomes[side, kind, rank] = mark[state, of]
    return becomes


def _asks(values: Values) -> NDArray[np.uint8]:
    """`Beginning.asks`: of a loss only whether it is in check."""
    told, won = values.kinds != UNTOLD, values.keys > 0
    asks = np.where(won, ASKS_CHECKS | ASKS_HUNG | ASKS_ATTACKS, ASKS_CHECKS)
    return np.where(told, 0, asks).astype(np.uint8)


def _is_direct(keys: Any) -> Any:
    """Whether keys are those of direct wins."""
    return (keys > 0) & (keys <= DECIDED_BY_RULES) & ((MATE - keys) % ORDER == 0)


def _key(state: int, order: int, last: int) -> int:
    """A key of a state and a class: the value of marks is known no closer.

    Who is TENSE may have won directly: `chase` asks those whose keys say so whether they claim it.
    """
    if state == CLOSED:
        return 1 - MATE if order else MATE - 1
    if order > last:
        return 0
    if state in (HIDDEN, EARLY_WIN, LATE_WIN, TENSE):
        return MATE - order * ORDER
    key = MATE - order * ORDER - 2
    return key if state in _WINS else -key


def _rules_of_steps(
    state: NDArray[np.int64],
    order: NDArray[np.int64],
    mark: NDArray[np.int64],
    *,
    seek_chases: bool,
) -> Marks:
    """What passes do, mark by mark.

    state, order : int64 (M,), of each mark; mark : int64 (STATES, classes), the other way round
    seek_chases : whether the first pass lists who may chase
    """
    concerns = _concerns(state)
    first, later = _settle_losses(state, order, mark), _settle_offenders(state, order, mark)
    answers = _settle_winners(state, order, mark)
    rules = {FIRST_OFFENCE: first, OFFENCE: later, LIST_OFFENDERS: later}
    own = np.arange(len(state))[:, None]
    becomes = [np.where(concerns[step, own], rules.get(step, answers), own)
               for step in range(STEPS)]  # fmt: skip
    listed = np.zeros((STEPS, len(state), len(state)), np.uint8)
    met = state[None, :]
    # The best move keeps the class, and may be a chase. From AMBUSH on downwards none of those that
    # keep it attacks anything.
    chases = (order[:, None] == order[None, :]) & (met == TENSE)
    listed[FIRST_OFFENCE] = chases & seek_chases
    for step in (LIST_OFFENDERS, LIST_ANSWERS):
        listed[step] = concerns[step, becomes[step]]
    listed &= concerns[:, :, None]
    return Marks(concerns, np.array(becomes, np.min_scalar_type(len(state) - 1)), listed)


def _settle_losses(
    state: NDArray[np.int64], order: NDArray[np.int64], mark: NDArray[np.int64]
) -> NDArray[np.int64]:
    """int64 (M, M): the marks of O's losses, whose best moves lead to marks of W's.

    Direct wins in check are hidden, and better for O than nothing only.
    """
    own_state, own, met = state[:, None], order[:, None], state[None, :]
    order_met = np.where(met == HIDDEN, 0, order[None, :])
    held = (order_met == own) & ((met == HELD) | (met == TAKEN))
    # All moves that keep the class are checks into direct wins, or they would not be the best.
    early = (own > 1) & ((order_met < own - 1) | (met < AMBUSH))
    of_class = [held, order_met >= own, own_state == START_CHECKED, early]
    return np.select(of_class, [mark[s, own] for s in (MAYBE, OUT, MAYBE, EARLY_LOSS)],
                     mark[LATE_LOSS, own])  # fmt: skip


def _settle_offenders(
    state: NDArray[np.int64], order: NDArray[np.int64], mark: NDArray[np.int64]
) -> NDArray[np.int64]:
    """int64 (M, M): the same in later passes; direct wins in check are where they belong."""
    own_state, own, met = state[:, None], order[:, None], state[None, :]
    is_late = (own_state == EARLY_LOSS) & (met == LATE_WIN)
    is_out = (own_state != EARLY_LOSS) & (met >= AMBUSH) & (met <= ESCAPE)
    out = mark[np.maximum(own_state + OUT - MAYBE, 0), own]
    return np.select([is_late, is_out], [mark[LATE_LOSS, own], out], np.arange(len(state))[:, None])


def _settle_winners(
    state: NDArray[np.int64], order: NDArray[np.int64], mark: NDArray[np.int64]
) -> NDArray[np.int64]:
    """int64 (M, M): the marks of W's positions in check, whose best moves lead to marks of O's."""
    own_state, own, met = state[:, None], order[:, None], state[None, :]
    is_held, same = own_state == HELD, own == order[None, :]
    escapes = same & (met >= OUT) & (met <= OUT_TENSE)
    return np.select(
        [is_held & escapes, is_held, same & (met == LATE_LOSS)],
        [mark[ESCAPE, own], np.arange(len(state))[:, None], mark[LATE_WIN, own]],
        mark[EARLY_WIN, own],
    )


@borrowing_kernel
def k_translate(marks, translation):
    """Replace marks by what becomes of them.

    marks : uint8 or uint16 (n,), inout; translation : uint8 or uint16 (M,), the same
    """
    for at in range(marks.size):
        marks[at] = translation[marks[at]]
