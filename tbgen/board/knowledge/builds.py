"""Interface by which the board estimates, starts, observes and cancels builds of tables.

The board itself builds nothing: `tbgen serve` passes an implementation of `BuildService`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from tbgen.indexing import Material, PieceType


@dataclass(frozen=True)
class Cost:
    """Planned cost of building some tables and their supporting tables; present ones cost nothing.

    `seconds` is the time if tables are built one at a time. `memory_bytes` is the largest need of
    any one of the missing tables, `disk_bytes` the total size of their files.
    """

    seconds: float
    memory_bytes: int
    disk_bytes: int


@dataclass(frozen=True)
class Limits:
    """Greatest planned cost of a build that a visitor of the board may start."""

    seconds: float
    memory_bytes: int


class Stage(StrEnum):
    """State of a build of a `BuildService`: running or ended, and how."""

    BUILDING = "building"
    BUILT = "built"
    CANCELLED = "cancelled"
    FAILED = "failed"


@dataclass(frozen=True)
class BuildProgress:
    """Progress of the last build.

    wanted : requested materials
    total : number of tables to build, with supporting tables
    done : number of finished tables
    running : names of the materials being built
    share : part of the planned time that is done, 0 to 1
    seconds : time since the start
    compares : true while `serve --demo` builds tables without repetition rules, for comparison
    problem : reason of a failure
    """

    wanted: tuple[Material, ...]
    stage: Stage
    total: int = 0
    done: int = 0
    running: tuple[str, ...] = ()
    share: float = 0.0
    seconds: float = 0.0
    compares: bool = False
    problem: str = ""

    @property
    def goes_on(self) -> bool:
        """Return whether the build is still running."""
        return self.stage == Stage.BUILDING


class BuildService(Protocol):
    """Interface of a service that builds tables into the served directory, one build at a time."""

    limits: Limits | None
    """Greatest cost of a build that visitors may start; None if visitors may not build."""

    starters: Mapping[str, Sequence[Material]]
    """Sets of materials offered as a first build, by KEY; the message `start_KEY` is its name."""

    def cost(self, materials: Sequence[Material]) -> Cost | None:
        """Return the cost of building the tables of `materials`; None if it cannot be estimated."""

    def progress(self) -> BuildProgress | None:
        """Return the progress of the last build; None before the first one."""

    def start(self, materials: Sequence[Material]) -> bool:
        """Start a build in other processes; return False, and do nothing, if one is running."""

    def cancel(self) -> None:
        """Request the end of the build, if there is one; finished tables stay."""


def may_build(workshop: BuildService, cost: Cost) -> bool:
    """Return whether `workshop.limits` exist and the build's time and memory are within them."""
    limits = workshop.limits
    if limits is None:
        return False
    return cost.seconds <= limits.seconds and cost.memory_bytes <= limits.memory_bytes


def closure_bound(material: Material) -> int:
    """Return an upper bound of the number of materials that captures reach, including this one."""
    size = 1
    for army in material.armies:
        for kind in PieceType:
            size *= army.count(kind) + 1
    return size // 4  # each king has contributed a factor of 2
