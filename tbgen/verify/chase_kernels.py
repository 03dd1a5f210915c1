"""Chases and their answers, position by position: the nodes and edges of possible chase patterns.

    chaser   (position, victim)   every move loses, or chases the victim; from `first order` on
    chase    one such move        with the pieces that attack the victim anew
    answer   a reply of the winner-to-be that meets one of these attacks and leads to a chaser of
             the same victim

What a move loses to, and from which order on that counts, is the same for both kernels:

    a quiet move to a win of order j     from j + 1 on; from j if it is a direct win in check, or
                                         if a capture wins there: both are known before chases
    a capture that loses at order j      from j on

A chaser is numbered 90 * (2 * slot + side to move) + square of the victim. Attacks are judged by
the predicates of the referee (`tbgen.rules.chases`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbgen.indexing.slots import attacker_slot, slot_of_squares, squares_of_slot
from tbgen.indexing.squares import EMPTY, SQUARES, mirror_square, piece_side
from tbgen.jit import borrowing_kernel
from tbgen.rules.board import MAX_MOVES
from tbgen.rules.chases import is_answered, is_new_attack
from tbgen.verify.keys import MATE, NEVER, ORDER, key_after_conversion, key_after_move, order_of_key
from tbgen.verify.material_arrays import (
    BLACK_KING,
    CONVERSION,
    END_WORD,
    FIRST_ATTACKER,
    FIRST_WORD,
    INNER_SIZE,
)
from tbgen.verify.move_kernels import (
    k_clear,
    k_gives_check,
    k_is_checked,
    k_key_after_capture,
    k_list_legal,
    k_load_key,
    k_set_up,
    k_slot_after,
)
from tbgen.verify.prove_kernels import k_is_open

# Rows of `work`.
MOVERS, TARGETS, OTHER, REPLIERS, REPLY_TARGETS, FIRSTS, ATTACKERS, WORK_ROWS = range(8)

# Columns of the edges that `k_expand_chasers` lists.
SOURCE, TO, MOVE, IS_CHECK, IS_CALM, EDGE_COLUMNS = range(6)

ChaseScratch = tuple[
    NDArray[np.int64],
    NDArray[np.int8],
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.int8],
    NDArray[np.int8],
]
"""squares, board, piece_on, `work` int64 (WORK_ROWS, MAX_MOVES), and two more boards."""


def make_chase_scratch(pieces: int) -> ChaseScratch:
    """What a kernel needs to look at positions one after the other, empty boards."""
    return (
        np.zeros(pieces, np.int64),
        np.zeros(SQUARES, np.int8),
        np.zeros(SQUARES, np.int64),
        np.zeros((WORK_ROWS, MAX_MOVES), np.int64),
        np.zeros(SQUARES, np.int8),
        np.zeros(SQUARES, np.int8),
    )


@borrowing_kernel
def k_copy(board, copy):
    """Copy a board."""
    for s in range(SQUARES):
        copy[s] = board[s]


@borrowing_kernel
def k_play(mover, target, pieces, squares, board):
    """Move a piece quietly, on the board and in the list of squares; returns where it stood."""
    source = squares[mover]
    board[source] = EMPTY
    board[target] = pieces[mover]
    squares[mover] = target
    return source


@borrowing_kernel
def k_attacks_anew(before, after, source, target, attacker, victim, pieces, squares, minor):
    """Whether the move `source`-`target` lets a piece attack another one anew (points 1-6).

    attacker, victim : pieces, whose squares on `after` are in `squares`
    """
    if piece_side(pieces[attacker]) == piece_side(pieces[victim]):
        return False
    return is_new_attack(before, after, source, target, squares[attacker], squares[victim], minor)


@borrowing_kernel
def _k_wins_by_capture(side, order, kings, codes, tables, descriptors, pieces, captures, options,
                       squares, board, work):  # fmt: skip
    """Whether a capture of the side to move, not in check, wins by an order."""
    movers, targets = work[REPLIERS], work[REPLY_TARGETS]
    count = k_list_legal(side, False, kings, pieces, squares, board, movers, targets)
    for i in range(count):
        if board[targets[i]] == EMPTY:
            continue
        taken = 0
        while squares[taken] != targets[i]:
            taken += 1
        child = k_key_after_capture(
            side, movers[i], taken, codes, tables, descriptors, captures[taken], squares,
            work[OTHER],
        )  # fmt: skip
        key = key_after_conversion(child) if options[CONVERSION] else key_after_move(child)
        if key > 0 and order_of_key(key) <= order:
            return True
    return False


@borrowing_kernel
def _k_loses_from(child, gives_check, side, mover, target, kings, codes, tables, descriptors,
                  pieces, captures, options, squares, board, work):  # fmt: skip
    """The order from which on a quiet move counts as losing, NEVER + 1 for none.

    child : the key of the position after the move, open; board : before the move, left as it was
    """
    if child <= 0:
        return NEVER + 1
    order = order_of_key(child)
    if gives_check:
        return order + (0 if (MATE - child) % ORDER == 0 else 1)
    source = k_play(mover, target, pieces, squares, board)
    wins = _k_wins_by_capture(1 - side, order, kings, codes, tables, descriptors, pieces, captures,
                              options, squares, board, work)  # fmt: skip
    k_play(mover, source, pieces, squares, board)
    return order if wins else order + 1


@borrowing_kernel
def _k_first_orders(side, checked, limit, slot, image, minor, kings, codes, tables, descriptors,
                    pieces, captures, weights, options, squares, board, piece_on, work,
                    after):  # fmt: skip
    """From which order on each piece is the one that every move must chase, in work[FIRSTS].

    Returns whether there is such an order, up to `limit`, for any piece. `after` is a copy of
    `board`; both are left as they were.
    """
    movers, targets, firsts = work[MOVERS], work[TARGETS], work[FIRSTS]
    for v in range(pieces.size):
        firsts[v] = NEVER + 1 if piece_side(pieces[v]) == side else 1
    firsts[kings[1 - side]] = NEVER + 1
    count = k_list_legal(side, checked, kings, pieces, squares, board, movers, targets)
    descriptor = descriptors[tables[0, FIRST_WORD] : tables[0, END_WORD]]
    chased_ever = np.int64(0)
    for i in range(count):
        mover, target = movers[i], targets[i]
        from_order = np.int64(NEVER + 1)
        may_chase = False
        if board[target] != EMPTY:
            taken = piece_on[target]
            child = k_key_after_capture(
                side, mover, taken, codes, tables, descriptors, captures[taken], squares,
                work[OTHER],
            )  # fmt: skip
            key = key_after_conversion(child) if options[CONVERSION] else key_after_move(child)
            if key < 0:
                from_order = np.int64(order_of_key(key))
        else:
            next_slot = k_slot_after(slot, image, mover, target, descriptor, weights, squares)
            child = k_load_key(codes, tables[0], 1 - side, next_slot)
            if k_is_open(child):
                check = k_gives_check(side, mover, target, kings, pieces, squares, board)
                from_order = np.int64(_k_loses_from(
                    child, check, side, mover, target, kings, codes, tables, descriptors, pieces,
                    captures, options, squares, board, work,
                ))  # fmt: skip
                may_chase = not check
            elif child > 0:
                from_order = np.int64(1)
        if from_order <= 1:
            continue
        source = squares[mover]
        if may_chase:
            k_play(mover, target, pieces, squares, after)
        left = False
        for v in range(pieces.size):
            if firsts[v] > limit:
                continue
            chased = False
            if may_chase:
                for q in range(pieces.size):
                    if k_attacks_anew(board, after, source, target, q, v, pieces, squares, minor):
                        chased = True
                        break
            if chased:
                chased_ever |= np.int64(1) << v
            else:
                firsts[v] = max(firsts[v], from_order)
            left = left or firsts[v] <= limit
        if may_chase:
            k_play(mover, source, pieces, squares, after)
        if not left:
            return False
    # Where every move loses without a chase, there is no pattern.
    for v in range(pieces.size):
        if not (chased_ever >> v) & 1:
            firsts[v] = NEVER + 1
    return chased_ever != 0


@borrowing_kernel
def k_image(slot, mids, self_mirrored, options, squares, descriptor):
    """The slot of a position's mirror image where its lead is its own image, else -1."""
    block = options[INNER_SIZE] * mids
    lead = slot // block
    if not self_mirrored[lead]:
        return np.int64(-1)
    return lead * block + attacker_slot(squares, options[FIRST_ATTACKER], True, descriptor)


