"""Positions to begin with, from the tables that are here: what a first visit shows.

    one of the day that is won only because of the rules, and a puzzle of the day
    the longest wins of three endgames, the highest orders of three

The others are in the statistics of tables, so that nothing is searched for.
"""

from __future__ import annotations

import contextlib

from tbgen.answers.mechanism import Offence, find_mechanism
from tbgen.board.knowledge.daily import puzzle_of_the_day, rules_of_the_day, today
from tbgen.board.knowledge.library import Library
from tbgen.board.language.i18n import text
from tbgen.board.language.names import material_name
from tbgen.board.web.gallery import LongestWin, longest_wins, small_boards
from tbgen.board.web.layout import with_settings
from tbgen.board.web.markup import link, message
from tbgen.board.web.state import View
from tbgen.board.web.verdict import moves_in_words
from tbgen.indexing import Position
from tbgen.tables import TablebaseError, TableStatistics

LONGEST, DEEPEST = 3, 3
"""Longest wins and highest orders that are shown, each of another endgame."""

FEWEST = 3
"""Positions that are worth a row of their own."""


def chosen_panel(library: Library, view: View) -> str:
    """The positions as small boards; empty where there are too few."""
    chosen = library.recall(("chosen",), lambda: _chosen(library))
    language = view.language
    shown = _of_the_day(library, language)
    if not shown and len(chosen) < FEWEST:
        return ""
    for win, offence in chosen:
        said = moves_in_words(win.plies, language)
        if offence is not None:
            said = text(language, f"find_by_{offence}") + text(language, "of_order", n=win.order)
        name = material_name(win.position.material, language)
        shown.append((win.position, f"{name}{text(language, 'colon')}{said}"))
    heading = message(language, "chosen")
    boards = f"{small_boards(shown, view)}{_puzzle_of_the_day(library, view)}"
    return f'<section class="chosen"><h2>{heading}</h2>{boards}</section>'


def _of_the_day(library: Library, language: str) -> list[tuple[Position, str]]:
    """The day's position that is won only because of the rules, and what is said of it."""
    position = rules_of_the_day(library, today())
    if position is None:
        return []
    said = text(language, "only_rules_day", name=material_name(position.material, language))
    return [(position, said)]


def _puzzle_of_the_day(library: Library, view: View) -> str:
    """A link to the day's puzzle; empty without any."""
    if puzzle_of_the_day(library, today()) is None:
        return ""
    daily = link(with_settings("/puzzle", view), text(view.language, "puzzle_day"), "button")
    return f"<p>{daily}</p>"


def _chosen(library: Library) -> list[tuple[LongestWin, Offence | None]]:
    """The positions, and what decides those of order 1 and above."""
    wins = [found for found in map(longest_wins, _statistics(library)) if found]
    plain = [max(found, key=lambda win: (win.order == 0) * win.plies) for found in wins]
    plain.sort(key=lambda win: -win.plies)
    # The longest of all is where the board begins.
    chosen: list[tuple[LongestWin, Offence | None]] = [
        (win, None) for win in plain[1 : 1 + LONGEST] if win.order == 0
    ]
    deep = [max(found, key=lambda win: win.order) for found in wins]
    deep.sort(key=lambda win: -win.order)
    for win in deep[:DEEPEST]:
        offence = _offence(library, win) if win.order else None
        if offence is not None:
            chosen.append((win, offence))
    return chosen


def _statistics(library: Library) -> list[TableStatistics]:
    """Of every table that can be read."""
    found = []
    for name in library.available():
        with contextlib.suppress(TablebaseError, OSError):
            found.append(library.statistics(name.material)[0])
    return found


def _offence(library: Library, win: LongestWin) -> Offence | None:
    with contextlib.suppress(TablebaseError, OSError):
        mechanism = find_mechanism(library.tables, win.position)
        return None if mechanism is None else mechanism.offence
    return None
