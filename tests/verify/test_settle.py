"""What passes for checks do with a mark, against the same told position by position."""

import numpy as np
import pytest

from tbgen.verify.forward import settle
from tbgen.verify.forward.settle import (
    AMBUSH,
    ANSWERS,
    EARLY_LOSS,
    EARLY_WIN,
    ESCAPE,
    FIRST_OFFENCE,
    HELD,
    HIDDEN,
    LATE_LOSS,
    LATE_WIN,
    LIST_ANSWERS,
    LIST_OFFENDERS,
    MAYBE,
    MAYBE_CHECKED,
    MAYBE_TENSE,
    OUT,
    OUT_TENSE,
    START,
    START_CHECKED,
    STEPS,
    TAKEN,
    TENSE,
)
from tbgen.verify.keys import MATE, ORDER
from tbgen.verify.ranks import make_values

ORDERS = 3


@pytest.fixture(scope="module")
def settling():
    """The marks of a table with wins and losses of three orders, direct and others, and draws."""
    wins = [MATE - order * ORDER - plies for order in range(ORDERS + 1) for plies in (0, 2)]
    keys = np.array([0, *wins, *(-key for key in wins)])
    values = make_values([keys, keys], [keys, keys], seek=True, all_kinds=False)
    return settle.make_marks(values, seek_chases=True)


@pytest.fixture(scope="module")
def meanings(settling):
    """State and class of each mark, by the list that they are numbered from."""
    last = ORDERS
    listed = [(settle.CLOSED, 0)]
    listed += [(HIDDEN, order) for order in range(1, last + 1)]
    listed += [(settle.CLOSED, 0)]
    listed += [(state, order) for order in range(1, last + 1) for state in settle._WINS]
    listed += [(state, last + 1) for state in settle._DRAWS]
    listed += [(state, order) for order in range(last, 0, -1) for state in settle._LOSSES]
    listed += [(settle.CLOSED, last + 2)]
    assert len(listed) == settling.marks.concerns.shape[1]
    return listed


def after_offence(step, own, best):
    """What becomes of a position of O's."""
    (state, order), (met, order_met) = own, best
    if step != FIRST_OFFENCE:
        if state == EARLY_LOSS:
            return (LATE_LOSS, order) if met == LATE_WIN else own
        return (state + OUT - MAYBE, order) if AMBUSH <= met <= ESCAPE else own
    if met == HIDDEN:
        order_met = 0  # nothing better keeps the class: only checks into direct wins do
    if order_met == order and met in (HELD, TAKEN):
        return MAYBE, order
    if order_met >= order:
        return OUT, order
    if state == START_CHECKED:
        return MAYBE, order
    is_early = order > 1 and (order_met < order - 1 or met < AMBUSH)
    return (EARLY_LOSS if is_early else LATE_LOSS), order


def after_answer(own, best):
    """What becomes of a position of W's in check."""
    (state, order), (met, order_met) = own, best
    if state == HELD:
        return (ESCAPE, order) if order_met == order and OUT <= met <= OUT_TENSE else own
    return (LATE_WIN if order_met == order and met == LATE_LOSS else EARLY_WIN), order


LOOKED_AT = {
    settle.FIRST_OFFENCE: {START, START_CHECKED},
    settle.FIRST_ANSWER: {HIDDEN, HELD},
    settle.OFFENCE: {EARLY_LOSS, MAYBE, MAYBE_CHECKED, MAYBE_TENSE},
    settle.ANSWER: {EARLY_WIN, HELD},
    LIST_OFFENDERS: {EARLY_LOSS, MAYBE, MAYBE_CHECKED, MAYBE_TENSE},
    LIST_ANSWERS: {EARLY_WIN, HELD},
}


@pytest.mark.parametrize("step", range(STEPS))
def test_tables_of_marks_say_what_a_look_at_each_position_says(settling, meanings, step):
    """For every mark and every best mark among the moves."""
    marks = settling.marks
    for number, own in enumerate(meanings):
        is_due = own[0] in LOOKED_AT[step]
        assert marks.concerns[step, number] == is_due
        for best_number, best in enumerate(meanings):
            after = own
            if is_due:
                after = (
                    after_answer(own, best) if step in ANSWERS else after_offence(step, own, best)
                )
            assert meanings[marks.becomes[step, number, best_number]] == after
            is_listed = False
            if step == FIRST_OFFENCE:
                is_listed = is_due and own[1] == best[1] and best[0] == TENSE
            elif step in (LIST_OFFENDERS, LIST_ANSWERS):
                is_listed = is_due and after[0] in LOOKED_AT[step]
            assert marks.listed[step, number, best_number] == is_listed


def test_chases_are_listed_only_where_they_count():
    """Under rules of checks alone nobody asks who may chase."""
    keys = np.array([0, MATE - ORDER, ORDER - MATE + 1])
    values = make_values([keys, keys], [keys, keys], seek=True, all_kinds=False)
    settling = settle.make_marks(values, seek_chases=False)
    assert not settling.marks.listed[FIRST_OFFENCE].any()
