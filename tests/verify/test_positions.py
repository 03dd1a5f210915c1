"""The proof of finished tables: sound tables pass, and every planted error is found."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tbgen.indexing import Material, Position, Side
from tbgen.indexing.rulesets import Rules
from tbgen.retrograde.solve import solve
from tbgen.rules import legal_moves
from tbgen.tables.codes import CodeSpace, Outcome, Value
from tbgen.tables.names import Metric, RuleSet
from tbgen.verify import verify
from tbgen.verify.keys import key_after_move, key_of_code, value_of_key
from tests.kits import solutions
from tests.kits.verifykit import Planted, recoded

MATERIALS = ["KRK", "KPK", "KNKA", "KCKA", "KNKP", "KRKN", "KRKA", "KPPK", "KNNKB", "KRKAABB"]


SPACES = [CodeSpace(1), CodeSpace(2), CodeSpace(2, 16383), CodeSpace(4, 16383)]


def solution(material):
    return solutions.solution(material.name)


def prove(table, rules=Rules.NONE, **options):
    return verify(table, solution, rule_set=RuleSet(rules), **options)


@pytest.mark.parametrize("name", MATERIALS)
def test_sound_tables_pass(name):
    table = solution(Material.parse(name))
    report = prove(table)
    assert report.ok
    assert report.first is None
    for side, totals in zip(Side, (report.red_to_move, report.black_to_move), strict=True):
        plane = table.plane(side)
        assert totals.positions == np.count_nonzero(plane)
        assert totals.draws == np.count_nonzero(plane == table.code_space.draw)
        assert totals.wins == np.count_nonzero(plane > table.code_space.draw)


@pytest.mark.parametrize("metric", list(Metric))
@pytest.mark.parametrize("space", SPACES)
def test_every_metric_and_coding(metric, space):
    table = solve(Material.parse("KRKA"), solution, metric=metric)
    assert prove(recoded(table, space)).ok


def test_garbage_in_holes_is_no_matter():
    table = Planted.of(solution(Material.parse("KRKR")))
    for plane in table.planes:
        holes = plane == 0
        plane[holes] = np.arange(np.count_nonzero(holes)) % 255 + 1
    report = prove(table)
    assert report.ok
    assert report.positions == sum(
        np.count_nonzero(solution(Material.parse("KRKR")).plane(side)) for side in Side
    )


def test_threads_do_not_matter():
    table = Planted.of(solution(Material.parse("KRKN")))
    for side, slot in ((0, 300_000), (1, 5_000), (0, 123_456)):
        slot += int(np.flatnonzero(table.planes[side][slot:])[0])
        table.planes[side][slot] ^= 3
    reports = [prove(table, threads=threads).to_json() for threads in (1, 2, 3)]
    for report in reports:
        del report["seconds"]
    assert reports[0] == reports[1] == reports[2]
    assert not reports[0]["ok"]


@pytest.mark.parametrize("name", ["KRKN", "KNKP", "KCKA", "KPPK"])
def test_a_single_altered_code_is_found(name):
    """Whatever is written in place of one value: another distance, outcome, order, or nothing."""
    rng = random.Random(name)
    table = Planted.of(solution(Material.parse(name)))
    space = table.code_space
    for attempt in range(12):
        side = Side(attempt % 2)
        slot = int(rng.choice(np.flatnonzero(table.planes[side])))
        right = int(table.planes[side][slot])
        value = space.decode(right)
        wrong = {
            0: right + 1 if right != space.top else right - 1,  # two plies, or out of the draw
            1: space.draw,
            2: space.encode(Value(Outcome.WIN, 0, 1)),
            3: space.encode(Value(Outcome.LOSS, 0, 0)),
            4: 0,
            5: rng.randrange(1, 256),
        }[attempt // 2]
        if wrong == right:
            continue
        table.planes[side][slot] = wrong
        report = prove(table)
        assert not report.ok, (side, slot, value, wrong)
        assert report.first is not None
        # The first finding is the position itself, or one that leads to it.
        first = Position.from_fen(report.first.fen)
        if first == table.position(side, slot):
            assert report.first.expected == value
        else:
            after = [first.after(*move) for move in legal_moves(first)]
            assert any(
                p.side == side and p.material.name == name and table.layout.slot(p) == slot
                for p in after
            )
        table.planes[side][slot] = right
    assert prove(table).ok


def test_orders_mean_nothing_without_rules():
    """A loop of rule-decided values that lean on each other is no proof under `none`."""
    wide = CodeSpace(2)
    table = Planted.of(solve(Material.parse("KRKN"), solution, code_space=wide))
    for plane in table.planes:
        plane[plane == wide.draw] = wide.encode(Value(Outcome.WIN, 1, 2))
    assert not prove(table).ok


@pytest.mark.parametrize("metric", list(Metric))
@pytest.mark.parametrize("space", SPACES)
def test_supporting_tables_are_read_in_their_own_coding(metric, space):
    table = solve(Material.parse("KRKN"), solution, metric=metric)

    def supporting(material):
        own = solution(material)
        return recoded(own, space) if material.name == "KRK" else own

    assert verify(table, supporting, rule_set=RuleSet(Rules.NONE)).ok


def test_keys_follow_values():
    """Keys order as codes do, whatever the coding, and moves cost a ply."""
    for space in (CodeSpace(1), CodeSpace(2), CodeSpace(4, 16383)):
        codes = [*range(1, space.top + 1)] if space.width < 4 else [1, 2, 40000, 1 << 31, 1 << 32]
        codes = [code for code in codes if code <= space.top][:: 1 if space.width == 1 else 97]
        keys = [key_of_code(code, space.top, space.draw, space.span) for code in codes]
        assert keys == sorted(set(keys))
        for code, key in zip(codes, keys, strict=True):
            assert value_of_key(key) == space.decode(code)
    assert key_after_move(0) == 0
    lost = key_of_code(1, 255, 128, 127)
    assert value_of_key(key_after_move(lost)) == Value(Outcome.WIN, 0, 1)
    assert value_of_key(key_after_move(key_after_move(lost))) == Value(Outcome.LOSS, 0, 2)
