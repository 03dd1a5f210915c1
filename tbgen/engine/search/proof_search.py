# mypy: allow-untyped-defs, allow-untyped-calls
"""Proof-number search on a graph of positions, for a win of the side to move at the root.

    descend   from the root to a leaf: for the attacker, to the child with the smallest proof
              number; for the defender, with the smallest disproof number   (`graph`)
    expand    add all moves of the leaf; each position has only one node
    settle    propagate outcomes, and find perpetual checks                  (`graph`)

A *leaf* is a node whose moves have not been added. The *attacker* is the side to move at the root,
the *defender* the other side.

A graph stores a loop once, where a tree search searches it again on every path. So wins by the
repetition rules have small proofs: that of a win of order 4 had a thousand positions.

A proven win holds against any defence. Two kinds of wins by repetition are not found: by perpetual
chases, and those in which the attacker must answer a check by a check. Earlier positions of the
game since its last capture or pawn's advance count as lost for the attacker. So no repetition in
the proof reaches back into the game. If the root is such a position again, nothing is proven.
"""

from __future__ import annotations

import numpy as np

from tbgen.compiling.jit import borrowing_kernel, part
from tbgen.engine.search.generation import generate
from tbgen.engine.search.graph import (
    EDGES,
    EXPANDED,
    INFINITE,
    LOST,
    NODES,
    OPEN,
    WON,
    add,
    estimate,
    find_patterns,
    number_of,
    set_status,
    settle,
    settle_node,
)
from tbgen.engine.search.safety import is_safe
from tbgen.engine.search.state import MAX_PLY, key_after, push
from tbgen.probing.kernels import OK, probe_board
from tbgen.referee.record import CHECKED, FIRST
from tbgen.rules.board import MAX_MOVES

_MAX_IDLE = 64
"""`_settle_all` is called at the latest when more than `_MAX_IDLE + n // 64` descents since its
last call have ended without a leaf, where n is the number of expanded nodes.
"""
_MAX_IDLE_ROUNDS = 8
"""Maximum successive calls of `_settle_all` without a leaf expanded; one more fails the proof."""

_LEAST_ROOM = 32 * MAX_MOVES
"""Number of nodes, and of edges, that must be free to expand a leaf: room for its moves, and for up
to 31 captures after each.
"""
_PASSES = 2
"""Number of passes in which `_settle_all` recomputes the numbers of all expanded open nodes."""


@part
def _mover(graph, number, winner):
    """Return the side to move in the position of a node."""
    return 1 - winner if graph.nodes[number].defender != 0 else winner


@part
def _settle_by_table(state, buffers, graph, row, number, winner):
    """Mark a node as lost if the attacker has no attacking pieces, else by its table value, if any.

    Attacking pieces are rooks, knights, cannons and pawns. A draw counts as lost. The table is used
    only after a capture or a pawn's advance since the root. Before that, a repetition of earlier
    positions of the game may decide otherwise.
    """
    if state.attackers_left[row, winner] == 0:
        set_status(graph, number, LOST)
    elif state.men_left[row] <= state.table_pieces and state.log[row, FIRST] > state.root:
        side = _mover(graph, number, winner)
        status, value = probe_board(buffers, state.boards[row], side)
        if status == OK:
            is_won = value != 0 and (value > 0) == (side == winner)
            set_status(graph, number, WON if is_won else LOST)


@part
def _child(state, buffers, graph, row, number, move, winner):
    """Return the number of the node after a legal move; add the node if the graph has none.

    A new node is passed to `_settle_by_table`, and its position is then in row + 1.
    """
    source, target = move >> 7, move & 127
    child = number_of(graph, key_after(state, row, source, target))
    if child < 0:
        push(state, row, _mover(graph, number, winner), source, target)
        state.nodes += 1
        defender = 1 - graph.nodes[number].defender
        child = add(graph, state.keys[row + 1], state.log[row + 1, CHECKED], defender)
        _settle_by_table(state, buffers, graph, row + 1, child, winner)
    return child


@part
def _settle_at_once(state, buffers, graph, row, number, winner):
    """Mark a new open node as won or lost by one capture, or as won if the defender has no move.

    The nodes after legal captures, up to the deciding one, are added to the graph, without edges.
    In a node of the defender that stays open, sets the proof number to the number of legal moves.
    """
    side, ply = _mover(graph, number, winner), row - state.root
    enough = WON if side == winner else LOST
    captures = generate(state, row, side, ply, 0, True)
    for i in range(captures):
        move = np.int64(state.moves[ply, i])
        if is_safe(state, row, side, move >> 7, move & 127):
            child = _child(state, buffers, graph, row, number, move, winner)
            if graph.nodes[child].status == enough:
                set_status(graph, number, enough)
                return
    if side != winner:
        legal = 0
        for i in range(generate(state, row, side, ply, captures, False)):
            move = np.int64(state.moves[ply, i])
            legal += is_safe(state, row, side, move >> 7, move & 127)
        if legal == 0:
            set_status(graph, number, WON)
        else:
            graph.nodes[number].proof = legal


