"""Examples of docs/referee.md, of referee_loops.csv, and of docstrings."""

import csv
import doctest
import re

import pytest

from tbgen.indexing import Move
from tbgen.referee import history, judge, verdict
from tbgen.referee.game import Diagram
from tests.helpers.paths import DATA, DOCS

PAGE = (DOCS / "referee.md").read_text()
EXAMPLES = re.findall(r"^    (\S+ [wb]);(.*)\n    → (.*)$", PAGE, re.MULTILINE)

with (DATA / "referee_loops.csv").open(newline="") as file:
    LOOPS = [(row["fen"], row["moves"], row["reason"]) for row in csv.DictReader(file)]


def test_the_page_has_examples():
    assert len(EXAMPLES) == PAGE.count("→") > 5


@pytest.mark.parametrize(("fen", "moves", "reason"), [*EXAMPLES, *LOOPS])
def test_examples(fen, moves, reason):
    loop = [Move.from_iccs(move) for move in moves.split()]
    assert judge(Diagram.from_fen(fen), loop).reason == reason


@pytest.mark.parametrize("module", [verdict, history])
def test_docstrings(module):
    result = doctest.testmod(module)
    assert result.attempted
    assert not result.failed
