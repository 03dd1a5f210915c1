# mypy: allow-untyped-defs, allow-untyped-calls
"""Chases, answers and victims: the edges of possible chase patterns.

    chase    a chaser's quiet move, no check, that attacks the victim anew with at least one piece
    answer   a quiet reply that removes one of these attacks and leads to a chaser of the same
             victim; under rules by which a check voids all chases, it must not give check
    victims  of an answer: the pieces that it attacks anew, if the next chase removes that attack

An *edge* is an answer together with the chaser that it leads to. A *chaser* (`chasers`) is a
position and its victim, the piece that each of its moves attacks anew unless the move loses.
Victims of answers are computed only inside a possible pattern, and only if the answer gives no
check. `chase_patterns` decides which chasers form a pattern. Points are those of docs/referee.md,
section 2. The package's docstring describes the parameters of kernels.
"""

from __future__ import annotations

import numpy as np

from tbgen.compiling.jit import borrowing_kernel, part
from tbgen.indexing.rulesets import CHECK_VOIDS
from tbgen.indexing.slots import slot_of_squares
from tbgen.indexing.squares import EMPTY, SQUARES, mirror_square, piece_side
from tbgen.rules.chases import is_answered
from tbgen.rules.moves import piece_moves
from tbgen.verify.chasers import copy_board, is_mirrored, list_new_attackers, loses_from, play
from tbgen.verify.index import NOWHERE
from tbgen.verify.moves import (
    index_of,
    list_moves,
    load_key,
    may_contain,
    new_row,
    set_up,
    slot_after,
)
from tbgen.verify.values import is_open, order_of_key

CHASER, NODE_AFTER, CHASING_MOVE, LOSES_FROM, CHASE_COLUMNS = range(5)
"""Columns of chases.

CHASER : index of the chaser
NODE_AFTER : the node after the move
CHASING_MOVE : the move, piece * 90 + target square, both in the position of the chaser's slot
LOSES_FROM : the order from which the move loses; NEVER + 1 for a move that does not lose
"""

CHASE_OF_EDGE, CHASER_AFTER, ANSWER, IS_CHECK, EDGE_COLUMNS = range(5)
"""Columns of edges.

CHASE_OF_EDGE : index of the chase
CHASER_AFTER : index of the chaser that the answer leads to
ANSWER : the reply, piece * 90 + target square, numbered like the CHASING_MOVE that it answers
IS_CHECK : whether the answer gives check
"""


CHASES, EDGES, LISTS = range(3)
"""Lists written by `k_expand_chasers`."""


@part
def _find_chaser(side, slot, victim, chasers, listed, boards, index):
    """Return the index in `chasers` of the position on `boards.replied` with this victim.

    Returns NOWHERE if it is no chaser.

    side : int, the side to move; slot : int, the canonical slot of the position, which may be that
        of the mirror image
    """
    node = 2 * slot + side
    if not may_contain(listed, node):
        return NOWHERE
    victim_square = boards.state.piece_squares[victim]
    if is_mirrored(slot, boards.replied, boards.state.other_squares, index):
        victim_square = mirror_square(victim_square)
    return index_of(chasers, SQUARES * node + victim_square)


@part
def _answer_removes_attack(attackers, source, target, victim_square, boards, arrays):
    """Return whether the reply made on `boards.replied` removes an attack on the victim (point 7).

    attackers : int, the number of entries of `boards.attackers`
    victim_square : int, the victim's square before the reply
    """
    for n in range(attackers):
        attacker = boards.state.piece_squares[boards.attackers[n]]
        if is_answered(boards.replied, source, target, attacker, victim_square, arrays.chase_rules):
            return True
    return False


