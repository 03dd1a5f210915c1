"""Positions of the day: equal for all visitors until midnight (UTC), without being stored.

    date  ->  a table, a seed  ->  a position that the rules of repetition decide
                               ->  a puzzle

The seed is the number of the day, so that a link to an earlier day stays valid.
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
"""Time limit in seconds of the search that the first request of a day makes."""

LEAST_MEN = 3
"""Number of pieces that a puzzle of the day must exceed."""

ATTEMPTS = 4
"""Maximum number of tables tried for a position of the day."""

STEP = 7
"""Distance in the list of tables between the puzzles of two days; neighbours are similar."""

DECIDED = Query(outcome=Outcome.WIN, orders=(1, NO_END), differs=True)
"""Query for wins by repetition that are no wins under another rule set."""


def today() -> date:
    """Return the date in UTC."""
    return datetime.now(UTC).date()


def comparable(library: Library) -> list[Material]:
    """Return the materials that have a table of the rule set in use and one of another rule set."""
    if library.tables.rule_set.rules is None:
        return []
    others = {name.material for tables in library.others() for name in tables.available()}
    return [name.material for name in library.available() if name.material in others]


def rules_of_the_day(library: Library, day: date) -> Position | None:
    """Return the day's position that is won only because of the rules; None if none is found."""
    return library.recall(("rules of the day", day), partial(_decided, library, day.toordinal()))


def has_puzzles(library: Library) -> bool:
    """Return whether a table is large enough for a puzzle of the day."""
    return any(name.material.men > LEAST_MEN for name in library.available())


def puzzle_of_the_day(library: Library, day: date) -> Position | None:
    """Return the day's puzzle, a win to find; None if no table has any."""
    return library.recall(("puzzle of the day", day), partial(_puzzle, library, day.toordinal()))


def _puzzle(library: Library, number: int) -> Position | None:
    materials = [name.material for name in library.available() if name.material.men > LEAST_MEN]
    for offset in range(min(ATTEMPTS, len(materials))):
        material = materials[(number * STEP + offset) % len(materials)]
        with contextlib.suppress(NothingFoundError, TablebaseError, OSError):
            return find_puzzle(library, material, seed=number)
    return None


def _decided(library: Library, number: int) -> Position | None:
    decided = [material for material in comparable(library) if material.both_armed]
    tried = 0
    for offset in range(len(decided)):
        material = decided[(number + offset) % len(decided)]
        if not library.statistics(material)[0].rule_decided:
            continue
        found = glance(library, material, DECIDED, seed=number, most=1, seconds=SECONDS)
        if found.positions:
            return found.positions[0]
        tried += 1
        if tried == ATTEMPTS:
            break
    return None
