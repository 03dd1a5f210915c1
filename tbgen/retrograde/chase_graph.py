"""The chase candidates as an explicit graph: exact attacks, victims, and replies.

    offence node   (candidate position, victim V), the offender to move
    reply node     one chase of V from there, with the pieces that attack V anew
    edge           a reply that answers the attack, and leads to an offence node of the same V

Attacks are judged by the predicates of the referee (`tbgen.rules.chases`) on whole boards, move
by move: only the few positions that the sieve of sweeps has left come this far. The victim is
part of the node, since chasing two pieces in turn is allowed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tbgen.indexing.squares import SQUARES, PieceType, piece_kind, piece_side
from tbgen.jit import borrowing_kernel, kernel
from tbgen.retrograde.bitsets import BIT, FULL, MIRROR, ONE, count_bits, has, lowest_bit
from tbgen.retrograde.chase_victims import (
    Setting,
    attacked_anew,
    attackers_anew,
    common_victims,
    is_won,
)
from tbgen.retrograde.frame import MIDS, canonical
from tbgen.retrograde.parallel import Workers
from tbgen.retrograde.pattern_game import Conditions, PatternGraph, winning_replies
from tbgen.retrograde.row_boards import Places, copy, find, is_mirrored, make_desk, move, set_up
from tbgen.retrograde.sweep import Rows
from tbgen.rules.attacks import in_check
from tbgen.rules.chases import is_answered, may_be_victim
from tbgen.rules.moves import generate_moves

KING = int(PieceType.KING)


class Suspects(NamedTuple):
    """The loss candidates, each with the pieces that it must chase."""

    keys: NDArray[np.int64]
    """int64 (candidates,): row * 90 + square of the inner piece, ascending; canonical ones only."""
    victims: NDArray[np.uint64]
    """uint64 (candidates, 2): the common victims, as a set of squares."""
    node_start: NDArray[np.int64]
    """int64 (candidates + 1,): the first offence node of each, one node for each victim."""


@borrowing_kernel
def _place(key, places, squares, board):
    """Set up the position of a key."""
    set_up(key // SQUARES, key % SQUARES, places, squares, board)


@borrowing_kernel
def _node(row, square, victim, suspects):
    """The offence node of a position and a victim in it, -1 for none."""
    key = row * SQUARES + square
    c = np.searchsorted(suspects.keys, key)
    if c == suspects.keys.size or suspects.keys[c] != key:
        return np.int64(-1)
    lo, hi = suspects.victims[c, 0], suspects.victims[c, 1]
    if not has(lo, hi, victim):
        return np.int64(-1)
    if victim < 45:
        return suspects.node_start[c] + count_bits(lo & (BIT[victim, 0] - ONE))
    return suspects.node_start[c] + count_bits(lo) + count_bits(hi & (BIT[victim, 1] - ONE))


@borrowing_kernel
def _k_victims(first, last, suspects, setting, places, desk):
    """Write the common victims of the candidates [first, last)."""
    for c in range(first, last):
        key = suspects.keys[c]
        lo, hi = common_victims(key // SQUARES, key % SQUARES, setting, places, desk)
        suspects.victims[c, 0] = lo
        suspects.victims[c, 1] = hi


@kernel
def _grown(array, needed):
    """The array, or a larger copy that has room for `needed` entries."""
    if needed <= array.size:
        return array
    larger = np.zeros(max(needed, 2 * array.size), array.dtype)
    larger[: array.size] = array
    return larger


@borrowing_kernel
def _chase(victim, source, target, setting, places, desk):
    """Play a move of the offender on the desk, if it is a chase that goes on.

    Returns the number of pieces that attack the victim anew, in `desk.attackers`; -1 for moves
    that lose (captures and illegal ones among them), which leave the desk as it was.
    """
    if desk.board[target] != 0:
        return -1
    copy(desk.board, desk.after)
    move(desk.squares, desk.after, source, target)
    row, square = find(desk.squares, places)
    if is_won(row, square, setting):
        move(desk.squares, desk.after, target, source)
        return -1
    return attackers_anew(desk.board, desk.after, desk.squares, places.codes, source, target,
                           victim, setting.minor_chases, desk.attackers)  # fmt: skip


@borrowing_kernel
def _answer(victim, attackers, reply, reply_to, suspects, setting, places, desk):
    """What a reply of the winner leads to.

    attackers : how many in `desk.attackers` the reply has to answer
    Returns the offence node (-1 for none), whether the reply gives check, and whether it is calm.
    """
    if desk.after[reply_to] != 0:
        return np.int64(-1), False, False
    copy(desk.after, desk.replied)
    move(desk.squares, desk.replied, reply, reply_to)
    check, calm = False, False
    # Few replies lead to a candidate: that is asked first.
    row, square = find(desk.squares, places)
    place = np.int64(reply_to if reply == victim else victim)
    if is_mirrored(row, square, desk.squares, places, desk.other, desk.scratch):
        place = MIRROR[place]
    node = _node(row, square, place, suspects)
    if node >= 0:
        answered = False
        for n in range(attackers):
            answered = answered or is_answered(
                desk.replied, reply, reply_to, desk.attackers[n], victim, setting.minor_chases
            )
        if not answered:
            node = np.int64(-1)
    if node >= 0:
        check = in_check(desk.replied, 1 - setting.winner)
        if not check:
            x, y = attacked_anew(
                desk.after, desk.replied, desk.squares, places.codes, reply, reply_to, FULL, FULL,
                setting.minor_chases,
            )  # fmt: skip
            calm = not (x | y)
    move(desk.squares, desk.replied, reply_to, reply)
    return node, check, calm


@kernel
def _k_edges(first, last, suspects, setting, places, desk):
    """The part of the graph that begins at the candidates [first, last).

    Returns for each offence node its number of reply nodes, for each reply node its move
    (source * 90 + target) and its number of edges, and for each edge its target, reply, whether
    it is calm, and whether it gives check.
    """
    node_start = suspects.node_start
    node_replies = np.zeros(node_start[last] - node_start[first], np.int64)
    moves, reply_edges = np.zeros(1024, np.int64), np.zeros(1024, np.int64)
    edge_target, edge_move = np.zeros(4096, np.int64), np.zeros(4096, np.int64)
    edge_calm, edge_check = np.zeros(4096, np.bool_), np.zeros(4096, np.bool_)
    replies = edges = 0
    for c in range(first, last):
        lo, hi = suspects.victims[c, 0], suspects.victims[c, 1]
        node = node_start[c] - node_start[first]
        while lo | hi:
            if lo:
                victim = lowest_bit(lo)
                lo &= lo - ONE
            else:
                victim = 45 + lowest_bit(hi)
                hi &= hi - ONE
            _place(suspects.keys[c], places, desk.squares, desk.board)
            count = generate_moves(desk.board, 1 - setting.winner, desk.sources, desk.targets)
            for m in range(count):
                source, target = desk.sources[m], desk.targets[m]
                attackers = _chase(victim, source, target, setting, places, desk)
                if attackers < 0:
                    continue
                moves = _grown(moves, replies + 1)
                reply_edges = _grown(reply_edges, replies + 1)
                moves[replies] = source * SQUARES + target
                answers = generate_moves(
                    desk.after, setting.winner, desk.answers, desk.answer_targets
                )
                for a in range(answers):
                    reply, reply_to = desk.answers[a], desk.answer_targets[a]
                    goal, check, calm = _answer(
                        victim, attackers, reply, reply_to, suspects, setting, places, desk
                    )
                    if goal >= 0:
                        edge_target = _grown(edge_target, edges + 1)
                        edge_move = _grown(edge_move, edges + 1)
                        edge_calm = _grown(edge_calm, edges + 1)
                        edge_check = _grown(edge_check, edges + 1)
                        edge_target[edges] = goal
                        edge_move[edges] = reply * SQUARES + reply_to
                        edge_calm[edges] = calm
                        edge_check[edges] = check
                        edges += 1
                        reply_edges[replies] += 1
                move(desk.squares, desk.after, target, source)
                replies += 1
                node_replies[node] += 1
            node += 1
    return (
        node_replies, moves[:replies], reply_edges[:replies], edge_target[:edges],
        edge_move[:edges], edge_calm[:edges], edge_check[:edges],
    )  # fmt: skip


@kernel
def _k_pairs(region, nodes, graph, moves, edge_move, pair_start, chased, follow, setting, places):
    """What the winner's own chases are, where they matter (see `pattern_game.Conditions`).

    region : bool (reply nodes,), those to look at; nodes : int64 (offence nodes,), the key of
    each; pair_start : int64 (edges + 1,); chased : uint64 (pairs,), out; follow : int8
    (edges, pieces), out
    """
    offender = 1 - setting.winner
    pieces = places.codes.size
    squares, other = np.zeros(pieces, np.int64), np.zeros(pieces, np.int64)
    board, after = np.zeros(SQUARES, np.int8), np.zeros(SQUARES, np.int8)
    replied, scratch = np.zeros(SQUARES, np.int8), np.zeros(SQUARES, np.int8)
    attackers, victims = np.zeros(256, np.int64), np.zeros(256, np.int64)
    for o in range(nodes.size):
        for r in range(graph.offence_start[o], graph.offence_start[o + 1]):
            if not region[r]:
                continue
            for e in range(graph.reply_start[r], graph.reply_start[r + 1]):
                _place(nodes[o], places, squares, board)
                move(squares, board, moves[r] // SQUARES, moves[r] % SQUARES)
                after[:] = board
                source, target = edge_move[e] // SQUARES, edge_move[e] % SQUARES
                move(squares, after, source, target)
                row, square = find(squares, places)
                mirrored = is_mirrored(row, square, squares, places, other, scratch)
                pairs = 0
                for v in range(pieces):
                    victim = squares[v]
                    if piece_side(places.codes[v]) != offender:
                        continue
                    place = MIRROR[victim] if mirrored else victim
                    for i in range(pieces):
                        if other[i] == place:
                            follow[e, v] = i
                    if not may_be_victim(places.codes[v], victim):
                        continue
                    new = attackers_anew(board, after, squares, places.codes, source, target,
                                          victim, setting.minor_chases,
                                          attackers[pairs:])  # fmt: skip
                    victims[pairs : pairs + new] = v
                    pairs += new
                goal = graph.reply_target[e]
                begin = graph.offence_start[goal]
                for f in range(begin, graph.offence_start[goal + 1]):
                    next_source, next_target = moves[f] // SQUARES, moves[f] % SQUARES
                    if mirrored:
                        next_source, next_target = MIRROR[next_source], MIRROR[next_target]
                    replied[:] = after
                    replied[next_target] = replied[next_source]
                    replied[next_source] = 0
                    word = np.uint64(0)
                    for p in range(pairs):
                        if is_answered(replied, next_source, next_target, attackers[p],
                                       squares[victims[p]], setting.minor_chases):  # fmt: skip
                            word |= ONE << np.uint64(victims[p])
                    chased[pair_start[e] + f - begin] = word


@kernel
def _k_mark(winning, nodes, graph, moves, marked, places):
    """Put the direct wins on `marked`: all reply nodes of an offence node, if all of them win.

    A reply node that wins after an offence node that does not lose is no part of the pattern; it
    is found by the propagation, two plies later.
    """
    pieces = places.codes.size
    squares, board = np.zeros(pieces, np.int64), np.zeros(SQUARES, np.int8)
    for o in range(nodes.size):
        if winning[graph.offence_start[o] : graph.offence_start[o + 1]].all():
            for r in range(graph.offence_start[o], graph.offence_start[o + 1]):
                _place(nodes[o], places, squares, board)
                move(squares, board, moves[r] // SQUARES, moves[r] % SQUARES)
                row, square = find(squares, places)
                marked[row, 0] |= BIT[square, 0]
                marked[row, 1] |= BIT[square, 1]


@borrowing_kernel
def _k_list(losses, keys, frame):
    """List the keys of the canonical positions of a set; returns how many."""
    mids = frame.size[MIDS]
    count = 0
    for row in range(losses.shape[0]):
        for word in range(2):
            bits = losses[row, word]
            while bits:
                square = 45 * word + lowest_bit(bits)
                bits &= bits - ONE
                mid, canonical_square = canonical(row // mids, row % mids, square, frame)
                if mid == row % mids and canonical_square == square:
                    keys[count] = row * SQUARES + square
                    count += 1
    return count


def _starts(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """int64 (n + 1,): where each of n consecutive runs begins."""
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _suspects(setting: Setting, places: Places) -> Suspects:
    """The loss candidates with their victims."""
    keys = np.zeros(int(np.bitwise_count(setting.losses).sum()), np.int64)
    keys = keys[: _k_list(setting.losses, keys, places.frame)]
    victims = np.zeros((len(keys), 2), np.uint64)
    suspects = Suspects(keys, victims, np.zeros(len(keys) + 1, np.int64))
    _k_victims(0, len(keys), suspects, setting, places, make_desk(places))
    suspects.node_start[:] = _starts(np.bitwise_count(victims).sum(axis=1))
    return suspects


def find_chase_wins(setting: Setting, places: Places, workers: Workers) -> Rows:
    """The winner's positions that win because the offender must chase one piece for ever.

    Returns a set of canonical positions.
    """
    marked: Rows = workers.storage.zeros(setting.wins.shape, np.uint64)
    suspects = _suspects(setting, places)
    # Even where there are none: so all kernels are compiled by the first search, under one lock.
    desks = [make_desk(places) for _ in range(workers.threads)]
    parts = {-1: _k_edges(0, 0, suspects, setting, places, desks[0])}

    def collect(first: int, last: int, thread: int) -> None:
        parts[first] = _k_edges(first, last, suspects, setting, places, desks[thread])

    workers.run(collect, len(suspects.keys))
    joined = [
        np.concatenate(column) for column in zip(*(parts[i] for i in sorted(parts)), strict=True)
    ]
    node_replies, moves, reply_edges, edge_target, edge_move, edge_calm, edge_check = joined
    graph = PatternGraph(_starts(node_replies), _starts(reply_edges), edge_target, edge_calm)
    nodes = np.repeat(suspects.keys, np.diff(suspects.node_start))

    def conditions(region: NDArray[np.bool_]) -> Conditions:
        of_region = np.repeat(region, reply_edges)
        pairs = np.where(of_region, node_replies[edge_target], 0)
        pair_start = _starts(pairs)
        chased = np.zeros(pair_start[-1], np.uint64)
        follow = np.zeros((len(edge_target), len(places.codes)), np.int8)
        _k_pairs(region, nodes, graph, moves, edge_move, pair_start, chased, follow, setting,
                 places)  # fmt: skip
        own = [i for i, code in enumerate(places.codes.tolist())
               if piece_side(code) != setting.winner and piece_kind(code) != KING]  # fmt: skip
        return Conditions(
            edge_check, pair_start, chased, np.uint64(sum(1 << i for i in own)), follow
        )

    winning = winning_replies(graph, conditions)
    _k_mark(winning, nodes, graph, moves, marked, places)
    return marked
