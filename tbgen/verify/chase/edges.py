# mypy: allow-untyped-defs, allow-untyped-calls
"""Chases and their answers, position by position: the nodes and edges of possible chase patterns.

    chaser   (position, victim)   every move loses, or chases the victim; from `first order` on
    chase    one such move        with the pieces that attack the victim anew
    answer   a reply of the winner-to-be that meets one of these attacks and leads to a chaser of
             the same victim

What a move loses to, and from which order on that counts, is the same for both kernels:

    a quiet move to a win of order j     from j + 1 on; from j if it is a direct win in check, or
                                         if a capture wins there: both are known before chases
    a capture that loses at order j      from j on

A chaser is numbered 90 * (2 * slot + side to move) + square of the victim. Points are those of
docs/referee.md, section 2. Which chasers make a pattern is for `game` to say.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import borrowing_kernel, part
from tbgen.compiling.lending import lent
from tbgen.indexing.rulesets import CHECK_VOIDS
from tbgen.indexing.slots import slot_of_squares
from tbgen.indexing.squares import EMPTY, SQUARES, mirror_square, piece_side
from tbgen.rules.attacks import attacks
from tbgen.rules.chases import is_answered
from tbgen.rules.moves import is_safe_after, piece_moves
from tbgen.verify.chase.bench import attacks_anew, copy_board, is_chased, is_mirrored, play
from tbgen.verify.keys import MATE, NEVER, ORDER, is_open, order_of_key
from tbgen.verify.moves import (
    clear,
    gives_check,
    image_of,
    is_checked,
    list_legal,
    load_key,
    set_up,
    slot_after,
    worth_of_capture,
)

CHASER, NODE_AFTER, CHASING_MOVE, LOSES_FROM, CHASE_COLUMNS = range(5)
"""Columns of chases: the chaser's place, the node after the move, the move, and the order from
which it loses. A move is piece * 90 + target square, as the chaser's slot lists the pieces."""

SOURCE, TO, MOVE, IS_CHECK, IS_CALM, EDGE_COLUMNS = range(6)
"""Columns of edges: the chase, the place of the chaser that the answer leads to, the answer,
whether it gives check, and whether it attacks nothing anew."""


@lent
class Scan(NamedTuple):
    """The chasers among some nodes; cut off where there is no more room."""

    chasers: NDArray[np.int64]
    """int64 (room, 2): number and first order."""
    counts: NDArray[np.int64]
    """int64 (1,): how many there are, though room may be for less."""

    @classmethod
    def make(cls, room: int) -> Scan:
        """Room for so many."""
        return cls(np.empty((room, 2), np.int64), np.zeros(1, np.int64))


@lent
class Expansion(NamedTuple):
    """The chases of a range of chasers, and their answers; cut off where there is no more room."""

    chases: NDArray[np.int64]
    """int64 (room, CHASE_COLUMNS)."""
    edges: NDArray[np.int64]
    """int64 (room, EDGE_COLUMNS); chases are counted from the first of these."""
    counts: NDArray[np.int64]
    """int64 (2,): how many of both there are, though room may be for less."""

    @classmethod
    def make(cls, room: int) -> Expansion:
        """Room for so many of each."""
        return cls(
            np.empty((room, CHASE_COLUMNS), np.int64),
            np.empty((room, EDGE_COLUMNS), np.int64),
            np.zeros(2, np.int64),
        )


@part
def _wins_by_capture(side, order, bench, arrays):
    """Whether a capture of the side to move, not in check, wins by an order."""
    desk, men = bench.desk, arrays.men
    squares, board = desk.squares, desk.board
    for taken in range(squares.size):
        if piece_side(men.pieces[taken]) == side or taken == men.kings[1 - side]:
            continue
        for mover in range(squares.size):
            if piece_side(men.pieces[mover]) != side:
                continue
            if not attacks(board, squares[mover], squares[taken]):
                continue
            key = worth_of_capture(side, mover, taken, desk, arrays)
            if key <= 0 or order_of_key(key) > order:
                continue
            if is_safe_after(board, side, squares[mover], squares[taken]):
                return True
    return False


