# mypy: allow-untyped-defs, allow-untyped-calls
"""Chasers: who may belong to a pattern of chases as the offender.

    chaser         (position, victim): every move loses, or chases the victim, from `first order` on
    binding move   a move of his that loses by no order up to that of his value
    answered       every binding move has a reply to a position that is answered itself: the
                   greatest set

A chaser of a pattern is in that set, since his binding moves matter to every order that he can
belong to, and lead back into the pattern. Other chasers matter only where they lead to what is
claimed (`patterns`): they are kept, too. Which piece a reply rescues is for `edges`.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import borrowing_kernel, compile_lock, part
from tbgen.compiling.lending import lent
from tbgen.indexing.squares import EMPTY, SQUARES, piece_side
from tbgen.verify.arrays import NOBODY, Arrays, ManyNumbers, Members, Numbers
from tbgen.verify.bits import add_bits, has_bit, has_bits, remove_bits
from tbgen.verify.chase.bench import Bench, copy_board, is_chased, loses_from, play
from tbgen.verify.index import Index
from tbgen.verify.keys import NEVER, order_of_key
from tbgen.verify.moves import contains, list_moves, load_key, set_up, slot_after
from tbgen.verify.ranges import Ranges, cut, narrowed

NUMBER, FIRST_ORDER, CHASER_COLUMNS = range(3)
"""Columns of chasers. The number is 90 * (2 * slot + side to move) + square of the victim."""

NODE, AFTER, BINDING_COLUMNS = range(3)
"""Columns of binding moves: whose it is, and the node after it."""

_FIRST_ROOM = 1 << 15
"""Entries of a list of a range, which is looked at again if that is not enough."""


@lent
class Scan(NamedTuple):
    """The chasers among some nodes; cut off where there is no more room."""

    chasers: NDArray[np.int64]
    """int64 (room, CHASER_COLUMNS)."""
    binding: ManyNumbers
    """int64 (room, BINDING_COLUMNS)."""
    claiming: NDArray[np.int64]
    """int64 (room,): nodes with a move to a claim."""
    counts: NDArray[np.int64]
    """int64 (3,): how many there are of each, though room may be for less."""


@part
def _weigh(n, side, key, limit, bench, index, arrays):
    """Let a legal move say from which order on each piece may still be the one that all chase.

    Returns the least of these orders; beyond `limit` if there is none left.

    n : int, which of the listed moves; key : int, of what it leads to
    """
    desk, after, firsts = bench.desk, bench.after, bench.first_orders
    mover, target = desk.on[desk.sources[n]], desk.targets[n]
    from_order, may_chase = loses_from(n, side, key, desk, index, arrays)
    source = desk.all[mover]
    if may_chase:
        play(mover, target, after, desk.all, arrays.men)
    least = np.int64(NEVER + 1)
    for v in range(firsts.size):
        if firsts[v] > limit:
            continue
        if may_chase and is_chased(desk.board, after, source, target, v, desk.all, arrays):
            bench.last_orders[v] = max(bench.last_orders[v], from_order)
        else:
            firsts[v] = max(firsts[v], from_order)
        least = min(least, firsts[v])
    if may_chase:
        play(mover, source, after, desk.all, arrays.men)
    return least


@part
def _find_first_orders(count, side, limit, bench, index, arrays):
    """Find from which order on each piece is the one that every move must chase.

    Returns whether there is such an order, up to `limit`, for any piece; `bench.first_orders`
    has them then.

    count : int, how many moves are listed; limit : int, an order
    """
    men, desk, firsts = arrays.men, bench.desk, bench.first_orders
    for v in range(firsts.size):
        bench.last_orders[v] = 0
        firsts[v] = 1
        if piece_side(men.pieces[v]) == side or v == men.kings[1 - side]:
            firsts[v] = NEVER + 1
    least = np.int64(1)
    for n in range(count):
        rank = arrays.ranks[(1 - side) * index.slots + desk.children[n]]
        if rank == 0:
            continue
        key = arrays.values.keys[1 - side, rank]
        # What loses from some order on that all moves are known to need says nothing new.
        if key > 0 and order_of_key(key) < least:
            continue
        least = _weigh(n, side, key, limit, bench, index, arrays)
        if least > limit:
            return False
    # Where every move loses by then, chase or not, there is no pattern.
    found = False
    for v in range(firsts.size):
        if bench.last_orders[v] <= firsts[v]:
            firsts[v] = NEVER + 1
        found = found or firsts[v] <= limit
    return found


@part
def _list(node, count, side, limit, claims, scan, bench, index, arrays):
    """List the binding moves and the victims of a node that has some, and whether it is claiming.

    count : int, how many moves are listed; limit : int, an order
    claims : int64 (c,), ascending; scan : Scan, inout
    """
    desk, counts = bench.desk, scan.counts
    for v in range(desk.all.size):
        if bench.first_orders[v] <= limit:
            if counts[0] < len(scan.chasers):
                scan.chasers[counts[0], NUMBER] = SQUARES * node + desk.all[v]
                scan.chasers[counts[0], FIRST_ORDER] = bench.first_orders[v]
            counts[0] += 1
    claiming = False
    for n in range(count):
        rank = arrays.ranks[(1 - side) * index.slots + desk.children[n]]
        if rank == 0:
            continue
        key = arrays.values.keys[1 - side, rank]
        after = np.int64(-1)
        if desk.board[desk.targets[n]] == EMPTY:
            after = 2 * slot_after(n, desk, index) + 1 - side
            claiming = claiming or contains(claims, after)
        order, _ = loses_from(n, side, key, desk, index, arrays)
        if order > limit:
            if counts[1] < len(scan.binding):
                scan.binding[counts[1], NODE], scan.binding[counts[1], AFTER] = node, after
            counts[1] += 1
    if claiming:
        if counts[2] < len(scan.claiming):
            scan.claiming[counts[2]] = node
        counts[2] += 1


@borrowing_kernel
def k_find_chasers(nodes, claims, scan, bench, index, arrays):
    """List the chasers among some open positions.

    nodes : int64 (n,), ascending; claims : int64 (c,), ascending; scan : Scan, out
    """
    desk = bench.desk
    scan.counts[:] = 0
    for n in range(nodes.size):
        slot, side = nodes[n] // 2, nodes[n] % 2
        limit = order_of_key(load_key(side, slot, index, arrays))
        within, image = set_up(slot, desk, index)
        copy_board(desk.board, bench.after)
        count = list_moves(side, slot, within, image, desk, index)
        if _find_first_orders(count, side, limit, bench, index, arrays):
            _list(nodes[n], count, side, limit, claims, scan, bench, index, arrays)


@borrowing_kernel
def k_answer(moves, alive, answered, desk, index, arrays):
    """Say which binding moves have a reply to a node that is alive.

    moves : int64 (m, BINDING_COLUMNS); alive : uint8 (2 * slots / 8,), a bit for each node
    answered : bool (m,), out
    """
    for m in range(len(moves)):
        answered[m] = False
        if not has_bit(alive, moves[m, NODE]):
            continue
        slot, side = moves[m, AFTER] // 2, moves[m, AFTER] % 2
        within, image = set_up(slot, desk, index)
        count = list_moves(side, slot, within, image, desk, index)
        for n in range(count):
            rank = arrays.ranks[(1 - side) * index.slots + desk.children[n]]
            if rank == 0 or desk.board[desk.targets[n]] != EMPTY:
                continue
            if has_bit(alive, 2 * slot_after(n, desk, index) + 1 - side):
                answered[m] = True
                break


def list_chasers(
    ranges: Ranges, claims: Numbers, arrays: Arrays, index: Index, pool: ThreadPoolExecutor
) -> Scan:
    """All chasers among some nodes.

    ranges : nodes that may be chasers
    claims : direct wins of sides that are not in check, ascending
    """

    def scan(nodes: Numbers) -> Scan:
        room = _FIRST_ROOM
        while True:
            found = Scan(
                np.empty((room, CHASER_COLUMNS), np.int64),
                np.empty((room, BINDING_COLUMNS), np.int64),
                np.empty(room, np.int64),
                np.zeros(3, np.int64),
            )
            k_find_chasers(nodes, claims, found, Bench.make(index), index, arrays)
            room = int(found.counts.max())
            if room <= len(found.claiming):
                break
        chasers, binding, claiming = found.counts
        return Scan(
            found.chasers[:chasers].copy(),
            narrowed(found.binding[:binding], index.slots),
            found.claiming[:claiming].copy(),
            found.counts,
        )

    with compile_lock():
        scan(NOBODY)
    scans = list(pool.map(lambda some: scan(some()), ranges))
    return Scan(*map(np.concatenate, zip(*scans, strict=True)))


def keep_answered(
    found: Scan, arrays: Arrays, index: Index, pool: ThreadPoolExecutor
) -> NDArray[np.int64]:
    """The chasers that are answered, or lead to a claim; int64 (n, CHASER_COLUMNS)."""

    def answer(some: Numbers) -> Members:
        answered = np.zeros(len(some), np.bool_)
        k_answer(some, alive, answered, Bench.make(index).desk, index, arrays)
        return answered

    nodes, moves = found.chasers[:, NUMBER] // SQUARES, found.binding
    alive = np.zeros(2 * index.slots // 8 + 1, np.uint8)
    add_bits(alive, nodes)
    with compile_lock():
        answer(np.empty((0, BINDING_COLUMNS), np.int64))
    while True:
        answered = np.concatenate(list(pool.map(lambda some: answer(some()), cut(moves))))
        if answered.all():
            break
        remove_bits(alive, moves[~answered, NODE].astype(np.int64))
        moves = moves[has_bits(alive, moves[:, NODE].astype(np.int64))]
    return found.chasers[has_bits(alive, nodes) | np.isin(nodes, found.claiming)]
