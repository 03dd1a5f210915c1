"""Every example of docs/referee.md is run, and the module docstrings too."""

import doctest
import re

import pytest

from tbgen.indexing import Move
from tbgen.referee import history, judge, verdict
from tbgen.referee.diagram import Diagram
from tests.kits.paths import DOCS

PAGE = (DOCS / "referee.md").read_text()
EXAMPLES = re.findall(r"^    (\S+ [wb]);(.*)\n    → (.*)$", PAGE, re.MULTILINE)


def test_the_page_has_examples():
    assert len(EXAMPLES) == PAGE.count("→") > 30


@pytest.mark.parametrize(("fen", "moves", "reason"), EXAMPLES)
def test_examples(fen, moves, reason):
    loop = [Move.from_iccs(move) for move in moves.split()]
    assert judge(Diagram.from_fen(fen), loop).reason == reason


@pytest.mark.parametrize("module", [verdict, history])
def test_docstrings(module):
    result = doctest.testmod(module)
    assert result.attempted
    assert not result.failed
