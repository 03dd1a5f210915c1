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

from tbgen.indexing.layout import Layout
from tbgen.indexing.slots import slot_of_squares
from tbgen.indexing.squares import SQUARES, PieceType, piece_kind, piece_side
from tbgen.jit import borrowing_kernel, kernel
from tbgen.retrograde.bitsets import BIT, EMPTY, FULL, MIRROR, ONE, count_bits, has, lowest_bit
from tbgen.retrograde.frame import (
    COUNT,
    FIRST_PLACEMENT,
    GROUP_STRIDE,
    GROUPS,
    INNER_KIND,
    MIDS,
    SIZE,
    Frame,
    canonical,
)
from tbgen.retrograde.parallel import Workers
from tbgen.retrograde.pattern_game import Conditions, PatternGraph, winning_replies
from tbgen.retrograde.sweep import Rows
from tbgen.rules.attacks import in_check
from tbgen.rules.board import MAX_MOVES
from tbgen.rules.chases import is_answered, is_new_attack, may_be_victim
from tbgen.rules.moves import generate_moves

KING, ELEPHANT, PAWN = int(PieceType.KING), int(PieceType.ELEPHANT), int(PieceType.PAWN)


class Places(NamedTuple):
    """What it takes to turn slots into boards and back."""

    frame: Frame
    codes: NDArray[np.int64]
    """int64 (pieces,): piece codes in the layout's order."""
    descriptor: NDArray[np.int64]
    """int64: the layout (`tbgen.indexing.slots`)."""
    inner_squares: NDArray[np.int64]
    """int64 (inner size,): the inner piece's square of each inner slot."""


def make_places(layout: Layout, frame: Frame) -> Places:
    """Collect the arrays for a layout with an inner piece."""
    assert layout.inner is not None
    return Places(
        frame,
        np.array(layout.piece_codes, np.int64),
        layout.descriptor,
        np.array(layout.inner.area, np.int64),
    )


class Setting(NamedTuple):
    """The sets that a search works on; `rank` counts the candidates in the rows before."""

    winner: int
    minor_chases: bool
    """Whether advisors and elephants chase protected rooks, knights and cannons."""
    escapes: Rows
    """The winner's positions that are no win for him, known or by a capture."""
    wins: Rows
    losses: Rows
    rank: NDArray[np.int64]


@borrowing_kernel
def _set_up(row, square, places, squares, board):
    """Write the squares (in the layout's order) and the board of a position."""
    frame = places.frame
    lead, mid = row // frame.size[MIDS], row % frame.size[MIDS]
    at = frame.lead_squares.shape[1]
    for i in range(at):
        squares[i] = frame.lead_squares[lead, i]
    for g in range(frame.size[GROUPS]):
        rank = mid // frame.groups[g, GROUP_STRIDE] % frame.groups[g, SIZE]
        placement = frame.groups[g, FIRST_PLACEMENT] + rank
        for j in range(frame.groups[g, COUNT]):
            squares[at] = frame.placements[placement, j]
            at += 1
    if frame.size[INNER_KIND] >= 0:
        squares[at] = square
    for s in range(SQUARES):
        board[s] = 0
    for i in range(places.codes.size):
        board[squares[i]] = places.codes[i]


@borrowing_kernel
def _find(squares, places):
    """The row and inner square of a placement."""
    slot = slot_of_squares(squares, places.descriptor)
    size = places.inner_squares.size
    return slot // size, places.inner_squares[slot % size]


@borrowing_kernel
def _is_mirrored(row, square, squares, places, scratch, scratch_board):
    """Whether the position of a slot, written to `scratch`, is the mirror image of `squares`."""
    _set_up(row, square, places, scratch, scratch_board)
    differs = False
    for i in range(places.codes.size):
        differs = differs or scratch_board[squares[i]] != places.codes[i]
    return differs


@borrowing_kernel
def _move(squares, board, source, target):
    """Move a piece quietly, on the board and in the list of squares."""
    board[target] = board[source]
    board[source] = 0
    for i in range(squares.size):
        if squares[i] == source:
            squares[i] = target


@borrowing_kernel
def _is_won(row, square, setting):
    """Whether the winner, to move, has won.

    True also where no position is legal: so an illegal move of the offender is no escape.
    """
    return not has(setting.escapes[row, 0], setting.escapes[row, 1], square)


@borrowing_kernel
def _candidate(row, square, setting):
    """The number of a candidate position, -1 if it is none."""
    lo, hi = setting.losses[row, 0], setting.losses[row, 1]
    if not has(lo, hi, square):
        return -1
    if square < 45:
        return setting.rank[row] + count_bits(lo & (BIT[square, 0] - ONE))
    return setting.rank[row] + count_bits(lo) + count_bits(hi & (BIT[square, 1] - ONE))


