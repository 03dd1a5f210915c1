# mypy: allow-untyped-defs, allow-untyped-calls
"""Proof of a win: a graph of positions, grown until it shows the win or nodes are used up.

    descend   from the root to a leaf: the winner-to-be where least is left to show, his opponent
              where he is likeliest to escape        (proof numbers: `estimates`)
    expand    all moves of the leaf; positions met before are met again, not searched again
    settle    what follows, and which positions are perpetual checks      (`graph`)

A line of the tree search ends where a loop is closed, and all that rests on it is searched again
on every other way; in a graph a loop is there once. Wins by the rules have small proofs there: a
thousand positions for one of order 4, of which each stands on many thousands of lines.

What is proven holds whatever the opponent does, and is exact: patterns are those of the tables,
but for perpetual chases, and for checks that the winner-to-be would have to answer by checks,
which are not searched. Proof numbers only choose the next node. Positions that the game has
seen since its last capture or pawn's advance count as not won, so that no repetition of the proof
reaches back into the game.
"""

from __future__ import annotations

import numpy as np

from tbgen.compiling.jit import borrowing_kernel, part
from tbgen.engine.search.estimates import estimate
from tbgen.engine.search.generation import generate
from tbgen.engine.search.graph import (
    CHILDREN,
    CLOCK,
    DISPROOF,
    EDGES,
    EXPANDED,
    FIRST_CHILD,
    IN_CHECK,
    LOST,
    NEVER,
    NODES,
    OPEN,
    OPPONENT,
    PLACE,
    PROOF,
    RANK,
    RESTS,
    STATUS,
    WON,
    add,
    declare,
    find_patterns,
    number_of,
    settle,
    settle_node,
)
from tbgen.engine.search.safety import is_safe
from tbgen.engine.search.state import MAX_PLY, key_after, push
from tbgen.probing.kernels import OK, probe_board
from tbgen.referee.record import CHECKED, FIRST
from tbgen.rules.board import MAX_MOVES

_PATIENCE = 64
"""So many ways down may end without a leaf before patterns are looked for again, and more in
a larger graph: a 64th of its nodes."""
_ROUNDS = 8
"""So often patterns may be looked for without a leaf between, before this is given up."""

_LEAST_ROOM = 32 * MAX_MOVES
"""What a leaf may take: its moves, and captures after each of them, of at most 15 pieces."""
_PASSES = 2
"""Estimates are made anew so many times, the last nodes first."""


@part
def _mover(graph, number, winner):
    """The side to move in a node."""
    if graph.nodes[number, OPPONENT] != 0:
        return 1 - winner
    return winner


@part
def _ask_table(state, buffers, graph, row, number, winner):
    """Declare what a table says of a position, or that the winner-to-be has nothing to win with."""
    if state.attackers_left[row, winner] == 0:
        declare(graph, number, LOST)
    elif state.men_left[row] <= state.table_pieces:
        side = _mover(graph, number, winner)
        status, value = probe_board(buffers, state.boards[row], side)
        if status == OK:
            if value != 0 and (value > 0) == (side == winner):
                declare(graph, number, WON)
            else:
                declare(graph, number, LOST)


@part
def _try_captures(state, buffers, graph, row, number, winner):
    """Declare a new node if a capture settles it at once."""
    side, ply = _mover(graph, number, winner), row - state.root
    enough = WON
    if side != winner:
        enough = LOST
    for i in range(generate(state, row, side, ply, 0, True)):
        move = np.int64(state.moves[ply, i])
        if not is_safe(state, row, side, move >> 7, move & 127):
            continue
        child = number_of(graph, key_after(state, row, move >> 7, move & 127))
        if child < 0:
            push(state, row, side, move >> 7, move & 127)
            state.nodes += 1
            child = add(graph, state.keys[row + 1], state.log[row + 1, CHECKED], side == winner)
            _ask_table(state, buffers, graph, row + 1, child, winner)
        if graph.nodes[child, STATUS] == enough:
            declare(graph, number, enough)
            return


@part
def _look(state, buffers, graph, row, number, winner):
    """Say what can be said of a new node at a glance."""
    _ask_table(state, buffers, graph, row, number, winner)
    if graph.nodes[number, STATUS] == OPEN:
        _try_captures(state, buffers, graph, row, number, winner)
    if graph.nodes[number, STATUS] == OPEN and graph.nodes[number, OPPONENT] != 0:
        side, ply = 1 - winner, row - state.root
        count = generate(state, row, side, ply, generate(state, row, side, ply, 0, True), False)
        legal = 0
        for i in range(count):
            move = np.int64(state.moves[ply, i])
            legal += is_safe(state, row, side, move >> 7, move & 127)
        if legal == 0:
            declare(graph, number, WON)
        else:
            graph.nodes[number, PROOF] = legal


@part
def _expand(state, buffers, graph, row, number, winner):
    """Give a node its children."""
    node, ply = graph.nodes[number], row - state.root
    opponent, side = np.int64(node[OPPONENT]), _mover(graph, number, winner)
    count = generate(state, row, side, ply, generate(state, row, side, ply, 0, True), False)
    node[FIRST_CHILD] = graph.counts[EDGES]
    children = np.int64(0)
    for i in range(count):
        move = np.int64(state.moves[ply, i])
        source, target = move >> 7, move & 127
        if not is_safe(state, row, side, source, target):
            continue
        child = number_of(graph, key_after(state, row, source, target))
        if child < 0:
            push(state, row, side, source, target)
            state.nodes += 1
            child = add(graph, state.keys[row + 1], state.log[row + 1, CHECKED], 1 - opponent)
            _look(state, buffers, graph, row + 1, child, winner)
        edge = graph.counts[EDGES]
        graph.children[edge], graph.moves[edge] = child, move
        graph.counts[EDGES] += 1
        children += 1
    node[CHILDREN] = children
    graph.expanded[graph.counts[EXPANDED]] = number
    graph.counts[EXPANDED] += 1


