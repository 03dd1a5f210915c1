"""Kernels of the proof against naive code, on tables with random values.

Real tables of few men cover few cases: no capture wins by the repetition rules, and few positions
have winning moves of two orders. Random values have all of these.

A *key* is a value as an int, larger if it is better for the side to move. W wins if O, the
*offender*, checks or chases for ever. A *direct win* is a win of W by that in 0 plies. In a *direct
loss*, each move of O that keeps the order leads to such a win. Order `NEVER` is above all orders.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from tbgen.indexing import Move, Position, Side
from tbgen.indexing.rulesets import Rules
from tbgen.rules import in_check, legal_moves
from tbgen.tables.codes import DRAW, CodeSpace, Outcome, Value
from tbgen.tables.rule_sets import RuleSet
from tbgen.verify.arrays import Arrays, gather
from tbgen.verify.candidates import _is_question
from tbgen.verify.chasers import loses_from
from tbgen.verify.checks import ANSWERS, CHECKS, k_list
from tbgen.verify.complete import hangs
from tbgen.verify.index import BoardState, Index
from tbgen.verify.moves import Lists, has_bit, list_moves, list_rows, set_up
from tbgen.verify.values import (
    CHECKED_WIN,
    CHECKING_LOSS,
    CLAIM,
    CLAIM_EARLY,
    DIRECT_LOSS,
    EARLY_IN_CHECK,
    EARLY_LOSS,
    FREE_LOSS,
    MATE,
    NEVER,
    NO_KEY,
    ORDER,
    key_after_move,
    make_marks,
    order_of_key,
)
from tests.helpers.memory_tables import Planted, completed, recoded
from tests.helpers.solutions import solution

WIN, LOSS = Outcome.WIN, Outcome.LOSS
VALUES = [
    DRAW, Value(WIN, 0, 3), Value(LOSS, 0, 2), Value(WIN, 1, 0), Value(WIN, 1, 2),
    Value(WIN, 2, 0), Value(WIN, 2, 2), Value(LOSS, 1, 1), Value(LOSS, 2, 1), Value(LOSS, 2, 3),
]  # fmt: skip


class Case(NamedTuple):
    """Tables of KRKN and its supporting materials with random values, and the arrays of a proof."""

    tables: dict[str, Planted]
    arrays: Arrays
    index: Index
    claims: set[int]
    """Nodes that the comparison with moves lists as direct wins to be explained by patterns."""
    nodes: list[int]
    """Nodes of random positions, 2 * slot + side to move, ascending."""

    def position(self, node: int) -> Position:
        return self.tables["KRKN"].position(node % 2, node // 2)

    def value(self, position: Position) -> Value:
        """Return the value of any position of the material, or of a position after a capture."""
        position = position.swapped() if position.is_swapped else position
        if not position.material.needs_table:
            return DRAW
        table = self.tables[position.material.name]
        code = table.planes[position.side][table.layout.slot(position)]
        return table.code_space.decode(int(code))

    def captures_lose(self, position: Position) -> list[int]:
        """Return the order of the opponent's loss after each winning capture in a position."""
        found = []
        for move in legal_moves(position):
            value = self.value(position.after(*move))
            if position.board[move.target] and value.outcome == LOSS:
                found.append(value.order)
        return found


@pytest.fixture(scope="module")
def case() -> Case:
    rng = np.random.default_rng(1)
    tables = {}
    for name in ("KRKN", "KRK", "KNK"):
        table = tables[name] = recoded(solution(name, Rules.WXF), CodeSpace(2))
        codes = np.array([table.code_space.encode(value) for value in VALUES])
        for plane in table.planes:
            plane[plane != 0] = rng.choice(codes, np.count_nonzero(plane))
    table = tables["KRKN"]
    arrays, _, _, captures = gather(table, lambda child: tables[child.name], RuleSet(Rules.WXF))
    index, compared, _ = completed(table, arrays, captures)
    claims = {*compared.check_claims.tolist(), *compared.chase_claims.tolist()}
    legal = np.concatenate([2 * np.flatnonzero(table.planes[side]) + side for side in Side])
    return Case(
        tables, arrays, index, claims, np.sort(rng.choice(legal, 1500, replace=False)).tolist()
    )


def test_claims_are_better_than_their_moves(case: Case) -> None:
    """A stored direct win is listed as a claim exactly if every move leads to a worse value."""
    found = []
    for node in case.nodes:
        position = case.position(node)
        stored = case.value(position)
        if stored.outcome == WIN and stored.order and not stored.plies:
            after = [case.value(position.after(*move)) for move in legal_moves(position)]
            best = max((key_after_move(key_of(value)) for value in after), default=-MATE)
            assert (node in case.claims) == (best < key_of(stored)), position.fen
            found.append(node in case.claims)
    assert 10 < sum(found) < len(found) - 10


def key_of(value: Value) -> int:
    """Return the key of a value, as `tbgen.verify.values` defines it."""
    if value == DRAW:
        return 0
    return int(value.outcome) * (MATE - value.order * ORDER - value.plies)


def loses_by_definition(case: Case, position: Position, move: Move) -> int:
    """Return the order from which a move counts as lost, as `tbgen.verify.chasers` defines it.

    Returns NEVER + 1 for a move that does not lose.
    """
    after = position.after(*move)
    value = case.value(after)
    if value.outcome != WIN:
        return NEVER + 1
    if position.board[move.target]:
        return value.order
    if value.order:
        is_direct = in_check(after) and value.plies == 0
        captures = [] if in_check(after) else case.captures_lose(after)
        if is_direct or any(order <= value.order for order in captures):
            return value.order
    return value.order + 1