@borrowing_kernel
def _attackers_anew(before, after, squares, codes, source, target, victim, minor_chases, attackers):
    """The squares of the pieces that the move `source`-`target` lets attack the victim anew.

    squares, codes : the pieces on `after`; attackers : int64, out; returns how many
    """
    side = piece_side(after[target])
    count = 0
    for a in range(codes.size):
        if piece_side(codes[a]) == side and is_new_attack(
            before, after, source, target, squares[a], victim, minor_chases
        ):
            attackers[count] = squares[a]
            count += 1
    return count


@borrowing_kernel
def _attacked_anew(before, after, squares, codes, source, target, lo, hi, minor_chases):
    """Of the wanted squares, those whose piece the move attacks anew."""
    side = piece_side(after[target])
    found_lo, found_hi = EMPTY, EMPTY
    for v in range(codes.size):
        victim = squares[v]
        if piece_side(codes[v]) == side or not has(lo, hi, victim):
            continue
        if not may_be_victim(codes[v], victim):
            continue
        for a in range(codes.size):
            if piece_side(codes[a]) == side and is_new_attack(
                before, after, source, target, squares[a], victim, minor_chases
            ):
                found_lo |= BIT[victim, 0]
                found_hi |= BIT[victim, 1]
                break
    return found_lo, found_hi


class Desk(NamedTuple):
    """One thread's boards and lists."""

    squares: NDArray[np.int64]
    """int64 (pieces,): where the pieces stand, in the layout's order."""
    other: NDArray[np.int64]
    board: NDArray[np.int8]
    after: NDArray[np.int8]
    replied: NDArray[np.int8]
    scratch: NDArray[np.int8]
    sources: NDArray[np.int64]
    targets: NDArray[np.int64]
    answers: NDArray[np.int64]
    answer_targets: NDArray[np.int64]
    attackers: NDArray[np.int64]


def make_desk(places: Places) -> Desk:
    """The boards and lists of one thread."""
    pieces = len(places.codes)

    def board() -> NDArray[np.int8]:
        return np.zeros(SQUARES, np.int8)

    def numbers(count: int) -> NDArray[np.int64]:
        return np.zeros(count, np.int64)

    return Desk(
        numbers(pieces), numbers(pieces), board(), board(), board(), board(), numbers(MAX_MOVES),
        numbers(MAX_MOVES), numbers(MAX_MOVES), numbers(MAX_MOVES), numbers(256),
    )  # fmt: skip


@borrowing_kernel
def _copy(board, copy):
    """Copy a board."""
    for s in range(SQUARES):
        copy[s] = board[s]


@borrowing_kernel
def _common_victims(row, square, setting, places, desk):
    """The pieces that every move of the offender chases (unless it loses), as a set of squares."""
    squares, board, after = desk.squares, desk.board, desk.after
    _set_up(row, square, places, squares, board)
    _copy(board, after)
    count = generate_moves(board, 1 - setting.winner, desk.sources, desk.targets)
    lo, hi = FULL, FULL
    chases = 0
    # Kings, advisors, elephants and pawns first: their moves seldom chase, which settles it.
    for m in range(2 * count):
        source, target = desk.sources[m % count], desk.targets[m % count]
        kind = piece_kind(board[source])
        is_minor = kind <= ELEPHANT or kind == PAWN
        # Captures lose by this order: the candidate would not be one otherwise.
        if is_minor != (m < count) or board[target] != 0:
            continue
        _move(squares, after, source, target)
        to_row, to_square = _find(squares, places)
        if not _is_won(to_row, to_square, setting):
            chases += 1
            attacked = has(setting.wins[to_row, 0], setting.wins[to_row, 1], to_square)
            if not attacked or in_check(after, setting.winner):
                lo, hi = EMPTY, EMPTY
            else:
                lo, hi = _attacked_anew(board, after, squares, places.codes, source, target,
                                        lo, hi, setting.minor_chases)  # fmt: skip
        _move(squares, after, target, source)
        if not (lo | hi):
            break
    if chases == 0:
        return EMPTY, EMPTY
    return lo, hi


@borrowing_kernel
def _k_victims(first, last, rows, inner, victims, setting, places, desk):
    """Write the common victims of the candidates [first, last).

    rows, inner : int64 (candidates,), the positions; victims : uint64 (candidates, 2), out
    """
    for c in range(first, last):
        lo, hi = _common_victims(rows[c], inner[c], setting, places, desk)
        victims[c, 0] = lo
        victims[c, 1] = hi


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
    _copy(desk.board, desk.after)
    _move(desk.squares, desk.after, source, target)
    row, square = _find(desk.squares, places)
    if _is_won(row, square, setting):
        _move(desk.squares, desk.after, target, source)
        return -1
    return _attackers_anew(desk.board, desk.after, desk.squares, places.codes, source, target,
                           victim, setting.minor_chases, desk.attackers)  # fmt: skip