@part
def after_quiet(slot, image, side, mover, target, desk, arrays):
    """Where a move to an empty square leads: the slot after it, and what is stored there."""
    after = slot_after(slot, image, mover, target, desk.squares, arrays)
    return after, load_key(1 - side, after, arrays)


@part
def loses_from(side, mover, target, child, bench, arrays):
    """The order from which on a legal move counts as losing, and whether it may chase.

    NEVER + 1 where it counts by no order. Quiet moves may chase that give no check and lead to
    what is open.

    child : int, the key after a quiet move (`after_quiet`); no matter for a capture
    """
    desk = bench.desk
    squares, board = desk.squares, desk.board
    order = NEVER + 1
    may_chase = False
    if board[target] != EMPTY:
        key = worth_of_capture(side, mover, desk.piece_on[target], desk, arrays)
        if key < 0:
            order = order_of_key(key)
        return order, may_chase
    if not is_open(child):
        if child > 0:
            order = 1
        return order, may_chase
    may_chase = not gives_check(side, mover, target, board, squares, arrays.men)
    if child > 0:
        order = order_of_key(child)
        if may_chase:
            source = play(mover, target, board, squares, arrays.men)
            if not _wins_by_capture(1 - side, order, bench, arrays):
                order += 1
            play(mover, source, board, squares, arrays.men)
        elif (MATE - child) % ORDER != 0:
            order += 1
    return order, may_chase


@part
def is_legal(side, mover, target, desk, arrays):
    """Whether a move of a side leaves its king safe."""
    squares, board, men = desk.squares, desk.board, arrays.men
    source, taken = squares[mover], board[target]
    play(mover, target, board, squares, men)
    legal = not is_checked(board, squares[men.kings[side]], squares[men.kings[1 - side]], side)
    play(mover, source, board, squares, men)
    board[target] = taken
    return legal


@part
def _weigh(side, mover, target, child, limit, bench, arrays):
    """Let a legal move say from which order on each piece may still be the one that all chase.

    Returns the least of these orders; beyond `limit` if there is none left.

    child : int, the key after a quiet move
    """
    desk, after, firsts = bench.desk, bench.after, bench.first_orders
    squares, board = desk.squares, desk.board
    from_order, may_chase = loses_from(side, mover, target, child, bench, arrays)
    source = squares[mover]
    if may_chase:
        play(mover, target, after, squares, arrays.men)
    least = np.int64(NEVER + 1)
    for v in range(firsts.size):
        if firsts[v] > limit:
            continue
        if may_chase and is_chased(board, after, source, target, v, squares, arrays):
            bench.last_orders[v] = max(bench.last_orders[v], from_order)
        else:
            firsts[v] = max(firsts[v], from_order)
        least = min(least, firsts[v])
    if may_chase:
        play(mover, source, after, squares, arrays.men)
    return least


@part
def _find_first_orders(slot, image, side, limit, bench, arrays):
    """Find from which order on each piece is the one that every move must chase.

    Returns whether there is such an order, up to `limit`, for any piece; `bench.first_orders`
    has them then.

    limit : int, an order
    """
    men, desk, firsts = arrays.men, bench.desk, bench.first_orders
    squares, board, targets = desk.squares, desk.board, desk.moves.targets
    for v in range(firsts.size):
        bench.last_orders[v] = 0
        firsts[v] = 1
        if piece_side(men.pieces[v]) == side or v == men.kings[1 - side]:
            firsts[v] = NEVER + 1
    least = np.int64(1)
    # Piece by piece, the king first: most positions have a move that ends the search at once. What
    # a move leads to is looked at before its legality, which takes longer.
    for p in range(squares.size):
        if piece_side(men.pieces[p]) != side:
            continue
        count = piece_moves(board, squares[p], targets, 0)
        for i in range(count):
            target, child = targets[i], np.int64(0)
            if board[target] == EMPTY:
                _, child = after_quiet(slot, image, side, p, target, desk, arrays)
                # It loses from some order on that all moves are known to need.
                if child > 0 and order_of_key(child) < least:
                    continue
            if is_legal(side, p, target, desk, arrays):
                least = _weigh(side, p, target, child, limit, bench, arrays)
                if least > limit:
                    return False
    # Where every move loses by then, chase or not, there is no pattern.
    found = False
    for v in range(firsts.size):
        if bench.last_orders[v] <= firsts[v]:
            firsts[v] = NEVER + 1
        found = found or firsts[v] <= limit
    return found


