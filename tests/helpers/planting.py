"""Errors to plant in correct tables, to test that the proof finds them.

A node is a position of the table: a side to move, and a slot (index). In a direct win the side to
move wins because the opponent must offend for ever.

    one code   outcome, distance, order    another value
               removed, invented           a direct win removed, or invented
    several    pair                        a position and the one after its best move, both with
                                           two plies more
               shift                       all values of an order from some distance on, with two
                                           plies more
    regions    next order                  all values of an order or above, one order higher
               no orders                   all values of an order or above become draws
               loop                        draws turned into a win by the rules (below)

Tables are copies with codes of two bytes, so that each can hold orders. A planted value always
differs from the correct one.

A loop is the largest set of draws with two properties. One side, the loser, cannot leave it without
losing. The other side, the winner, can stay in it. The winner's positions become direct wins, the
loser's lost in one ply. Apart from the direct wins, every value in the table is then the best that
its moves give. So only the check of direct wins can refute a loop.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from tbgen.indexing import Material, Position, Side
from tbgen.rules import legal_moves
from tbgen.tables.codes import DRAW, CodeSpace, Outcome, Value
from tbgen.tables.rule_sets import RuleSet
from tbgen.verify import verify
from tests.helpers.memory_tables import Planted, recoded
from tests.helpers.solutions import solution_under

SINGLE = ("outcome", "distance", "order", "removed", "invented")
SEVERAL = ("pair", "shift")

MOST = 60_000
"""Largest number of draws that are searched for a loop, and of positions that a shift changes.

