"""Values told in several views: that they lose nothing, and that the proof says the same."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from tbgen.indexing.rulesets import Rules
from tbgen.tables.codes import CodeSpace, LimitExceededError
from tbgen.tables.names import Metric, RuleSet
from tbgen.verify import loading, prove, verify
from tbgen.verify.forward.first_pass import Passes
from tbgen.verify.keys import MATE, NEVER, ORDER, key_after_move, orders_of_keys
from tbgen.verify.ranks import (
    FREE,
    KINDS,
    after_conversion,
    count_ranks,
    keys_of_palette,
    make_values,
)
from tbgen.verify.views import WHOLE, View, choose_views
from tests.kits.planting import SEVERAL, SINGLE, Field, kinds_found, regions, single
from tests.kits.solutions import solution

ORDERS, PLIES = 4, 9
NO_VALUE = -MATE - 2
"""The key of code 0, which stands for no position."""

WINS = [MATE - 1 - plies for plies in range(0, PLIES, 2)]
WINS += [MATE - order * ORDER - plies for order in range(1, ORDERS) for plies in range(0, PLIES, 2)]
LOSSES = [plies - MATE for plies in range(0, PLIES, 2)]
LOSSES += [order * ORDER + 1 + plies - MATE for order in range(1, ORDERS)
           for plies in range(0, PLIES, 2)]  # fmt: skip
KEYS = np.unique([NO_VALUE, 0, *WINS, *LOSSES])
"""All that there is of four orders, ascending, and what is no value."""

VIEWS = [View(frozenset(told)) for told in ({0}, {2}, {1, 3, NEVER}, set(), {0, 1, 2, 3, NEVER})]


def after_moves(keys):
    """What moves are worth that lead to keys."""
    return np.array([key_after_move(key) for key in keys.tolist()])


def classes(keys):
    """What every view tells: order, outcome, and whether a win is direct."""
    direct = (keys > 0) & (keys < MATE - ORDER + 1) & ((MATE - keys) % ORDER == 0)
    return list(zip(orders_of_keys(keys).tolist(), np.sign(keys).tolist(), direct, strict=True))


@pytest.mark.parametrize("view", VIEWS)
def test_a_coarse_order_is_the_same_order(view):
    """So the best of coarse values is the coarse best."""
    coarse = view.coarsen(KEYS)
    assert (np.diff(coarse) >= 0).all()
    assert np.array_equal(view.coarsen(coarse), coarse)
    assert np.isin(coarse, KEYS).all()


@pytest.mark.parametrize("view", VIEWS)
def test_a_move_takes_classes_to_classes(view):
    """What a move is worth depends on the class of what it leads to alone; a conversion, too."""
    coarse = view.coarsen(KEYS)
    assert np.array_equal(view.coarsen(after_moves(coarse)), view.coarsen(after_moves(KEYS)))
    converted = view.coarsen(after_conversion(KEYS))
    assert np.array_equal(view.coarsen(after_conversion(coarse)), converted)


@pytest.mark.parametrize("view", VIEWS)
def test_classes_are_told_apart_by_every_view(view):
    """And what is no value from all that are; distances only where the order is told."""
    coarse = view.coarsen(KEYS)
    told = {}
    for key, own, each in zip(KEYS.tolist(), coarse.tolist(), classes(KEYS), strict=True):
        assert told.setdefault(own, each) == each
        order = 0 if key == NO_VALUE else each[0]
        if key != NO_VALUE and order in view.told:
            assert own == key
    distinct = [(key, each) for key, each in zip(KEYS.tolist(), classes(KEYS), strict=True)
                if each[0] in view.told]  # fmt: skip
    others = {each for each in classes(KEYS) if each[0] not in view.told}
    assert len(set(coarse.tolist())) == len(distinct) + len(others)


@pytest.mark.parametrize("places", range(15, 50))
def test_chosen_views_tell_everything_apart(places):
    sides = [KEYS, KEYS[KEYS <= 0]]

    def fits(view):
        return count_ranks(sides, view) <= places

    try:
        views = choose_views(sides, fits)
    except LimitExceededError:
        assert places < 25
        return
    assert all(map(fits, views))
    assert [view.tells_kinds for view in views] == [False] * (len(views) - 1) + [True]
    told = sorted(order for view in views for order in view.told)
    assert told == [*range(ORDERS), NEVER]
    seen = np.stack([view.coarsen(KEYS) for view in views])
    assert len(np.unique(seen, axis=1).T) == len(KEYS)
    if fits(View(frozenset(told))):
        assert len(views) == 1


def test_orders_of_most_values_go_first():
    """Beside classes orders take 6, 5, 4 and 3 ranks, and draws 2: that is two views of 10."""
    keys = np.array([
        MATE - order * ORDER - plies
        for order, values in ((1, 7), (2, 6), (3, 5), (4, 4))
        for plies in range(2, 2 * values + 2, 2)
    ])  # fmt: skip
    coarse = 1 + 4 + 1  # no position, a win of each order, draws
    views = choose_views([keys, keys], lambda view: count_ranks([keys, keys], view) <= coarse + 10)
    assert [sorted(view.told) for view in views] == [[1, 3], [2, 4, NEVER]]


@pytest.mark.parametrize("view", [WHOLE, *VIEWS])
def test_ranks_are_right_where_a_view_says_so(view):
    """A stored value goes with a best move where both are of the same class, and only there."""
    values = make_values([KEYS, KEYS], [KEYS, KEYS], seek=True, all_kinds=False, view=view)
    ranks = values.translate(0, view.coarsen(KEYS), FREE)
    assert (ranks > 0).all()
    assert values.keys.shape[1] == count_ranks([KEYS, KEYS], view)
    shown = view.coarsen(after_moves(KEYS))
    for key, coarse, rank in zip(KEYS.tolist(), view.coarsen(KEYS).tolist(), ranks, strict=True):
        if 0 < key <= MATE - ORDER and (MATE - key) % ORDER == 0:
            continue  # direct wins are always looked at twice
        goes_with = values.stored[0, rank] == values.expected[1, ranks]
        assert goes_with.tolist() == (shown == coarse).tolist(), key
    kinds = {kind for key, kind in zip(values.keys[0], values.kinds[0], strict=True) if key == 0}
    assert len(kinds) == (KINDS - 1 if view.tells_kinds else 1)


# -- whole proofs ------------------------------------------------------------------------------


@pytest.fixture(params=["as few as may be", "one for each order"])
def seen(request, monkeypatch):
    """Proofs have several views from here on; the list of those that they have had."""
    views = []

    def gather_views(*tables, **options):
        (whole,) = loading.gather_views(*tables)
        ranks = whole.arrays.values.keys.shape[1]
        for loaded in loading.gather_views(*tables, places=ranks - 1):
            assert loaded.arrays.ranks.dtype == np.uint8
            views.append(loaded.view)
            yield loaded

    def choose_each(keys, fits):
        orders = np.unique(orders_of_keys(np.concatenate(keys))).tolist()
        return [View(frozenset({order})) for order in orders if order >= 0]

    monkeypatch.setattr(prove, "gather_views", gather_views)
    if request.param == "one for each order":
        monkeypatch.setattr(loading, "choose_views", choose_each)
    return views


def report_of(name, rules=Rules.WXF, metric=Metric.DTM, **options):
    """The report of a table, without seconds."""
    report = verify(
        solution(name, rules, metric), lambda child: solution(child.name, rules),
        rule_set=RuleSet(rules), **options,
    )  # fmt: skip
    return replace(report, seconds=0.0)


@pytest.mark.parametrize(
    ("name", "rules", "metric"),
    [pytest.param("KNKCA", Rules.WXF, Metric.DTM, marks=pytest.mark.certification),
     ("KRAKR", Rules.WXF, Metric.DTM),
     ("KRAKR", Rules.CHECK, Metric.DTM), ("KRKN", Rules.CHECK, Metric.DTC),
     ("KPPK", Rules.WXF, Metric.DTM)],
)  # fmt: skip
def test_reports_are_the_same(name, rules, metric, seen, monkeypatch):
    """Counts, patterns, and the sample: a share of every order, in whatever view it is told."""
    by_views = report_of(name, rules, metric)
    assert len(seen) > 1
    with monkeypatch.context() as patch:
        patch.setattr(prove, "gather_views", loading.gather_views)
        whole = report_of(name, rules, metric)
    assert by_views == whole
    assert whole.ok
    assert 5000 < whole.sampled < 15000
    assert whole.offenders_examined < 20  # or it has been proven the old way


def test_each_node_is_asked_of_in_one_view(seen, monkeypatch):
    """Those of an order in the view that tells it, and slots without a position in the last one."""
    listed = []

    def note(parts, space):
        listed.append([part.nodes for part in parts])
        return put_together(parts, space)

    put_together = prove._put_together
    monkeypatch.setattr(prove, "_put_together", note)
    report_of("KNKCA")
    monkeypatch.setattr(prove, "gather_views", loading.gather_views)
    whole = report_of("KNKCA")
    by_views, (nodes,) = listed
    assert len(by_views) == len(seen) > 1
    assert all(map(len, by_views))
    assert np.array_equal(np.sort(np.concatenate(by_views)), nodes)
    assert len(nodes) > whole.sampled


def test_a_value_that_no_view_tells_is_no_proof(seen, monkeypatch):
    """However views are chosen, each position is counted in one of them."""
    choose = loading.choose_views

    def forget(keys, fits):
        return [View(view.told - {1}) for view in choose(keys, fits)]

    monkeypatch.setattr(loading, "choose_views", forget)
    with pytest.raises(LimitExceededError, match="no view tells"):
        report_of("KRAKR")
    assert len(seen) > 1


def test_planes_of_views_are_in_the_same_memory(seen, monkeypatch):
    at = set()
    prove_rows = Passes.prove

    def note(passes, **options):
        at.add(passes._arrays.ranks.ctypes.data)
        return prove_rows(passes, **options)

    monkeypatch.setattr(Passes, "prove", note)
    assert report_of("KRAKR").ok
    assert len(seen) > 1
    assert len(at) == 1


def test_errors_are_found_in_some_view(seen):
    """Of every kind that the values can have; nothing is found of what is taken back."""
    target = Field("KRKN", RuleSet(Rules.CHECK))
    assert target.is_sound()
    assert len(seen) > 1
    assert kinds_found(target, random.Random(5)) == {*SINGLE, *SEVERAL}
    for change in regions(target):
        assert target.is_found(change), change.kind
    assert target.is_sound()


def test_a_position_without_a_value_is_found(seen):
    """Code 0 is of no order: the last view has it."""
    target = Field("KRKN", RuleSet(Rules.CHECK))
    side, slot = target.random_node(random.Random(6))
    target.table.planes[side][slot] = 0
    assert not target.is_sound()
    assert len(seen) > 1


def test_the_sample_of_a_view_finds_what_rows_do_not(seen, monkeypatch):
    """Rows that believe everything: distances are asked of where they are told."""
    target = Field("KRKN", RuleSet(Rules.CHECK))
    run = Passes.prove
    rng = random.Random(3)

    def blind(*arguments, **options):
        return replace(run(*arguments, **options), findings=0, first=None)

    def is_sound():
        return verify(target.table, target._supporting, rule_set=target.rule_set, sample=1 << 40).ok

    assert is_sound()
    monkeypatch.setattr(Passes, "prove", blind)
    monkeypatch.setattr(Passes, "settle", lambda passes, found: (passes._arrays, found))
    for _ in range(4):
        change = single(target, "distance", rng)
        ((side, slot), value) = next(iter(change.values.items()))
        before = int(target.table.planes[side][slot])
        target.table.plant(side, slot, value)
        assert not is_sound()
        target.table.planes[side][slot] = before
    assert len(seen) > 1


def test_what_no_views_can_tell_takes_two_bytes(monkeypatch):
    """One order of too many values, as without rules: it is proven as it is."""
    dtypes = []

    def gather_views(*tables, **options):
        for loaded in loading.gather_views(*tables, places=20):
            dtypes.append(loaded.arrays.ranks.dtype)
            yield loaded

    monkeypatch.setattr(prove, "gather_views", gather_views)
    assert report_of("KRKN", sample=0).ok
    assert dtypes == [np.uint16]


def test_a_table_that_changes_while_it_is_proven_is_none(monkeypatch):
    """Views are made for what was read first."""
    table = Field("KRAKR", RuleSet(Rules.WXF)).table
    read = table.tile
    reads = []

    def tile(side, number, numbers_of):
        reads.append(side)
        if len(reads) == 3:  # the first view: a code of each slot's own
            table.planes[0][:] = 1 + np.arange(table.layout.slots) % 120
        return read(side, number, numbers_of)

    monkeypatch.setattr(table, "tile", tile)
    views = loading.gather_views(
        table, lambda child: solution(child.name, Rules.WXF), RuleSet(Rules.WXF), places=30
    )
    with pytest.raises(LimitExceededError, match="changed"):
        list(views)
    assert CodeSpace(2).draw in table.planes[1]


def _codes_of(table, side):
    return np.unique(table.plane(side)).astype(np.int64)


@pytest.mark.parametrize(
    ("forget", "spared"), [(0, True), (1, False), (2, False)],
    ids=["all that there is", "an order that nobody mentions", "distances that nobody mentions"],
)  # fmt: skip
def test_what_is_stated_saves_reading_and_no_more(forget, spared, monkeypatch):
    """Views are chosen by it; where it is wrong, all is as without."""
    table, rules = Field("KRAKR", RuleSet(Rules.WXF)).table, RuleSet(Rules.WXF)
    reads = []
    monkeypatch.setattr(
        table, "tile", lambda *of, read=table.tile: reads.append(of[0]) or read(*of)
    )

    def stated(of, side):
        codes = _codes_of(of, side)
        if forget:
            orders = orders_of_keys(keys_of_palette(codes, of.code_space))
            codes = codes[orders < 2] if forget == 1 else codes[::9]
        # More than a byte tells apart.
        return np.concatenate([codes, np.full(256, codes[-1])])

    def gather_all(**options):
        reads.clear()
        loaded = loading.gather_views(
            table, lambda child: solution(child.name, Rules.WXF), rules, **options
        )
        return [(each.view, each.arrays.ranks.copy(), each.arrays.values.keys) for each in loaded]

    ((_, _, keys),) = gather_all()
    places = keys.shape[1] - 1
    known, before = gather_all(places=places), len(reads)
    by_statement = gather_all(places=places, stated=stated)
    assert len(known) > 1
    assert len(reads) == before - (2 if spared else 0)
    for (view, ranks, _), (other, others, _) in zip(known, by_statement, strict=True):
        assert view == other
        assert np.array_equal(ranks, others)
