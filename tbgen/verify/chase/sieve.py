# mypy: allow-untyped-defs, allow-untyped-calls
"""Possible chasers, sieved: what is left for the exact rules of `edges` to look at.

What the first pass lists has a value that every pattern must agree with, and that is asked first:

    binding move   a move that loses by no order up to that of the value
    held           all binding moves chase one piece                            (`k_find_binding`)
    answered       every binding move has a reply to a node that is held and
                   answered itself: the greatest set                            (`k_answer`)

A chaser of a pattern is in that set, since his binding moves matter to every order that he can
belong to, and lead back into the pattern. Other chasers matter only where they lead to what is
claimed (`patterns`): whoever is held and can move to a claim is kept, too. Legality of replies, and
which piece they rescue, is for `edges`.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import borrowing_kernel, compile_lock, part
from tbgen.indexing.squares import EMPTY, piece_side
from tbgen.rules.moves import piece_moves
from tbgen.verify.arrays import Arrays, Members, Numbers
from tbgen.verify.chase.bench import Bench, copy_board, is_chased, play
from tbgen.verify.chase.edges import after_quiet, is_legal, loses_from, search
from tbgen.verify.keys import MATE, ORDER, is_open, order_of_key
from tbgen.verify.moves import clear, image_of, load_key, set_up, slot_after

PLACE, AFTER, BINDING_COLUMNS = range(3)
"""Columns of binding moves: whose it is, by its place among the nodes, and the node after it."""

OUT, HELD, LEADS_TO_CLAIM = range(3)
"""What is said of a node; the last is held, too."""

_SPREAD = np.uint64(0x9E3779B97F4A7C15)
"""An odd number without a pattern (2 ** 64 over the golden ratio): Fibonacci hashing."""
_UPPER_HALF = np.uint64(32)

_RANGE_NODES = 1 << 14
"""Nodes per task."""
_FIRST_ROOM = 1 << 15
"""Binding moves of a range; it is looked at again if that is not enough."""


class Directory(NamedTuple):
    """Where a node is in a list of nodes, and whether it still counts."""

    places: NDArray[np.int32]
    """int32 (a power of two,): a hash table of places, -1 where it is free."""
    nodes: Numbers
    """int64 (n,)."""
    alive: Members
    """bool (n,)."""

    @classmethod
    def of(cls, nodes: Numbers) -> Directory:
        """All of some nodes."""
        places = np.full(1 << (4 * len(nodes)).bit_length(), -1, np.int32)
        return cls(places, nodes, np.ones(len(nodes), np.bool_))


@part
def _hash_of(node, places):
    """Where to begin looking for a node.

    places : int32 (a power of two,)
    """
    return np.int64((np.uint64(node) * _SPREAD) >> _UPPER_HALF) & (places.size - 1)


@borrowing_kernel
def k_enter(directory):
    """Enter all nodes of a directory into its hash table.

    directory : Directory, inout
    """
    places = directory.places
    for place in range(directory.nodes.size):
        at = _hash_of(directory.nodes[place], places)
        while places[at] >= 0:
            at = (at + 1) & (places.size - 1)
        places[at] = place


@part
def _is_alive(node, directory):
    """Whether a node is in a directory, and still counts.

    directory : Directory
    """
    places = directory.places
    at = _hash_of(node, places)
    while places[at] >= 0:
        if directory.nodes[places[at]] == node:
            return directory.alive[places[at]]
        at = (at + 1) & (places.size - 1)
    return False


@part
def _list_binding(n, slot, side, claims, verdicts, moves, found, bench, arrays):
    """List the binding moves of a position; returns how many there are now.

    n : int, its place; claims : int64 (c,), ascending
    verdicts : uint8 (n,), out; moves : int64 (room, BINDING_COLUMNS), out
    found : int, how many there were
    """
    desk, men, before = bench.desk, arrays.men, found
    squares, board, targets = desk.squares, desk.board, desk.moves.targets
    limit = order_of_key(load_key(side, slot, arrays))
    image = image_of(slot, squares, arrays)
    victims = np.int64(0)
    for v in range(squares.size):
        if piece_side(men.pieces[v]) != side and v != men.kings[1 - side]:
            victims |= np.int64(1) << v
    verdicts[n] = HELD
    for p in range(squares.size):
        if piece_side(men.pieces[p]) != side:
            continue
        count = piece_moves(board, squares[p], targets, 0)
        for i in range(count):
            target = targets[i]
            child, after = np.int64(0), np.int64(0)
            if board[target] == EMPTY:
                after, child = after_quiet(slot, image, side, p, target, desk, arrays)
                if is_open(child) and child > 0 and (MATE - child) % ORDER == 0:
                    node = 2 * after + 1 - side
                    at = search(claims, node)
                    if at < claims.size and claims[at] == node:
                        verdicts[n] = LEADS_TO_CLAIM
                if child > 0 and order_of_key(child) < limit:
                    continue
            if not is_legal(side, p, target, desk, arrays):
                continue
            order, may_chase = loses_from(side, p, target, child, bench, arrays)
            if order <= limit:
                continue
            chased = np.int64(0)
            if may_chase:
                source = play(p, target, bench.after, squares, men)
                for v in range(squares.size):
                    if (victims >> v) & 1 and is_chased(
                        board, bench.after, source, target, v, squares, arrays
                    ):
                        chased |= np.int64(1) << v
                play(p, source, bench.after, squares, men)
            victims &= chased
            if victims == 0:
                verdicts[n] = OUT
                return before
            if found < len(moves):
                moves[found, PLACE], moves[found, AFTER] = n, 2 * after + 1 - side
            found += 1
    return found


@borrowing_kernel
def k_find_binding(nodes, claims, verdicts, moves, bench, arrays):
    """Say which open positions are held, and list their binding moves; returns how many they are.

    nodes : int64 (n,), 2 * slot + side to move; claims : int64 (c,), ascending
    verdicts : uint8 (n,), out; moves : int64 (room, BINDING_COLUMNS), out, cut off where there is
        no more room
    """
    found = 0
    for n in range(nodes.size):
        slot, side = nodes[n] // 2, nodes[n] % 2
        set_up(slot, bench.desk, arrays)
        copy_board(bench.desk.board, bench.after)
        found = _list_binding(n, slot, side, claims, verdicts, moves, found, bench, arrays)
        clear(bench.desk)
    return found


@borrowing_kernel
def k_answer(moves, answered, directory, desk, arrays):
    """Say which binding moves have a reply to a node that counts.

    moves : int64 (m, BINDING_COLUMNS), whose places are those of the directory
    answered : bool (m,), out; directory : Directory
    """
    squares, board, targets = desk.squares, desk.board, desk.moves.targets
    for m in range(len(moves)):
        answered[m] = False
        if not directory.alive[moves[m, PLACE]]:
            continue
        slot, side = moves[m, AFTER] // 2, moves[m, AFTER] % 2
        set_up(slot, desk, arrays)
        image = image_of(slot, squares, arrays)
        for p in range(squares.size):
            if piece_side(arrays.men.pieces[p]) != side:
                continue
            count = piece_moves(board, squares[p], targets, 0)
            for i in range(count):
                if board[targets[i]] == EMPTY:
                    after = slot_after(slot, image, p, targets[i], squares, arrays)
                    if _is_alive(2 * after + 1 - side, directory):
                        answered[m] = True
                        break
            if answered[m]:
                break
        clear(desk)


def sift(nodes: Numbers, claims: Numbers, arrays: Arrays, pool: ThreadPoolExecutor) -> Numbers:
    """The nodes that may be chasers of a pattern, or lead to what is claimed; all ascend.

    nodes : 2 * slot + side to move, possible chasers
    claims : direct wins of sides that are not in check
    """
    pieces = len(arrays.men.pieces)

    def find(some: Numbers) -> tuple[Numbers, Members, Numbers]:
        """Who is held, which of them lead to a claim, and their binding moves."""
        room = _FIRST_ROOM
        while True:
            verdicts = np.empty(len(some), np.uint8)
            moves = np.empty((room, BINDING_COLUMNS), np.int64)
            found = k_find_binding(some, claims, verdicts, moves, Bench.make(pieces), arrays)
            if found <= room:
                break
            room = found
        held, moves = np.flatnonzero(verdicts != OUT), moves[:found].copy()
        moves[:, PLACE] = np.searchsorted(held, moves[:, PLACE])
        return some[held], verdicts[held] == LEADS_TO_CLAIM, moves

    def answer(some: Numbers) -> Members:
        answered = np.zeros(len(some), np.bool_)
        k_answer(some, answered, directory, Bench.make(pieces).desk, arrays)
        return answered

    with compile_lock():
        _, _, moves = find(nodes[:0])
        directory = Directory.of(nodes[:0])
        k_enter(directory)
        answer(moves)
    ranges = [nodes[at : at + _RANGE_NODES] for at in range(0, len(nodes), _RANGE_NODES)]
    kept, claiming, binding = [nodes[:0]], [np.empty(0, np.bool_)], [moves[:0]]
    count = 0
    for some, leads, listed in pool.map(find, ranges):
        listed[:, PLACE] += count
        count += len(some)
        kept.append(some)
        claiming.append(leads)
        binding.append(listed)
    moves = np.concatenate(binding)
    binding.clear()  # as large again
    directory = Directory.of(np.concatenate(kept))
    k_enter(directory)
    while True:
        starts = range(0, len(moves), _RANGE_NODES)
        ranges = [moves[at : at + _RANGE_NODES] for at in starts]
        answered = np.concatenate([np.empty(0, np.bool_), *pool.map(answer, ranges)])
        lost = moves[~answered, PLACE]
        if not len(lost):
            break
        directory.alive[lost] = False
        moves = moves[directory.alive[moves[:, PLACE]]]
    return directory.nodes[directory.alive | np.concatenate(claiming)]
