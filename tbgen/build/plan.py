"""The plan of a build: which tables, in which order, and what they cost.

    closure of the materials asked for, bottom-up  ->  index size, memory, disk, time for each

Memory follows from the arrays that the solver allocates; disk and time are estimated from tables
that were measured or that are there already (`estimate.py`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tbgen.build.costs import FITS
from tbgen.build.estimate import Estimates, present_tables
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
    present = present_tables(directory, rules) if directory is not None else {}
    # Where a rule set has not been measured, that with the most rules is a bound.
    fit = FITS.get(rules, FITS[Rules.WXF])
    estimates = Estimates(rules, fit, present)
    wall_per_cpu = estimates.wall_per_cpu()
    planned = []
    for material in sorted(needed.values(), key=lambda m: (m.men, m.name)):
        layout = Layout.of(material)
        cpu_seconds = estimates.cpu_seconds(material)
        planned.append(
            PlannedTable(
                material=material,
                index_size=layout.slots,
                placements=count_placements(layout),
                memory_bytes=memory_needed(material, code_spaces(material, rules)[0]),
                disk_bytes=estimates.disk_bytes(material),
                cpu_seconds=cpu_seconds,
                seconds=cpu_seconds * wall_per_cpu,
            )
        )
    return planned
