# mypy: allow-untyped-defs, allow-untyped-calls
"""Graph of the chase candidates that are left: exact attacks, victims, and replies.

    offence node   a loss candidate, and a victim V that the offender, who is to move, must chase
    reply node     the position after one chase of V from there, the winner to move
    edge           a quiet reply of the winner that answers the attack on V, and leads to an
                   offence node of the same V. Under rules in which a check voids all chases
                   (`CHECK_VOIDS`), a reply that gives check is no edge

The referee's predicates (`tbgen.rules.chases`) test attacks on whole boards. Parameters of kernels:
`tbgen.retrograde.chase`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import borrowing_kernel, by_pointer, part
from tbgen.indexing.rulesets import CHECK_VOIDS
from tbgen.indexing.squares import SQUARES, PieceType, piece_kind, piece_side
from tbgen.retrograde.chase.game import Conditions, PatternGraph, winning_replies
from tbgen.retrograde.chase.victims import (
    ChaseSetting,
    is_won,
    keep_with_victim,
    new_attackers,
    newly_attacked,
)
from tbgen.rows.bitsets import (
    BIT,
    FULL,
    MIRROR,
    ONE,
    WORD_SQUARES,
    count_bits,
    first_square,
    has,
    without_first,
)
from tbgen.rows.boards import Boards, copy, is_mirrored, make_boards, move, set_up, slot_of
from tbgen.rows.sets import Frontier, Rows
from tbgen.rows.workers import Workers
from tbgen.rules.attacks import in_check
from tbgen.rules.chases import is_answered, may_be_victim
from tbgen.rules.moves import generate_moves

KING = int(PieceType.KING)

_FIRST_ROOM = 4096
"""Initial room of a thread's `PartialGraph`, in reply nodes: about 390 KB, without `node_replies`.
The room is doubled if a single candidate needs more.
"""


@by_pointer
class ChaseCandidates(NamedTuple):
    """Loss candidates and their common victims: pieces chased by every move that does not lose."""

    keys: NDArray[np.int64]
    """int64 (candidates,): row * 90 + square of the inner piece, ascending; canonical ones only."""
    victims: NDArray[np.uint64]
    """uint64 (candidates, 2): the common victims, as a set of squares."""
    node_start: NDArray[np.int64]
    """int64 (candidates + 1,): each candidate's first offence node, then the number of all nodes.
    A candidate has one offence node for each of its victims, by ascending square.
    """


@part
def _find_node(row, square, victim, candidates):
    """Return the offence node of the position (row, square) and a victim in it; -1 for none."""
    key = row * SQUARES + square
    # np.searchsorted would take longer to compile than this whole function.
    c, end = 0, candidates.keys.size
    while c < end:
        middle = (c + end) // 2
        if candidates.keys[middle] < key:
            c = middle + 1
        else:
            end = middle
    if c == candidates.keys.size or candidates.keys[c] != key:
        return np.int64(-1)
    lo, hi = candidates.victims[c, 0], candidates.victims[c, 1]
    if not has(lo, hi, victim):
        return np.int64(-1)
    if victim < WORD_SQUARES:
        return candidates.node_start[c] + count_bits(lo & (BIT[victim, 0] - ONE))
    return candidates.node_start[c] + count_bits(lo) + count_bits(hi & (BIT[victim, 1] - ONE))


@by_pointer
class PartialGraph(NamedTuple):
    """Nodes and edges of the graph for some consecutive candidates, or for all.

    While a thread fills it, arrays are longer than their contents.
    """

    node_replies: NDArray[np.int64]
    """int64 (offence nodes,): the number of reply nodes of each offence node."""
    moves: NDArray[np.int64]
    """int64 (reply nodes,): the chase that leads to each reply node, source * 90 + target."""
    reply_keys: NDArray[np.int64]
    """int64 (reply nodes,): the key of the position of each reply node; canonical."""
    reply_edges: NDArray[np.int64]
    """int64 (reply nodes,): the number of edges of each reply node."""
    edge_target: NDArray[np.int64]
    """int64 (edges,): the offence node that each edge leads to, numbered in the whole graph."""
    edge_move: NDArray[np.int64]
    """int64 (edges,): the reply of each edge, source * 90 + target."""
    edge_calm: NDArray[np.bool_]
    """bool (edges,): whether the reply is calm: it gives no check, and attacks nothing anew."""
    edge_check: NDArray[np.bool_]
    """bool (edges,): whether the reply gives check."""

    @classmethod
    def empty(cls, nodes: int, room: int) -> PartialGraph:
        """Return arrays of zeros with room for some nodes and edges.

        nodes : number of offence nodes
        room : number of reply nodes; there is room for 4 * `room` edges
        """
        return cls(
            np.zeros(nodes, np.int64), *np.zeros((3, room), np.int64),
            *np.zeros((2, 4 * room), np.int64), *np.zeros((2, 4 * room), np.bool_),
        )  # fmt: skip

    def filled(self, nodes: int, replies: int, edges: int) -> PartialGraph:
        """Return a copy, arrays cut to these numbers of offence nodes, reply nodes and edges."""
        sizes = (nodes, replies, replies, replies, edges, edges, edges, edges)
        arrays: list[Any] = [a[:size].copy() for a, size in zip(self, sizes, strict=True)]
        return PartialGraph(*arrays)


@part
def _try_chase(victim, source, target, setting, boards):
    """Play the offender's quiet move on `boards.after` and `boards.squares`, unless the move loses.

    `boards.board` and `boards.squares` have the position before the move. `victim` is a common
    victim of this position, so a move that does not lose chases `victim`.

    Returns the number of pieces that attack the victim anew, listed in `boards.attackers`, and the
    key of the position after the move. For a move that loses, a capture or an illegal move, returns
    -1 twice, and leaves `boards.squares` unchanged.
    """
    if boards.board[target] != 0:
        return np.int64(-1), np.int64(-1)
    copy(boards.board, boards.after)
    move(boards.squares, boards.after, source, target)
    row, square = slot_of(boards.squares, setting.converter)
    if is_won(row, square, setting):
        move(boards.squares, boards.after, target, source)
        return np.int64(-1), np.int64(-1)
    attackers = new_attackers(
        boards.board, boards.after, boards.squares, setting.converter.codes, source, target,
        victim, setting.chase_rules, boards.attackers,
    )  # fmt: skip
    return np.int64(attackers), row * SQUARES + square


@part
def _node_after(victim, attackers, reply, reply_to, candidates, setting, boards):
    """Return the offence node to which the winner's reply to a chase leads.

    `boards.after` and `boards.squares` have the position after the chase, and are not changed.

    attackers : int64, number of attackers in `boards.attackers`; the reply must answer the attack
        of one of them
    reply, reply_to : int64, the squares where the reply begins and ends

    Returns the offence node, whether the reply gives check, and whether it is calm. If the reply is
    no edge (module docstring), the node is -1, and the other two results have no meaning.
    """
    if boards.after[reply_to] != 0:
        return np.int64(-1), False, False
    converter = setting.converter
    copy(boards.after, boards.replied)
    move(boards.squares, boards.replied, reply, reply_to)
    check, calm = False, False
    # Few replies lead to a candidate, so this is tested first.
    row, square = slot_of(boards.squares, converter)
    victim_after = np.int64(reply_to if reply == victim else victim)
    if is_mirrored(row, square, boards.squares, converter, boards.other, boards.scratch):
        victim_after = MIRROR[victim_after]
    node = _find_node(row, square, victim_after, candidates)
    if node >= 0:
        answered = False
        for n in range(attackers):
            answered = answered or is_answered(
                boards.replied, reply, reply_to, boards.attackers[n], victim, setting.chase_rules
            )
        if not answered:
            node = np.int64(-1)
    if node >= 0:
        check = in_check(boards.replied, 1 - setting.winner)
        if check and setting.chase_rules & CHECK_VOIDS:
            node = np.int64(-1)
        if not check:
            x, y = newly_attacked(
                boards.after, boards.replied, boards.squares, converter.codes, reply, reply_to,
                FULL, FULL, setting.chase_rules,
            )  # fmt: skip
            calm = not (x | y)
    move(boards.squares, boards.replied, reply_to, reply)
    return node, check, calm


@borrowing_kernel
def _k_edges(first, last, candidates, setting, boards, graph_part):
    """Write the nodes and edges of the candidates [first, last), as long as there is room.

    Returns the first candidate not completely written (`last` if all are), and the numbers of reply
    nodes and edges of the candidates before it.

    first, last : int64
    graph_part : PartialGraph, out
    """
    node_start = candidates.node_start
    replies = edges = 0
    for c in range(first, last):
        lo, hi = candidates.victims[c, 0], candidates.victims[c, 1]
        node = node_start[c] - node_start[first]
        replies_before, edges_before = replies, edges
        while lo | hi:
            victim = first_square(lo, hi)
            lo, hi = without_first(lo, hi)
            graph_part.node_replies[node] = 0
            row, square = candidates.keys[c] // SQUARES, candidates.keys[c] % SQUARES
            set_up(row, square, setting.converter, boards.squares, boards.board)
            count = generate_moves(boards.board, 1 - setting.winner, boards.sources, boards.targets)
            for m in range(count):
                source, target = boards.sources[m], boards.targets[m]
                attackers, key = _try_chase(victim, source, target, setting, boards)
                if attackers < 0:
                    continue
                answers = generate_moves(
                    boards.after, setting.winner, boards.answers, boards.answer_targets
                )
                if (
                    replies == graph_part.moves.size
                    or edges + answers > graph_part.edge_target.size
                ):
                    return c, replies_before, edges_before
                graph_part.moves[replies] = source * SQUARES + target
                graph_part.reply_keys[replies] = key
                begin = edges
                for a in range(answers):
                    reply, reply_to = boards.answers[a], boards.answer_targets[a]
                    goal, check, calm = _node_after(
                        victim, attackers, reply, reply_to, candidates, setting, boards
                    )
                    if goal >= 0:
                        graph_part.edge_target[edges] = goal
                        graph_part.edge_move[edges] = reply * SQUARES + reply_to
                        graph_part.edge_calm[edges] = calm
                        graph_part.edge_check[edges] = check
                        edges += 1
                graph_part.reply_edges[replies] = edges - begin
                move(boards.squares, boards.after, target, source)
                replies += 1
                graph_part.node_replies[node] += 1
            node += 1
    return last, replies, edges


@borrowing_kernel
def _k_pairs(region, nodes, graph, moves, edge_move, pair_start, chased, follow, setting, boards):
    """Write `chased` and `follow` of `game.Conditions` for the edges of some reply nodes.

    region : bool (reply nodes,), whether to process each reply node
    edge_move : int64 (edges,), the reply of each edge, source * 90 + target
    pair_start : int64 (edges + 1,), in; as in `game.Conditions`
    chased : uint64 (pairs,), out
    follow : int8 (edges, pieces), out
    """
    offender, converter = 1 - setting.winner, setting.converter
    pieces = converter.codes.size
    squares, other, board, after = boards.squares, boards.other, boards.board, boards.after
    replied, attackers, victims = boards.replied, boards.attackers, boards.victims
    for o in range(nodes.size):
        for r in range(graph.offence_start[o], graph.offence_start[o + 1]):
            if not region[r]:
                continue
            for e in range(graph.reply_start[r], graph.reply_start[r + 1]):
                set_up(nodes[o] // SQUARES, nodes[o] % SQUARES, converter, squares, board)
                move(squares, board, moves[r] // SQUARES, moves[r] % SQUARES)
                copy(board, after)
                source, target = edge_move[e] // SQUARES, edge_move[e] % SQUARES
                move(squares, after, source, target)
                row, square = slot_of(squares, converter)
                mirrored = is_mirrored(row, square, squares, converter, other, boards.scratch)
                pairs = 0
                for v in range(pieces):
                    victim = squares[v]
                    if piece_side(converter.codes[v]) != offender:
                        continue
                    victim_after = MIRROR[victim] if mirrored else victim
                    for i in range(pieces):
                        if other[i] == victim_after:
                            follow[e, v] = i
                    if not may_be_victim(after[victim], victim, setting.chase_rules):
                        continue
                    new = new_attackers(board, after, squares, converter.codes, source, target,
                                          victim, setting.chase_rules,
                                          attackers[pairs:])  # fmt: skip
                    for _ in range(new):
                        victims[pairs] = v
                        pairs += 1
                goal = graph.reply_target[e]
                begin = graph.offence_start[goal]
                for f in range(begin, graph.offence_start[goal + 1]):
                    next_source, next_target = moves[f] // SQUARES, moves[f] % SQUARES
                    if mirrored:
                        next_source, next_target = MIRROR[next_source], MIRROR[next_target]
                    copy(after, replied)
                    replied[next_target] = replied[next_source]
                    replied[next_source] = 0
                    word = np.uint64(0)
                    for p in range(pairs):
                        if is_answered(replied, next_source, next_target, attackers[p],
                                       squares[victims[p]], setting.chase_rules):  # fmt: skip
                            word |= ONE << np.uint64(victims[p])
                    chased[pair_start[e] + f - begin] = word


def _run_starts(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the starts of n runs of lengths `counts`, and the end: int64 (n + 1,)."""
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _find_edges(
    candidates: ChaseCandidates, setting: ChaseSetting, boards_of: list[Boards], workers: Workers
) -> PartialGraph:
    """Return the nodes and edges of all candidates; `boards_of` has the boards of each thread."""
    start = candidates.node_start
    graph_parts = [PartialGraph.empty(int(start[-1]), _FIRST_ROOM) for _ in boards_of]
    parts: dict[int, PartialGraph] = {}

    def collect(first: int, last: int, thread: int) -> None:
        while True:
            graph_part = graph_parts[thread]
            end, replies, edges = _k_edges(
                first, last, candidates, setting, boards_of[thread], graph_part
            )
            parts[first] = graph_part.filled(start[end] - start[first], replies, edges)
            if end == last:
                return
            if end == first:
                graph_parts[thread] = PartialGraph.empty(
                    len(graph_part.node_replies), 2 * len(graph_part.moves)
                )
            first = end

    # Without candidates, only this call compiles the kernel and makes a part, which is empty.
    collect(0, 0, 0)
    workers.run(collect, len(candidates.keys))
    columns = zip(*(parts[first] for first in sorted(parts)), strict=True)
    return PartialGraph(*(np.concatenate(column) for column in columns))


