"""The generator of training positions, `scripts/tune/self_play.py`."""

from __future__ import annotations

import sys

import numpy as np

from tests.helpers.paths import ROOT

sys.path.insert(0, str(ROOT / "scripts" / "tune"))

from self_play import SelfPlay


def test_a_seed_gives_one_game_of_undecided_positions() -> None:
    player = SelfPlay(nodes=20)

    def play() -> tuple[int, int, bytes, bytes]:
        kept, result = player.play(np.random.default_rng(1))
        return kept, result, player.boards[:kept].tobytes(), player.scores[:kept].tobytes()

    kept, result, *arrays = play()
    assert kept > 0
    assert result in (-1, 0, 1)
    assert set(np.unique(player.sides[:kept])) == {0, 1}
    assert play() == (kept, result, *arrays)
