"""The chase pattern as a game on a graph, apart from xiangqi.

Two kinds of nodes alternate. At an *offence node* the offender is to move, and every edge is a
chase of one and the same victim; at a *reply node* the winner-to-be is to move, and every edge
answers the chase. A play that never ends is won if the replies are neither checks for ever nor
chases of one and the same piece for ever (RULES 3): each of these is a condition that must be
met again and again, whatever the offender does.

    safe    greatest set: an offence node all of whose edges, a reply node one of whose edges,
            stay in the set
    calm    replies that are neither a check nor a new attack meet every condition at once; most
            patterns have them everywhere
    exact   what cannot force calm replies for ever is solved condition by condition: a least
            fixpoint inside a greatest one

Graphs are in compressed rows. Offence node o has the reply nodes offence_start[o] up to
offence_start[o + 1]: reply nodes are numbered in that order, one for each edge. Reply node r has
the edges reply_start[r] up to reply_start[r + 1], each leading to offence node reply_target[e].
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tbgen.jit import kernel

ONE = np.uint64(1)
ALL_BITS = ~np.uint64(0)
CHECK_BIT = np.uint64(1 << 63)


class PatternGraph(NamedTuple):
    """The edges between offence nodes and reply nodes."""

    offence_start: NDArray[np.int64]
    """int64 (offence nodes + 1,)."""
    reply_start: NDArray[np.int64]
    """int64 (reply nodes + 1,)."""
    reply_target: NDArray[np.int64]
    """int64 (edges,)."""
    calm: NDArray[np.bool_]
    """bool (edges,): the reply is no check, and attacks nothing anew."""


@kernel
def _offence_of(offence_start):
    """int64 (reply nodes,): the offence node that each reply node follows."""
    result = np.zeros(offence_start[-1], np.int64)
    for o in range(offence_start.size - 1):
        for r in range(offence_start[o], offence_start[o + 1]):
            result[r] = o
    return result


@kernel
def _k_safe(graph, alive_offence, alive_reply):
    """Shrink both sets (bool, inout) to the greatest safe ones.

    An offence node dies with any of its reply nodes, a reply node with the last of its edges.
    """
    offences, replies = graph.offence_start.size - 1, graph.reply_start.size - 1
    offence_of = _offence_of(graph.offence_start)
    # Edges by target, to find who loses one when an offence node dies.
    into = np.zeros(offences + 1, np.int64)
    for e in range(graph.reply_target.size):
        into[graph.reply_target[e] + 1] += 1
    for o in range(offences):
        into[o + 1] += into[o]
    source = np.zeros(graph.reply_target.size, np.int64)
    fill = into[:-1].copy()
    left = np.zeros(replies, np.int64)
    for r in range(replies):
        for e in range(graph.reply_start[r], graph.reply_start[r + 1]):
            target = graph.reply_target[e]
            source[fill[target]] = r
            fill[target] += 1
            left[r] += alive_offence[target]
    dead = np.zeros(offences, np.int64)
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
        for i in range(into[o], into[o + 1]):
            r = source[i]
            left[r] -= 1
            owner = offence_of[r]
            if left[r] == 0 and alive_offence[owner]:
                alive_offence[owner] = False
                dead[count] = owner
                count += 1
    for r in range(replies):
        alive_reply[r] = alive_reply[r] and left[r] > 0


@kernel
def _k_calm(graph, alive_offence, alive_reply):
    """bool (reply nodes,): where the winner can force calm replies again and again.

    The greatest set Z of which every node reaches, inside Z, a calm reply: a least fixpoint
    (nodes that reach one whatever the offender does) is iterated until it loses nothing.
    """
    inside, safe = alive_reply.copy(), alive_offence.copy()
    replies = graph.reply_start.size - 1
    while True:
        reaching = np.zeros(replies, np.bool_)
        changed = True
        while changed:
            changed = False
            for r in range(replies):
                if not inside[r] or reaching[r]:
                    continue
                for e in range(graph.reply_start[r], graph.reply_start[r + 1]):
                    target = graph.reply_target[e]
                    if not safe[target]:
                        continue
                    good = graph.calm[e]
                    if not good:
                        good = True
                        for f in range(
                            graph.offence_start[target], graph.offence_start[target + 1]
                        ):
                            good = good and reaching[f]
                    if good:
                        reaching[r] = True
                        changed = True
                        break
        lost = False
        for r in range(replies):
            lost = lost or (inside[r] and not reaching[r])
        if not lost:
            return inside
        inside = reaching
        _k_safe(graph, safe, inside)


class Conditions(NamedTuple):
    """What the exact stage knows of the pairs (reply, offence that follows it).

    Edge e and the i-th edge of the offence node it leads to are pair pair_start[e] + i. The
    offender's pieces are bits of a word, numbered at each offence node anew.
    """

    check: NDArray[np.bool_]
    """bool (edges,): the reply gives check."""
    pair_start: NDArray[np.int64]
    """int64 (edges + 1,)."""
    chased: NDArray[np.uint64]
    """uint64 (pairs,): the pieces that the reply attacks anew, and the offence answers for."""
    pieces: np.uint64
    """The numbers of the pieces that can be chased at all."""
    follow: NDArray[np.int8]
    """int8 (edges, pieces): the number of each piece at the offence node that an edge leads to."""


@kernel
def _k_exact(graph, conditions, calm, alive_offence, alive_reply):
    """Shrink `alive_reply` (bool, inout) to the winning nodes.

    Nodes of `calm` win. For the others, each condition (not to check for ever; for each piece,
    not to chase it for ever) must be met again and again: from every node the next meeting can
    be forced, or a calm node, inside the set.
    """
    replies = graph.reply_start.size - 1
    inside, safe = alive_reply.copy(), alive_offence.copy()
    while True:
        # A node's word: a bit for the checks and one for each piece, set once it can be forced.
        forced = np.zeros(replies, np.uint64)
        for r in range(replies):
            if calm[r]:
                forced[r] = ALL_BITS
        changed = True
        while changed:
            changed = False
            for r in range(replies):
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
        lost = False
        needed = conditions.pieces | CHECK_BIT
        for r in range(replies):
            if inside[r] and not calm[r] and forced[r] & needed != needed:
                inside[r] = False
                lost = True
        if not lost:
            for r in range(replies):
                alive_reply[r] = inside[r]
            return
        _k_safe(graph, safe, inside)


def winning_replies(
    graph: PatternGraph, conditions: Callable[[NDArray[np.bool_]], Conditions]
) -> NDArray[np.bool_]:
    """bool (reply nodes,): from where the winner-to-be wins by the offence alone.

    conditions : called with bool (reply nodes,): those that cannot force calm replies, for which
        the exact stage needs to know the pairs
    """
    alive_offence = np.ones(graph.offence_start.size - 1, np.bool_)
    alive_reply = np.ones(graph.reply_start.size - 1, np.bool_)
    _k_safe(graph, alive_offence, alive_reply)
    calm = _k_calm(graph, alive_offence, alive_reply)
    _k_exact(graph, conditions(alive_reply & ~calm), calm, alive_offence, alive_reply)
    return alive_reply