@part
def _expand(state, buffers, graph, row, number, winner):
    """Add the edges of all legal moves of a leaf, and nodes for positions new to the graph."""
    node, ply = graph.nodes[number], row - state.root
    side = _mover(graph, number, winner)
    count = generate(state, row, side, ply, generate(state, row, side, ply, 0, True), False)
    node.first_edge = graph.counts[EDGES]
    for i in range(count):
        move = np.int64(state.moves[ply, i])
        if not is_safe(state, row, side, move >> 7, move & 127):
            continue
        known = graph.counts[NODES]
        child = _child(state, buffers, graph, row, number, move, winner)
        if child >= known and graph.nodes[child].status == OPEN:
            _settle_at_once(state, buffers, graph, row + 1, child, winner)
        edge = graph.counts[EDGES]
        graph.children[edge], graph.moves[edge] = child, move
        graph.counts[EDGES] += 1
    node.children = graph.counts[EDGES] - node.first_edge
    graph.expanded[graph.counts[EXPANDED]] = number
    graph.counts[EXPANDED] += 1


@part
def _settle_all(state, graph, path, inside, recompute):
    """Mark all nodes as won or lost whose outcome follows from moves or perpetual checks.

    recompute : bool; also recompute the proof and disproof numbers of all expanded open nodes, the
        newest first, `_PASSES` times, without regard to the path: settled numbers due to loops
        count as 1
    """
    settle(state, graph)
    while find_patterns(state, graph, inside) > 0:
        settle(state, graph)
    for _ in range(_PASSES * recompute):
        for i in range(graph.counts[EXPANDED] - 1, -1, -1):
            if state.stop != 0:
                return
            number = np.int64(graph.expanded[i])
            if graph.nodes[number].status == OPEN:
                estimate(graph, path, number, np.int64(0), np.int64(0))


@part
def _grow(state, buffers, graph, path, loops):
    """Descend to a leaf, expand it, and update the numbers and outcomes along the path.

    Returns True after expanding a leaf, and False if the descent ends without one: at a child that
    is on the path already, or is won or lost, or where all children are settled against the side to
    move. At the maximum length of a path, also returns True, and gives the last node the numbers of
    a failure, so that the next descent takes another path.

    loops : int64 (MAX_PLY,), scratch; `loop` of each node of the path
    """
    winner, row = state.root_side, np.int64(state.root)
    number, depth, loop = np.int64(0), np.int64(0), np.int64(1)
    leads_on = False
    while True:
        node = graph.nodes[number]
        path[depth], loops[depth] = number, loop
        node.place = depth + 1
        if node.children < 0:
            _expand(state, buffers, graph, row, number, winner)
            leads_on = True
            break
        edge = estimate(graph, path, number, depth + 1, loop)
        if edge < 0:
            break
        if depth + 2 >= MAX_PLY:
            # As basis, node 0: the root is on every path, so the numbers hold until recomputed.
            node.proof, node.disproof, node.basis, node.place = INFINITE, 0, 0, 0
            leads_on, depth = True, depth - 1
            break
        child = np.int64(graph.children[edge])
        child_node = graph.nodes[child]
        if child_node.status != OPEN or child_node.place != 0:
            break
        move = np.int64(graph.moves[edge])
        push(state, row, _mover(graph, number, winner), move >> 7, move & 127)
        if (child_node.in_check != 0) != (node.defender != 0):
            loop = depth + 2
        row, number, depth = row + 1, child, depth + 1
    while depth >= 0:
        number = path[depth]
        if graph.nodes[number].status == OPEN and not settle_node(graph, number):
            estimate(graph, path, number, depth + 1, loops[depth])
        graph.nodes[number].place = 0
        depth -= 1
    return leads_on


@borrowing_kernel
def prove(states, buffers, graph, inside, scratch, node_limit):
    """Grow the graph until it proves that the side to move at the root wins.

    states : `State` (1,), inout; set up for a search; its field `nodes` also counts new nodes
    graph : `Graph`, inout; empty at first, later as the last call has left it
    scratch : int64 (2, MAX_PLY), scratch
    node_limit : int64; no descent begins once `nodes` of the record has reached this number

    Returns `WON` if the win is proven, `OPEN` if the limit or `stop` interrupted the search, and -1
    if the proof has failed: the root is lost, the graph is full, or descents find no leaf any more.
    An interrupted search continues with the next call.
    """
    state = states[0]
    if graph.counts[NODES] == 0:
        root = np.int64(state.root)
        add(graph, state.keys[root], state.log[root, CHECKED], np.int64(0))
        for row in range(state.log[root, FIRST], root):  # earlier positions count as lost
            number = add(graph, state.keys[row], state.log[row, CHECKED], root - row & 1)
            set_status(graph, number, LOST)
    settled, idle, rounds = graph.counts[EXPANDED], 0, 0
    while graph.nodes[0].status == OPEN and state.stop == 0 and state.nodes < node_limit:
        room = min(len(graph.keys) - graph.counts[NODES], len(graph.moves) - graph.counts[EDGES])
        if room < _LEAST_ROOM or rounds > _MAX_IDLE_ROUNDS:
            return np.int64(-1)
        if not _grow(state, buffers, graph, scratch[0], scratch[1]):
            idle += 1
        expanded, proof = graph.counts[EXPANDED], graph.nodes[0].proof
        stuck = proof == 0 or proof == INFINITE
        if stuck or expanded >= settled + settled // 8 + 32 or idle > _MAX_IDLE + expanded // 64:
            # Recompute if no leaf was expanded since the last call, or if loops settled the root.
            recompute = stuck or expanded == settled
            _settle_all(state, graph, scratch[0], inside, recompute)
            rounds += 1
            if expanded > settled:
                rounds = 0
            settled, idle = expanded, 0
    if graph.nodes[0].status == LOST:
        return np.int64(-1)
    return np.int64(graph.nodes[0].status)