@borrowing_kernel
def k_find_chasers(row_0, row_1, mids, codes, tables, descriptors, pieces, captures, weights,
                   self_mirrored, options, minor, chasers, claims, counts, squares, board,
                   piece_on, work, after, replied):  # fmt: skip
    """List the chasers of the rows [row_0, row_1), and who claims to win by a chase.

    Parameters
    ----------
    mids : rows per lead; the arrays from `codes` to `options` are those of `material_arrays`;
        the slots that hold no position are empty already (`k_prove_rows`)
    minor : whether advisors and elephants chase protected rooks, knights and cannons
    chasers : int64 (room, 2), out: number and first order, as many as there is room for
    claims : int64 (room,), out: nodes of direct wins, not in check
    counts : int64 (2,), out: how many of both there are
    squares, board, piece_on, work, after, replied : the thread's own (`make_chase_scratch`)
    """
    kings = (np.int64(0), options[BLACK_KING])
    line = tables[0]
    descriptor = descriptors[line[FIRST_WORD] : line[END_WORD]]
    counts[:] = 0
    for slot in range(row_0 * options[INNER_SIZE], row_1 * options[INNER_SIZE]):
        keys = k_load_key(codes, line, 0, slot), k_load_key(codes, line, 1, slot)
        if not k_is_open(keys[0]) and not k_is_open(keys[1]):
            continue
        k_set_up(slot, descriptor, pieces, squares, board, piece_on)
        k_copy(board, after)
        image = k_image(slot, mids, self_mirrored, options, squares, descriptor)
        for side in range(2):
            key = keys[side]
            if not k_is_open(key):
                continue
            node = 2 * slot + side
            king, other_king = squares[kings[side]], squares[kings[1 - side]]
            checked = k_is_checked(board, king, other_king, side)
            if key > 0 and (MATE - key) % ORDER == 0 and not checked:
                if counts[1] < claims.size:
                    claims[counts[1]] = node
                counts[1] += 1
            limit = order_of_key(key)
            if not _k_first_orders(
                side, checked, limit, slot, image, minor, kings, codes, tables, descriptors,
                pieces, captures, weights, options, squares, board, piece_on, work, after,
            ):  # fmt: skip
                continue
            for v in range(pieces.size):
                if work[FIRSTS, v] <= limit:
                    if counts[0] < len(chasers):
                        chasers[counts[0], 0] = SQUARES * node + squares[v]
                        chasers[counts[0], 1] = work[FIRSTS, v]
                    counts[0] += 1
        k_clear(squares, board)


