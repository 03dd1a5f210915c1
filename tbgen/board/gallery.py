"""Positions by what they are worth: those behind a bar of a histogram, the longest win of a side.

    winner, order, plies  ->  whose turn it is, the code  ->  a search through the table, by tiles

A search reads the table from its beginning until it has enough; for rare values that is all of
it, so that it is offered for tables of `MAX_SLOTS` at most, and ends when nobody waits for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from html import escape
from urllib.parse import urlencode

import numpy as np

from tbgen.board.diagram import thumbnail
from tbgen.board.http import HTML, Answer, RequestError
from tbgen.board.i18n import text
from tbgen.board.layout import link, page, with_settings
from tbgen.board.library import Library
from tbgen.board.names import material_name
from tbgen.board.state import View
from tbgen.board.verdict import moves_in_words
from tbgen.indexing import Material, Position, PositionError, Side
from tbgen.rules import check_legal
from tbgen.tables import Outcome, TableStatistics, Value

MAX_SLOTS = 40_000_000
"""Slots for each side of a table that is searched: about a second of work."""

SHOWN = 24
"""Positions of a page."""


def bar_href(view: View, figures: TableStatistics, winner: Side, order: int, plies: int) -> str:
    """Where the positions of a bar are listed; empty where a search would take too long."""
    if figures.index_size > MAX_SLOTS:
        return ""
    query = {"won": winner.name.lower(), "order": str(order), "plies": str(plies)}
    return f"/endgames/{figures.material}?{urlencode(query | view.settings())}"


def count_of(figures: TableStatistics, winner: Side, order: int, plies: int) -> int:
    """How many positions a winner has won in so many plies, whoever is to move."""
    return sum(
        line.positions
        for line in figures.histogram
        if (line.order, line.plies) == (order, plies)
        and (line.outcome == "win") == (line.side == winner.name.lower())
    )


def find_positions(
    library: Library, material: Material, winner: Side, order: int, plies: int, most: int = SHOWN
) -> list[Position]:
    """Some positions that the side wins in so many plies of an order, in the table's order.

    Mirror images are left out. The winner is to move at odd plies of order 0, and at even ones of
    the others. Raises like `Tablebase.probe`.
    """
    key = "gallery", material, winner, order, plies, most
    return library.recall(key, lambda: _search(library, material, winner, order, plies, most))


def _search(
    library: Library, material: Material, winner: Side, order: int, plies: int, most: int
) -> list[Position]:
    file = library.tables.table(material)
    own_turn = plies % 2 == (order == 0)
    side = winner if own_turn else winner.other
    outcome = Outcome.WIN if own_turn else Outcome.LOSS
    code = file.header.spec.codes.encode(Value(outcome, order, plies))
    # Of many, a few from all over each tile, so that they are not all alike.
    tiles = file.tiles(side)
    many = count_of(file.statistics, winner, order, plies) > most
    each = max(4, -(-most // tiles)) if many else most
    found: list[Position] = []
    for number in range(tiles):
        library.tables.checkpoint()
        here = 0
        for first, codes in file.tile(side, number):
            hits = np.flatnonzero(codes == code)
            for offset in hits[:: max(1, len(hits) // each)] if many else hits:
                position = file.layout.position(first + int(offset), side)
                if position is None or file.layout.slot(position) != first + int(offset):
                    continue
                try:
                    check_legal(position)
                except PositionError:
                    continue
                found.append(position)
                here += 1
                if len(found) >= most:
                    return found
                if here >= each:
                    break
            if here >= each:
                break
    return found


def longest_win(library: Library, figures: TableStatistics, winner: Side) -> Position | None:
    """A position from which a side to move has its longest win of order 0; None without any."""
    plies = longest_plies(figures, winner)
    material = Material.parse(figures.material)
    found = find_positions(library, material, winner, 0, plies, 1) if plies else []
    return found[0] if found else None


def longest_plies(figures: TableStatistics, winner: Side) -> int:
    """The plies of a side's longest win of order 0 with its own turn; 0 without any."""
    return max(
        (
            line.plies or 0
            for line in figures.histogram
            if line.order == 0 and line.side == winner.name.lower() and line.outcome == "win"
        ),
        default=0,
    )


def gallery_page(
    library: Library, view: View, material: Material, query: Mapping[str, str]
) -> Answer:
    """The positions of a bar as small boards."""
    figures, _ = library.statistics(material)
    winner = Side.BLACK if query.get("won") == "black" else Side.RED
    order, plies = (_number(query.get(name, "")) for name in ("order", "plies"))
    number = count_of(figures, winner, order, plies)
    if not number or figures.index_size > MAX_SLOTS:
        raise RequestError(404, "there are no such positions", "choose a bar of the histogram")
    positions = find_positions(library, material, winner, order, plies)
    language = view.language
    boards = "".join(
        f'<a class="mini-board" href="{escape(view.at(position).href(mode="read"))}">'
        f"{thumbnail(position, view.look)}<span>{escape(_turn(position, language))}</span></a>"
        for position in positions
    )
    name = text(language, "wins", side=text(language, winner.name.lower()))
    if plies:
        name = text(language, "longest_of", side=name, n=moves_in_words(plies, language))
    name += text(language, "of_order", n=order) if order else ""
    heading = f"{material_name(material, language)}{text(language, 'colon')}{name}"
    said = text(language, "gallery_count", n=f"{number:,}", shown=len(positions))
    back = link(with_settings(f"/endgames/{material}", view), text(language, "all_figures"))
    main = (
        f'<div class="wide"><h1>{escape(heading)}</h1><p>{escape(said)} {back}</p>'
        f'<div class="mini-boards">{boards}</div></div>'
    )
    own = {"won": winner.name.lower(), "order": str(order), "plies": str(plies)}
    address = partial(_address, f"/endgames/{material}", own)
    return Answer(page(view, heading, main, address), HTML)


def _address(path: str, own: Mapping[str, str], view: View) -> str:
    return f"{path}?{urlencode({**own, **view.settings()})}"


def _turn(position: Position, language: str) -> str:
    return text(language, "to_move", side=text(language, position.side.name.lower()))


def _number(words: str) -> int:
    """A number in a query; -1, which nothing has, for what is none."""
    return int(words) if words.isascii() and words.isdecimal() and len(words) < 6 else -1
