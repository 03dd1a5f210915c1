"""Search page: positions of an endgame that meet a query.

/search/KRNKR?outcome=win&only=1&least=20      form, positions as small boards, share searched
/search/KRNKR?outcome=win&only=1&sheet=1       exercises to print, with the solutions folded

Parameters of most functions: `asked` are the search fields of the query, `seed` is the number that
selects the sample of a large table. `knowledge.search` finds the positions.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from html import escape
from urllib.parse import urlencode

from starlette.datastructures import QueryParams

from tbgen.answers.as_json import outcome_name
from tbgen.answers.mechanism import Offence
from tbgen.answers.reasons import explain_line
from tbgen.board.knowledge.puzzles import comparable
from tbgen.board.knowledge.search import SHOWN, can_search_studies, search
from tbgen.board.knowledge.store import TableStore
from tbgen.board.language.words import material_name
from tbgen.board.web.http import Answer
from tbgen.board.web.layout import details, figures_link, hidden_fields, link, page_link, wide_page
from tbgen.board.web.panels import pairs
from tbgen.board.web.small_boards import small_boards
from tbgen.board.web.verdict import moves_in_words
from tbgen.board.web.view import View, number_of
from tbgen.finding.query import FIELDS, SORTS, read_query
from tbgen.indexing import Material, Position
from tbgen.notation import require_stronger_first
from tbgen.system.units import percent
from tbgen.tables import Outcome

PRESETS: dict[str, dict[str, str]] = {
    "only_win": {"outcome": "win", "only": "1", "least": "15"},
    "only_draw": {"outcome": "draw", "only": "1"},
    "zugzwang": {"zugzwang": "1"},
    "by_chase": {"decided": "chase"},
    "by_check": {"decided": "check"},
    "differs": {"differs": "1"},
    "study": {"study": "1", "sort": "-length"},
}
"""Parameters of each example query, by name. The text with key `find_NAME` describes it."""

_NUMBER = 'inputmode="numeric" pattern="[0-9]*" maxlength="5"'
"""HTML attributes of a field for a number."""

_PIECES = 'placeholder="{}" size="12" maxlength="60" autocomplete="off"'
"""HTML attributes of the field for pieces on given squares; `{}` is for a translated example."""


def search_page(store: TableStore, view: View, material: Material, query: QueryParams) -> Answer:
    """Return the search form with the positions found, or with `sheet=1` a page of exercises.

    Without search fields in `query` the page has the form and no results. Raises like
    `TableStore.statistics`, `read_query` and `knowledge.search.search`.
    """
    path = f"/search/{material}"
    asked = fields_of(query)
    seed = number_of(query.get("seed", ""), 0)
    if asked and query.get("sheet") == "1":
        return _sheet(store, view, material, asked, seed)
    results, complete = "", True
    if asked:
        results, complete = _results(store, view, material, asked, seed)
    offered = set(PRESETS)
    if material not in comparable(store):
        offered.remove("differs")
    if not store.statistics(material)[0].orders:
        offered -= {"by_chase", "by_check"}
    if not can_search_studies(store, material):
        offered.remove("study")
    presets = " ".join(
        page_link(path, view, view.text(f"find_{key}"), "button small", preset)
        for key, preset in PRESETS.items()
        if key in offered
    )
    content = (
        f'<p class="presets">{presets}</p>{_form(material, asked, view, offered)}'
        f"{results}<p>{figures_link(material, view)}</p>"
    )
    heading = view.pair(view.text("find_title"), material_name(material, view.language))
    return wide_page(view, heading, content, path, asked, complete=complete)


def _sheet(
    store: TableStore, view: View, material: Material, asked: Mapping[str, str], seed: int
) -> Answer:
    """Return a page of the positions found as exercises: `1. Red to move and win`."""
    found = search(store, material, read_query(asked), seed, sort=asked.get("sort"))
    shown, solutions = [], []
    for number, position in enumerate(found.positions, 1):
        line, side = store.line(position), position.side
        task = view.text(f"exercise_{outcome_name(line.result.outcome)}", side=side)
        shown.append((position, f"{number}. {task}"))
        moves = [(each.position, each.choice.move) for each in line.moves]
        if not moves:  # best play has no moves, for example in a draw
            moves = [(position, move.move) for move in store.probe(position).moves[:1]]
        names = [escape(view.move_name(*each)) for each in moves]
        end = escape(explain_line(line, view.words))
        solutions.append(f"<li>{pairs(names, view.at(position))} {end}</li>")
    folded = details(view.text("solutions"), f"<ol>{''.join(solutions)}</ol>", "solutions")
    path, query = f"/search/{material}", {**asked, "seed": str(seed)}
    back = page_link(path, view, view.text("find_title"), query=query)
    content = (
        f'<p class="links">{view.message("exercises_note")} {back}</p>'
        f"{small_boards(shown, view, 'play')}{folded}"
    )
    heading = view.pair(view.text("exercises"), material_name(material, view.language))
    sheet = query | {"sheet": "1"}
    return wide_page(view, heading, content, path, sheet, css="wide sheet", complete=found.complete)


def fields_of(query: QueryParams) -> dict[str, str]:
    """Return the non-empty search fields in a query; several values of `at` joined by commas."""
    found = {name: ",".join(filter(None, query.getlist(name))) for name in FIELDS}
    return {name: value for name, value in found.items() if value}


def require_clear_colours(name: str, asked: Mapping[str, str]) -> None:
    """Raise `MaterialError` if a query names a colour, and the address the weaker army first.

    In the table Red has the stronger army, so the colour would be ambiguous.

    name : material in the address; asked : search fields of the query
    """
    if {"turn", "at"} & asked.keys():
        require_stronger_first(name)


def _results(
    store: TableStore, view: View, material: Material, asked: Mapping[str, str], seed: int
) -> tuple[str, bool]:
    """Return the results of a search as HTML, and whether it was completed in time."""
    found = search(store, material, read_query(asked), seed, sort=asked.get("sort"))
    captions = [_caption(store, position, view) for position in found.positions]
    for number, length in enumerate(found.lengths):
        captions[number] += view.text("find_length", plies=view.words.plies(length))
    shown, whole = len(found.positions), f"{found.candidates:,}"
    if not found.candidates:
        key = "find_none"
    elif found.share < 1:
        key = "find_sample"
    else:
        key = "find_first" if shown == SHOWN else "find_all"
    parts = [view.message(key, n=shown, share=percent(found.share), candidates=whole)]
    path, listed, css = f"/search/{material}", {**asked, "seed": str(seed)}, "button small"
    if found.share < 1:
        query = {**asked, "seed": str(seed + 1)}
        parts.append(page_link(path, view, view.text("find_others"), css, query))
    if found.positions:
        sheet = listed | {"sheet": "1"}
        parts.append(page_link(path, view, view.text("exercises"), css, sheet))
        listed |= {"notation": view.notation, "lang": view.language}
        for name in ("csv", "pgn"):
            href = f"/v1/tables/{material}/search?{urlencode(listed | {'format': name})}"
            parts.append(link(href, name.upper(), css, " download"))
    boards = small_boards(zip(found.positions, captions, strict=True), view)
    return f'<p class="found">{" ".join(parts)}</p>{boards}', found.complete


def _caption(store: TableStore, position: Position, view: View) -> str:
    result = store.tables.probe(position)
    turn = view.text("to_move", side=position.side)
    said = f"{turn}{view.text('list_stop')}{view.text(outcome_name(result.outcome))}"
    if result.outcome != Outcome.DRAW and result.plies:
        said += view.text("list_stop") + moves_in_words(result.plies, view)
    return said + (view.text("of_order", n=result.order) if result.order else "")


def _form(
    material: Material, asked: Mapping[str, str], view: View, offered: Collection[str]
) -> str:
    """Return the search form as HTML, filled with the search fields `asked`.

    Without `differs` or `study` in `offered`, their fields and the sort key `length` are left out.
    """
    sides = {side: view.text(side) for side in ("red", "black")}
    outcomes = {name: view.text(name) for name in ("win", "draw", "loss")}
    offences = {str(name): view.text(f"offence_{name}") for name in Offence}
    sorts = {}  # a key with a minus sorts in descending order
    for sort in SORTS:
        name = sort.lstrip("-")
        if name != "length" or "study" in offered:
            sorts[sort] = view.text(f"find_{name}_{'down' if sort[0] == '-' else 'up'}")
    ticks = ("only", "zugzwang", *(name for name in ("differs", "study") if name in offered))
    fields = [
        _select("turn", view.text("side"), sides, asked, view),
        _select("outcome", view.text("result"), outcomes, asked, view),
        _select("decided", view.text("find_decided"), offences, asked, view),
        _field("order", view.text("order"), asked, _NUMBER.replace("*", "*-?[0-9]*")),
        _field("least", view.text("find_least"), asked),
        _field("most", view.text("find_most"), asked),
        _field("at", view.text("find_at"), asked, _PIECES.format(view.text("find_at_example"))),
        *(_checkbox(name, view.text(f"find_{name}"), asked) for name in ticks),
        _select("sort", view.text("find_sort"), sorts, asked, view),
    ]
    return (
        f'<form class="search" action="/search/{material}" method="get">'
        f"{hidden_fields(view.settings())}{''.join(fields)}"
        f'<button type="submit" class="button suggested">{view.message("find_go")}'
        f"</button></form>"
    )


def _select(
    name: str, label: str, options: Mapping[str, str], asked: Mapping[str, str], view: View
) -> str:
    listed = ""
    for value, said in {"": view.text("any"), **options}.items():
        selected = " selected" if asked.get(name, "") == value else ""
        listed += f'<option value="{value}"{selected}>{escape(said)}</option>'
    return f'<label><span>{escape(label)}</span><select name="{name}">{listed}</select></label>'


def _field(name: str, label: str, asked: Mapping[str, str], attributes: str = _NUMBER) -> str:
    value = escape(asked.get(name, ""))
    return (
        f'<label><span>{escape(label)}</span><input name="{name}" {attributes} value="{value}">'
        "</label>"
    )


def _checkbox(name: str, label: str, asked: Mapping[str, str]) -> str:
    checked = " checked" if asked.get(name) == "1" else ""
    return (
        f'<label class="tick"><input type="checkbox" name="{name}" value="1"{checked}>'
        f"{escape(label)}</label>"
    )