@part
def _list_answers(side, victim, attackers, chasers, listed, lists, boards, index, arrays):
    """List the answers to the last listed chase as edges, from that chase to chasers.

    `boards.after` must hold the position after the chase, `boards.replied` a copy, which is
    restored. Checks are no answers under `CHECK_VOIDS`.

    side : int, the chaser's side; attackers : int, the number of entries of `boards.attackers`
    """
    edges = lists.rows[EDGES]
    after, replied, squares = boards.after, boards.replied, boards.state.piece_squares
    victim_square = squares[victim]
    for mover in range(squares.size):
        if piece_side(index.pieces[mover]) == side:
            continue
        for i in range(piece_moves(after, squares[mover], boards.answering.targets, 0)):
            target = boards.answering.targets[i]
            if after[target] != EMPTY:
                continue
            source = play(mover, target, replied, squares)
            slot = slot_of_squares(squares, index.descriptor)
            at = NOWHERE
            if is_open(load_key(side, slot, index, arrays)):
                at = _find_chaser(side, slot, victim, chasers, listed, boards, index)
            check = at != NOWHERE and arrays.ranks[(1 - side) * index.slots + slot] == 0
            is_void = check and arrays.chase_rules & CHECK_VOIDS != 0
            if (
                at != NOWHERE
                and not is_void
                and _answer_removes_attack(attackers, source, target, victim_square, boards, arrays)
            ):
                row = new_row(lists, EDGES)
                edges[row, CHASE_OF_EDGE] = lists.counts[CHASES] - 1
                edges[row, CHASER_AFTER] = at
                edges[row, ANSWER] = mover * SQUARES + target
                edges[row, IS_CHECK] = check
            play(mover, source, replied, squares)


@part
def _may_be_answered(node, listed, state, index, arrays):
    """Return whether a quiet move from a node may lead to the node of a chaser, with any victim.

    A quick test before the answers are listed. Sets up the node in `state`.
    """
    slot, side = node // 2, node % 2
    within, image = set_up(slot, state, index)
    for n in range(list_moves(side, slot - within, within, image, state, index)):
        if (
            state.board[state.targets[n]] == EMPTY
            and is_open(load_key(1 - side, state.children[n], index, arrays))
            and may_contain(listed, 2 * slot_after(n, state, index) + 1 - side)
        ):
            return True
    return False


@borrowing_kernel
def k_expand_chasers(first, last, chasers, listed, first_orders, lists, boards, index, arrays):
    """List the chases of the chasers with index in [first, last), and the answers to each chase.

    Chases that lose by the first order of their chaser are left out, since they are never due. A
    chaser belongs to no pattern if one of its chases has no answer, and does not lose by the order
    of the stored value; all chases of such a chaser are left out.

    first, last : int, indices in `chasers`
    first_orders : int64 (chasers,): the order from which every move loses or attacks the victim
        anew
    lists : Lists, out: CHASES and EDGES
    """
    state, after, replied = boards.state, boards.after, boards.replied
    chases = lists.rows[CHASES]
    for n in range(first, last):
        node = chasers[n] // SQUARES
        slot, side = node // 2, node % 2
        limit = order_of_key(load_key(side, slot, index, arrays))
        first_chase, first_edge = lists.counts[CHASES], lists.counts[EDGES]
        within, image = set_up(slot, state, index)
        copy_board(state.board, after)
        victim = state.piece_on[chasers[n] % SQUARES]
        count = list_moves(side, slot - within, within, image, state, index)
        for i in range(count):
            rank = arrays.ranks[(1 - side) * index.slots + state.children[i]]
            if rank == 0:
                continue
            key = arrays.values.keys[1 - side, rank]
            order, may_chase = loses_from(i, side, key, state, index, arrays)
            if not may_chase or order <= first_orders[n]:
                continue
            node_after = 2 * slot_after(i, state, index) + 1 - side
            mover, target = state.piece_on[state.sources[i]], state.targets[i]
            source = play(mover, target, after, state.piece_squares)
            attackers = list_new_attackers(
                state.board, after, source, target, victim, boards, index, arrays
            )
            is_hopeless = False
            # A move that is no chase of this victim loses by every order that matters here.
            if attackers:
                row = new_row(lists, CHASES)
                chases[row, CHASER] = n
                chases[row, NODE_AFTER] = node_after
                chases[row, CHASING_MOVE] = mover * SQUARES + target
                chases[row, LOSES_FROM] = order
                edges = lists.counts[EDGES]
                if _may_be_answered(node_after, listed, boards.answering, index, arrays):
                    copy_board(after, replied)
                    _list_answers(
                        side, victim, attackers, chasers, listed, lists, boards, index, arrays
                    )
                is_hopeless = lists.counts[EDGES] == edges and order > limit
            play(mover, source, after, state.piece_squares)
            if is_hopeless:
                lists.counts[CHASES], lists.counts[EDGES] = first_chase, first_edge
                break


