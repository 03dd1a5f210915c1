# mypy: allow-untyped-defs, allow-untyped-calls
"""Possible chasers, sieved: what is left for the exact rules of `edges` to look at.

What the first pass lists has a value that every pattern must agree with, and that is asked first:

    binding move   a move that loses by no order up to that of the value
    held           all binding moves chase one piece                            (`k_find_binding`),
                   and first of all none is still                               (`still`)
    answered       every binding move has a reply to a node that is held and
                   answered itself: the greatest set                            (`k_answer`)

A chaser of a pattern is in that set, since his binding moves matter to every order that he can
belong to, and lead back into the pattern. Other chasers matter only where they lead to what is
claimed (`patterns`): whoever is held and can move to a claim is kept, too. Legality of replies, and
which piece they rescue, is for `edges`. Planes are complete: rows know where a defender's move
leads.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from tbgen.compiling.jit import borrowing_kernel, compile_lock, part
from tbgen.compiling.lending import lent
from tbgen.indexing.squares import EMPTY, piece_side
from tbgen.indexing.threads import thread_pool
from tbgen.rules.moves import piece_moves
from tbgen.verify.arrays import NOBODY, Arrays, ManyNumbers, Members, Numbers
from tbgen.verify.chase.bench import Bench, copy_board, is_chased, play
from tbgen.verify.chase.edges import after_quiet, is_legal, loses_from, search
from tbgen.verify.chase.still import has_still_move, key_after_step
from tbgen.verify.forward.index import COLUMNS, EYE, PIECE, TARGET, Row, RowIndex, set_row
from tbgen.verify.forward.lines import OFF
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
_BLOCK_NODES = 1 << 12
"""Numbers of nodes that are looked up together."""


@lent
class Standing(NamedTuple):
    """Nodes, and which of them still count."""

    nodes: Numbers
    """int64 (n,), ascending."""
    alive: Members
    """bool (n,)."""
    starts: Numbers
    """int64 (blocks + 1,): how many nodes come before each block of `_BLOCK_NODES` numbers."""

    @classmethod
    def of(cls, nodes: Numbers, slots: int) -> Standing:
        """All of some nodes, in a table of so many slots."""
        blocks = 2 * slots // _BLOCK_NODES + 1
        starts = np.searchsorted(nodes, _BLOCK_NODES * np.arange(blocks + 1))
        return cls(nodes, np.ones(len(nodes), np.bool_), starts.astype(np.int64))


@part
def _counts(node, standing):
    """Whether a node is among those that count.

    standing : Standing
    """
    block = node // _BLOCK_NODES
    low, high = standing.starts[block], standing.starts[block + 1]
    at = low + search(standing.nodes[low:high], node)
    return at < high and standing.nodes[at] == node and standing.alive[at]


@part
def _set_up(row, bench):
    """Put the position of a row, with its inner piece, on the boards of a bench."""
    desk = bench.desk
    copy_board(row.board, desk.board)
    copy_board(row.board, bench.after)
    for p in range(desk.squares.size):
        desk.squares[p] = row.squares[p]
        desk.piece_on[row.squares[p]] = p


@part
def _leads_to_claim(slot, image, side, mover, target, child, claims, bench, arrays):
    """Whether a quiet move leads to a claim.

    child : int, the key after it; claims : int64 (c,), ascending
    """
    if child <= 0 or not is_open(child) or (MATE - child) % ORDER != 0:
        return False
    after = slot_after(slot, image, mover, target, bench.desk.squares, arrays)
    node = 2 * after + 1 - side
    at = search(claims, node)
    return at < claims.size and claims[at] == node


@part
def _list_chased(victims, mover, target, bench, arrays):
    """Which of some pieces a quiet move attacks anew.

    victims : int, bits
    """
    desk, men, chased = bench.desk, arrays.men, np.int64(0)
    squares = desk.squares
    source = play(mover, target, bench.after, squares, men)
    for v in range(squares.size):
        if (victims >> v) & 1 and is_chased(
            desk.board, bench.after, source, target, v, squares, arrays
        ):
            chased |= np.int64(1) << v
    play(mover, source, bench.after, squares, men)
    return chased


@part
def _list_steps(side, column, bench, row, index, arrays):
    """List the moves of a side's defenders, which the row knows; returns how many there are.

    They are written to `desk.moves`, and the keys that they lead to to `bench.keys`; of captures
    these mean nothing, and illegal moves are among them.

    column : int, that of the inner piece
    """
    board, moves, count = bench.desk.board, bench.desk.moves, 0
    for i in range(row.counts[side]):
        step = row.steps[side, i]
        mover, target, eye = step[PIECE], step[TARGET], step[EYE]
        if eye != OFF and board[eye] != EMPTY:
            continue
        if board[target] != EMPTY and piece_side(board[target]) == side:
            continue
        moves.movers[count], moves.targets[count] = mover, target
        bench.keys[count] = key_after_step(i, side, column, row, index, arrays)
        count += 1
    return count


@part
def _list_others(slot, image, side, bench, arrays):
    """List the moves of a side's other pieces in the same way; returns how many there are."""
    desk, men, moves, count = bench.desk, arrays.men, bench.desk.moves, 0
    for p in range(arrays.first_attacker, desk.squares.size):
        if piece_side(men.pieces[p]) != side:
            continue
        first, count = count, piece_moves(desk.board, desk.squares[p], moves.targets, count)
        for i in range(first, count):
            moves.movers[i], bench.keys[i] = p, 0
            if desk.board[moves.targets[i]] == EMPTY:
                _, bench.keys[i] = after_quiet(slot, image, side, p, moves.targets[i], desk, arrays)
    return count


