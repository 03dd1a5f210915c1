"""Memory for solving a material, from the arrays that the phases allocate.

    index and rules  ->  code spaces to try  ->  MemoryNeed: in memory, or with arrays on disk

Plain arithmetic without numba, so that a plan can ask for tables that nobody builds. It lies
beside the solver because it changes with it: a phase that keeps one more set of positions has to
be counted here. How much of this memory a machine has, and what a table costs in time and on
disk, is the business of `tbgen.building`.
"""

from __future__ import annotations

from dataclasses import dataclass

from tbgen.indexing.layout import Layout
from tbgen.indexing.material import Material
from tbgen.indexing.rulesets import Rules
from tbgen.indexing.squares import SQUARES, Side
from tbgen.rows.workers import DISK_RANGES, RANGES, Chunks
from tbgen.tables.codes import BYTE_SPAN, LONG_SPAN, CodeSpace

_SET_BYTES = 2 * 8
"""Bytes per row of one set of positions of one side: two words of 45 bits, kept in 64 each."""

_SETS = 10
"""Sets while the propagation runs: unknown, unwon, losable and two frontiers of each side."""

_PATTERN_SETS = {rules: 3 if rules.judges_checks else 0 for rules in Rules}
"""More sets while the patterns of a rule set are searched for: the two that all searches share,
and what one of them holds for a moment."""

_PATTERN_BYTES = {
    rules: 0.4 if rules.judges_chases else 0.2 if rules.judges_checks else 0.0 for rules in Rules
}
"""Bytes per slot of lists and graphs in such a search, never on disk: the most that was measured,
since only a search knows how many candidates are left for its graph."""

_JOURNAL_BYTES = 0.4
"""Bytes per slot of the records of what was settled, and of captures that wait, compressed: the
most that was measured, where nearly every position is decided at a ply of its own."""

_STARTED_BYTES = 145 << 20
"""The interpreter, and the compiler that loads the kernels; also while a small table is built.
The solver gives a part of it back before it allocates (`trim_process`), so this is a floor, and
no summand."""

_FIXED_BYTES = 124 << 20
"""The interpreter and the kernels, while a table is built."""

_BYTES_PER_THREAD = 2 << 20
"""A thread's stack and small buffers, beside the codes of the chunk it works on."""

_CHUNK_BYTES = 10
"""Bytes per slot of the chunk that a thread works on: its codes, and records being packed."""

_NEIGHBOURS = 20
"""Leads around one that a sweep looks at, in the frontier and in the escapes together."""

_SWEEP_SETS = 6
"""Sets of its own lead that a sweep reads or writes beside those."""

_MOST_WIDTH = 2
"""Bytes of a number in a plane, at most: as many as a code has, if that is less. Most tables take
one byte, but which of them do is known when their values are (`tbgen.tables.palettes`)."""

_SLACK_BYTES = 16 << 20
"""What numpy, the compressor and the allocator may take between two looks at the memory in use."""


def has_orders(material: Material, rules: Rules) -> bool:
    """Return whether a table has rule-decided orders.

    Never where one side is armless: a repetition loses only against a side that can still win
    (Fang, Hsu & Hsu 2002).
    """
    return rules != Rules.NONE and material.both_armed


def code_spaces(material: Material, rules: Rules) -> tuple[CodeSpace, CodeSpace]:
    """The codes to try: those of one byte per order, and those for long distances."""
    if has_orders(material, rules):
        return CodeSpace(2, BYTE_SPAN), CodeSpace(4, LONG_SPAN)
    return CodeSpace(1, BYTE_SPAN), CodeSpace(2, LONG_SPAN)


@dataclass(frozen=True)
class MemoryNeed:
    """Memory for solving a table, in bytes, supporting tables included."""

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

    The peak is while the captures of the second side are found (its plane, the largest
    supporting table and its view, a few sets), or while patterns are searched for: all sets, what
    the search needs beside them, and the journals.
    """
    layout = Layout.of(material)
    if not has_orders(material, rules):
        rules = Rules.NONE
    one_set = layout.rows * _SET_BYTES
    slots = layout.rows * SQUARES
    width = min(codes.width, _MOST_WIDTH)
    captures = slots * width + 4 * one_set + _supporting_bytes(material, width, threads)
    journal = int(slots * _JOURNAL_BYTES)
    search = int(slots * _PATTERN_BYTES[rules])
    sets = (_SETS + _PATTERN_SETS[rules]) * one_set
    chunk_slots = Chunks.of(layout.leads, layout.mids).rows * SQUARES
    fixed = _FIXED_BYTES + threads * (_BYTES_PER_THREAD + _CHUNK_BYTES * chunk_slots)
    # On disk, a thread touches the leads of one of `DISK_RANGES` before pages are released.
    rows = -(-layout.leads // DISK_RANGES) * layout.mids
    touched = rows * max(_SET_BYTES * (_SWEEP_SETS + _NEIGHBOURS), 2 * SQUARES * width)
    working = threads * touched + 2 * one_set + _SLACK_BYTES
    least = fixed + search + working
    return MemoryNeed(
        in_memory=max(_STARTED_BYTES, fixed + max(captures, sets + journal + search)),
        least=max(_STARTED_BYTES, least),
        working=working,
    )


def _supporting_bytes(material: Material, width: int, threads: int) -> int:
    """Bytes of the supporting table that takes most while its captures are found.

    It is in memory as rows by squares, its legal positions as a set beside it, and once more as
    a view in the order of the material.
    """
    layout = Layout.of(material)
    leads = -(-layout.leads // RANGES)
    most = 0
    for (side, kind), child in material.captures().items():
        child_layout = Layout.of(child)
        table = child_layout.rows * (SQUARES if child_layout.inner else 1)
        view = max(
            view.rows * (SQUARES if view.inner else 1) for view in layout.views(Side(side), kind)
        )
        if not kind.is_attacker:
            # Two columns at most, for the leads of one range.
            view = int(view * min(1, threads * 2 * leads / layout.leads))
        most = max(most, (table + view) * width + child_layout.rows * _SET_BYTES)
    return most