@borrowing_kernel
def k_find_chasers(nodes, scan, bench, arrays):
    """List the chasers among some open positions.

    nodes : int64 (n,), 2 * slot + side to move; scan : Scan, out
    """
    desk, counts = bench.desk, scan.counts
    squares, board = desk.squares, desk.board
    counts[:] = 0
    for n in range(nodes.size):
        slot, side = nodes[n] // 2, nodes[n] % 2
        limit = order_of_key(load_key(side, slot, arrays))
        set_up(slot, desk, arrays)
        copy_board(board, bench.after)
        image = image_of(slot, squares, arrays)
        if _find_first_orders(slot, image, side, limit, bench, arrays):
            for v in range(squares.size):
                if bench.first_orders[v] <= limit:
                    if counts[0] < len(scan.chasers):
                        scan.chasers[counts[0], 0] = SQUARES * nodes[n] + squares[v]
                        scan.chasers[counts[0], 1] = bench.first_orders[v]
                    counts[0] += 1
        clear(desk)


@part
def search(numbers, number):
    """The place of the first of the chasers that is not smaller than a number.

    number : int64
    """
    low, high = 0, numbers.size
    while low < high:
        middle = (low + high) // 2
        if numbers[middle] < number:
            low = middle + 1
        else:
            high = middle
    return low


@part
def _find_chaser(side, victim, numbers, bench, arrays):
    """The place of the chaser of a victim that the position on `bench.replied` is; -1: none.

    side : int, the chaser's
    """
    squares = bench.desk.squares
    slot = slot_of_squares(squares, arrays.descriptor)
    first = SQUARES * (2 * slot + side)
    at = search(numbers, first)
    if at == numbers.size or numbers[at] >= first + SQUARES:
        return -1
    place = squares[victim]
    if is_mirrored(slot, bench.replied, bench.desk.other, arrays):
        place = mirror_square(place)
    at = search(numbers, first + place)
    if at == numbers.size or numbers[at] != first + place:
        return -1
    return at


@part
def _is_met(attackers, source, target, place, bench, arrays):
    """Whether a reply has met one of the attacks on the victim (point 7).

    attackers : int, how many there are in `bench.attackers`
    place : int, the victim's square before the reply
    """
    for n in range(attackers):
        attacker = bench.desk.squares[bench.attackers[n]]
        if is_answered(bench.replied, source, target, attacker, place, arrays.chase_rules):
            return True
    return False


@part
def _is_void(side, bench, arrays):
    """Return whether an answer to a chase by `side` gives check, and a check voids chases."""
    if arrays.chase_rules & CHECK_VOIDS == 0:
        return False
    squares, kings = bench.desk.squares, arrays.men.kings
    return is_checked(bench.replied, squares[kings[side]], squares[kings[1 - side]], side)


@part
def _is_calm(side, source, target, bench, arrays):
    """Whether a reply of a side attacks no piece anew."""
    squares = bench.desk.squares
    for v in range(squares.size):
        if piece_side(arrays.men.pieces[v]) != side and is_chased(
            bench.after, bench.replied, source, target, v, squares, arrays
        ):
            return False
    return True


