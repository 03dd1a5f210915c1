# mypy: allow-untyped-defs, allow-untyped-calls
"""The chase pattern as a game on a graph, independent of the rules of xiangqi.

Two kinds of nodes alternate. At an *offence node* the *offender* is to move, and every edge is a
chase of one and the same victim; at a *reply node* the *winner* is to move, and every edge answers
the chase. The winner wins an infinite play if its replies are neither checks for ever nor chases of
one and the same piece for ever (docs/values.md, "Patterns, exactly"). So there is one *condition*
for checks, and one for each piece of the offender; the winner must be able to meet each condition
again and again, whatever the offender does. Three stages find the winning nodes:

    safe    greatest set of nodes in which all edges of an offence node stay in the set, and at
            least one edge of a reply node
    calm    nodes from which the winner can force, again and again, a reply that is neither a check
            nor a new attack, and so meets every condition. Most patterns have only such nodes
    exact   other safe nodes, solved condition by condition: a least fixpoint inside a greatest one

Graphs are stored as compressed sparse rows. Offence node o has the reply nodes offence_start[o] up
to offence_start[o + 1] (exclusive), one for each of its edges. Reply node r has the edges e from
reply_start[r] up to reply_start[r + 1] (exclusive), each leading to offence node reply_target[e].
Parameters of kernels: `tbgen.retrograde.chase`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import borrowing_kernel, by_pointer

ONE = np.uint64(1)
ALL_BITS = ~np.uint64(0)
CHECK_BIT = np.uint64(1 << 63)
"""Bit, in a word of conditions, of the condition not to check for ever. Each lower bit is the
condition not to chase one of the offender's pieces for ever.
"""

Bools = NDArray[np.bool_]
Integers = NDArray[np.int64]


@by_pointer
class PatternGraph(NamedTuple):
    """Graph of a chase pattern: the edges from offence nodes to reply nodes, and back."""

    offence_start: Integers
    """int64 (offence nodes + 1,): the first reply node of each, then the number of reply nodes."""
    reply_start: Integers
    """int64 (reply nodes + 1,): the first edge of each reply node, then the number of edges."""
    reply_target: Integers
    """int64 (edges,): the offence node that each edge leads to."""
    calm: Bools
    """bool (edges,): whether the reply is calm: it gives no check, and attacks nothing anew."""


@by_pointer
class _ReverseEdges(NamedTuple):
    """Edges of a graph ordered by their targets, and scratch arrays of `_k_safe`."""

    offence_of: Integers
    """int64 (reply nodes,): the offence node that each reply node follows."""
    start: Integers
    """int64 (offence nodes + 1,): start in `source` of the edges into each offence node."""
    source: Integers
    """int64 (edges,): the reply node of each edge, ordered by target."""
    left: Integers
    """int64 (reply nodes,): scratch; number of each node's edges to offence nodes not removed."""
    dead: Integers
    """int64 (offence nodes,): scratch; stack of removed nodes whose edges `left` still counts."""


def _reverse_edges(graph: PatternGraph) -> _ReverseEdges:
    offences, replies = len(graph.offence_start) - 1, len(graph.reply_start) - 1
    into = np.bincount(graph.reply_target, minlength=offences)
    reply_of = np.repeat(np.arange(replies), np.diff(graph.reply_start))
    return _ReverseEdges(
        np.repeat(np.arange(offences), np.diff(graph.offence_start)),
        np.concatenate([[0], np.cumsum(into)]).astype(np.int64),
        reply_of[np.argsort(graph.reply_target, kind="stable")],
        np.zeros(replies, np.int64),
        np.zeros(offences, np.int64),
    )


@borrowing_kernel
def _k_safe(graph, reverse, alive_offence, alive_reply):
    """Shrink two sets of nodes, in place, to their greatest safe subsets.

    An offence node stays if all of its reply nodes stay. A reply node stays if one of its edges
    leads to an offence node that stays.

    reverse : _ReverseEdges, of the graph
    alive_offence, alive_reply : bool (offence nodes,) and bool (reply nodes,), inout
    """
    offences, replies = graph.offence_start.size - 1, graph.reply_start.size - 1
    left, dead = reverse.left, reverse.dead
    for r in range(replies):
        left[r] = 0
        for e in range(graph.reply_start[r], graph.reply_start[r + 1]):
            left[r] += alive_offence[graph.reply_target[e]]
    count = 0
    for o in range(offences):
        if alive_offence[o]:
            for r in range(graph.offence_start[o], graph.offence_start[o + 1]):
                if not alive_reply[r] or left[r] == 0:
                    alive_offence[o] = False
            if not alive_offence[o]:
                dead[count] = o
                count += 1
    while count:
        count -= 1
        o = dead[count]
        for i in range(reverse.start[o], reverse.start[o + 1]):
            r = reverse.source[i]
            left[r] -= 1
            owner = reverse.offence_of[r]
            if left[r] == 0 and alive_offence[owner]:
                alive_offence[owner] = False
                dead[count] = owner
                count += 1
    for r in range(replies):
        alive_reply[r] = alive_reply[r] and left[r] > 0


@borrowing_kernel
def _k_reach_calm(graph, safe, inside, reaching):
    """Add to `reaching` the nodes of `inside` from which the winner forces a calm reply.

    Only edges into `safe` are followed.

    reaching : bool (reply nodes,), inout; nodes from which a calm reply is forced
    """
    changed = True
    while changed:
        changed = False
        for r in range(inside.size):
            if not inside[r] or reaching[r]:
                continue
            for e in range(graph.reply_start[r], graph.reply_start[r + 1]):
                target = graph.reply_target[e]
                if not safe[target]:
                    continue
                good = graph.calm[e]
                if not good:
                    good = True
                    for f in range(graph.offence_start[target], graph.offence_start[target + 1]):
                        good = good and reaching[f]
                if good:
                    reaching[r] = True
                    changed = True
                    break


