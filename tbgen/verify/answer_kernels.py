"""The winner-to-be's own chases: whom an answer attacks, and whether the next chase meets it.

Asked only for answers inside what may be a pattern, and only for those that are no check: most
patterns are kept by answers that attack nothing anew, and have no question left.
"""

from __future__ import annotations

import numpy as np

from tbgen.indexing.slots import slot_of_squares
from tbgen.indexing.squares import EMPTY, SQUARES, mirror_square, piece_side
from tbgen.jit import borrowing_kernel
from tbgen.rules.chases import is_answered
from tbgen.verify.chase_kernels import (
    MOVE,
    OTHER,
    SOURCE,
    TO,
    k_attacks_anew,
    k_copy,
    k_is_mirrored,
    k_play,
)
from tbgen.verify.material_arrays import END_WORD, FIRST_WORD
from tbgen.verify.move_kernels import k_clear, k_set_up

ONE = np.uint64(1)


@borrowing_kernel
def k_find_victims(wanted, numbers, chases, edges, chase_start, pair_start, victims, follow,
                   tables, descriptors, pieces, minor, squares, board, piece_on, work, after,
                   replied):  # fmt: skip
    """Fill `victims` and `follow` (see `chase_game.Victims`) for some edges.

    Parameters
    ----------
    wanted : int64, the edges; numbers : int64 (chasers,)
    chases, edges : as `k_expand_chasers` lists them, edges counted from the first chase of all
    chase_start : int64 (chasers + 1,); pair_start : int64 (edges,), -1 for edges without pairs
    minor : whether advisors and elephants chase protected rooks, knights and cannons
    victims : uint64 (pairs,), out; follow : int8 (edges, pieces), out
    squares, board, piece_on, work, after, replied : the thread's own (`make_chase_scratch`)
    """
    descriptor = descriptors[tables[0, FIRST_WORD] : tables[0, END_WORD]]
    other = work[OTHER]
    for i in range(wanted.size):
        e = wanted[i]
        chase, goal, move = edges[e, SOURCE], edges[e, TO], edges[e, MOVE]
        node = numbers[chases[chase, 0]] // SQUARES
        slot, side = node // 2, node % 2
        k_set_up(slot, descriptor, pieces, squares, board, piece_on)
        chasing = chases[chase, 2]
        k_play(chasing // SQUARES, chasing % SQUARES, pieces, squares, board)
        k_copy(board, after)
        source, target = squares[move // SQUARES], move % SQUARES
        k_play(move // SQUARES, target, pieces, squares, after)
        next_slot = slot_of_squares(squares, descriptor)
        mirrored = k_is_mirrored(next_slot, pieces, squares, after, descriptor, other)
        for p in range(pieces.size):
            place = mirror_square(squares[p]) if mirrored else squares[p]
            for q in range(pieces.size):
                if other[q] == place:
                    follow[e, p] = q
        if pair_start[e] >= 0:
            k_copy(after, replied)
            first = chase_start[goal]
            for f in range(first, chase_start[goal + 1]):
                victims[pair_start[e] + f - first] = 0
            for v in range(pieces.size):
                if piece_side(pieces[v]) != side:
                    continue
                for q in range(pieces.size):
                    if not k_attacks_anew(
                        board, after, source, target, q, v, pieces, squares, minor
                    ):
                        continue
                    for f in range(first, chase_start[goal + 1]):
                        next_source = other[chases[f, 2] // SQUARES]
                        next_target = chases[f, 2] % SQUARES
                        if mirrored:
                            next_source = mirror_square(next_source)
                            next_target = mirror_square(next_target)
                        replied[next_target] = replied[next_source]
                        replied[next_source] = EMPTY
                        if is_answered(
                            replied, next_source, next_target, squares[q], squares[v],
                            minor,
                        ):  # fmt: skip
                            victims[pair_start[e] + f - first] |= ONE << np.uint64(v)
                        replied[next_source] = replied[next_target]
                        replied[next_target] = EMPTY
        k_play(move // SQUARES, source, pieces, squares, after)
        k_clear(squares, board)
