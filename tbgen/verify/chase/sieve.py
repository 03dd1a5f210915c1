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

_RANGE_NODES = 1 << 14
"""Nodes per task."""
_FIRST_ROOM = 1 << 15
"""Binding moves of a range; it is looked at again if that is not enough."""


class Standing(NamedTuple):
    """Nodes, and which of them still count. Shape: S slots."""

    nodes: Numbers
    """int64 (n,)."""
    alive: Members
    """bool (n,)."""
    bits: NDArray[np.uint8]
    """uint8 (S // 4 + 1,): a bit for each node there is, 1 if it is among those and counts."""

    @classmethod
    def of(cls, nodes: Numbers, slots: int) -> Standing:
        """All of some nodes, in a table of so many slots."""
        bits = np.zeros(slots // 4 + 1, np.uint8)
        np.bitwise_or.at(bits, nodes >> 3, _bits_of(nodes))
        return cls(nodes, np.ones(len(nodes), np.bool_), bits)

    def leave(self, places: Numbers) -> None:
        """Let some no longer count."""
        self.alive[places] = False
        nodes = self.nodes[places]
        np.bitwise_and.at(self.bits, nodes >> 3, ~_bits_of(nodes))


def _bits_of(nodes: Numbers) -> NDArray[np.uint8]:
    """uint8 (n,): the bit of each node in its byte."""
    return np.left_shift(1, nodes & 7).astype(np.uint8)


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
                # A move that is not legal leads to no position.
                if child < -MATE or (child > 0 and order_of_key(child) < limit):
                    continue
            elif not is_legal(side, p, target, desk, arrays):
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
    # Before the first order nothing is lost: no move matters to any.
    if found == before and limit == 1:
        verdicts[n] = OUT
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
def k_answer(moves, answered, standing, desk, arrays):
    """Say which binding moves have a reply to a node that counts.

    moves : int64 (m, BINDING_COLUMNS), whose places are those of `standing`
    answered : bool (m,), out; standing : Standing
    """
    squares, board, targets = desk.squares, desk.board, desk.moves.targets
    bits = standing.bits
    for m in range(len(moves)):
        answered[m] = False
        if not standing.alive[moves[m, PLACE]]:
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
                    node = 2 * after + 1 - side
                    if (bits[node >> 3] >> (node & 7)) & 1:
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
    slots = int(arrays.tables[0, 1] - arrays.tables[0, 0])

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
        k_answer(some, answered, standing, Bench.make(pieces).desk, arrays)
        return answered

    with compile_lock():
        _, _, moves = find(nodes[:0])
        standing = Standing.of(nodes[:0], slots)
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
    standing = Standing.of(np.concatenate(kept), slots)
    while True:
        starts = range(0, len(moves), _RANGE_NODES)
        ranges = [moves[at : at + _RANGE_NODES] for at in starts]
        answered = np.concatenate([np.empty(0, np.bool_), *pool.map(answer, ranges)])
        lost = moves[~answered, PLACE]
        if not len(lost):
            break
        standing.leave(lost)
        moves = moves[standing.alive[moves[:, PLACE]]]
    return standing.nodes[standing.alive | np.concatenate(claiming)]