@part
def _settle_all(state, graph, way, inside, anew):
    """Declare all that the graph shows.

    way : int64 (MAX_PLY,), scratch
    inside : int8 (N,), scratch
    anew : bool; estimate the rest anew, apart from any way down: once estimates have led nowhere,
        or round loops only. Before that they are better left alone: that a move closes a loop
        holds on most ways
    """
    settle(state, graph)
    while find_patterns(state, graph, inside) > 0:
        settle(state, graph)
    for _ in range(_PASSES * anew):
        for i in range(graph.counts[EXPANDED] - 1, -1, -1):
            number = np.int64(graph.expanded[i])
            if graph.nodes[number, STATUS] == OPEN:
                estimate(graph, way, number, np.int64(0), np.int64(0))


@part
def _grow(state, buffers, graph, way, loops):
    """Go down to a leaf, give it children, and estimate the way anew; whether that led on.

    A way that is too long does, too: its end counts as no progress, and the next ends elsewhere.

    way : int64 (MAX_PLY,), scratch
    loops : int64 (MAX_PLY,), scratch
    """
    winner, row = state.root_side, np.int64(state.root)
    number, depth, loop = np.int64(0), np.int64(0), np.int64(1)
    leads_on = False
    while True:
        node = graph.nodes[number]
        way[depth], loops[depth] = number, loop
        node[PLACE] = depth + 1
        if node[CHILDREN] < 0:
            _expand(state, buffers, graph, row, number, winner)
            leads_on = True
            break
        edge = estimate(graph, way, number, depth + 1, loop)
        if edge < 0:
            break
        if depth + 2 >= MAX_PLY:
            # It rests on the root, which lies on every way: so it holds until estimates are anew.
            node[PROOF], node[DISPROOF], node[RESTS], node[PLACE] = NEVER, 0, 0, 0
            leads_on, depth = True, depth - 1
            break
        child = np.int64(graph.children[edge])
        after = graph.nodes[child]
        if after[STATUS] != OPEN or after[PLACE] != 0:
            break
        move = np.int64(graph.moves[edge])
        push(state, row, _mover(graph, number, winner), move >> 7, move & 127)
        if (after[IN_CHECK] != 0) != (node[OPPONENT] != 0):
            loop = depth + 2
        row, number, depth = row + 1, child, depth + 1
    while depth >= 0:
        number = way[depth]
        if graph.nodes[number, STATUS] == OPEN and not settle_node(graph, number):
            estimate(graph, way, number, depth + 1, loops[depth])
        graph.nodes[number, PLACE] = 0
        depth -= 1
    return leads_on


@part
def _begin(state, buffers, graph):
    """Begin with the root, and with what the game has seen."""
    root = np.int64(state.root)
    add(graph, state.keys[root], state.log[root, CHECKED], np.int64(0))
    for row in range(state.log[root, FIRST], root):
        number = add(graph, state.keys[row], state.log[row, CHECKED], root - row & 1)
        declare(graph, number, LOST)


@borrowing_kernel
def prove(states, buffers, graph, inside, scratch, node_limit):
    """Grow a graph from the root until it shows that the side to move wins.

    states : `State` (1,), inout; set up for a search; its nodes are counted
    graph : `Graph`, inout; empty at first, later as the last call has left it
    inside : int8 (N,), scratch
    scratch : int64 (2, MAX_PLY), scratch
    node_limit : int64; ends once so many nodes have been counted

    Returns the winning move, 0 if none has been found so far, and -1 if there is nothing left to
    look at, or no room.
    """
    state = states[0]
    if graph.counts[NODES] == 0:
        _begin(state, buffers, graph)
    settled, idle, rounds = graph.counts[EXPANDED], 0, 0
    while graph.nodes[0, STATUS] == OPEN and state.stop == 0 and state.nodes < node_limit:
        room = min(len(graph.keys) - graph.counts[NODES], len(graph.moves) - graph.counts[EDGES])
        if room < _LEAST_ROOM or rounds > _ROUNDS:
            return np.int64(-1)
        if not _grow(state, buffers, graph, scratch[0], scratch[1]):
            idle += 1
        expanded, proof = graph.counts[EXPANDED], graph.nodes[0, PROOF]
        stuck = proof == 0 or proof == NEVER
        if stuck or expanded >= settled + settled // 8 + 32 or idle > _PATIENCE + expanded // 64:
            # Ways may run in loops without a new leaf: then all estimates are made anew.
            anew = stuck or expanded == settled
            _settle_all(state, graph, scratch[0], inside, anew)
            rounds += 1
            if expanded > settled:
                rounds = 0
            settled, idle = expanded, 0
    if graph.nodes[0, STATUS] == OPEN:
        return np.int64(0)
    if graph.nodes[0, STATUS] == LOST:
        return np.int64(-1)
    move, rank = np.int64(0), np.int64(graph.counts[CLOCK])
    first = graph.nodes[0, FIRST_CHILD]
    for edge in range(first, first + graph.nodes[0, CHILDREN]):
        child = graph.nodes[graph.children[edge]]
        if child[STATUS] == WON and child[RANK] < rank:
            move, rank = np.int64(graph.moves[edge]), np.int64(child[RANK])
    return move
