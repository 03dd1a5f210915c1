"""Check that each value is the best of the position's moves, by three implementations.

    rows               kernels, for a row: all positions that differ in the square of one piece
    single positions   kernels, for one position at a time (`plain=True`)
    Python             a slow definition in this module (`naive_findings`)

All must agree, on correct tables and on tables with planted errors.
"""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from tbgen.indexing import Material, Side
from tbgen.indexing.layout import Layout
from tbgen.indexing.rulesets import Rules
from tbgen.rules import is_legal, legal_moves
from tbgen.tables.codes import DRAW, CodeSpace, Outcome, Value
from tbgen.tables.names import Metric
from tbgen.tables.rule_sets import RuleSet
from tbgen.verify import verify
from tbgen.verify.arrays import gather
from tbgen.verify.complete import hangs
from tbgen.verify.index import BoardState
from tbgen.verify.moves import set_up
from tbgen.verify.values import CHECKED, HANGING, MATE, key_after_move
from tests.helpers.memory_tables import Planted, completed, recoded
from tests.helpers.solutions import solution

RULE_SET = RuleSet(Rules.WXF)


def prove(table, *, plain):
    def supporting(child):
        return solution(child.name, Rules.WXF)

    return replace(verify(table, supporting, rule_set=RULE_SET, threads=1, plain=plain), seconds=0)


@pytest.mark.parametrize("name", ["KRKN", "KRKC", "KNKP", "KNNK", "KRKA", "KRKB"])
def test_rows_and_single_positions_agree(name):
    """The check by rows and the check by single positions give equal reports.

    On a correct table, they differ only in the numbers of positions examined as candidates for
    patterns. The check by rows examines few; that by single positions all draws, and all positions
    decided by the rules. In a table with planted errors both examine all of them.
    """
    table = recoded(solution(name, Rules.WXF), CodeSpace(2))
    report, plain = prove(table, plain=False), prove(table, plain=True)
    assert report.ok, report.first
    assert plain.offenders_examined >= report.offenders_examined
    assert plain.chasers_examined >= report.chasers_examined
    more = {each: getattr(plain, each) for each in ("offenders_examined", "chasers_examined")}
    assert replace(report, **more) == plain
    rng = random.Random(name)
    for value in (DRAW, Value(Outcome.WIN, 0, 3), Value(Outcome.LOSS, 0, 2)):
        side = rng.randrange(2)
        legal = [slot for slot in rng.sample(range(table.layout.slots), 400)
                 if table.planes[side][slot]]  # fmt: skip
        table.plant(side, legal[0], value)
    report = prove(table, plain=False)
    assert not report.ok
    assert prove(table, plain=True) == report


def naive_findings(table, supporting):
    """Return FENs of the positions whose value is not the best of their moves, by plain Python.

    supporting : table of the material after a capture
    """
    found, space = set(), table.code_space
    for side in Side:
        for slot in range(table.layout.slots):
            position = table.layout.position(slot, side)
            if position is None or table.layout.slot(position) != slot or not is_legal(position):
                continue
            best = -MATE
            for move in legal_moves(position):
                after = position.after(*move)
                if not after.material.needs_table:
                    best = max(best, 0)
                    continue
                where = table if after.material == position.material else supporting
                after = after.swapped() if after.is_swapped else after
                value = where.code_space.decode(
                    int(where.plane(after.side)[where.layout.slot(after)])
                )
                best = max(best, key_after_move(key_of_value(value)))
            stored = space.decode(int(table.plane(side)[slot]))
            if key_of_value(stored) != best:
                found.add(position.fen)
    return found


def key_of_value(value):
    """Return the key of a value of order 0: above 0 for wins, 0 for draws, below 0 for losses.

    Keys are those of `tbgen.verify.values`.
    """
    return int(value.outcome) * (MATE - value.plies) if value.plies or value.outcome else 0


def test_findings_agree_with_plain_python():
    table = recoded(solution("KNK"), CodeSpace(2))
    rng = random.Random(7)
    for value in (DRAW, Value(Outcome.WIN, 0, 3), Value(Outcome.LOSS, 0, 2)):
        side = rng.randrange(2)
        legal = [slot for slot in range(table.layout.slots) if table.planes[side][slot]]
        table.plant(side, rng.choice(legal), value)
    report = verify(table, lambda child: solution(child.name), rule_set=RuleSet(Rules.NONE))
    wrong = naive_findings(table, None)
    assert report.findings == len(wrong) > 0
    assert report.first is not None
    assert report.first.fen in wrong


def drawn(material):
    """Return a table of a material in which every slot holds a draw."""
    layout, space = Layout.of(material), CodeSpace(1)
    planes = [np.full(layout.slots, space.encode(DRAW), space.dtype) for _ in Side]
    return Planted(layout, space, Metric.DTM, planes)


@pytest.mark.parametrize("name", ["KNAKN", "KCAKN", "KCAKP", "KPAKC"])
def test_attacks_of_a_row_agree_with_its_positions(name):
    """Rows and single positions find the same positions with an attacked piece that can be chased.

    Positions of a row differ in the square of one piece. The check by rows tests attacks between
    two other pieces once per row, although that piece may stand between them.
    """
    table = drawn(Material.parse(name))
    arrays, _, _, captures = gather(table, drawn, RULE_SET)
    index, _, _ = completed(table, arrays, captures)
    state, found = BoardState.make(index), []
    for slot in random.Random(name).sample(range(index.slots), 1200):
        for side in Side:
            rank = arrays.ranks[side * index.slots + slot]
            kind = arrays.values.kinds[side, rank]
            if rank and kind != CHECKED and table.layout.squares_of_slots(np.array([slot]))[1][0]:
                set_up(slot, state, index)
                found.append(hangs(side, arrays.chase_rules, state, index))
                assert (kind == HANGING) == found[-1], table.position(side, slot).fen
    assert 10 < sum(found) < len(found) - 10


@pytest.mark.parametrize("name", ["KRKN", "KRK"])
def test_values_missing_in_the_statistics_are_found(name):
    """The proof refutes KRKN if statistics do not list losses in 2, 4 and 6 plies that occur.

    The statistics are those of the table `name`: KRKN, or a supporting table of it.
    """
    tables = {each: recoded(solution(each, Rules.WXF), CodeSpace(2))
              for each in ("KRKN", "KRK", "KNK")}  # fmt: skip

    def report():
        return verify(tables["KRKN"], lambda child: tables[child.name], rule_set=RULE_SET)

    assert report().ok
    table = tables[name]
    left_out = {table.code_space.encode(Value(Outcome.LOSS, 0, plies)) for plies in (2, 4, 6)}
    listed = [set(table.occurring_codes(side)) for side in Side]
    assert left_out & (listed[0] | listed[1])
    table.occurring_codes = lambda side: listed[side] - left_out
    assert not report().ok