Both are done by plain Python code.
"""

Node = tuple[Side, int]
"""Pair (side to move, slot) that identifies a position of the table."""


@dataclass
class Change:
    """Wrong values to plant together: the kind of error, and the new value of each changed node."""

    kind: str
    values: dict[Node, Value]


@dataclass
class Target:
    """A correct table, in which errors are planted one after another; each is removed again.

    `table` is the copy to change. `material` is its canonical name, such as KRKN.
    """

    material: str
    rule_set: RuleSet
    table: Planted = field(init=False)
    legal: list[np.ndarray] = field(init=False)
    """For each side to move, the slots that hold positions."""
    counts: dict[Value, int] = field(init=False)
    """Number of positions with each value in the correct table."""
    orders: int = field(init=False)
    """Highest order in the table."""
    supporting: dict[str, Planted] = field(init=False, default_factory=dict)
    """Copies of the supporting tables by material, made when a proof first reads one."""

    def __post_init__(self) -> None:
        """Solve the material and its supporting materials, and fill the other fields."""
        self.table = recoded(solution_under(self.material, self.rule_set), CodeSpace(2))
        self.legal = [np.flatnonzero(plane) for plane in self.table.planes]
        codes, counts = np.unique(np.concatenate(self.table.planes), return_counts=True)
        self.counts = {
            self.table.code_space.decode(int(code)): int(count)
            for code, count in zip(codes, counts, strict=True)
            if code
        }
        self.orders = max(value.order for value in self.counts)

    def is_sound(self) -> bool:
        """Prove the table as it is; return whether the proof finds nothing wrong."""
        return verify(
            self.table, self._supporting, rule_set=self.rule_set, threads=1, counts_all=False
        ).ok

    def _supporting(self, child: Material) -> Planted:
        """Return the supporting table of a material."""
        if child.name not in self.supporting:
            self.supporting[child.name] = Planted.of(solution_under(child.name, self.rule_set))
        return self.supporting[child.name]

    def is_found(self, change: Change) -> bool:
        """Plant a change, prove the table, and undo the change; return whether the proof found it.

        Every planted value must differ from the present one.
        """
        before = {node: int(self.table.planes[node[0]][node[1]]) for node in change.values}
        try:
            for (side, slot), value in change.values.items():
                self.table.plant(side, slot, value)
                assert int(self.table.planes[side][slot]) != before[side, slot]
            return not self.is_sound()
        finally:
            for (side, slot), code in before.items():
                self.table.planes[side][slot] = code

    def value(self, node: Node) -> Value:
        """Return the present value of a node."""
        return self.table.code_space.decode(int(self.table.planes[node[0]][node[1]]))

    def nodes(self, is_meant: Callable[[Value], bool]) -> list[Node]:
        """List the nodes for whose value the function `is_meant` returns True."""
        found = []
        for value in filter(is_meant, self.counts):
            found += [(Side(side), slot) for side, slot in self.table.with_value(value)]
        return found

    def random_node(self, rng: random.Random) -> Node:
        """Return the node of a random legal position."""
        side = Side(rng.randrange(2))
        return side, int(rng.choice(self.legal[side]))

    def child(self, position: Position, move: tuple[int, int]) -> Node | None:
        """Return the node after a move (source, target); None after a capture (another table)."""
        after = position.after(*move)
        if after.material.name != self.material:
            return None
        return after.side, self.table.layout.slot(after)


# -- one value ---------------------------------------------------------------------------------


def single(target: Target, kind: str, rng: random.Random) -> Change | None:
    """Return a change of the value of one random node; None if no suitable node is found.

    kind : one of `SINGLE`
    """
    if kind == "removed":
        direct = target.nodes(_is_direct)
        node = rng.choice(direct) if direct else None
    else:
        node = next(
            (
                node
                for node in (target.random_node(rng) for _ in range(1000))
                if _suits(kind, target.value(node))
            ),
            None,
        )
    if node is None:
        return None
    right = target.value(node)
    choices = {value for value in _others(target, kind, right) if value != right}
    return Change(kind, {node: rng.choice(sorted(choices, key=_key))})


def _suits(kind: str, value: Value) -> bool:
    """Return whether a change of this kind applies to a node with this value.

    kind : one of `SINGLE` except `removed`, which applies to direct wins only
    """
    if kind in ("distance", "order"):
        return value.outcome != Outcome.DRAW
    return kind != "invented" or not _is_direct(value)


def _others(target: Target, kind: str, right: Value) -> Iterator[Value]:
    """Yield values that a change of this kind may plant; they may include `right`.

    kind : one of `SINGLE`
    right : the correct value of the node to change
    """
    orders = range(target.orders + 2)
    if kind == "outcome":
        yield from (value for value in target.counts if value.outcome != right.outcome)
        for outcome in Outcome:
            if outcome != right.outcome:
                yield from (_valid(outcome, order, right.plies) for order in orders)
    elif kind == "distance":
        for step in (-6, -4, -2, 2, 4, 6):
            if right.plies + step >= (right.plies % 2):
                yield Value(right.outcome, right.order, right.plies + step)
    elif kind == "order":
        for order in orders:
            if order != right.order:
                yield from (_valid(right.outcome, order, right.plies + n) for n in (0, 2))
    elif kind == "removed":
        yield DRAW
        for order in orders:
            yield from (_valid(outcome, order, n) for outcome in Outcome for n in (0, 2))
    else:
        yield from (Value(Outcome.WIN, order, 0) for order in orders if order)


def _valid(outcome: Outcome, order: int, plies: int) -> Value:
    """Return a value with the distance `plies`, or one more if codes need the other parity.

    At order 0, wins have odd distances and losses even ones; above, the reverse. A draw has none.
    """
    if outcome == Outcome.DRAW:
        return DRAW
    odd = (outcome == Outcome.WIN) == (order == 0)
    return Value(outcome, order, plies + (plies % 2 != odd))


def _is_direct(value: Value) -> bool:
    return value.outcome == Outcome.WIN and value.order > 0 and value.plies == 0


def _key(value: Value) -> tuple[int, int, int]:
    return value.outcome, value.order, value.plies


# -- several values that agree -----------------------------------------------------------------


def several(target: Target, kind: str, rng: random.Random) -> Change | None:
    """Return a random change of several values that still agree with each other.

    `kind` is one of `SEVERAL`: `pair` or `shift`. Returns None if no such change is found.
    """
    values = (_pair if kind == "pair" else _shift)(target, rng)
    return Change(kind, values) if values else None


def regions(target: Target) -> Iterator[Change]:
    """Yield changes of many values, of the kinds `next order`, `no orders` and `loop`.

    The first two kinds change all values of some order or above, once for each order. A loop is
    yielded for each side as the winner that has one, if the table has at most `MOST` draws.
    """
    for first in range(1, target.orders + 1):
        meant = target.nodes(lambda value, first=first: value.order >= first)
        yield Change("next order", {node: _next_order(target.value(node)) for node in meant})
        yield Change("no orders", dict.fromkeys(meant, DRAW))
    draws = target.nodes(lambda value: value == DRAW)
    if len(draws) > MOST:
        return
    moves = {node: _drawing_moves(target, node) for node in draws}
    for winner in Side:
        values = _loop(moves, winner)
        if values:
            yield Change("loop", values)


def _next_order(value: Value) -> Value:
    return Value(value.outcome, value.order + 1, value.plies)


def _later(value: Value) -> Value:
    return Value(value.outcome, value.order, value.plies + 2)


def _pair(target: Target, rng: random.Random) -> dict[Node, Value] | None:
    """Return new values, two plies longer, of a decided node and of the node after its best move.

    The nodes are chosen at random. Returns None if no such pair is found.
    """
    for _ in range(1000):
        node = target.random_node(rng)
        value = target.value(node)
        if value.outcome == Outcome.DRAW or value.plies == 0:
            continue
        position = target.table.position(*node)
        best = Value(Outcome(-value.outcome), value.order, value.plies - 1)
        for move in legal_moves(position):
            child = target.child(position, (move.source, move.target))
            if child is not None and target.value(child) == best:
                return {node: _later(value), child: _later(best)}
    return None


def _shift(target: Target, rng: random.Random) -> dict[Node, Value] | None:
    """Return new values, two plies longer, of all nodes of an order from some distance on.

    Order and distance are chosen at random so that at most `MOST` nodes change. Returns None if
    every choice would change more.
    """
    decided = [value for value in target.counts if value.outcome != Outcome.DRAW and value.plies]

    def tail(first: Value) -> list[Value]:
        return [v for v in decided if v.order == first.order and v.plies >= first.plies]

    firsts = [v for v in decided if sum(target.counts[w] for w in tail(v)) <= MOST]
    if not firsts:
        return None
    meant = set(tail(rng.choice(firsts)))
    return {node: _later(target.value(node)) for node in target.nodes(lambda value: value in meant)}


def _loop(moves: dict[Node, list[Node | None]], winner: Side) -> dict[Node, Value]:
    """Return values that make a loop of draws a win by the rules; empty if there is no loop.

    The loop is the largest set of draws in which all drawing moves of the loser stay, at least one,
    and the winner has a move that stays. Nodes with the winner to move become direct wins of order
    1, those with the loser to move become losses in one ply.

    moves : for each draw, the draws that its moves lead to, from `_drawing_moves`
    """
    inside = set(moves)
    while True:
        left = {
            node
            for node in inside
            if any(child in inside for child in moves[node])
            and (node[0] == winner or all(child in inside for child in moves[node]))
        }
        if left == inside:
            break
        inside = left
    lost, won = Value(Outcome.LOSS, 1, 1), Value(Outcome.WIN, 1, 0)
    return {node: won if node[0] == winner else lost for node in inside}


def _drawing_moves(target: Target, node: Node) -> list[Node | None]:
    """List the nodes after those moves of a drawn node that keep the draw.

    None stands for a capture into a draw of another table.
    """
    position = target.table.position(*node)
    found: list[Node | None] = []
    for move in legal_moves(position):
        child = target.child(position, (move.source, move.target))
        if child is not None:
            if target.value(child) == DRAW:
                found.append(child)
        elif _is_drawn(position.after(move.source, move.target), target.rule_set):
            found.append(None)
    return found


def _is_drawn(position: Position, rule_set: RuleSet) -> bool:
    """Return whether a position after a capture is a draw: by its table, or as it needs none."""
    material = position.material
    if not material.needs_table:
        return True
    if position.is_swapped:
        position = position.swapped()
    table = solution_under(material.name, rule_set)
    code = int(table.plane(position.side)[table.layout.slot(position)])
    return code == table.code_space.draw


def kinds_found(target: Target, rng: random.Random) -> set[str]:
    """Plant up to three errors of each kind in `SINGLE` and `SEVERAL`; return the kinds planted.

    Checks that the proof finds each error. A kind that is never possible in the table is left out.
    """
    kinds = set()
    for kind, choose in (*((k, single) for k in SINGLE), *((k, several) for k in SEVERAL)):
        for _ in range(3):
            change = choose(target, kind, rng)
            if change is not None:
                kinds.add(kind)
                assert target.is_found(change), change
    return kinds
