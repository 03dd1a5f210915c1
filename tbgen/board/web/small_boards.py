"""Positions of one value as small boards, and the boards of the first page.

    winner, order, plies  ->  side to move, value  ->  positions  ->  page behind a histogram bar
    boards of the first page: the day's position that is won only because of the rules, at most
        three longest wins and three wins of high order; below them a link to the day's puzzle

A rare value needs a scan of the whole table. So bars are links only for a table of at most
`MAX_SLOTS` slots (places for positions) per side to move.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from heapq import nlargest
from html import escape
from operator import attrgetter

from tbgen.answers.mechanism import Offence, find_mechanism
from tbgen.board.drawing.diagram import thumbnail
from tbgen.board.drawing.figures import histogram
from tbgen.board.knowledge.puzzles import materials_of_puzzles, rules_of_the_day, today
from tbgen.board.knowledge.search import positions_of_value
from tbgen.board.knowledge.store import TableStore
from tbgen.board.language.words import material_name, result_name
from tbgen.board.web.http import Answer, RequestError
from tbgen.board.web.layout import figures_link, page_link, wide_page, with_settings
from tbgen.board.web.verdict import moves_in_words
from tbgen.board.web.view import View, number_of
from tbgen.finding.query import Query
from tbgen.indexing import Material, Position, Side
from tbgen.tables import Outcome, TablebaseError, TableStatistics

MAX_SLOTS = 40_000_000
"""Limit on a table's slots (places for positions) per side to move for a scan: about a second."""


def linked_histogram(
    figures: TableStatistics, order: int, view: View, here: tuple[Side, int] | None = None
) -> str:
    """Return a `histogram` with links to the positions, if the table has at most `MAX_SLOTS`."""

    def address(winner: Side, plies: int) -> str:
        if figures.index_size > MAX_SLOTS:
            return ""
        bar = _bar_parameters(winner, order, plies)
        return with_settings(f"/endgames/{figures.material}", view, bar)

    return histogram(figures, order, view.language, here, address)


def _bar_parameters(winner: Side, order: int, plies: int) -> dict[str, str]:
    """Return the parameters that name a histogram bar in the address of its `gallery_page`."""
    return {"won": winner.name.lower(), "order": str(order), "plies": str(plies)}


def bar_query(winner: Side, order: int, plies: int) -> Query:
    """Return the query for positions that `winner` wins in `plies` plies at order `order`.

    At order 0 the winner is to move at odd distances, at higher orders at even ones.
    """
    own_turn = plies % 2 == (order == 0)
    side, outcome = (winner, Outcome.WIN) if own_turn else (winner.other, Outcome.LOSS)
    return Query(side, outcome, (order, order), (plies, plies))


@dataclass(frozen=True, slots=True)
class ExtremeWin:
    """Position that `winner` wins, with a table's longest distance at its order and side to move.

    `plies` is that distance: to mate or conversion at order 0, to the loop at higher orders.
    """

    position: Position
    order: int
    winner: Side
    plies: int

    @property
    def has_move(self) -> bool:
        """True if the winner is to move."""
        return self.position.side == self.winner

    @property
    def length(self) -> tuple[int, bool]:
        """Sort key of the win's length: the number of moves, then whether the winner is to move."""
        return (self.plies + 1) // 2, self.has_move


def longest_wins(figures: TableStatistics) -> list[ExtremeWin]:
    """Return the longest wins that statistics record, at most one by order and side to move."""
    return [
        ExtremeWin(
            Position.from_fen(entry.fen),
            entry.order,
            entry.side if entry.value % 2 else entry.side.other,
            255 - entry.value if entry.order else entry.value,
        )
        for entry in figures.longest
    ]


def longest_win(store: TableStore, figures: TableStatistics, winner: Side) -> ExtremeWin | None:
    """Search a table for a longest win of order 0 with `winner` to move; None if none is found.

    Raises like `positions_of_value`.
    """
    lines = [line for line in figures.histogram if not line.order and line.side == winner]
    plies = max((line.plies or 0 for line in lines if line.outcome == Outcome.WIN), default=0)
    if not plies:
        return None
    material = Material.parse(figures.material)
    found = positions_of_value(store, material, bar_query(winner, 0, plies), most=1).positions
    return ExtremeWin(found[0], 0, winner, plies) if found else None


