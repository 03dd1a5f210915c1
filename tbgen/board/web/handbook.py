"""Handbook of practical endgames: the class of each endgame, and its exceptions.

The class of an endgame is won, drawn or open, by the shares of outcomes with the attacker to move
(`tbgen.finding.handbook`). An *exception* is a position with the attacker to move that has another
outcome: in a drawn endgame a win, in a won or open one a draw or loss.

/handbook        all attackers: each defence with class and figures
/handbook/KRN    chapter of one attacker: also diagrams of the longest win and of exceptions
/handbook/all    all attackers with diagrams, as one document to print
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from html import escape

from tbgen.board.knowledge.search import positions_of_value
from tbgen.board.knowledge.store import TableStore
from tbgen.board.language.words import army_name, material_name
from tbgen.board.web.http import Answer, RequestError
from tbgen.board.web.layout import class_badge, link, page_link, table, wide_page
from tbgen.board.web.small_boards import longest_wins, small_boards
from tbgen.board.web.verdict import moves_in_words, rules_name
from tbgen.board.web.view import View
from tbgen.finding.handbook import CLASSES, HandbookEntry, chapters, handbook_entry
from tbgen.finding.query import Query
from tbgen.indexing import Material, Position, Side
from tbgen.indexing.squares import EMPTY
from tbgen.rules import legal_moves
from tbgen.system.units import percent
from tbgen.tables import Outcome, TablebaseError, TableStatistics

EXCEPTIONS = 3
"""Maximum number of diagrams of wins in a drawn endgame. Other endgames have at most
`EXCEPTIONS - 1` diagrams of draws, and at most as many of losses.
"""

CANDIDATES = 24
"""Maximum number of exceptions that a search finds; `EXCEPTIONS` limits those that are shown."""

SECONDS = 0.5
"""Time limit in seconds of the search for exceptions of one endgame with one outcome."""

DOCUMENT_SECONDS = 12.0
"""Seconds in which a page begins searches for exceptions; the next request begins the others."""


def handbook_page(store: TableStore, view: View) -> Answer:
    """Return the page of all attackers and their endgames; if no endgame has a table, a notice."""
    whole = page_link("/handbook/all", view, view.text("handbook_whole"), "button")
    parts = ""
    for name, entries in _chapters(store).items():
        heading = page_link(f"/handbook/{name}", view, _attacker_name(entries, view))
        shown = f"<h2>{heading} <code>{name}</code></h2>{_table(entries, view)}"
        parts += f"<section>{shown}</section>"
    content = f'<p class="links">{whole}</p>{_legend(view)}{parts}'
    if not parts:
        content = f'<p class="notice">{view.message("no_tables")}</p>'
    return wide_page(view, view.text("handbook"), content, "/handbook", css="wide handbook")


def chapter_page(store: TableStore, view: View, name: str) -> Answer:
    """Return the page of one attacker (`KRN`) with diagrams, or of all if `name` is `all`.

    Raises `RequestError` without tables of the attacker, or for `all` without any.
    """
    found, title = _chapters(store), view.text("handbook")
    until = time.monotonic() + DOCUMENT_SECONDS
    contents, parts, missing = "", "", 0
    if name == "all" and found:
        rules = view.pair(view.text("rules"), rules_name(store.tables.rule_set, view))
        head = f'<p class="under">{escape(rules)}</p>'
        for key, entries in found.items():
            words = _attacker_name(entries, view)
            contents += f"<li>{link(f'#{key}', words)}</li>"
            sections, without = _sections(store, view, entries, until)
            missing += without
            parts += (
                f'<section class="part" id="{key}"><h2>{escape(words)}</h2>'
                f"{_table(entries, view)}{sections}</section>"
            )
        parts = f'<ol class="contents">{contents}</ol>{parts}'
    elif name in found:
        title = view.pair(title, _attacker_name(found[name], view))
        head = f'<p class="links">{page_link("/handbook", view, view.text("handbook_all"))}</p>'
        sections, missing = _sections(store, view, found[name], until)
        parts = _table(found[name], view) + sections
    else:
        raise RequestError(404, "there is no such chapter", "see all chapters")
    if missing:
        head += f'<p class="notice">{view.message("handbook_missing", n=missing)}</p>'
    content = f"{head}{_legend(view)}{parts}"
    path = f"/handbook/{name}"
    return wide_page(view, title, content, path, css="wide handbook", complete=not missing)


def _chapters(store: TableStore) -> dict[str, list[HandbookEntry]]:
    """Return the handbook entries of the readable tables, by the attacker's letters; cached.

    If both sides have attackers, and there is a readable table of another rule set, an entry also
    has the class under those rules.
    """

    def find() -> dict[str, list[HandbookEntry]]:
        others = {
            name.material: tables
            for tables in reversed(store.others())
            for name in tables.available()
            if name.material.both_armed
        }
        found = []
        for material, figures in store.all_statistics().items():
            other = None
            with contextlib.suppress(TablebaseError, OSError):
                if material in others:
                    other = others[material].table(material).statistics
            found.append(handbook_entry(figures, other))
        return chapters(found)

    return store.cached(("handbook",), find)


def _attacker_name(entries: list[HandbookEntry], view: View) -> str:
    return army_name(entries[0].material.first, Side.RED, view.language)


def _legend(view: View) -> str:
    kinds = "".join(
        f"<li>{class_badge(kind, view)} {view.message(f'handbook_{kind}')}</li>" for kind in CLASSES
    )
    return f'<ul class="legend">{kinds}</ul>'


def _table(entries: list[HandbookEntry], view: View) -> str:
    columns = ("handbook_defender", "win", "draw", "loss", "class", "longest", "rule_decided")
    compared = any(entry.other_kind is not None for entry in entries)
    head = [view.text(key) for key in columns]
    if compared:
        head.append(view.text("handbook_without"))
    rows = []
    for entry in entries:
        name = army_name(entry.material.second, Side.BLACK, view.language)
        row = [
            f"{page_link(f'/endgames/{entry.material}', view, name)} <code>{entry.material}</code>",
            *map(escape, map(percent, (entry.wins, entry.draws, entry.losses))),
            class_badge(entry.kind, view),
            escape(moves_in_words(entry.longest, view)) if entry.longest else "",
            escape(percent(entry.by_rules)),
        ]
        if entry.other_kind is not None and entry.other_wins is not None:
            badge = class_badge(entry.other_kind, view) if entry.changed else ""
            row.append(f"{badge} {view.message('win')} {escape(percent(entry.other_wins))}")
        elif compared:
            row.append("")
        rows.append(row)
    return table(head, rows, "chapter")


def _sections(
    store: TableStore, view: View, entries: Sequence[HandbookEntry], until: float
) -> tuple[str, int]:
    """Return sections on endgames as HTML, and the number of endgames with unknown exceptions.

    After the time `until` (of `time.monotonic()`) no search for exceptions begins.
    """
    parts, missing = "", 0
    for entry in entries:
        store.tables.checkpoint()
        exceptions = _exceptions(store, entry, until)
        missing += exceptions is None
        shown: list[tuple[Position, str]] = []
        with contextlib.suppress(TablebaseError, OSError):
            shown = _captioned_wins(store.statistics(entry.material)[0], view)
        for position, outcome in exceptions or ():
            shown.append((position, view.text(f"handbook_{outcome.name.lower()}")))
        boards = small_boards(shown, view) if shown else ""
        wins, draws = percent(entry.wins), percent(entry.draws)
        said = view.text(f"handbook_said_{entry.kind}", wins=wins, draws=draws)
        if entry.by_rules:
            said += view.text("handbook_rules", share=percent(entry.by_rules))
        name = material_name(entry.material, view.language)
        heading = page_link(f"/endgames/{entry.material}", view, name)
        parts += (
            f'<section class="entry"><h2>{heading} {class_badge(entry.kind, view)}</h2>'
            f"<p>{escape(said)}</p>{boards}</section>"
        )
    return parts, missing


def _captioned_wins(figures: TableStatistics, view: View) -> list[tuple[Position, str]]:
    """Return the attacker's longest win of order 0 and one of the highest order, with captions.

    Both have 1 or more plies, and are recorded in `figures`; either may be missing.
    """
    wins = [win for win in longest_wins(figures) if win.winner == Side.RED and win.plies]
    found = []
    plain = max((win for win in wins if not win.order), key=lambda win: win.length, default=None)
    if plain is not None:
        said = view.pair(view.text("longest"), moves_in_words(plain.plies, view))
        found.append((plain.position, said))
    deep = max((win for win in wins if win.order), key=lambda win: win.order, default=None)
    if deep is not None:
        found.append((deep.position, view.text("handbook_deep", n=deep.order)))
    return found


def _exceptions(
    store: TableStore, entry: HandbookEntry, until: float
) -> list[tuple[Position, Outcome]] | None:
    """Return the exceptions of an endgame to show, those with the lowest `_capture_count`; cached.

    Each is a position and its outcome. None if they are not cached and it is later than `until` (a
    time of `time.monotonic()`), or if the table cannot be read.
    """
    kept: dict[Material, list[tuple[Position, Outcome]]] = store.cached(("exceptions",), dict)
    material, found = entry.material, []
    if material in kept:
        return kept[material]
    if time.monotonic() > until:
        return None
    shares = {Outcome.DRAW: entry.draws, Outcome.LOSS: entry.losses}
    if entry.kind == "drawn":
        shares = {Outcome.WIN: entry.wins}
    for outcome in filter(shares.get, shares):
        wanted = Query(turn=Side.RED, outcome=outcome)
        try:
            search = positions_of_value(store, material, wanted, most=CANDIDATES, seconds=SECONDS)
        except (TablebaseError, OSError):
            return None
        quiet = sorted(search.positions, key=_capture_count)
        found += [(position, outcome) for position in quiet[: EXCEPTIONS + 1 - len(shares)]]
    return kept.setdefault(material, found)


def _capture_count(position: Position) -> int:
    """Return the number of legal captures of both sides, each counted as if it were to move."""
    both = (position, Position(position.board, position.side.other))
    return sum(position.board[move.target] != EMPTY for each in both for move in legal_moves(each))
