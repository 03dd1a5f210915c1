"""The search thread without kernels."""

from queue import Queue

import pytest

from tbgen.engine.clock import Limits
from tbgen.engine.game import Game
from tbgen.engine.options import Options
from tbgen.engine.thinking import Answer, Thinker


def test_a_long_wait_for_the_kernels_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    """While the search waits for its kernels, a note says why; when stopped, it still gives a move.

    In this test the kernels are never loaded.
    """
    monkeypatch.setattr("tbgen.engine.thinking._WAITS_BEFORE_NOTE", 1)
    notes: Queue[str] = Queue()
    answers: Queue[Answer] = Queue()
    thinker = Thinker(lambda found, seconds: None, answers.put, notes.put)
    thinker.begin(Game.from_start(), Options(), Limits(infinite=True))
    assert "compiling the search" in notes.get(timeout=60)
    thinker.stop()
    assert answers.get(timeout=60).move is not None
    thinker.finish()