@borrowing_kernel
def k_search(numbers, number):
    """The place of the first of ascending numbers that is not smaller."""
    low, high = 0, numbers.size
    while low < high:
        middle = (low + high) // 2
        if numbers[middle] < number:
            low = middle + 1
        else:
            high = middle
    return low


@borrowing_kernel
def k_is_mirrored(slot, pieces, squares, board, descriptor, other):
    """Whether the position of a slot, written to `other`, is the mirror image of the board."""
    squares_of_slot(slot, descriptor, other)
    differs = False
    for p in range(pieces.size):
        differs = differs or board[other[p]] != pieces[p]
    return differs


@borrowing_kernel
def _k_is_answered(attackers, count, replied, source, target, victim, squares, minor):
    """Whether a reply has met an attack of one of the pieces on the victim's square (point 7)."""
    for n in range(count):
        if is_answered(replied, source, target, squares[attackers[n]], victim, minor):
            return True
    return False


@borrowing_kernel
def k_is_calm(before, after, source, target, side, pieces, squares, minor):
    """Whether a move of `side` attacks no piece anew."""
    for q in range(pieces.size):
        if piece_side(pieces[q]) != side:
            continue
        for v in range(pieces.size):
            if k_attacks_anew(before, after, source, target, q, v, pieces, squares, minor):
                return False
    return True