@part
def _list_answers(side, victim, attackers, numbers, expansion, bench, arrays):
    """List the answers to the chase that `expansion.counts` has come to.

    The position after the chase is on `bench.after`, `bench.replied` is a copy.

    side : int, who chases; attackers : int, how many there are in `bench.attackers`
    expansion : Expansion, inout
    """
    men = arrays.men
    edges, counts = expansion.edges, expansion.counts
    after, replied, squares = bench.after, bench.replied, bench.desk.squares
    movers, targets = bench.replies.movers, bench.replies.targets
    place = squares[victim]
    count = list_legal(1 - side, False, after, bench.replies, squares, men)
    for i in range(count):
        mover, target = movers[i], targets[i]
        if after[target] != EMPTY:
            continue
        source = play(mover, target, replied, squares, men)
        at = _find_chaser(side, victim, numbers, bench, arrays)
        if at >= 0 and _is_void(side, bench, arrays):
            at = -1
        if at >= 0 and _is_met(attackers, source, target, place, bench, arrays):
            found = counts[1]
            if found < len(edges):
                king, other_king = (
                    squares[men.kings[side]],
                    squares[men.kings[1 - side]],
                )
                check = is_checked(replied, king, other_king, side)
                edges[found, SOURCE] = counts[0]
                edges[found, TO] = at
                edges[found, MOVE] = mover * SQUARES + target
                edges[found, IS_CHECK] = check
                edges[found, IS_CALM] = not check and _is_calm(
                    1 - side, source, target, bench, arrays
                )
            counts[1] += 1
        play(mover, source, replied, squares, men)


@part
def _list_attackers(source, target, victim, bench, arrays):
    """Write the pieces that the chase `source`-`target` lets attack the victim anew; how many."""
    desk, after = bench.desk, bench.after
    count = 0
    for q in range(desk.squares.size):
        if attacks_anew(desk.board, after, source, target, q, victim, desk.squares, arrays):
            bench.attackers[count] = q
            count += 1
    return count


@borrowing_kernel
def k_expand_chasers(first, last, numbers, first_orders, expansion, bench, arrays):
    """List the chases of the chasers [first, last), and the answers to each.

    first, last : int, places of chasers
    first_orders : int64 (chasers,), those of all chasers; expansion : Expansion, out
    """
    men = arrays.men
    desk, after, replied = bench.desk, bench.after, bench.replied
    squares, board = desk.squares, desk.board
    movers, targets = desk.moves.movers, desk.moves.targets
    chases, counts = expansion.chases, expansion.counts
    counts[:] = 0
    for n in range(first, last):
        node = numbers[n] // SQUARES
        slot, side = node // 2, node % 2
        set_up(slot, desk, arrays)
        copy_board(board, after)
        copy_board(board, replied)
        victim = desk.piece_on[numbers[n] % SQUARES]
        image = image_of(slot, squares, arrays)
        king, other_king = squares[men.kings[side]], squares[men.kings[1 - side]]
        checked = is_checked(board, king, other_king, side)
        count = list_legal(side, checked, board, desk.moves, squares, men)
        for i in range(count):
            mover, target = movers[i], targets[i]
            next_slot, child = np.int64(0), np.int64(0)
            if board[target] == EMPTY:
                next_slot, child = after_quiet(slot, image, side, mover, target, desk, arrays)
            order, may_chase = loses_from(side, mover, target, child, bench, arrays)
            if not may_chase or order <= first_orders[n]:
                continue
            source = play(mover, target, after, squares, men)
            attackers = _list_attackers(source, target, victim, bench, arrays)
            # A move that is no chase of this victim loses by every order that matters here.
            if attackers:
                if counts[0] < len(chases):
                    chases[counts[0], CHASER] = n
                    chases[counts[0], NODE_AFTER] = 2 * next_slot + 1 - side
                    chases[counts[0], CHASING_MOVE] = mover * SQUARES + target
                    chases[counts[0], LOSES_FROM] = order
                replied[source] = EMPTY
                replied[target] = men.pieces[mover]
                _list_answers(side, victim, attackers, numbers, expansion, bench, arrays)
                replied[target] = EMPTY
                replied[source] = men.pieces[mover]
                counts[0] += 1
            play(mover, source, after, squares, men)
        clear(desk)
