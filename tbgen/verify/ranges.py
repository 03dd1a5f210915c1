"""Nodes in ranges, one for each task: lists that were made, or made when their turn comes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from tbgen.verify.arrays import ManyNumbers, Numbers

Ranges = Sequence[Callable[[], Numbers]]
"""At least one; ascending nodes, each range beyond those before it."""

_NODES = 1 << 14
"""Nodes of a range."""


def cut(nodes: ManyNumbers) -> Ranges:
    """The ranges of a list."""
    starts = range(0, max(1, len(nodes)), _NODES)
    return [partial(_part, nodes, start) for start in starts]


def _part(nodes: ManyNumbers, start: int) -> Numbers:
    """One range of a list."""
    return nodes[start : start + _NODES].astype(np.int64)


def narrowed(nodes: ManyNumbers, slots: int) -> ManyNumbers:
    """A copy of nodes of a table with so many slots, in four bytes each where they do."""
    return nodes.astype(np.uint32) if 2 * slots <= 1 << 32 else nodes.astype(np.int64)