@borrowing_kernel
def _answer(victim, attackers, reply, reply_to, victims, node_start, setting, places, desk):
    """What a reply of the winner leads to.

    attackers : how many in `desk.attackers` the reply has to answer
    Returns the offence node (-1 for none), whether the reply gives check, and whether it is calm.
    """
    if desk.after[reply_to] != 0:
        return -1, False, False
    _copy(desk.after, desk.replied)
    _move(desk.squares, desk.replied, reply, reply_to)
    node, check, calm = np.int64(-1), False, False
    # Few replies lead to a candidate: that is asked first.
    row, square = _find(desk.squares, places)
    goal = _candidate(row, square, setting)
    if goal >= 0 and victims[goal, 0] | victims[goal, 1]:
        place = np.int64(reply_to if reply == victim else victim)
        if _is_mirrored(row, square, desk.squares, places, desk.other, desk.scratch):
            place = MIRROR[place]
        lo, hi = victims[goal, 0], victims[goal, 1]
        if has(lo, hi, place):
            answered = False
            for n in range(attackers):
                answered = answered or is_answered(
                    desk.replied, reply, reply_to, desk.attackers[n], victim,
                    setting.minor_chases,
                )  # fmt: skip
            if answered:
                if place < 45:
                    node = node_start[goal] + count_bits(lo & (BIT[place, 0] - ONE))
                else:
                    node = node_start[goal] + count_bits(lo)
                    node += count_bits(hi & (BIT[place, 1] - ONE))
                check = in_check(desk.replied, 1 - setting.winner)
                if not check:
                    x, y = _attacked_anew(desk.after, desk.replied, desk.squares, places.codes,
                                          reply, reply_to, FULL, FULL,
                                          setting.minor_chases)  # fmt: skip
                    calm = not (x | y)
    _move(desk.squares, desk.replied, reply_to, reply)
    return node, check, calm


@kernel
def _k_edges(first, last, rows, inner, victims, node_start, setting, places, desk):
    """The part of the graph that begins at the candidates [first, last).

    node_start : int64 (candidates + 1,), the first offence node of each candidate
    Returns for each offence node its number of reply nodes, for each reply node its move
    (source * 90 + target) and its number of edges, and for each edge its target, reply, whether
    it is calm, and whether it gives check.
    """
    node_replies = np.zeros(node_start[last] - node_start[first], np.int64)
    moves, reply_edges = np.zeros(1024, np.int64), np.zeros(1024, np.int64)
    edge_target, edge_move = np.zeros(4096, np.int64), np.zeros(4096, np.int64)
    edge_calm, edge_check = np.zeros(4096, np.bool_), np.zeros(4096, np.bool_)
    replies = edges = 0
    for c in range(first, last):
        lo, hi = victims[c, 0], victims[c, 1]
        node = node_start[c] - node_start[first]
        while lo | hi:
            if lo:
                victim = lowest_bit(lo)
                lo &= lo - ONE
            else:
                victim = 45 + lowest_bit(hi)
                hi &= hi - ONE
            _set_up(rows[c], inner[c], places, desk.squares, desk.board)
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
                    goal, check, calm = _answer(victim, attackers, reply, reply_to, victims,
                                                node_start, setting, places, desk)  # fmt: skip
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
                _move(desk.squares, desk.after, target, source)
                replies += 1
                node_replies[node] += 1
            node += 1
    return (
        node_replies, moves[:replies], reply_edges[:replies], edge_target[:edges],
        edge_move[:edges], edge_calm[:edges], edge_check[:edges],
    )  # fmt: skip


