"""Counter of the rows that sweeps have read: a phase's work, independent of the machine.

`tbgen.building.profile` measures seconds.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Meter:
    """Counts of all sweeps so far."""

    sweeps: int = 0
    rows: int = 0
    """Rows that sweeps have read, of the sets `within` in which they look for positions."""

    def add(self, rows: int) -> None:
        """Count one sweep and its rows."""
        self.sweeps += 1
        self.rows += rows