@part
def _list_binding(n, slot, side, column, limit, claims, verdicts, moves, found, bench, row, index,
                  arrays):  # fmt: skip
    """List the binding moves of a position; returns how many there are now.

    n : int, its place; column : int, that of the inner piece; limit : int, the order of its value
    claims : int64 (c,), ascending
    verdicts : uint8 (n,), out; moves : int64 (room, BINDING_COLUMNS), out
    found : int, how many there were
    """
    desk, men, before = bench.desk, arrays.men, found
    squares, board = desk.squares, desk.board
    image = image_of(slot, squares, arrays)
    victims = np.int64(0)
    for v in range(squares.size):
        if piece_side(men.pieces[v]) != side and v != men.kings[1 - side]:
            victims |= np.int64(1) << v
    verdicts[n] = HELD
    # Defenders first: most positions have a move that ends the search at once.
    for others in range(2):
        if others:
            count = _list_others(slot, image, side, bench, arrays)
        else:
            count = _list_steps(side, column, bench, row, index, arrays)
        for i in range(count):
            mover, target, child = desk.moves.movers[i], desk.moves.targets[i], bench.keys[i]
            if board[target] == EMPTY:
                if _leads_to_claim(slot, image, side, mover, target, child, claims, bench, arrays):
                    verdicts[n] = LEADS_TO_CLAIM
                # A move that is not legal leads to no position.
                if child < -MATE or (child > 0 and order_of_key(child) < limit):
                    continue
            elif not is_legal(side, mover, target, desk, arrays):
                continue
            order, may_chase = loses_from(side, mover, target, child, bench, arrays)
            if order <= limit:
                continue
            if may_chase:
                victims &= _list_chased(victims, mover, target, bench, arrays)
            if not may_chase or victims == 0:
                verdicts[n] = OUT
                return before
            if found < len(moves):
                after = slot_after(slot, image, mover, target, squares, arrays)
                moves[found, PLACE], moves[found, AFTER] = n, 2 * after + 1 - side
            found += 1
    # Before the first order nothing is lost: no move matters to any.
    if found == before and limit == 1:
        verdicts[n] = OUT
    return found


@borrowing_kernel
def k_find_binding(nodes, claims, verdicts, moves, bench, row, index, arrays):
    """Say which open positions are held, and list their binding moves; returns how many they are.

    nodes : int64 (n,), 2 * slot + side to move, ascending; claims : int64 (c,), ascending
    verdicts : uint8 (n,), out; moves : int64 (room, BINDING_COLUMNS), out, cut off where there is
        no more room
    """
    columns, inner = index.size[COLUMNS], arrays.men.pieces.size - 1
    number, found = np.int64(-1), 0
    for n in range(nodes.size):
        slot, side = nodes[n] // 2, nodes[n] % 2
        if slot // columns != number:
            number = slot // columns
            set_row(number, row, index, arrays)
        column = slot % columns
        square, limit = index.area[column], order_of_key(load_key(side, slot, arrays))
        row.board[square], row.squares[inner] = arrays.men.pieces[inner], square
        verdicts[n] = OUT
        if not has_still_move(side, column, limit, row, index, arrays):
            _set_up(row, bench)
            found = _list_binding(
                n, slot, side, column, limit, claims, verdicts, moves, found, bench, row, index,
                arrays,
            )  # fmt: skip
            clear(bench.desk)
        row.board[square], row.squares[inner] = EMPTY, OFF
    return found


@borrowing_kernel
def k_answer(moves, answered, standing, desk, arrays):
    """Say which binding moves have a reply to a node that counts.

    moves : int64 (m, BINDING_COLUMNS), whose places are those of `standing`
    answered : bool (m,), out; standing : Standing
    """
    squares, board, targets = desk.squares, desk.board, desk.moves.targets
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
                    if _counts(2 * after + 1 - side, standing):
                        answered[m] = True
                        break
            if answered[m]:
                break
        clear(desk)


def sift(
    nodes: ManyNumbers, claims: Numbers, arrays: Arrays, index: RowIndex, threads: int
) -> Numbers:
    """The nodes that may be chasers of a pattern, or lead to what is claimed; all ascend.

    nodes : 2 * slot + side to move, possible chasers
    claims : direct wins of sides that are not in check
    arrays : whose planes are complete
    """
    with thread_pool(threads) as pool:
        return _sift(nodes, claims, arrays, index, pool)


def _sift(
    nodes: ManyNumbers, claims: Numbers, arrays: Arrays, index: RowIndex, pool: ThreadPoolExecutor
) -> Numbers:
    """The same by the threads of a pool."""
    pieces = len(arrays.men.pieces)
    slots = int(arrays.tables[0, 1] - arrays.tables[0, 0])

    def find(few: ManyNumbers) -> tuple[Numbers, Members, Numbers]:
        """Who is held, which of them lead to a claim, and their binding moves."""
        some, room = few.astype(np.int64), _FIRST_ROOM
        while True:
            verdicts = np.empty(len(some), np.uint8)
            moves = np.empty((room, BINDING_COLUMNS), np.int64)
            bench, row = Bench.make(pieces), Row.make(index, pieces, arrays.ranks.dtype)
            found = k_find_binding(some, claims, verdicts, moves, bench, row, index, arrays)
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
        standing = Standing.of(NOBODY, slots)
        answer(moves)
    ranges = [nodes[at : at + _RANGE_NODES] for at in range(0, len(nodes), _RANGE_NODES)]
    kept, claiming, binding = [NOBODY], [np.empty(0, np.bool_)], [moves[:0]]
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
        standing.alive[lost] = False
        moves = moves[standing.alive[moves[:, PLACE]]]
    return standing.nodes[standing.alive | np.concatenate(claiming)]
