"""The plan of a build: which tables, in which order, and what they cost.

    closure of the materials asked for, bottom-up  ->  index size, memory, disk, time for each

The costs follow from the arrays that the solver allocates (memory) and from rates measured on
whole tables (disk, time): `scripts/bench_build.py` prints them anew.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tbgen.indexing.census import count_placements
from tbgen.indexing.layout import Layout
from tbgen.indexing.material import Material
from tbgen.indexing.squares import SQUARES, Side
from tbgen.tables.codes import BYTE_SPAN, LONG_SPAN, CodeSpace
from tbgen.tables.names import Rules

SET_BYTES = 2 * 8
"""One set of positions: two words per row and side."""

SETS = 5
"""Sets per row and side while the propagation runs: unknown, unwon, losable and two frontiers."""

LIST_BYTES = 2 * 4
"""The lists of the two frontiers, per row and side."""

FIXED_BYTES = 200 << 20
"""Interpreter, compiled kernels, compression buffers."""

_SECONDS_PER_SLOT = {False: 60e-9, True: 300e-9}
"""CPU seconds per slot and side, without and with rule-decided orders."""

_BYTES_PER_SLOT = {False: 0.09, True: 0.16}
"""Bytes on disk per slot and side."""


def has_orders(material: Material, rules: Rules) -> bool:
    """Whether a table has rule-decided orders: never with one armless side (Fang's lemma)."""
    return rules != Rules.NONE and material.both_armed


def code_spaces(material: Material, rules: Rules) -> tuple[CodeSpace, CodeSpace]:
    """The codes to try: those of one byte per order, and those for long distances."""
    if has_orders(material, rules):
        return CodeSpace(2, BYTE_SPAN), CodeSpace(4, LONG_SPAN)
    return CodeSpace(1, BYTE_SPAN), CodeSpace(2, LONG_SPAN)


def memory_needed(material: Material, codes: CodeSpace) -> int:
    """The peak memory of solving a material, in bytes, supporting tables included.

    Either the propagation with all its sets is the peak, or the valuation of one kind of capture:
    the supporting table as stored and as converted, and its view in the parent's order.
    """
    layout = Layout.of(material)
    planes = 2 * codes.width * layout.rows * SQUARES
    propagation = planes + 2 * layout.rows * (SETS * SET_BYTES + LIST_BYTES)
    captures = 0
    for (side, kind), child in material.captures().items():
        child_layout = Layout.of(child)
        table = child_layout.rows * (SQUARES if child_layout.inner else 1)
        views = layout.views(Side(side), kind)
        largest = max(view.rows * (SQUARES if view.inner else 1) for view in views)
        loaded = child_layout.slots + table + largest
        captures = max(captures, loaded * codes.width)
    captures += planes + 2 * layout.rows * SET_BYTES
    return FIXED_BYTES + max(propagation, captures)


@dataclass(frozen=True)
class PlannedTable:
    """One table of a plan."""

    material: Material
    index_size: int
    placements: int
    """Canonical placements without overlaps; the other slots are holes."""
    memory_bytes: int
    disk_bytes: int
    seconds: float
    """On two cores."""


def plan(materials: Iterable[Material], rules: Rules) -> list[PlannedTable]:
    """Every table that the materials need, bottom-up."""
    needed: dict[str, Material] = {}
    for material in materials:
        for child in material.closure():
            needed.setdefault(child.name, child)
    return [
        _planned(material, rules)
        for material in sorted(needed.values(), key=lambda m: (m.men, m.name))
    ]


def _planned(material: Material, rules: Rules) -> PlannedTable:
    slots = 2 * Layout.of(material).slots
    ordered = has_orders(material, rules)
    return PlannedTable(
        material=material,
        index_size=slots // 2,
        placements=count_placements(Layout.of(material)),
        memory_bytes=memory_needed(material, code_spaces(material, rules)[0]),
        disk_bytes=int(slots * _BYTES_PER_SLOT[ordered]) + 1000,
        seconds=slots * _SECONDS_PER_SLOT[ordered] / 2 + 0.01,
    )
