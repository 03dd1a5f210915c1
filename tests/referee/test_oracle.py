"""Random loops against pyffish's referee: a rule clause explains every disagreement.

`scripts/reproduce/compare_referee.py` compares 20000 loops (docs/referee.md); `-m certification`
checks the counts of that comparison here.
"""

import pytest

from tests.helpers.agreement import UNEXPLAINED, compare


def check(result):
    assert result.differences[UNEXPLAINED] == 0, result.samples[UNEXPLAINED]
    assert sum(result.differences.values()) < 0.03 * result.loops
    assert result.verdicts["red wins"] > 0.05 * result.loops
    assert result.verdicts["black wins"] > 0.05 * result.loops


def test_random_loops():
    check(compare(seed=41, loops=100))


@pytest.mark.certification
def test_twenty_thousand_random_loops():
    check(compare(seed=1, loops=20_000))