@kernel
def _k_pairs(region, nodes, graph, moves, edge_move, rows, inner, pair_start, chased, follow,
             setting, places):  # fmt: skip
    """What the winner's own chases are, where they matter (see `pattern_game.Conditions`).

    region : bool (reply nodes,), those to look at; nodes : int64 (offence nodes,), the candidate
    of each; pair_start : int64 (edges + 1,); chased : uint64 (pairs,), out; follow : int8
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
                c = nodes[o]
                _set_up(rows[c], inner[c], places, squares, board)
                _move(squares, board, moves[r] // SQUARES, moves[r] % SQUARES)
                after[:] = board
                source, target = edge_move[e] // SQUARES, edge_move[e] % SQUARES
                _move(squares, after, source, target)
                row, square = _find(squares, places)
                mirrored = _is_mirrored(row, square, squares, places, other, scratch)
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
                    new = _attackers_anew(board, after, squares, places.codes, source, target,
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
def _k_mark(first, last, winning, nodes, graph, moves, rows, inner, marked, places):
    """Put the direct wins on `marked`: all reply nodes of an offence node, if all of them win.

    A reply node that wins after an offence node that does not lose is no part of the pattern; it
    is found by the propagation, two plies later.
    """
    pieces = places.codes.size
    squares, board = np.zeros(pieces, np.int64), np.zeros(SQUARES, np.int8)
    for o in range(first, last):
        if winning[graph.offence_start[o] : graph.offence_start[o + 1]].all():
            for r in range(graph.offence_start[o], graph.offence_start[o + 1]):
                _set_up(rows[nodes[o]], inner[nodes[o]], places, squares, board)
                _move(squares, board, moves[r] // SQUARES, moves[r] % SQUARES)
                row, square = _find(squares, places)
                marked[row, 0] |= BIT[square, 0]
                marked[row, 1] |= BIT[square, 1]


@borrowing_kernel
def _k_list(losses, mids, rows, inner, frame):
    """List the canonical positions of a set; returns how many (rows, inner: int64, out)."""
    count = 0
    for row in range(losses.shape[0]):
        lo, hi = losses[row, 0], losses[row, 1]
        while lo | hi:
            if lo:
                square = lowest_bit(lo)
                lo &= lo - ONE
            else:
                square = 45 + lowest_bit(hi)
                hi &= hi - ONE
            mid, canonical_square = canonical(row // mids, row % mids, square, frame)
            if mid == row % mids and canonical_square == square:
                rows[count] = row
                inner[count] = square
                count += 1
            else:
                losses[row, 0] &= ~BIT[square, 0]
                losses[row, 1] &= ~BIT[square, 1]
    return count


def _starts(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """int64 (n + 1,): where each of n consecutive runs begins."""
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


@borrowing_kernel
def _k_failed(first, last, rows, inner, victims, failed):
    """Add the candidates [first, last) that must not chase one piece to `failed`."""
    for c in range(first, last):
        if not (victims[c, 0] | victims[c, 1]):
            failed[rows[c], 0] |= BIT[inner[c], 0]
            failed[rows[c], 1] |= BIT[inner[c], 1]


def find_chase_wins(setting: Setting, places: Places, failed: Rows, workers: Workers) -> Rows:
    """The winner's positions that win because the offender must chase one piece for ever.

    `setting.losses` is cut down to canonical positions; those that need not chase any one piece
    are added to `failed`. Returns a set of canonical positions.
    """
    marked = np.zeros_like(setting.wins)
    total = int(np.bitwise_count(setting.losses).sum())
    rows, inner = np.zeros(total, np.int64), np.zeros(total, np.int64)
    count = _k_list(setting.losses, places.frame.size[MIDS], rows, inner, places.frame)
    rows, inner = rows[:count], inner[:count]
    setting.rank[:] = _starts(np.bitwise_count(setting.losses).sum(axis=1))[:-1]
    victims = np.zeros((count, 2), np.uint64)
    desks = [make_desk(places) for _ in range(workers.threads)]
    workers.run(
        lambda first, last, thread: _k_victims(
            first, last, rows, inner, victims, setting, places, desks[thread]
        ),
        count,
    )
    _k_failed(0, count, rows, inner, victims, failed)
    nodes_of = np.bitwise_count(victims).sum(axis=1).astype(np.int64)
    node_start = _starts(nodes_of)
    if not node_start[-1]:
        return marked
    parts: dict[int, tuple[NDArray[np.int64], ...]] = {}

    def collect(first: int, last: int, thread: int) -> None:
        parts[first] = _k_edges(
            first, last, rows, inner, victims, node_start, setting, places, desks[thread]
        )

    workers.run(collect, count)
    joined = [
        np.concatenate(column) for column in zip(*(parts[i] for i in sorted(parts)), strict=True)
    ]
    node_replies, moves, reply_edges, edge_target, edge_move, edge_calm, edge_check = joined
    graph = PatternGraph(_starts(node_replies), _starts(reply_edges), edge_target, edge_calm)
    nodes = np.repeat(np.arange(count), nodes_of)

    def conditions(region: NDArray[np.bool_]) -> Conditions:
        of_region = np.repeat(region, reply_edges)
        pairs = np.where(of_region, node_replies[edge_target], 0)
        pair_start = _starts(pairs)
        chased = np.zeros(pair_start[-1], np.uint64)
        follow = np.zeros((len(edge_target), len(places.codes)), np.int8)
        _k_pairs(region, nodes, graph, moves, edge_move, rows, inner, pair_start, chased, follow,
                 setting, places)  # fmt: skip
        own = [i for i, code in enumerate(places.codes.tolist())
               if piece_side(code) != setting.winner and piece_kind(code) != KING]  # fmt: skip
        return Conditions(
            edge_check, pair_start, chased, np.uint64(sum(1 << i for i in own)), follow
        )

    winning = winning_replies(graph, conditions)
    _k_mark(0, len(nodes), winning, nodes, graph, moves, rows, inner, marked, places)
    return marked
