# mypy: allow-untyped-defs, allow-untyped-calls
"""The winner-to-be's own chases: whom an answer attacks, and whether the next chase meets it.

Asked only for answers inside what may be a pattern, and only for those that are no check: most
patterns are kept by answers that attack nothing anew, and have no question left. Points are those
of docs/referee.md, section 2.
"""

from __future__ import annotations

import numpy as np

from tbgen.compiling.jit import borrowing_kernel, part
from tbgen.indexing.slots import slot_of_squares
from tbgen.indexing.squares import EMPTY, SQUARES, mirror_square, piece_side
from tbgen.rules.chases import is_answered
from tbgen.verify.chase.bench import attacks_anew, copy_board, is_mirrored, play
from tbgen.verify.chase.edges import CHASER, CHASING_MOVE, MOVE, SOURCE, TO
from tbgen.verify.moves import set_up

ONE = np.uint64(1)


@part
def _is_met(chase, mirrored, attacker, victim, bench, arrays):
    """Return whether the next chase meets an attack on the position after the answer (point 7).

    chase : int64, the next chase as a move; attacker : int, which of the pieces
    mirrored : bool, whether the chaser's slot is the mirror image of `bench.replied`, which has
        its squares in `bench.desk.other`
    """
    squares, replied = bench.desk.all, bench.replied
    source, target = bench.desk.other[chase // SQUARES], chase % SQUARES
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
def _find_victims(e, side, source, target, mirrored, chases, edges, graph, victims, bench,
                  arrays):  # fmt: skip
    """Fill the words of one edge, whose answer is the move `source`-`target`.

    e : int64, the edge; side : int, whose pieces may be victims
    mirrored : bool, as in `_is_met`
    """
    squares = bench.desk.all
    first, last = graph.chase_start[edges[e, TO]], graph.chase_start[edges[e, TO] + 1]
    words = victims.pair_start[e] - first
    copy_board(bench.after, bench.replied)
    for f in range(first, last):
        victims.victims[words + f] = 0
    for v in range(squares.size):
        if piece_side(arrays.men.pieces[v]) != side:
            continue
        for q in range(squares.size):
            if not attacks_anew(
                bench.desk.board, bench.after, source, target, q, v, squares, arrays
            ):
                continue
            for f in range(first, last):
                if _is_met(chases[f, CHASING_MOVE], mirrored, q, v, bench, arrays):
                    victims.victims[words + f] |= ONE << np.uint64(v)


@borrowing_kernel
def k_find_victims(wanted, numbers, chases, edges, graph, victims, bench, index, arrays):
    """Fill `victims.victims` and `victims.follow` for some edges.

    wanted : int64 (n,), the edges
    """
    desk, after = bench.desk, bench.after
    squares, board, other = desk.all, desk.board, desk.other
    for i in range(wanted.size):
        e = wanted[i]
        chase, move = edges[e, SOURCE], edges[e, MOVE]
        node = numbers[chases[chase, CHASER]] // SQUARES
        set_up(node // 2, desk, index)
        chasing = chases[chase, CHASING_MOVE]
        play(chasing // SQUARES, chasing % SQUARES, board, squares, arrays.men)
        copy_board(board, after)
        target = move % SQUARES
        source = play(move // SQUARES, target, after, squares, arrays.men)
        next_slot = slot_of_squares(squares, index.descriptor)
        mirrored = is_mirrored(next_slot, after, other, index, arrays)
        for p in range(squares.size):
            place = squares[p]
            if mirrored:
                place = mirror_square(place)
            for q in range(squares.size):
                if other[q] == place:
                    victims.follow[e, p] = q
        if victims.pair_start[e] >= 0:
            _find_victims(
                e, node % 2, source, target, mirrored, chases, edges, graph, victims, bench, arrays
            )
