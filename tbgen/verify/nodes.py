# mypy: allow-untyped-defs, allow-untyped-calls
"""Lists and sets of nodes (2 * slot + side to move), and what stands in the planes for them.

    Ranges   a range for each task: lists that were made, or made when their turn comes
    bits     sets of numbers, eight to a byte

What several threads write of a set lies in bytes of their own: they have leads, eight at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from tbgen.compiling.jit import part
from tbgen.verify.arrays import Arrays, ManyNumbers, Numbers

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


@part
def set_bit(bits, number):
    """Put a number into a set.

    bits : uint8 (n / 8,), inout; number : int
    """
    bits[number >> 3] |= np.uint8(1 << (number & 7))


@part
def has_bit(bits, number):
    """Return whether a number is in a set.

    bits : uint8 (n / 8,); number : int
    """
    return (bits[number >> 3] >> (number & 7)) & 1 != 0


@part
def search(nodes, node):
    """The place of the first of some nodes that is not smaller than a node."""
    low, high = 0, nodes.size
    while low < high:
        middle = (low + high) // 2
        if nodes[middle] < node:
            low = middle + 1
        else:
            high = middle
    return low


@part
def contains(nodes, node):
    """Return whether a node is among some nodes."""
    at = search(nodes, node)
    return at < nodes.size and nodes[at] == node


def places_of(nodes: Numbers, slots: int) -> Numbers:
    """Return where in the planes nodes stand."""
    return nodes % 2 * slots + nodes // 2


def stored_keys(nodes: Numbers, arrays: Arrays) -> Numbers:
    """The keys of what stands in the planes for nodes, int64 (n,)."""
    slots = int(arrays.tables[0, 1])
    keys: Numbers = arrays.values.keys[nodes % 2, arrays.ranks[places_of(nodes, slots)]]
    return keys


def in_check(nodes: Numbers, arrays: Arrays) -> np.ndarray:
    """Return whether the sides to move are in check, bool (n,)."""
    slots = int(arrays.tables[0, 1])
    flags: np.ndarray = arrays.ranks[places_of(nodes ^ 1, slots)] == 0
    return flags
