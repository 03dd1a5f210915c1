"""Handbook of practical endgames: class of each, and exceptions from it.

The class of an endgame is won, drawn or open, by the shares of positions that are won or drawn with
the attacker to move. An exception is a position with the attacker to move that has another outcome:
in a drawn endgame a win, in a won or open one a draw or loss. A chapter has the endgames of one
attacker.

/handbook        all attackers: each defence with class, shares, longest win, share of rule wins
/handbook/KRN    one attacker: also diagrams of the longest win and of exceptions
/handbook/all    all attackers with diagrams, as one document

`tbgen.finding.handbook` determines the classes. All pages can be printed.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from html import escape

from tbgen.board.knowledge.search import positions_of_value
from tbgen.board.knowledge.store import TableStore
from tbgen.board.language.words import army_name, material_name, percent
from tbgen.board.web.http import Answer, RequestError
from tbgen.board.web.layout import class_badge, link, table, wide_page, with_settings
from tbgen.board.web.small_boards import longest_wins, small_boards
from tbgen.board.web.verdict import moves_in_words, rules_name
from tbgen.board.web.view import View
from tbgen.finding.handbook import HandbookEntry, chapters, handbook_entry
from tbgen.finding.query import Query
from tbgen.indexing import Material, Position, Side
from tbgen.indexing.squares import EMPTY
from tbgen.rules import legal_moves
from tbgen.tables import Outcome, TablebaseError, TableStatistics

EXCEPTIONS = 3
"""Most diagrams of exceptions in a drawn endgame (wins).

In other endgames at most `EXCEPTIONS - 1` draws and as many losses are shown.
"""

CANDIDATES = 24
"""Number of exceptions of one outcome to search for; those with the fewest captures are shown."""

SECONDS = 0.5
"""Time limit in seconds of the search for exceptions of one endgame with one outcome."""

DOCUMENT_SECONDS = 12.0
"""Time in seconds after which a page begins no further search for exceptions.

