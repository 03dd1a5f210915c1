"""Builds of tables as a board knows them: their cost, their progress, and who does them.

The board builds nothing and knows nobody who does: whoever serves it brings a `Workshop`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from tbgen.indexing import Material
from tbgen.indexing.squares import PieceType


@dataclass(frozen=True)
class Cost:
    """The cost of building some tables, and those that they need and that are not here."""

    seconds: float
    memory_bytes: int
    disk_bytes: int


@dataclass(frozen=True)
class Limits:
    """The most that a build which is asked for on a page may be planned to take."""

    seconds: float
    memory_bytes: int


class Stage(StrEnum):
    """A stage of a build."""

    BUILDING = "building"
    BUILT = "built"
    CANCELLED = "cancelled"
    FAILED = "failed"


@dataclass(frozen=True)
class Progress:
    """The progress of the last build.

    `done` of `total` tables are there; `running` are the materials that are being built, `share`
    (0 to 1) is the part of the planned time that is done, `seconds` have passed. `problem` says
    why a build has failed.
    """

    wanted: tuple[Material, ...]
    stage: Stage
    total: int = 0
    done: int = 0
    running: tuple[str, ...] = ()
    share: float = 0.0
    seconds: float = 0.0
    problem: str = ""

    @property
    def goes_on(self) -> bool:
        """Return whether it has not ended."""
        return self.stage == Stage.BUILDING


class Workshop(Protocol):
    """A queue of builds into the directory that is served, one request after another."""

    limits: Limits | None
    """Of what readers may ask for; None where they may not ask for anything."""

    starters: Mapping[str, Sequence[Material]]
    """Sets to begin with, by the key of their name: `start_KEY` in the texts."""

    def cost(self, materials: Sequence[Material]) -> Cost | None:
        """The cost of building; None where nobody can tell."""

    def progress(self) -> Progress | None:
        """The progress of the last build; None before the first one."""

    def start(self, materials: Sequence[Material]) -> bool:
        """Begin to build in other processes; False if something is being built already."""

    def cancel(self) -> None:
        """End the build, if there is one; what is finished stays."""


def may_build(workshop: Workshop, cost: Cost) -> bool:
    """Return whether readers may ask for a build of that cost."""
    limits = workshop.limits
    if limits is None:
        return False
    return cost.seconds <= limits.seconds and cost.memory_bytes <= limits.memory_bytes


def closure_size(material: Material) -> int:
    """At most how many materials captures can lead to; cheap, unlike the closure itself."""
    size = 1
    for army in material.armies:
        for kind in PieceType:
            size *= army.count(kind) + 1
    return size // 4
