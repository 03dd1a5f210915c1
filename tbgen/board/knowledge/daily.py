"""Positions of the day: the same for everybody until midnight (UTC), without being stored.

    date  ->  a table, a seed  ->  a position that the rules of repetition decide
                               ->  a puzzle

The seed is the day's number, so that a link to yesterday's position goes on to be true.
"""

from __future__ import annotations

import contextlib
from datetime import UTC, date, datetime
from functools import partial

from tbgen.board.knowledge.errors import NothingFoundError
from tbgen.board.knowledge.library import Library
from tbgen.board.knowledge.puzzles import find_puzzle
from tbgen.board.knowledge.search import glance
from tbgen.finding.query import NO_END, Query
from tbgen.indexing import Material, Position
from tbgen.tables import Outcome, TablebaseError

SECONDS = 1.0
"""Time for a position of the day; the first visitor of a day waits for it."""

LEAST_MEN = 3
"""A puzzle of the day has more men."""

ATTEMPTS = 4
"""Tables that are tried for a position of the day."""

STEP = 7
"""From the table of a day to that of the next one, so that neighbours in the list are not alike."""

DECIDED = Query(outcome=Outcome.WIN, orders=(1, NO_END), differs=True)
"""Wins by repetition that are none under another rule set."""


def today() -> date:
    """Return the date in UTC."""
    return datetime.now(UTC).date()


def comparable(library: Library) -> list[Material]:
    """Return the materials with tables of two rule sets, the one in use among them."""
    if library.tables.rule_set.rules is None:
        return []
    others = {name.material for tables in library.others() for name in tables.available()}
    return [name.material for name in library.available() if name.material in others]


def rules_of_the_day(library: Library, day: date) -> Position | None:
    """Return a position that is won only because of the rules; None where none is known."""
    return library.recall(("rules of the day", day), partial(_decided, library, day.toordinal()))


def puzzle_of_the_day(library: Library, day: date) -> Position | None:
    """Return the day's puzzle, a win to be found; None where no table has any."""
    return library.recall(("puzzle of the day", day), partial(_puzzle, library, day.toordinal()))


def _puzzle(library: Library, number: int) -> Position | None:
    materials = [name.material for name in library.available() if name.material.men > LEAST_MEN]
    for offset in range(min(ATTEMPTS, len(materials))):
        material = materials[(number * STEP + offset) % len(materials)]
        with contextlib.suppress(NothingFoundError, TablebaseError, OSError):
            return find_puzzle(library, material, seed=number)
    return None


def _decided(library: Library, number: int) -> Position | None:
    decided = [
        material
        for material in comparable(library)
        if material.both_armed and library.statistics(material)[0].rule_decided
    ]
    for offset in range(min(ATTEMPTS, len(decided))):
        material = decided[(number + offset) % len(decided)]
        found = glance(library, material, DECIDED, seed=number, most=1, seconds=SECONDS)
        if found.positions:
            return found.positions[0]
    return None
