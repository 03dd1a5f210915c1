"""The plan of a build: which tables, in which order, and what they cost.

    closure of the materials asked for, bottom-up  ->  index size, memory, disk, time for each

Memory follows from the arrays that the solver allocates; disk and time are estimated from tables
that were measured or that are there already (`estimate.py`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tbgen.build.costs import FIT
from tbgen.build.estimate import Estimates, present_tables
from tbgen.indexing.layout import Layout
from tbgen.indexing.material import Material
from tbgen.indexing.squares import SQUARES, Side
from tbgen.retrograde.parallel import DISK_RANGES, RANGES, Chunks
from tbgen.tables.codes import BYTE_SPAN, LONG_SPAN, CodeSpace
from tbgen.tables.names import Rules

_SET_BYTES = 2 * 8
"""One set of positions of one side: two words per row."""

_SETS = 10
"""Sets while the propagation runs: unknown, unwon, losable and two frontiers of each side."""

_PATTERN_SETS = {Rules.NONE: 0, Rules.CHECK: 3, Rules.WXF: 3}
"""More sets while the patterns of a rule set are searched for."""

_PATTERN_BYTES = {Rules.NONE: 0.0, Rules.CHECK: 0.2, Rules.WXF: 0.4}
"""Bytes per slot of lists and graphs in such a search, never on disk."""

_JOURNAL_BYTES = 0.4
"""Bytes per slot of the records of what was settled, and of captures that wait, compressed."""

_STARTED_BYTES = 145 << 20
"""The interpreter, and the compiler that loads the kernels; also while a small table is built."""

_FIXED_BYTES = 124 << 20
"""The interpreter and the kernels, while a table is built."""

_BYTES_PER_THREAD = 2 << 20

_NEIGHBOURS = 20
"""Leads around one that a sweep looks at, in the frontier and in the escapes together."""


def has_orders(material: Material, rules: Rules) -> bool:
    """Whether a table has rule-decided orders: never with one armless side (Fang's lemma)."""
    return rules != Rules.NONE and material.both_armed


def code_spaces(material: Material, rules: Rules) -> tuple[CodeSpace, CodeSpace]:
    """The codes to try: those of one byte per order, and those for long distances."""
    if has_orders(material, rules):
        return CodeSpace(2, BYTE_SPAN), CodeSpace(4, LONG_SPAN)
    return CodeSpace(1, BYTE_SPAN), CodeSpace(2, LONG_SPAN)


@dataclass(frozen=True)
class MemoryNeed:
    """What solving a table takes, in bytes, supporting tables included."""

    in_memory: int
    """The peak with all arrays in memory."""
    least: int
    """The least that will do, with the arrays on disk."""
    working: int
    """What the threads may touch of these between two looks at the memory in use."""


def memory_needed(
    material: Material, codes: CodeSpace, rules: Rules, threads: int = 2
) -> MemoryNeed:
    """The memory of solving a material under some rules.

    The peak is while the captures of the second side are found (its plane of codes, the largest
    supporting table and its view, a few sets), or while patterns are searched for: all sets, what
    the search needs beside them, and the journals.
    """
    layout = Layout.of(material)
    if not has_orders(material, rules):
        rules = Rules.NONE
    chunks = Chunks.of(layout.leads, layout.mids)
    one_set = layout.rows * _SET_BYTES
    slots = layout.rows * SQUARES
    leads = -(-layout.leads // RANGES)
    tables = 0
    for (side, kind), child in material.captures().items():
        child_layout = Layout.of(child)
        table = child_layout.rows * (SQUARES if child_layout.inner else 1)
        largest = max(
            view.rows * (SQUARES if view.inner else 1) for view in layout.views(Side(side), kind)
        )
        if not kind.is_attacker:
            # Two columns at most, for the leads of one range.
            largest = int(largest * min(1, threads * 2 * leads / layout.leads))
        tables = max(tables, (table + largest) * codes.width + child_layout.rows * _SET_BYTES)
    captures = slots * codes.width + 4 * one_set + tables
    journal = int(slots * _JOURNAL_BYTES)
    search = int(slots * _PATTERN_BYTES[rules])
    sets = (_SETS + _PATTERN_SETS[rules]) * one_set
    fixed = _FIXED_BYTES + threads * (_BYTES_PER_THREAD + 10 * chunks.rows * SQUARES)
    lead = -(-layout.leads // DISK_RANGES) * layout.mids
    touched = lead * max(_SET_BYTES * (6 + _NEIGHBOURS), 2 * SQUARES * codes.width)
    working = threads * touched + 2 * one_set + (16 << 20)
    least = fixed + search + working
    return MemoryNeed(
        in_memory=max(_STARTED_BYTES, fixed + max(captures, sets + journal + search)),
        least=max(_STARTED_BYTES, least),
        working=working,
    )


@dataclass(frozen=True)
class PlannedTable:
    """One table of a plan."""

    material: Material
    index_size: int
    placements: int
    """Canonical placements without overlaps; the other slots are holes."""
    memory_bytes: int
    disk_bytes: int
    """The file as it is, or as it will be."""
    cpu_seconds: float
    """On the machine where tables were measured."""
    seconds: float
    """Wall seconds on this machine, if it has built tables in the directory."""


def plan(
    materials: Iterable[Material], rules: Rules, directory: Path | None = None
) -> list[PlannedTable]:
    """Every table that the materials need, bottom-up.

    Finished tables in `directory` tell more about the others, and about this machine.
    """
    needed: dict[str, Material] = {}
    for material in materials:
        for child in material.closure():
            needed.setdefault(child.name, child)
    present = present_tables(directory, rules, FIT.measured) if directory is not None else {}
    estimates = Estimates(rules, FIT, present)
    wall_per_cpu = estimates.wall_per_cpu()
    planned = []
    for material in sorted(needed.values(), key=lambda m: (m.men, m.name)):
        layout = Layout.of(material)
        cpu_seconds = estimates.cpu_seconds(material)
        planned.append(
            PlannedTable(
                material=material,
                index_size=layout.slots,
                placements=estimates.placements(material),
                memory_bytes=memory_needed(
                    material, code_spaces(material, rules)[0], rules
                ).in_memory,
                disk_bytes=estimates.disk_bytes(material),
                cpu_seconds=cpu_seconds,
                seconds=cpu_seconds * wall_per_cpu,
            )
        )
    return planned