Later requests search the endgames that were left out.
"""


CSS = "wide handbook"


def handbook_page(store: TableStore, view: View) -> Answer:
    """Return the page of all attackers, each with a table of its endgames."""
    found = _chapters(store)
    parts = []
    for name, entries in found.items():
        heading = link(with_settings(f"/handbook/{name}", view), _attacker_name(entries, view))
        parts.append(
            f"<section><h2>{heading} <code>{name}</code></h2>{_table(entries, view)}</section>"
        )
    empty = "" if parts else f'<p class="notice">{view.message("no_tables")}</p>'
    whole = link(with_settings("/handbook/all", view), view.text("handbook_whole"), "button")
    content = f'<p class="links">{whole}</p>{_legend(view)}{empty}{"".join(parts)}'
    return wide_page(view, view.text("handbook"), content, "/handbook", css=CSS)


def chapter_page(store: TableStore, view: View, name: str) -> Answer:
    """Return the page of one attacker with diagrams.

    `name` is the attacker's letters, such as `KRN`. Raises `RequestError` if no table has this
    attacker.
    """
    found = _chapters(store)
    if name not in found:
        raise RequestError(404, "there is no such chapter", "see /handbook")
    entries = found[name]
    title = f"{view.text('handbook')}{view.text('colon')}{_attacker_name(entries, view)}"
    sections, missing = _sections(store, view, entries, time.monotonic() + DOCUMENT_SECONDS)
    back = link(with_settings("/handbook", view), view.text("handbook_all"))
    content = (
        f'<p class="links">{back}</p>{_missing_note(missing, view)}{_legend(view)}'
        f"{_table(entries, view)}{sections}"
    )
    return wide_page(view, title, content, f"/handbook/{name}", css=CSS)


def document_page(store: TableStore, view: View) -> Answer:
    """Return the page of all attackers with diagrams; in print, each starts a new page."""
    found = _chapters(store)
    until = time.monotonic() + DOCUMENT_SECONDS
    contents, parts, missing = [], [], 0
    for name, entries in found.items():
        words = _attacker_name(entries, view)
        contents.append(f"<li>{link(f'#{name}', words)}</li>")
        sections, without = _sections(store, view, entries, until)
        missing += without
        parts.append(
            f'<section class="part" id="{name}"><h2>{escape(words)}</h2>'
            f"{_table(entries, view)}{sections}</section>"
        )
    rules = rules_name(store.tables.rule_set, view)
    under = f"{view.text('rules')}{view.text('colon')}{rules}"
    content = (
        f'<p class="under">{escape(under)}</p>{_missing_note(missing, view)}{_legend(view)}'
        f'<ol class="contents">{"".join(contents)}</ol>{"".join(parts)}'
    )
    return wide_page(view, view.text("handbook"), content, "/handbook/all", css=CSS)


def _chapters(store: TableStore) -> dict[str, list[HandbookEntry]]:
    """Return the handbook entries of all readable tables, by attacker."""

    def find() -> dict[str, list[HandbookEntry]]:
        others = {
            name.material: tables
            for tables in reversed(store.others())
            for name in tables.available()
            if name.material.both_armed
        }
        found = []
        for material, figures in store.all_statistics().items():
            with contextlib.suppress(TablebaseError, OSError):
                tables = others.get(material)
                other = None if tables is None else tables.table(material).statistics
                found.append(handbook_entry(figures, other))
        return chapters(found)

    return store.cached(("handbook",), find)


def _attacker_name(entries: list[HandbookEntry], view: View) -> str:
    return army_name(entries[0].material.first, Side.RED, view.language)


def _legend(view: View) -> str:
    kinds = "".join(
        f"<li>{class_badge(kind, view)} {view.message(f'handbook_{kind}')}</li>"
        for kind in ("won", "open", "drawn")
    )
    return f'<ul class="legend">{kinds}</ul>'


def _table(entries: list[HandbookEntry], view: View) -> str:
    columns = ("handbook_defender", "class", "win", "draw", "loss", "longest", "rule_decided")
    compared = any(entry.other_kind is not None for entry in entries)
    head = [view.text(key) for key in columns]
    if compared:
        head.append(view.text("handbook_without"))
    rows = []
    for entry in entries:
        href = with_settings(f"/endgames/{entry.material}", view)
        name = army_name(entry.material.second, Side.BLACK, view.language)
        longest = moves_in_words(entry.longest, view) if entry.longest else ""
        row = [
            f"{link(href, name)} <code>{entry.material}</code>",
            class_badge(entry.kind, view),
            *map(escape, map(percent, (entry.wins, entry.draws, entry.losses))),
            escape(longest),
            escape(percent(entry.by_rules)),
        ]
        if compared:
            row.append(_under_other_rules(entry, view))
        rows.append(row)
    return table(head, rows, "chapter")


def _under_other_rules(entry: HandbookEntry, view: View) -> str:
    """Return an endgame's share of wins under other rules, and its class there if it differs.

    Empty if the other rule set has no table.
    """
    if entry.other_kind is None or entry.other_wins is None:
        return ""
    said = f"{view.text('win')} {percent(entry.other_wins)}"
    return f"{class_badge(entry.other_kind, view) if entry.changed else ''} {escape(said)}"


def _sections(
    store: TableStore, view: View, entries: Sequence[HandbookEntry], until: float
) -> tuple[str, int]:
    """Return the sections of a chapter, and how many of them lack exceptions.

    A section lacks them if its search was not begun before `until`, a `time.monotonic()`.
    """
    parts, missing = [], 0
    for entry in entries:
        store.tables.checkpoint()
        exceptions = _exceptions(store, entry, until)
        missing += exceptions is None
        parts.append(_section(store, view, entry, exceptions))
    return "".join(parts), missing


def _missing_note(missing: int, view: View) -> str:
    """Return a notice that the exceptions of `missing` endgames are not found yet; empty for 0."""
    said = view.message("handbook_missing", n=missing)
    return f'<p class="notice">{said}</p>' if missing else ""


def _section(
    store: TableStore,
    view: View,
    entry: HandbookEntry,
    exceptions: Sequence[tuple[Position, Outcome]] | None,
) -> str:
    """Return an endgame in a sentence, with diagrams of its longest win and exceptions."""
    name = material_name(entry.material, view.language)
    shown: list[tuple[Position, str]] = []
    with contextlib.suppress(TablebaseError, OSError):
        figures, _ = store.statistics(entry.material)
        shown = _longest_wins(figures, view)
    for position, outcome in exceptions or ():
        shown.append((position, view.text(f"handbook_{outcome.name.lower()}")))
    boards = small_boards(shown, view) if shown else ""
    wins, draws = percent(entry.wins), percent(entry.draws)
    said = view.text(f"handbook_said_{entry.kind}", wins=wins, draws=draws)
    if entry.by_rules:
        said += view.text("handbook_rules", share=percent(entry.by_rules))
    heading = link(with_settings(f"/endgames/{entry.material}", view), name)
    return (
        f'<section class="entry"><h2>{heading} {class_badge(entry.kind, view)}</h2>'
        f"<p>{escape(said)}</p>{boards}</section>"
    )


def _longest_wins(figures: TableStatistics, view: View) -> list[tuple[Position, str]]:
    """Return the attacker's longest win, and its win of the highest order, with captions."""
    wins = [win for win in longest_wins(figures) if win.winner == Side.RED and win.plies]
    found = []
    plain = max((win for win in wins if not win.order), key=lambda win: win.length, default=None)
    if plain is not None:
        moves = moves_in_words(plain.plies, view)
        found.append((plain.position, f"{view.text('longest')}{view.text('colon')}{moves}"))
    deep = max((win for win in wins if win.order), key=lambda win: win.order, default=None)
    if deep is not None:
        found.append((deep.position, view.text("handbook_deep", n=deep.order)))
    return found