def test_orders_from_which_moves_lose(case: Case) -> None:
    state, found = BoardState.make(case.index, case.arrays.ranks.dtype), set()
    for node in case.nodes[::5]:
        slot, side = node // 2, node % 2
        position = case.position(node)
        legal = set(legal_moves(position))
        within, image = set_up(slot, state, case.index)
        for n in range(list_moves(side, slot - within, within, image, state, case.index)):
            move = Move(int(state.sources[n]), int(state.targets[n]))
            if move not in legal:
                continue
            rank = case.arrays.ranks[(1 - side) * case.index.slots + state.children[n]]
            key = case.arrays.values.keys[1 - side, rank]
            order, _ = loses_from(n, side, key, state, case.index, case.arrays)
            assert order == loses_by_definition(case, position, move), (position.fen, move)
            found.add((order_of_key(key), order))
    assert {(1, 1), (1, 2), (2, 2), (2, 3), (0, 1), (0, 0), (NEVER, NEVER + 1)} <= found


def test_wins_with_hanging_pieces_or_winning_captures(case: Case) -> None:
    state, found = BoardState.make(case.index, case.arrays.ranks.dtype), set()
    for node in case.nodes:
        slot, side = node // 2, node % 2
        position = case.position(node)
        value = case.value(position)
        if value.outcome != WIN or not value.order or in_check(position):
            continue
        set_up(slot, state, case.index)
        hanging = bool(hangs(side, case.arrays.chase_rules, state, case.index))
        wins = bool(case.captures_lose(position))
        assert bool(has_bit(case.arrays.hanging[side], slot)) == (hanging or wins), position.fen
        found.add((hanging, wins))
    assert {(False, False), (False, True), (True, False)} <= found


def test_orders_of_answers_and_checks(case: Case) -> None:
    """`k_list` returns an order for each node, from which the node may matter to a pattern.

    For ANSWERS, this is the least order of a winning move: a capture, or a quiet move to a
    confirmed direct loss. For CHECKS, all moves other than checks lose from this order on; it is
    NEVER + 1 if it is above the order of the node's own value.
    """
    arrays, index, nodes = case.arrays, case.index, np.array(case.nodes)
    confirmed = np.random.default_rng(2).random(arrays.values.keys.shape) < 0.3
    confirmed &= (arrays.values.keys < 0) & (arrays.values.keys >= ORDER - MATE)
    arrays = arrays._replace(values=arrays.values._replace(confirmed=confirmed))
    state = BoardState.make(index, arrays.ranks.dtype)
    expected = {ANSWERS: [], CHECKS: []}
    several = 0
    for node in case.nodes:
        position = case.position(node)
        wins, loses, own = [], [1], case.value(position)
        for move in legal_moves(position):
            after = position.after(*move)
            value, is_capture = case.value(after), position.board[move.target] != 0
            if is_capture:
                wins += [value.order] if value.outcome == LOSS else []
            elif is_confirmed(case, confirmed, after):
                wins.append(value.order)
            if is_capture or not in_check(after) or (value.order == 0 and value != DRAW):
                loses.append(value.order + (not is_capture) if value.outcome == WIN else NEVER + 1)
        several += len(set(wins)) > 1
        expected[ANSWERS].append(min(wins, default=NEVER))
        first, last = max(loses), own.order if own != DRAW else NEVER
        expected[CHECKS].append(first if first <= last else NEVER + 1)

    def orders_by_kernel(kind: int) -> list[int]:
        found = np.zeros(len(nodes), np.int64)

        def write(lists: Lists) -> None:
            k_list(nodes, kind, nodes, True, found, lists, state, index, arrays)

        list_rows(write, 1, 2)
        return found.tolist()

    for kind, orders in expected.items():
        assert orders_by_kernel(kind) == orders
    assert several > 5
    assert {1, 2, NEVER + 1} <= set(expected[CHECKS])


def is_confirmed(case: Case, confirmed: np.ndarray, after: Position) -> bool:
    """Return whether the value of a position after a quiet move is a confirmed direct loss.

    confirmed : bool (2, ranks), by side to move and rank of the value
    """
    slot = case.tables["KRKN"].layout.slot(after)
    return bool(confirmed[after.side, case.arrays.ranks[after.side * case.index.slots + slot]])


def test_claims_and_checked_wins_in_question() -> None:
    """Direct wins are in question unless the best move leads to a direct loss with O not in check.

    Other wins of W in check are in question if the best move leads to a direct loss.
    """
    keys = np.full((2, 5), NO_KEY)
    keys[:, 1:] = [2 * ORDER - MATE + 1, ORDER - MATE + 1, MATE - ORDER, MATE - 2 * ORDER]
    keys[:, 1:] = -np.sort(-keys[:, 1:])
    marks = make_marks(keys)
    group = int(marks.group[0, marks.of_ranks[0, 1, 2]])
    own, other = marks.number[0, group], marks.number[1, group]
    answered = {DIRECT_LOSS, EARLY_LOSS}
    for best in (FREE_LOSS, CHECKING_LOSS, DIRECT_LOSS, EARLY_IN_CHECK, EARLY_LOSS):
        for role in (CLAIM, CLAIM_EARLY):
            assert _is_question(0, own[role], other[best], marks) == (best not in answered)
        expected = best in answered | {EARLY_IN_CHECK}
        assert _is_question(0, own[CHECKED_WIN], other[best], marks) == expected