@part
def _chase_removes_attack(chase, mirrored, attacker, victim, boards, arrays):
    """Return whether the next chase removes an attack that the answer made (point 7).

    `boards.replied` is restored.

    chase : int64, the move of the next chase, as in CHASING_MOVE
    attacker, victim : int, the attacking and the attacked piece
    mirrored : bool, whether the next chaser's slot has the mirror image of `boards.replied`; the
        squares of the pieces in that slot are in `boards.state.other_squares`
    """
    squares, replied = boards.state.piece_squares, boards.replied
    source, target = boards.state.other_squares[chase // SQUARES], chase % SQUARES
    if mirrored:
        source, target = mirror_square(source), mirror_square(target)
    replied[target] = replied[source]
    replied[source] = EMPTY
    met = is_answered(
        replied, source, target, squares[attacker], squares[victim], arrays.chase_rules
    )
    replied[source] = replied[target]
    replied[target] = EMPTY
    return met


@part
def _find_victims(e, side, source, target, mirrored, chases, edges, graph, victims, boards,
                  index, arrays):  # fmt: skip
    """Write to `victims.victims`, for each pair of an edge, the pieces that its answer chases.

    The answer, the move `source`-`target`, must lead from `boards.after` to `boards.replied`.

    e : int64, the index of an edge with pairs; side : int, the side of the chasers, which offends
    mirrored : bool, as in `_chase_removes_attack`
    """
    squares = boards.state.piece_squares
    first, last = (
        graph.chase_start[edges[e, CHASER_AFTER]],
        graph.chase_start[edges[e, CHASER_AFTER] + 1],
    )
    words = victims.pair_start[e] - first
    for f in range(first, last):
        victims.victims[words + f] = 0
    for v in range(squares.size):
        if piece_side(index.pieces[v]) != side:
            continue
        found = list_new_attackers(
            boards.after, boards.replied, source, target, v, boards, index, arrays
        )
        for n in range(found):
            q = boards.attackers[n]
            for f in range(first, last):
                if _chase_removes_attack(chases[f, CHASING_MOVE], mirrored, q, v, boards, arrays):
                    victims.victims[words + f] |= np.uint64(1) << np.uint64(v)


@borrowing_kernel
def k_find_victims(wanted, chasers, chases, edges, graph, victims, boards, index, arrays):
    """Fill `Victims.follow` for some edges, and `Victims.victims` for those that have pairs.

    wanted : int64 (n,), indices of the edges
    """
    state, after, replied = boards.state, boards.after, boards.replied
    squares, other = state.piece_squares, state.other_squares
    for i in range(wanted.size):
        e = wanted[i]
        chase, move = edges[e, CHASE_OF_EDGE], edges[e, ANSWER]
        node = chasers[chases[chase, CHASER]] // SQUARES
        set_up(node // 2, state, index)
        chasing = chases[chase, CHASING_MOVE]
        copy_board(state.board, after)
        play(chasing // SQUARES, chasing % SQUARES, after, squares)
        copy_board(after, replied)
        target = move % SQUARES
        source = play(move // SQUARES, target, replied, squares)
        next_slot = slot_of_squares(squares, index.descriptor)
        mirrored = is_mirrored(next_slot, replied, other, index)
        for p in range(squares.size):
            victim_square = squares[p]
            if mirrored:
                victim_square = mirror_square(victim_square)
            for q in range(squares.size):
                if other[q] == victim_square:
                    victims.follow[e, p] = q
        if victims.pair_start[e] >= 0:
            _find_victims(
                e, node % 2, source, target, mirrored, chases, edges, graph, victims, boards, index,
                arrays,
            )  # fmt: skip