def find_chase_wins(
    losses: Frontier, setting: ChaseSetting, marked: Rows, workers: Workers
) -> None:
    """Add the winner's direct wins by chases to `marked`: positions after moves from `losses`.

    losses : the loss candidates, inout; those without a common victim are removed
    marked : inout; positions are added at their canonical slots
    """
    boards_of = [make_boards(setting.converter) for _ in range(workers.threads)]
    capacity = int(np.bitwise_count(losses.rows).sum())
    keys, victims = keep_with_victim(losses, capacity, setting, workers)
    candidates = ChaseCandidates(keys, victims, _run_starts(np.bitwise_count(victims).sum(axis=1)))
    edges = _find_edges(candidates, setting, boards_of, workers)
    starts = _run_starts(edges.node_replies), _run_starts(edges.reply_edges)
    graph = PatternGraph(*starts, edges.edge_target, edges.edge_calm)
    nodes = np.repeat(candidates.keys, np.diff(candidates.node_start))

    def conditions(region: NDArray[np.bool_]) -> Conditions:
        of_region = np.repeat(region, edges.reply_edges)
        pairs = np.where(of_region, edges.node_replies[edges.edge_target], 0)
        pair_start = _run_starts(pairs)
        chased = np.zeros(pair_start[-1], np.uint64)
        follow = np.zeros((len(edges.edge_target), len(setting.converter.codes)), np.int8)
        _k_pairs(region, nodes, graph, edges.moves, edges.edge_move, pair_start, chased, follow,
                 setting, boards_of[0])  # fmt: skip
        own = [i for i, code in enumerate(setting.converter.codes.tolist())
               if piece_side(code) != setting.winner and piece_kind(code) != KING]  # fmt: skip
        return Conditions(
            edges.edge_check, pair_start, chased, np.uint64(sum(1 << i for i in own)), follow
        )

    _mark_wins(winning_replies(graph, conditions), edges, marked)


def _mark_wins(winning: NDArray[np.bool_], edges: PartialGraph, marked: Rows) -> None:
    """Add direct wins to `marked`: the positions of all reply nodes of losing offence nodes.

    winning : bool (reply nodes,), whether the winner wins from each node

    An offence node loses if all of its reply nodes win. Winning reply nodes of other offence nodes
    are left to the propagation, as wins in 2 plies.
    """
    offence_of = np.repeat(np.arange(len(edges.node_replies)), edges.node_replies)
    lost = np.ones(len(edges.node_replies), np.bool_)
    lost[offence_of[~winning]] = False
    rows, squares = np.divmod(edges.reply_keys[lost[offence_of]], SQUARES)
    np.bitwise_or.at(marked, rows, BIT[squares])