def gallery_page(
    store: TableStore, view: View, material: Material, query: Mapping[str, str]
) -> Answer:
    """Return the page of positions that a histogram bar counts, as small boards.

    `query` has `won`, `order` and `plies` of the bar (`_bar_parameters`). Raises `RequestError` if
    there are no such positions, or if the table has more than `MAX_SLOTS` slots per side; and like
    `TableStore.statistics`.
    """
    figures, _ = store.statistics(material)
    winner = Side.BLACK if query.get("won") == "black" else Side.RED
    # -1 matches no position.
    order, plies = (number_of(query.get(name, ""), -1) for name in ("order", "plies"))
    wanted = bar_query(winner, order, plies)
    number = wanted.candidates(figures)
    if not number or figures.index_size > MAX_SLOTS:
        raise RequestError(404, "there are no such positions", "choose a bar of the histogram")
    found = positions_of_value(store, material, wanted)
    shown = [(position, view.text("to_move", side=position.side)) for position in found.positions]
    name = result_name(winner, view.language)
    if plies:
        name = view.text("longest_of", side=name, n=moves_in_words(plies, view))
    name += view.text("of_order", n=order) if order else ""
    said = view.message("gallery_count", n=f"{number:,}", shown=len(shown))
    content = f"<p>{said} {figures_link(material, view)}</p>{small_boards(shown, view)}"
    heading = view.pair(material_name(material, view.language), name)
    own = _bar_parameters(winner, order, plies)
    path = f"/endgames/{material}"
    return wide_page(view, heading, content, path, own, complete=found.complete)


def small_boards(shown: Iterable[tuple[Position, str]], view: View, mode: str = "read") -> str:
    """Return positions with captions as small boards, each linked to its page in mode `mode`.

    In mode `play` the visitor has the side to move.
    """
    boards = ""
    for position, said in shown:
        href = escape(view.at(position).href(mode=mode, visitor=position.side))
        picture = thumbnail(position, view.look)
        boards += f'<a class="mini-board" href="{href}">{picture}<span>{escape(said)}</span></a>'
    return f'<div class="mini-boards">{boards}</div>'


LONGEST, DEEPEST = 3, 3
"""Maximum numbers of boards on the first page: longest wins, and wins of the highest order."""

FEWEST = 3
"""Minimum number of wins (`_chosen`) for boards on a first page without a position of the day."""

CHOSEN_SECONDS = 2.0
"""Most seconds that the first page waits for statistics; these are also read in the background."""


def first_page_boards(store: TableStore, view: View) -> str:
    """Return the boards of the first page as HTML: the day's position, and the wins of `_chosen`.

    A link to the day's puzzle follows, if there are tables of puzzles (`materials_of_puzzles`).
    Empty if there is no position of the day and fewer than `FEWEST` wins are known.
    """
    figures = store.all_statistics(CHOSEN_SECONDS)
    chosen = store.cached(("chosen", len(figures)), lambda: _chosen(store, figures.values()))
    shown = []
    daily = rules_of_the_day(store, today())
    if daily is not None:
        name = material_name(daily.material, view.language)
        shown.append((daily, view.text("only_rules_day", name=name)))
    elif len(chosen) < FEWEST:
        return ""
    for win, offence in chosen:
        said = moves_in_words(win.plies, view)
        if offence is not None:
            said = view.text(f"find_by_{offence}") + view.text("of_order", n=win.order)
        name = material_name(win.position.material, view.language)
        shown.append((win.position, view.pair(name, said)))
    boards = small_boards(shown, view)
    if materials_of_puzzles(store):
        boards += f"<p>{page_link('/puzzle', view, view.text('puzzle_day'), 'button')}</p>"
    return f'<section class="chosen"><h2>{view.message("chosen")}</h2>{boards}</section>'


def _chosen(
    store: TableStore, tables: Iterable[TableStatistics]
) -> list[tuple[ExtremeWin, Offence | None]]:
    """Return long wins and wins of high order for the first page, each with its deciding offence.

    The winner is to move. First come at most `LONGEST` wins of order 0, with offence None, then
    those of the `DEEPEST` wins of highest order whose offence is found. A table gives at most one
    of each kind.
    """
    plain, deep = list[ExtremeWin](), list[ExtremeWin]()
    for figures in tables:
        wins = [win for win in longest_wins(figures) if win.has_move]
        plain += nlargest(1, (win for win in wins if win.order == 0), attrgetter("plies"))
        deep += nlargest(1, wins, attrgetter("order"))
    # The longest of all is usually the board's first position.
    longest = nlargest(1 + LONGEST, plain, attrgetter("plies"))[1:]
    chosen: list[tuple[ExtremeWin, Offence | None]] = [(win, None) for win in longest]
    for win in nlargest(DEEPEST, deep, attrgetter("order")):
        with contextlib.suppress(TablebaseError, OSError):
            mechanism = find_mechanism(store.tables, win.position) if win.order else None
            if mechanism is not None:
                chosen.append((win, mechanism.offence))
    return chosen
