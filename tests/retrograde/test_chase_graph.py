"""Offence nodes of the search for chase patterns: one for each victim of a candidate, in order."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tbgen.indexing.squares import SQUARES
from tbgen.retrograde.chase import graph
from tbgen.rows import bitsets


def sets_of(squares: list[list[int]]) -> np.ndarray:
    """Return each list of squares as a set of bits, uint64 (n, 2)."""
    return np.array(
        [
            [sum(int(bitsets.BIT[square, word]) for square in each) for word in range(2)]
            for each in squares
        ],
        np.uint64,
    )


def test_each_victim_has_a_node_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """The node of a candidate and victim is found by square and victim, and -1 for any other.

    Random victims are used, since most real candidates have a single victim.
    """
    # Plain Python cannot run this intrinsic.
    monkeypatch.setattr(graph, "count_bits", lambda word: int(word).bit_count())
    rng = random.Random(1)
    keys = sorted(rng.sample(range(50 * SQUARES), 40))
    victims = [sorted(rng.sample(range(SQUARES), rng.randint(1, 6))) for _ in keys]
    starts = np.concatenate([[0], np.cumsum([len(each) for each in victims])])
    candidates = graph.ChaseCandidates(np.array(keys), sets_of(victims), starts)
    node = 0
    for key, chased in zip(keys, victims, strict=True):
        row, square = divmod(key, SQUARES)
        for victim in range(SQUARES):
            found = graph._find_node(row, square, victim, candidates)
            assert found == (node if victim in chased else -1)
            node += victim in chased
    assert node == starts[-1]
    absent = next(key for key in range(50 * SQUARES) if key not in keys)
    assert graph._find_node(*divmod(absent, SQUARES), victims[0][0], candidates) == -1
