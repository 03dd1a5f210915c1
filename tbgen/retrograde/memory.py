"""Memory for solving a material, from the arrays that the phases allocate.

    index and rules  ->  code spaces to try  ->  MemoryNeed: in memory, or with arrays on disk

Plain arithmetic, for plans of tables that are not built yet. If a phase allocates one more set of
positions, it must be counted here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tbgen.indexing.layout import Layout
from tbgen.indexing.material import Material
from tbgen.indexing.rulesets import Rules
from tbgen.indexing.squares import SQUARES, PieceType, Side
from tbgen.rows.workers import DISK_RANGES, Chunks
from tbgen.tables.codes import BYTE_SPAN, LONG_SPAN, CodeSpace
from tbgen.tables.errors import UnsupportedMaterialError

_SET_BYTES = 2 * 8
"""Bytes per row of one set of positions of one side: two words of 45 bits, kept in 64 each."""

_SETS = 7
"""Number of sets during the propagation: unknown and losable of each side, three frontiers."""

_PATTERN_SETS = 4
"""Number of additional sets in searches for perpetual checks and chases, which share them."""

_IDLE_SETS = 2
"""Number of idle frontiers that are released while a large graph of chases exists."""

_CAPTURE_SETS = 2
"""Number of sets in memory while captures are found: the losable positions of each side."""

_GRAPH_BYTES = 0.4
"""Bytes per slot, the most measured, of lists and graphs in a search for chases. They are always in
memory, even if other arrays are on disk.
"""

_RECORD_BYTES = 64 << 10
"""Bytes in memory for each chunk of leads: records too short to be stored in a file, and the file
offsets of the others.
"""

_STARTED_BYTES = 145 << 20
"""Minimum bytes of a process: the interpreter, and the compiler while it loads the kernels. The
compiler's part is released (`trim_process`) before the solver allocates, so this is not added.
"""

_FIXED_BYTES = 133 << 20
"""Bytes of the interpreter and the kernels while a table is built."""

_LEAD_BYTES = 180
"""Maximum bytes per lead of the layout's frame and of frontiers. The defenders have at most 15
moves on average, of eight bytes each.
"""

_VIEW_LEAD_BYTES = 36
"""Bytes per lead of a view, or of a supporting table, that are kept while captures are found."""

_MAKING_BYTES = 104
"""Bytes per lead of a view that exist only while the view is made."""

_BYTES_PER_THREAD = 2 << 20
"""Bytes of a thread's stack and small buffers, without its chunk."""

_CHUNK_BYTES = 4
"""Bytes per slot of a thread's chunk: its codes, and records being compressed."""

_NEIGHBOURS = 20
"""Assumed number of leads, one move away, whose rows a sweep reads for one lead."""

_SWEEP_SETS = 6
"""Number of sets whose rows a sweep reads or writes in the lead itself."""

_MOST_WIDTH = 2
"""Maximum bytes of a number in a plane (`tbgen.tables.palettes`); one byte if codes have one."""

_TILES = 2
"""Number of tiles (one lead or more each) that the writer of a table holds at a time."""

_SLACK_BYTES = 16 << 20
"""Bytes that numpy, zstd and the allocator take until `DiskStorage` measures the memory again."""


_MOST_PLACEMENTS = 1 << 32
"""Maximum number of slots of a lead: lists of a chunk's positions have four bytes for a slot."""


def fits_32_bits(material: Material) -> bool:
    """Return whether 32 bits can number the slots of a lead, as the solver requires."""
    return Layout.of(material).mids * SQUARES <= _MOST_PLACEMENTS


def require_numbers_of_32_bits(material: Material) -> None:
    """Raise `UnsupportedMaterialError` if a lead has more slots than 32 bits can number."""
    if not fits_32_bits(material):
        placements = Layout.of(material).mids * SQUARES
        raise UnsupportedMaterialError(
            material.name, f"its attackers have {placements:,} placements, too many for 32 bits"
        )


def has_orders(material: Material, rules: Rules) -> bool:
    """Return whether orders above 0 (positions decided by the repetition rules) are searched.

    False under rules without perpetual check. Also False if one side has no attackers: then checks
    decide nothing (lemma of Fang, Hsu & Hsu 2002, section 5), and no chases that do are known.
    """
    return rules.judges_checks and material.both_armed


def code_spaces(material: Material, rules: Rules) -> tuple[CodeSpace, CodeSpace]:
    """Return the code spaces to try in turn: `BYTE_SPAN` distances per order, then `LONG_SPAN`."""
    if has_orders(material, rules):
        return CodeSpace(2, BYTE_SPAN), CodeSpace(4, LONG_SPAN)
    return CodeSpace(1, BYTE_SPAN), CodeSpace(2, LONG_SPAN)