@borrowing_kernel
def _k_list_answers(chase, victim, attackers, side, minor, numbers, edges, found, kings, pieces,
                    options, descriptor, squares, after, replied, work):  # fmt: skip
    """List the answers to one chase; returns how many edges there are then.

    victim : the piece; attackers : how many in work[ATTACKERS]; side : who chases
    after : the position after the chase, `replied` a copy; all are left as they were
    """
    repliers, targets = work[REPLIERS], work[REPLY_TARGETS]
    place = squares[victim]
    count = k_list_legal(1 - side, False, kings, pieces, squares, after, repliers, targets)
    for i in range(count):
        if after[targets[i]] != EMPTY:
            continue
        mover, target = repliers[i], targets[i]
        source = k_play(mover, target, pieces, squares, replied)
        slot = slot_of_squares(squares, descriptor)
        first = SQUARES * (2 * slot + side)
        at = k_search(numbers, first)
        if at < numbers.size and numbers[at] < first + SQUARES:
            moved = squares[victim]
            if k_is_mirrored(slot, pieces, squares, replied, descriptor, work[OTHER]):
                moved = mirror_square(moved)
            at = k_search(numbers, first + moved)
            if (
                at < numbers.size
                and numbers[at] == first + moved
                and _k_is_answered(
                    work[ATTACKERS], attackers, replied, source, target, place, squares, minor
                )
            ):
                if found < len(edges):
                    check = k_is_checked(
                        replied, squares[kings[side]], squares[kings[1 - side]], side
                    )
                    edges[found, SOURCE] = chase
                    edges[found, TO] = at
                    edges[found, MOVE] = mover * SQUARES + target
                    edges[found, IS_CHECK] = check
                    edges[found, IS_CALM] = not check and k_is_calm(
                        after, replied, source, target, 1 - side, pieces, squares, minor
                    )
                found += 1
        k_play(mover, source, pieces, squares, replied)
    return found


@borrowing_kernel
def k_expand_chasers(first, last, numbers, first_orders, mids, codes, tables, descriptors, pieces,
                     captures, weights, self_mirrored, options, minor, chases, edges, counts,
                     squares, board, piece_on, work, after, replied):  # fmt: skip
    """List the chases of the chasers [first, last), and the answers to each.

    Parameters
    ----------
    numbers, first_orders : int64 (chasers,), all chasers, by ascending number
    chases : int64 (room, 4), out: chaser, node after the move, move, order from which it loses;
        a move is piece * 90 + target square, as the chaser's slot lists the pieces
    edges : int64 (room, EDGE_COLUMNS), out: chase (counted from the first of these), chaser that
        the answer leads to, move, whether it gives check, whether it attacks nothing anew
    counts : int64 (2,), out: how many of both there are, though room may be for less
    The others are those of `k_find_chasers`.
    """
    kings = (np.int64(0), options[BLACK_KING])
    descriptor = descriptors[tables[0, FIRST_WORD] : tables[0, END_WORD]]
    movers, targets = work[MOVERS], work[TARGETS]
    counts[:] = 0
    for n in range(first, last):
        node = numbers[n] // SQUARES
        slot, side = node // 2, node % 2
        k_set_up(slot, descriptor, pieces, squares, board, piece_on)
        k_copy(board, after)
        k_copy(board, replied)
        victim = piece_on[numbers[n] % SQUARES]
        image = k_image(slot, mids, self_mirrored, options, squares, descriptor)
        checked = k_is_checked(board, squares[kings[side]], squares[kings[1 - side]], side)
        count = k_list_legal(side, checked, kings, pieces, squares, board, movers, targets)
        for i in range(count):
            mover, target = movers[i], targets[i]
            if board[target] != EMPTY:
                continue
            next_slot = k_slot_after(slot, image, mover, target, descriptor, weights, squares)
            child = k_load_key(codes, tables[0], 1 - side, next_slot)
            if not k_is_open(child) or k_gives_check(
                side, mover, target, kings, pieces, squares, board
            ):
                continue
            loses_from = _k_loses_from(
                child, False, side, mover, target, kings, codes, tables, descriptors, pieces,
                captures, options, squares, board, work,
            )  # fmt: skip
            if loses_from <= first_orders[n]:
                continue
            source = k_play(mover, target, pieces, squares, after)
            attackers = 0
            for q in range(pieces.size):
                if k_attacks_anew(board, after, source, target, q, victim, pieces, squares, minor):
                    work[ATTACKERS, attackers] = q
                    attackers += 1
            replied[source] = EMPTY
            replied[target] = pieces[mover]
            # A move that is no chase of this victim loses by every order that matters here.
            if attackers:
                if counts[0] < len(chases):
                    chases[counts[0], 0] = n
                    chases[counts[0], 1] = 2 * next_slot + 1 - side
                    chases[counts[0], 2] = mover * SQUARES + target
                    chases[counts[0], 3] = loses_from
                counts[1] = _k_list_answers(
                    counts[0], victim, attackers, side, minor, numbers, edges, counts[1], kings,
                    pieces, options, descriptor, squares, after, replied, work,
                )  # fmt: skip
                counts[0] += 1
            replied[target] = EMPTY
            replied[source] = pieces[mover]
            k_play(mover, source, pieces, squares, after)
        k_clear(squares, board)