def _force_calm(graph: PatternGraph, reverse: _ReverseEdges, safe: Bools, inside: Bools) -> Bools:
    """Return the reply nodes from which the winner can force calm replies again and again.

    They are the greatest subset of `inside` from which the winner can force a calm reply without
    leaving the subset or `safe`.
    """
    safe = safe.copy()
    while True:
        reaching = np.zeros_like(inside)
        _k_reach_calm(graph, safe, inside, reaching)
        if not (inside & ~reaching).any():
            return inside
        inside = reaching
        _k_safe(graph, reverse, safe, inside)


@by_pointer
class Conditions(NamedTuple):
    """Facts by which the exact stage tests the conditions: which replies check, or chase a piece.

    A *pair* is a reply of the winner and a chase that may follow it. The chase that follows decides
    whether the reply was itself a chase. Pair pair_start[e] + i has edge e (the reply) and the
    chase to the i-th reply node (i >= 0) of the offence node that e leads to.

    A set of the offender's pieces is a word; a piece's bit is its index in the list of all pieces
    (the layout's order) at an offence node. The same piece may have another index at another
    offence node, since canonical positions may be mirrored, or have identical pieces exchanged.
    """

    check: Bools
    """bool (edges,): whether the reply gives check."""
    pair_start: Integers
    """int64 (edges + 1,): the first pair of each edge, then the total number of pairs."""
    chased: NDArray[np.uint64]
    """uint64 (pairs,): set of the offender's pieces that the pair's reply chases: the reply attacks
    them anew, and the pair's chase answers the attack. Bits are indices at the offence node before
    the reply. No meaning if the reply gives check.
    """
    pieces: np.uint64
    """Set of all pieces of the offender but the king."""
    follow: NDArray[np.int8]
    """int8 (edges, pieces): index of each of the offender's pieces at the offence node after the
    reply; the column is its index at the offence node before. 0 for the winner's pieces, and for
    edges without pairs.
    """


@borrowing_kernel
def _k_force(graph, conditions, calm, safe, inside, forced):
    """Find the conditions that the winner can force to be met once from each node of `inside`.

    conditions : Conditions; the edges of all nodes in `inside` but not in `calm` must have pairs
    calm : bool (reply nodes,), nodes from which calm replies meet all conditions; they are
        skipped, and must have all bits set in `forced`
    forced : uint64 (reply nodes,), inout; a word for each node, to which the conditions are added:
        CHECK_BIT, and the bit of each piece at the offence node before the reply node
    """
    changed = True
    while changed:
        changed = False
        for r in range(inside.size):
            if not inside[r] or calm[r]:
                continue
            word = forced[r]
            for e in range(graph.reply_start[r], graph.reply_start[r + 1]):
                target = graph.reply_target[e]
                if not safe[target]:
                    continue
                met = ALL_BITS
                first = graph.offence_start[target]
                for f in range(first, graph.offence_start[target + 1]):
                    pair = conditions.pair_start[e] + f - first
                    here = np.uint64(0)
                    if not conditions.check[e] or forced[f] & CHECK_BIT:
                        here |= CHECK_BIT
                    for piece in range(conditions.follow.shape[1]):
                        one = ONE << np.uint64(piece)
                        after = ONE << np.uint64(conditions.follow[e, piece])
                        chased = not conditions.check[e] and conditions.chased[pair] & one
                        if not chased or forced[f] & after:
                            here |= one
                    met &= here
                word |= met
            if word != forced[r]:
                forced[r] = word
                changed = True


def _force_conditions(
    graph: PatternGraph,
    reverse: _ReverseEdges,
    conditions: Conditions,
    calm: Bools,
    safe: Bools,
    inside: Bools,
) -> Bools:
    """Return the nodes of `inside` that win by the exact conditions, bool (reply nodes,).

    Nodes of `calm` win. From each other winning node, and for each condition, the winner can force
    that the condition is met or a calm node is reached, without leaving `safe` and the winning
    nodes.
    """
    safe, inside = safe.copy(), inside.copy()
    needed = conditions.pieces | CHECK_BIT
    while True:
        forced = np.where(calm, ALL_BITS, np.uint64(0))
        _k_force(graph, conditions, calm, safe, inside, forced)
        lost = inside & ~calm & (forced & needed != needed)
        if not lost.any():
            return inside
        inside &= ~lost
        _k_safe(graph, reverse, safe, inside)


def winning_replies(graph: PatternGraph, conditions: Callable[[Bools], Conditions]) -> Bools:
    """Return the reply nodes, bool (reply nodes,), from which the winner wins within the graph.

    conditions : called once, with the safe but not *calm* reply nodes (module docstring), bool
        (reply nodes,); returns `Conditions` with pairs for the edges of these nodes
    """
    reverse = _reverse_edges(graph)
    safe = np.ones(len(graph.offence_start) - 1, np.bool_)
    inside = np.ones(len(graph.reply_start) - 1, np.bool_)
    _k_safe(graph, reverse, safe, inside)
    calm = _force_calm(graph, reverse, safe, inside)
    return _force_conditions(graph, reverse, conditions(inside & ~calm), calm, safe, inside)


def compile_game() -> None:
    """Compile the kernels by solving a graph without nodes."""
    start, none, no = np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(0, np.bool_)
    conditions = Conditions(
        no, start, np.zeros(0, np.uint64), np.uint64(0), np.zeros((0, 1), np.int8)
    )
    winning_replies(PatternGraph(start, start, none, no), lambda region: conditions)