@dataclass(frozen=True)
class MemoryNeed:
    """Memory for solving a table, in bytes, supporting tables included."""

    in_memory: int
    """Peak with all arrays in memory."""
    least: int
    """Minimum, with the arrays on disk."""
    working: int
    """Part of `least` that may come into use before `DiskStorage` measures memory again: pages of
    arrays on disk, and memory that numpy, zstd and the allocator take.
    """


def memory_needed(
    material: Material, codes: CodeSpace, rules: Rules, threads: int = 2, width: int = 1
) -> MemoryNeed:
    """Return the memory for solving a material under some rules.

    codes : code space of the table
    width : bytes of one element of a plane of captures (`captures.capture_width`)

    The peak is in one of three phases: finding captures, searching for loops, or writing a plane.
    """
    layout = Layout.of(material)
    if not has_orders(material, rules):
        rules = Rules.NONE
    one_set = layout.rows * _SET_BYTES
    slots = layout.rows * SQUARES
    most_width = min(codes.width, _MOST_WIDTH)
    captures = _CAPTURE_SETS * one_set + _supporting_bytes(material, width, threads)
    sets = _SETS + (_PATTERN_SETS if rules.judges_checks else 0)
    search = int(slots * _GRAPH_BYTES) if rules.judges_chases else 0
    solving = max(sets * one_set, (sets - _IDLE_SETS) * one_set + search)
    chunks = Chunks.of(layout.leads, layout.mids)
    chunk_slots = chunks.rows * SQUARES
    fixed = _FIXED_BYTES + threads * (_BYTES_PER_THREAD + _CHUNK_BYTES * chunk_slots)
    fixed += _RECORD_BYTES * chunks.number
    fixed += _LEAD_BYTES * layout.leads + _view_lead_bytes(material)
    # On disk, a thread touches the leads of one of `DISK_RANGES` before pages are released.
    rows = -(-layout.leads // DISK_RANGES) * layout.mids
    touched = rows * max(_SET_BYTES * (_SWEEP_SETS + _NEIGHBOURS), 2 * SQUARES * most_width)
    working = threads * touched + 2 * one_set + _SLACK_BYTES
    least = fixed + search + working
    writing = (slots + _TILES * layout.mids * SQUARES) * most_width
    in_memory = max(_STARTED_BYTES, fixed + max(captures, solving, writing))
    # With many threads and small arrays, `least` may exceed `in_memory`.
    return MemoryNeed(in_memory, min(in_memory, max(_STARTED_BYTES, least)), working)


def _captures(material: Material, victim: Side) -> Iterator[tuple[PieceType, Layout, list[Layout]]]:
    """Yield a triple for each type of piece that the side `victim` may lose.

    Its parts are the type, the layout of the table after the capture, and the layouts of the views.
    """
    layout = Layout.of(material)
    for (side, kind), child in material.captures().items():
        if side == victim:
            yield kind, Layout.of(child), layout.views(victim, kind)


def _supporting_bytes(material: Material, width: int, threads: int) -> int:
    """Return the bytes of planes and views while captures are found, of the side that needs more.

    width : bytes of one element of a plane of captures

    A table after the capture of an advisor or elephant is kept as a plane, beside views of a few
    leads. A table after the capture of an attacker is kept as views, and as a plane only while it
    is loaded. Each thread has a plane of best captures for a range of leads.
    """
    layout = Layout.of(material)
    chunks = Chunks.of(layout.leads, layout.mids)
    range_of_leads = min(1, threads * chunks.range_rows / layout.rows)
    most = 0
    for victim in Side:
        kept = layout.rows * SQUARES * range_of_leads
        loading = 0
        for kind, child, views in _captures(material, victim):
            table, *planes = (
                each.rows * (SQUARES if each.inner else 1) for each in (child, *views)
            )
            # For a defender, views of at most two columns, for the leads of one range.
            kept += sum(planes) if kind.is_attacker else table + 2 * max(planes) * range_of_leads
            if kind.is_attacker:
                loading = max(loading, table)
        most = max(most, int((kept + loading) * width))
    return most


def _view_lead_bytes(material: Material) -> int:
    """Return the bytes of arrays by lead while captures are found, for the side that needs more.

    These are the frames of the views, and for each defender the leads after its capture.
    """
    layout = Layout.of(material)
    most = 0
    for victim in Side:
        kept = making = 0
        for kind, child, views in _captures(material, victim):
            kept += sum(each.leads for each in (child, *views)) * _VIEW_LEAD_BYTES
            if not kind.is_attacker:
                kept += layout.leads * layout.armies[victim].count(kind) * 8
            making = max(making, *(view.leads for view in views))
        most = max(most, kept + making * _MAKING_BYTES)
    return most
