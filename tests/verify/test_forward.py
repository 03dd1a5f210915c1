"""The proof by rows against the proof by positions: the same report, of sound tables and others."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from tbgen.indexing import Material, Side
from tbgen.indexing.rulesets import Rules
from tbgen.tables.codes import CodeSpace, Outcome, Value
from tbgen.tables.names import Metric, RuleSet
from tbgen.verify import verify
from tbgen.verify.forward import first_pass
from tbgen.verify.forward.first_pass import Passes
from tbgen.verify.forward.numbering import number_by_side
from tbgen.verify.forward.settle import make_marks
from tbgen.verify.loading import gather
from tbgen.verify.report import no_progress
from tests.kits.solutions import solution
from tests.kits.verifykit import Planted, recoded
from tests.oracles.proof_by_positions import prove_by_positions

SHAPES = ["KRK", "KPK", "KNNK", "KCKA", "KNKB", "KRKP", "KCKC"]
"""Every inner piece, a pair of them, and captures of and by each."""


def same(table, rules, supporting=None):
    """The report of both proofs, which is one."""

    def own(child):
        return solution(child.name, rules)

    rule_set = RuleSet(rules)
    rows = verify(table, supporting or own, rule_set=rule_set, sample=0)
    positions = prove_by_positions(table, supporting or own, rule_set)
    ours, theirs = rows.to_json(), positions.to_json()
    for effort in ("seconds", "offenders_examined", "chasers_examined"):
        del ours[effort], theirs[effort]
    assert ours == theirs
    assert rows.histograms == positions.histograms
    assert rows.chase_patterns == positions.chase_patterns
    return rows


@pytest.mark.parametrize("name", SHAPES)
def test_both_proofs_say_the_same(name):
    assert same(solution(name), Rules.NONE).ok


@pytest.mark.parametrize("rules", [Rules.CHECK, Rules.WXF])
@pytest.mark.parametrize("name", ["KRKN", "KNKP"])
def test_both_proofs_find_the_same_patterns(name, rules):
    assert same(solution(name, rules), rules).ok


def test_marks_of_two_bytes_say_the_same(monkeypatch):
    """As of many orders; for the patterns they become numbers of one byte."""

    def wide_marks(settling):
        numbered = number_by_side(settling)
        marks = tuple(
            each._replace(becomes=each.becomes.astype(np.uint16)) for each in numbered.marks
        )
        of_ranks = numbered.of_ranks
        return numbered._replace(
            marks=marks,
            of_ranks=of_ranks._replace(becomes=of_ranks.becomes.astype(np.uint16)),
            of_marks=numbered.of_marks.astype(np.uint16),
        )

    monkeypatch.setattr(first_pass, "number_by_side", wide_marks)
    rows = same(solution("KRKN", Rules.WXF), Rules.WXF)
    assert rows.ok
    assert rows.offenders_examined < 10  # or they have been proven the old way


@pytest.mark.parametrize("rules", [Rules.CHECK, Rules.WXF])
@pytest.mark.parametrize("name", ["KRKN", "KNKP", "KRKR"])
def test_kinds_that_are_told_late_are_those_told_at_once(name, rules):
    """Marks, and who claims to win by a chase, whether ranks know all kinds or those of draws."""
    told, table = [], solution(name, rules)
    for all_kinds in (True, False):
        arrays = gather(
            table, lambda child: solution(child.name, rules), RuleSet(rules), all_kinds=all_kinds
        ).arrays
        passes = Passes(arrays, table.layout, 2, no_progress)
        found = passes.prove(list_checks=all_kinds)
        settling = number_by_side(
            make_marks(arrays.values, seek_chases=arrays.seek_chases, scope=passes._list_scope())
        )
        claims = passes._begin(settling)
        slots = table.layout.slots
        marks = [settling.shared[side][passes._arrays.ranks[side * slots :][:slots]]
                 for side in Side]  # fmt: skip
        told.append((np.concatenate(marks), claims))
        if all_kinds and rules == Rules.WXF:
            assert np.array_equal(found.claims, claims)
    (marks, claims), (late_marks, late_claims) = told
    assert np.array_equal(marks, late_marks)
    assert np.array_equal(claims, late_claims)
    assert marks.any()


def test_rows_settle_most_checks():
    """Or sound tables would be proven twice: by rows, and again with every possible checker."""

    def own(child):
        return solution(child.name, Rules.WXF)

    table, rule_set = solution("KRKN", Rules.WXF), RuleSet(Rules.WXF)
    rows = verify(table, own, rule_set=rule_set, sample=0)
    positions = prove_by_positions(table, own, rule_set)
    assert rows.ok
    assert positions.offenders_examined > 1000
    assert rows.offenders_examined < 10


def plant(table, rng, changes):
    """Change so many codes of positions to others that occur, also to none at all."""
    codes = np.unique(np.concatenate(table.planes))
    for _ in range(changes):
        side = rng.choice(list(Side))
        slot = int(rng.choice(np.flatnonzero(table.planes[side])))
        table.planes[side][slot] = rng.choice(codes.tolist())


@pytest.mark.parametrize(("name", "rules"), [("KNNK", Rules.NONE), ("KPK", Rules.NONE),
                                             ("KRKN", Rules.WXF)])  # fmt: skip
def test_both_proofs_find_the_same_errors(name, rules):
    """Positions of every kind changed to every value, also to no position at all."""
    rng = random.Random(name)
    table = recoded(solution(name, rules), CodeSpace(2))
    plant(table, rng, 200)
    report = same(table, rules)
    assert report.findings > 100


def test_both_proofs_find_the_same_errors_in_holes():
    """Values in slots that hold no position are no matter for either."""
    table = Planted.of(solution("KNNK"))
    for plane in table.planes:
        holes = plane == 0
        plane[holes] = np.arange(np.count_nonzero(holes)) % 200 + 1
    assert same(table, Rules.NONE).ok


def test_conversions_are_worth_what_they_convert_to():
    table = solution("KRKN", Rules.CHECK, Metric.DTC)
    assert same(table, Rules.CHECK).ok


def test_the_sample_has_a_share_of_everything():
    table = solution("KRKN", Rules.WXF)

    def supporting(child):
        return solution(child.name, Rules.WXF)

    def prove(size, threads=2):
        return verify(table, supporting, rule_set=RuleSet(Rules.WXF), sample=size, threads=threads)

    assert prove(0).sampled == 0
    few, many = prove(100), prove(1000)
    assert 50 < few.sampled < 150
    assert 500 < many.sampled < 1500
    assert prove(100, threads=1).sampled == few.sampled
    # Half of the slots hold no position of either side.
    everything = prove(1 << 40)
    assert everything.sampled == everything.positions
    assert everything.ok


def test_the_witness_objects_where_rows_are_wrong(monkeypatch):
    """Rows that believe everything: the sample finds what they do not."""
    table = Planted.of(solution("KRK"))
    wrong = table.code_space.encode(Value(Outcome.LOSS, 0, 0))
    for plane in table.planes:
        plane[plane != 0] = wrong
    run = Passes.prove

    def blind(*arguments, **options):
        return replace(run(*arguments, **options), findings=0, first=None)

    monkeypatch.setattr(Passes, "prove", blind)
    report = verify(table, lambda child: solution(child.name), rule_set=RuleSet(Rules.NONE))
    assert report.findings > 1000
    assert report.first is not None


def test_planes_may_lie_in_a_file(tmp_path):
    table = solution("KRKN")

    def prove(memory):
        report = verify(
            table, lambda child: solution(child.name), rule_set=RuleSet(Rules.NONE), sample=0,
            memory=memory, folder=tmp_path,
        ).to_json()  # fmt: skip
        del report["seconds"]
        return report

    assert prove(1 << 16) == prove(None)
    assert not list(tmp_path.iterdir())


SMALL = [
    "KNK", "KPK", "KCKA", "KRK", "KRKA", "KNKA", "KNKB", "KRKB", "KPKA", "KPKB", "KCK", "KNNK",
    "KPPK", "KNPK", "KCPK", "KRKP", "KNKN", "KRKN", "KNKP", "KRKC", "KCKC", "KPKP", "KNKC",
    "KCKP", "KRKR", "KNCK", "KRNK", "KRCK", "KRPK", "KRRK", "KCCK", "KNAK", "KCAK", "KPAK",
    "KRAK", "KCBK", "KPBK", "KNBK", "KCKB", "KRKAA", "KNKAA", "KNKAB", "KPKAB",
]  # fmt: skip
LARGER = [
    "KRKAABB", "KCKAB", "KCABK", "KPAKA", "KRAKN", "KRKNA", "KRKNB", "KRKCA", "KRKPA", "KNAKN",
    "KNKPA", "KCAKC", "KPAKP", "KNBKP", "KNNKB", "KNPKA",
]  # fmt: skip


@pytest.mark.certification
@pytest.mark.parametrize("rules", list(Rules))
@pytest.mark.parametrize("name", SMALL + LARGER)
def test_both_proofs_say_the_same_of_many_tables(name, rules):
    """177 tables, 129 of them SMALL: `pytest -m certification tests/verify/test_forward.py`."""
    name = Material.parse(name).name
    assert same(solution(name, rules), rules).ok