def _exceptions(
    store: TableStore, entry: HandbookEntry, until: float
) -> list[tuple[Position, Outcome]] | None:
    """Return exceptions of an endgame with the attacker to move, cached.

    None if the exceptions are not cached and no search is begun, because `time.monotonic()` is
    beyond `until`. Also None if the table cannot be read.
    """
    kept: dict[Material, list[tuple[Position, Outcome]]] = store.cached(("exceptions",), dict)
    if entry.material not in kept:
        if time.monotonic() > until:
            return None
        with contextlib.suppress(TablebaseError, OSError):
            kept[entry.material] = _find_exceptions(store, entry)
    return kept.get(entry.material)


def _find_exceptions(store: TableStore, entry: HandbookEntry) -> list[tuple[Position, Outcome]]:
    """Search for exceptions, and choose those with the fewest captures."""
    against = (Outcome.WIN,) if entry.kind == "drawn" else (Outcome.DRAW, Outcome.LOSS)
    shares = {Outcome.WIN: entry.wins, Outcome.DRAW: entry.draws, Outcome.LOSS: entry.losses}
    found = []
    for outcome in against:
        if not shares[outcome]:
            continue
        wanted = Query(turn=Side.RED, outcome=outcome)
        search = positions_of_value(store, entry.material, wanted, most=CANDIDATES, seconds=SECONDS)
        quiet = sorted(search.positions, key=_capture_count)
        found += [(position, outcome) for position in quiet[: EXCEPTIONS + 1 - len(against)]]
    return found


def _capture_count(position: Position) -> int:
    """Return the number of legal captures, counted for both sides as if each were to move."""
    turned = Position(position.board, position.side.other)
    return sum(
        position.board[move.target] != EMPTY
        for each in (position, turned)
        for move in legal_moves(each)
    )
