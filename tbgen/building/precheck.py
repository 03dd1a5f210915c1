"""Checks before a build: memory, disk and time, as estimated by the plan.

require_room      rejects a build that does not fit, and names the figure that is too large
require_confirmation  rejects a build of more than a day, unless it was confirmed
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from tbgen.building.allowance import usable_memory
from tbgen.building.builder import NotEnoughMemoryError, least_memory
from tbgen.building.plan import PlannedTable, Totals
from tbgen.indexing import InputError
from tbgen.indexing.rulesets import Rules
from tbgen.indexing.units import format_bytes
from tbgen.retrograde.memory import code_spaces, has_orders, memory_needed

LONG_SECONDS = 24 * 3600
"""Seconds from which a build needs confirmation."""

_DISK_ERROR = 2
"""Multiple of the free disk space above which a build's estimated size is rejected.

The estimate may be too high by this factor.
"""


def require_room(
    planned: Sequence[PlannedTable], directory: Path, rules: Rules, memory: int, threads: int
) -> None:
    """Raise an error for a build that needs more memory or disk space than this machine has.

    planned : the tables to be built
    memory : requested bytes, 0 for free memory; threads : number of threads that build one table

    Raises `NotEnoughMemoryError` for the table that needs most, and `InputError` for the disk.
    """
    needs = [
        (memory_needed(table.material, code_spaces(table.material, rules)[0], rules, threads).least,
         table.material.name)
        for table in planned
    ]  # fmt: skip
    available, limit, _ = usable_memory(memory)
    if needs and max(needs)[0] > available:
        largest, name = max(needs)
        ordered = any(has_orders(table.material, rules) for table in planned)
        needed, how = least_memory(largest, available, rules, ordered=ordered)
        raise NotEnoughMemoryError(name, needed, available, limit, how=how)
    disk = sum(table.disk_bytes for table in planned)
    at = next(place for place in (directory, *directory.absolute().parents) if place.exists())
    free = shutil.disk_usage(at).free
    if disk > _DISK_ERROR * free:
        raise InputError(
            f"{len(planned)} tables take about {format_bytes(disk)} of disk, and {directory} "
            f"has {format_bytes(free)} left",
            "build fewer materials, or name another directory with --tables",
        )


def require_confirmation(totals: Totals, *, confirmed: bool) -> None:
    """Raise `InputError` for a build of more than a day that was not confirmed."""
    if totals.seconds > LONG_SECONDS and not confirmed:
        raise InputError(
            f"{totals.tables} tables take about {totals.seconds / 3600:,.0f} hours",
            "confirm with --yes; tbgen plan lists them",
        )
