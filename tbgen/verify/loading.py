"""Loading what a proof reads: `Arrays` of one table and of those that captures lead to.

    tables  --unpack, in one view or in several-->  places, and codes by place  -->  Loaded

Planes are unpacked as places in palettes; what ranks these are worth follows from all codes that
were met. Where a byte does not tell those of a side apart, they are unpacked anew for each of
several views (`views`), into the same memory.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from tbgen.indexing import InputError, Side
from tbgen.indexing.material import Material
from tbgen.indexing.rulesets import Rules
from tbgen.indexing.squares import (
    PieceType,
    piece_code,
)
from tbgen.tables.codes import LimitExceededError
from tbgen.tables.names import Metric, RuleSet
from tbgen.verify.arrays import (
    AT_STAKE,
    END_WORD,
    FIRST_WORD,
    NOBODY,
    TABLE_COLUMNS,
    Arrays,
    Men,
    Numbers,
    Plane,
)
from tbgen.verify.captures import (
    list_captures,
    list_needed,
    list_stakes,
    list_weights,
    list_weights_after,
)
from tbgen.verify.keys import orders_of_keys
from tbgen.verify.planes import (
    BYTE,
    SLACK,
    Classify,
    Room,
    Supporting,
    Supports,
    Table,
    reserve_twice,
    unpack_own,
    unpack_side,
    unpack_upper,
    whole_room,
    widened,
)
from tbgen.verify.ranks import (
    CAPTURE,
    Values,
    after_conversion,
    count_ranks,
    keys_of_palette,
    make_values,
)
from tbgen.verify.views import WHOLE, View, choose_views, suffice

Stated = Callable[[Table, int], NDArray[np.int64]]
"""The codes, int64 (n,), that a table is said to have with a side to move. Nothing rests on them;
where there are none, what there is will show."""


def state_nothing(table: Table, side: int) -> NDArray[np.int64]:
    """None: nobody knows before the table is unpacked."""
    del table, side
    return NOBODY


class Loaded(NamedTuple):
    """The tables of a proof."""

    arrays: Arrays
    codes: list[NDArray[np.int64]]
    """int64 (places,) each: the codes of this table's sides, by their places in the palette; in a
    view, of each class some code."""
    view: View = WHOLE


def gather(
    table: Table,
    supporting: Supporting,
    rule_set: RuleSet,
    memory: int | None = None,
    folder: Path | None = None,
    *,
    all_kinds: bool = True,
) -> Loaded:
    """Load a table and those that captures lead to, to be proven under some rules.

    memory : bytes; planes for which there is none left are kept in files without names
    folder : where that file is, by default where the system keeps temporary files
    all_kinds : whether ranks tell the kinds of all open values, or of draws alone (`ranks`)

    Raises `InputError` for a rule set without rules, `LimitExceededError` for more values than
    ranks of 16 bits tell apart, and what `supporting` raises.
    """
    sources = _Sources(table, supporting, rule_set, memory, folder)
    sources.unpack(WHOLE)
    # Each type has kernels of its own, which take long to compile. A byte rarely tells all kinds
    # of all values apart: so it is two bytes then, even where one would do.
    if all_kinds and rule_set.rules != Rules.NONE:
        return sources.show_wide(all_kinds=True)
    return sources.show(all_kinds=all_kinds) or sources.show_wide(all_kinds=all_kinds)


def gather_views(
    table: Table,
    supporting: Supporting,
    rule_set: RuleSet,
    memory: int | None = None,
    folder: Path | None = None,
    *,
    stated: Stated = state_nothing,
    places: int = BYTE,
) -> Iterator[Loaded]:
    """Load them view by view, so that a byte is enough for ranks, which tell the kinds of draws.

    All views are in the same memory: each is gone when the next one is asked for. There is only
    one, of all values as they are, where a byte tells them apart, or no views would help.

    stated : what views are chosen by; if tables turn out to have other codes, they are read again
    places : how many ranks a view may have; other arguments as those of `gather`, and errors
    """
    sources = _Sources(table, supporting, rule_set, memory, folder)
    views = _choose(sources.list_stated(stated), places) or [WHOLE]
    sources.unpack(views[0])
    keys = sources.list_keys()
    if not suffice(views, keys, lambda view: count_ranks(keys, view) <= places):
        first, views = views[0], _choose(keys, places)
        wanted = views[0] if views else WHOLE
        if wanted != first:
            sources.unpack(wanted)
    if not views:
        yield sources.show_wide(all_kinds=False)
    for number, view in enumerate(views):
        if number:
            sources.unpack(view)
        shown = sources.show(all_kinds=False, places=places)
        if shown is None:
            # Views are made for what was read before.
            raise LimitExceededError("a table has changed while it was proven")
        yield shown


def _choose(keys: Sequence[Numbers], places: int) -> list[View]:
    """The views of keys of either side; none where no views would help."""

    def fits(view: View) -> bool:
        return count_ranks(keys, view) <= places

    if fits(WHOLE):
        return [WHOLE]
    with contextlib.suppress(LimitExceededError):
        return choose_views(keys, fits)
    return []


class _Sources:
    """The tables of a proof, unpacked in one view after another."""

    def __init__(
        self,
        table: Table,
        supporting: Supporting,
        rule_set: RuleSet,
        memory: int | None,
        folder: Path | None,
    ) -> None:
        """Find them, and room for them; arguments and errors as those of `gather`."""
        if rule_set.rules is None:
            raise InputError("nothing is proven under unknown rules", "name the rules of the table")
        self._table, self._rule_set = table, rule_set
        layout = table.layout
        children = Material(*layout.armies).captures()
        wanted = {child.name: child for child in children.values() if child.needs_table}
        self._loaded = [table, *(supporting(child) for child in wanted.values())]
        numbers = {name: number for number, name in enumerate(wanted, start=1)}
        layouts = [each.layout for each in self._loaded]
        self._captures = list_captures(layouts, children, numbers)
        self._needed = list_needed(self._captures, layout.piece_codes)
        planes = {plane[:2] for plane in self._needed}
        self._tables, slots = _plan(self._loaded, planes)
        self._leads = sorted(planes)
        room = Room(memory, folder)
        self._planes = reserve_twice(room, len(Side) * layout.slots + SLACK)
        self._low, self._high = room.reserve(slots, np.uint8), room.reserve(slots, np.uint8)

    def unpack(self, view: View) -> None:
        """Unpack all planes as places of a view."""
        self._view = view
        self._palettes = unpack_own(self._table, self._planes, self._classify(0, view))
        self._codes = [palette.list_codes() for palette in self._palettes]
        self._theirs, self._keys = {}, {}
        for number, there in self._leads:
            child, classify = self._loaded[number], self._classify(number, view)
            low = self._low[self._tables[number, there] :]
            palette = unpack_side(child, there, low, classify)
            self._theirs[number, there] = palette
            self._keys[number, there] = classify(palette.list_codes())

    def list_keys(self) -> list[Numbers]:
        """int64 (n,) each: the keys of all that was met with Red and with Black to move, of this
        table and of what captures lead to."""
        theirs = {plane: palette.list_met() for plane, palette in self._theirs.items()}
        return self._list_all([palette.list_met() for palette in self._palettes], theirs)

    def list_stated(self, stated: Stated) -> list[Numbers]:
        """The same of what is stated; none where a byte tells apart what is said of this table."""
        own = [stated(self._table, side) for side in Side]
        if max(map(len, own)) < BYTE:
            return [NOBODY, NOBODY]
        return self._list_all(
            own, {plane: stated(self._loaded[plane[0]], plane[1]) for plane in self._leads}
        )

    def _list_all(self, own: Sequence[Numbers], theirs: Mapping[Plane, Numbers]) -> list[Numbers]:
        """The keys of codes, by side to move here.

        own : codes of this table, by side; theirs : of what captures lead to
        """
        own_keys, keys = self._classify(0, WHOLE), {}
        for plane, codes in theirs.items():
            keys[plane] = self._classify(plane[0], WHOLE)(codes)
        return [np.concatenate([own_keys(own[side]), self._list_others(side, keys)])
                for side in Side]  # fmt: skip

    def show(self, *, all_kinds: bool, places: int = BYTE) -> Loaded | None:
        """The tables in a byte for each slot; None where that is not enough.

        places : how many ranks there may be
        """
        if max(map(len, self._codes)) > BYTE:
            return None
        values = self._make_values(all_kinds=all_kinds)
        if values.keys.shape[1] > places:
            return None
        return self._load(self._planes, values, all_kinds=all_kinds)

    def show_wide(self, *, all_kinds: bool) -> Loaded:
        """The same in two bytes, for which they are unpacked again where one was not enough.

        Raises `LimitExceededError` for more values than those tell apart.
        """
        if max(map(len, self._codes)) > BYTE:
            planes = whole_room(self._planes)
            unpack_own(self._table, planes, self._classify(0, self._view))
        else:
            planes = widened(self._planes)
        return self._load(planes, self._make_values(all_kinds=all_kinds), all_kinds=all_kinds)

    def _classify(self, number: int, view: View) -> Classify:
        """What puts the codes of a table into the classes of a view, which are keys."""
        space = self._loaded[number].code_space
        converts = number > 0 and self._table.metric == Metric.DTC

        def classify(codes: NDArray[np.int64]) -> NDArray[np.int64]:
            keys = keys_of_palette(codes, space)
            return view.coarsen(after_conversion(keys) if converts else keys)

        return classify

    def _list_others(self, side: int, keys: Mapping[Plane, Numbers]) -> Numbers:
        """int64 (n,): the keys of all that captures lead to with a side to move here."""
        leads = [keys[plane[:2]] for plane in sorted(self._needed) if plane[2] == side]
        return np.concatenate([NOBODY, *leads])

    def _make_values(self, *, all_kinds: bool) -> Values:
        """What ranks stand for."""
        own = [*map(self._classify(0, self._view), self._codes)]
        others = [self._list_others(side, self._keys) for side in Side]
        seek = self._rule_set.rules != Rules.NONE
        return make_values(own, others, seek=seek, all_kinds=all_kinds, view=self._view)

    def _load_supports(self, values: Values, dtype: DTypeLike) -> Supports:
        """`Arrays.supports`, of ranks of a type."""
        most = max(map(len, self._keys.values()), default=0)
        ranks = np.zeros((len(self._loaded), len(Side), len(Side), most), dtype)
        is_wide = np.zeros(ranks.shape[:2], np.bool_)
        for number, there, here in self._needed:
            keys = self._keys[number, there]
            ranks[number, there, here, : len(keys)] = values.translate(here, keys, CAPTURE)
            is_wide[number, there] = len(keys) > BYTE
        for number, there in np.argwhere(is_wide).tolist():
            high = self._high[self._tables[number, there] :]
            unpack_upper(self._loaded[number], there, high, self._classify(number, self._view))
        return Supports(self._low, self._high, is_wide, ranks)

    def _load(self, planes: NDArray[Any], values: Values, *, all_kinds: bool) -> Loaded:
        """The tables with ranks of the planes' type."""
        layouts, rule_set = [each.layout for each in self._loaded], self._rule_set
        layout, tables = layouts[0], self._tables
        pieces = layout.piece_codes
        kings = [pieces.index(piece_code(side, PieceType.KING)) for side in Side]
        descriptors = np.concatenate([each.descriptor for each in layouts])
        lost = {plane: orders_of_keys(keys[keys < 0]) for plane, keys in self._keys.items()}
        last_orders = {plane: int(orders.max(initial=0)) for plane, orders in lost.items()}
        at_least = AT_STAKE if all_kinds else 0
        arrays = Arrays(
            ranks=planes,
            supports=self._load_supports(values, planes.dtype),
            tables=tables,
            descriptors=descriptors,
            descriptor=descriptors[: tables[0, END_WORD]],
            men=Men(np.array(pieces, np.int64), np.array(kings, np.int64)),
            captures=self._captures,
            stakes=list_stakes(self._captures, pieces, last_orders, at_least=at_least),
            weights=list_weights(layout),
            moved_along=list_weights_after(self._captures, layouts),
            self_mirrored=layout.self_mirrored,
            lead_slots=layout.mids * layout.inner_size,
            inner_size=layout.inner_size,
            first_attacker=sum(defenders.pieces for defenders in layout.defenders),
            values=values._replace(own=values.own.astype(planes.dtype)),
            seek_patterns=rule_set.rules != Rules.NONE,
            seek_chases=rule_set.rules is not None and rule_set.rules.judges_chases,
            chase_rules=rule_set.chase_rules,
        )
        return Loaded(arrays, self._codes, self._view)


def _plan(loaded: list[Table], needed: set[tuple[int, int]]) -> tuple[NDArray[np.int64], int]:
    """`Arrays.tables`, and how many slots the planes have that captures lead to.

    needed : which these are: table, and side to move
    """
    tables = np.zeros((len(loaded), TABLE_COLUMNS), np.int64)
    tables[0, 1] = loaded[0].layout.slots
    words = at = 0
    for number, (line, each) in enumerate(zip(tables, loaded, strict=True)):
        line[FIRST_WORD : END_WORD + 1] = words, words + each.layout.descriptor.size
        words = int(line[END_WORD])
        for side in Side:
            if (number, side) in needed:
                line[side] = at
                at += each.layout.slots
    return tables, at
