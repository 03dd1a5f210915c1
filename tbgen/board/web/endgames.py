"""Pages of tables: all endgames by attacking pieces, and the figures of one.

/endgames           matrix with attackers in rows and defenders in columns; then lists by attacking
                    piece type: class, longest win, shares, proof
/endgames/KRKN      longest wins per order, results, distances, captures, files

`tbgen.finding.handbook` determines the class: whether an endgame is won, drawn or open.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from tbgen.board.drawing.figures import orders_of, share_bar
from tbgen.board.knowledge.builds import closure_bound
from tbgen.board.knowledge.store import TableStore
from tbgen.board.language.words import (
    army_name,
    material_name,
    piece_name,
    proof_in_words,
    result_name,
    time_in_words,
)
from tbgen.board.web.building import starter_cards
from tbgen.board.web.http import Answer, RequestError
from tbgen.board.web.layout import (
    class_badge,
    details,
    link,
    page_link,
    table,
    wide_page,
    with_settings,
)
from tbgen.board.web.panels import longest_boards, rules_boards
from tbgen.board.web.small_boards import linked_histogram
from tbgen.board.web.verdict import rules_name
from tbgen.board.web.view import View
from tbgen.finding.handbook import CLASSES, class_of
from tbgen.indexing import Army, Material, Side
from tbgen.indexing.squares import PieceType, piece_code
from tbgen.system.units import format_bytes, percent
from tbgen.tables import TablebaseError, TableStatistics
from tbgen.tables.proofs import ProofState

MAX_NODES = 400
"""Largest `closure_bound` of a material whose graph of captures is drawn."""

_ATTACKERS = {kind.name.lower(): kind for kind in PieceType if kind.is_attacker}


def list_page(store: TableStore, view: View) -> Answer:
    """Return the page of all endgames with a table; else with `starter_cards` or a notice."""
    key = "list", store.readings, tuple(view.settings().items()), view.language
    overview, sections = store.cached(key, lambda: _overview(store, view))
    empty = ""
    if not sections:
        none = f'<p class="notice">{view.message("no_tables")}</p>'
        empty = starter_cards(store, view, with_settings("/endgames", view)) or none
    build = page_link("/build", view, view.text("build_title"))
    content = (
        f"{empty}{overview}{_filters(view) if sections else ''}{sections}"
        f'<p>{view.message("class_note")}</p><p class="to-build">{build}</p>'
    )
    return wide_page(view, view.text("endgames"), content, "/endgames")


def material_page(store: TableStore, view: View, material: Material) -> Answer:
    """Return an endgame's page; raises like `store.statistics`, `RequestError` if all is drawn."""
    if not material.needs_table:
        raise RequestError(404, f"{material} is always a draw", "name an endgame with an attacker")
    figures, file = store.statistics(material)
    name, distances = material.name, ""
    if orders := orders_of(figures):
        pictures = "".join(
            f"<figure>{linked_histogram(figures, order, view)}"
            f"<figcaption>{view.message('order_n', n=order)}</figcaption></figure>"
            for order in orders
        )
        distances = (
            f"<h2>{view.message('histogram')}</h2><p>{view.message('histogram_note')}</p>"
            f'<div class="histograms">{pictures}</div>'
        )
    heading = f"{escape(material_name(material, view.language))} <code>{name}</code>"
    content = (
        f"{_properties(store, view, figures, file)}{_puzzle(figures, view)}"
        f"<h2>{view.message('results')}</h2>{_results(view, figures)}"
        f"{rules_boards(store, material, figures, view)}"
        f"{longest_boards(store, figures, view)}{distances}"
        f"<h2>{view.message('depends')}</h2>{_captures(store, view, material)}"
        f"{_graph(store, view, material)}"
        f'<p class="links">{view.message("download")}{view.text("colon")}'
        f"{link(f'/v1/tables/{name}', f'{name}.json')} "
        f"{link(f'/v1/tables/{name}/histogram', view.text('histogram'))} "
        f"{link(f'/v1/tables/{name}/graph', view.text('graph'))} "
        f"{link(f'/v1/graph/{name}.dot', 'DOT')}</p>"
    )
    return wide_page(view, name, content, f"/endgames/{name}", heading=heading)


def _overview(store: TableStore, view: View) -> tuple[str, str]:
    """Return the matrix of endgames (at least two), and their lists by attacking piece, as HTML."""
    groups: dict[str, list[list[str]]] = {name: [] for name in (*_ATTACKERS, "other")}
    cells = {}
    for material in store.materials():
        words = page_link(f"/endgames/{material}", view, material_name(material, view.language))
        name, men = f"{words} <code>{material}</code>", str(material.men)
        try:
            figures, file = store.statistics(material)
            proof = store.proof_so_far(material)
        except (TablebaseError, OSError):
            unreadable = f'<strong class="forbidden">{view.message("table_unreadable")}</strong>'
            row = [f"{name} {unreadable}", men, *[""] * 6]
        else:
            cells[material] = figures
            state = proof.state.name.lower() if proof else "unread"
            about = escape(proof_in_words(proof, view.language))
            row = [
                name,
                men,
                class_badge(class_of(figures.red_to_move), view),
                share_bar(_by_winner(figures, Side.RED)),
                escape(view.words.plies(figures.max_distance)) if figures.max_distance else "",
                escape(percent(figures.rule_decided_rate)),
                f'<span class="proof {state}" title="{about}">'
                f"{view.message(f'proof_short_{state}')}</span>",
                format_bytes(file["bytes_on_disk"]),
            ]
        kinds = [name for name, kind in _ATTACKERS.items() if material.first.count(kind)]
        groups[kinds[0] if len(kinds) == 1 else "other"].append(row)
    columns = (
        "material", "men", "class", "results", "longest", "rule_decided", "proof", "size"
    )  # fmt: skip
    head = [view.text(key) for key in columns]
    sections = [
        f"<section><details open><summary><h2>{view.message(f'type_{name}')}</h2> "
        f"<small>{len(rows)}</small></summary>{table(head, rows, 'endgames')}</details></section>"
        for name, rows in groups.items()
        if rows
    ]
    overview = ""
    if len(cells) > 1:
        book = page_link("/handbook", view, view.text("handbook"), "button")
        shown = f"{matrix(cells, view)}<p>{book}</p>"
        overview = details(view.text("matrix"), shown, "panel", is_open=True)
    return overview, "".join(sections)


def _filters(view: View) -> str:
    """Return fields that filter the list by text, class and proof; hidden without scripts."""
    box = view.message("filter")
    classes = [(f".class.{kind}", f"class_{kind}") for kind in CLASSES]
    states = [state.name.lower() for state in ProofState]
    proofs = [(f".proof.{state}", f"proof_short_{state}") for state in states]
    choices = "".join(
        f'<select class="filter" aria-label="{view.message(name)}">'
        f'<option value="">{view.message(f"any_{name}")}</option>'
        + "".join(f'<option value="{value}">{view.message(key)}</option>' for value, key in options)
        + "</select> "
        for name, options in (("class", classes), ("proof", proofs))
    )
    return (
        f'<p class="filters" hidden><input class="filter" aria-label="{box}" '
        f'placeholder="{box}"> {choices}</p>'
    )


def _properties(
    store: TableStore, view: View, figures: TableStatistics, file: dict[str, Any]
) -> str:
    """Return an HTML list of a table's properties, from its statistics and facts of its file."""
    seconds, material = file["build_seconds"], Material.parse(figures.material)
    time = view.text("unknown_time") if seconds is None else time_in_words(seconds, view.language)
    rule = view.aside(f"{figures.rule_decided:,}", percent(figures.rule_decided_rate))
    if figures.max_rule_distance is not None:
        farthest = view.words.distance(figures.max_rule_distance)
        rule += view.text("list_stop") + view.text("longest_distance", distance=farthest)
    rows = {
        "class": view.text(f"class_{class_of(figures.red_to_move)}"),
        "rules": rules_name(store.tables.rule_set, view),
        "metric": view.text(figures.metric),
        "legal": f"{figures.legal:,}",
        "longest": view.words.distance(figures.max_distance) if figures.max_distance else "",
        "rule_decided": rule,
        "size": format_bytes(file["bytes_on_disk"]),
        "build_time": time,
        "proof": proof_in_words(store.proof_so_far(material), view.language),
    }
    items = "".join(
        f"<dt>{view.message(key)}</dt><dd>{escape(value)}</dd>"
        for key, value in rows.items()
        if value
    )
    return f'<dl class="facts">{items}</dl>'


def _puzzle(figures: TableStatistics, view: View) -> str:
    """Return links to puzzles and the search, as HTML; empty if the table has no wins."""
    if not figures.red_to_move.wins + figures.black_to_move.wins:
        return ""
    path, search = f"/puzzle/{figures.material}", f"/search/{figures.material}"
    links = (
        page_link(path, view, view.text("puzzle"), "button"),
        page_link(path, view, view.text("puzzle_draws"), "button", {"task": "draw"}),
        page_link(search, view, view.text("find_title"), "button"),
    )
    return f'<p class="controls">{" ".join(links)}</p>'


def _results(view: View, figures: TableStatistics) -> str:
    rows = []
    for side in Side:
        numbers = _by_winner(figures, side)
        turn = view.message(side.name.lower())
        rows.append([turn, *(f"{number:,}" for number in numbers), share_bar(numbers)])
    names = [result_name(winner, view.language) for winner in (Side.RED, None, Side.BLACK)]
    # The bar comes last: on a phone the numbers are seen without scrolling.
    head = [view.text("turn_column"), *names, view.text("shares")]
    return table(head, rows, "results")


def _by_winner(figures: TableStatistics, side: Side) -> list[int]:
    """Return three numbers of positions with `side` to move: Red's wins, draws, Black's wins."""
    counts = figures.red_to_move if side == Side.RED else figures.black_to_move
    numbers = [counts.wins, counts.draws, counts.losses]
    return numbers if side == Side.RED else numbers[::-1]


def _captures(store: TableStore, view: View, material: Material) -> str:
    """Return an HTML list of captures: the piece taken, and the material left."""
    present, items = set(store.materials()), ""
    for taken, child in material.captures().items():
        name = material_name(child, view.language)
        target, note = escape(name), ""
        if child in present:
            target = page_link(f"/endgames/{child}", view, name)
        else:
            note = view.message("table_missing" if child.needs_table else "no_table_needed")
        piece = view.message("taking", piece=piece_name(piece_code(*taken), view.language))
        items += f"<li>{view.pair(piece, target)} <small>{note}</small></li>"
    return f'<ul class="captures">{items}</ul>'


def _graph(store: TableStore, view: View, material: Material) -> str:
    """Return the graph of captures as SVG, a row per number of pieces; empty if it is too large."""
    if closure_bound(material) > MAX_NODES:
        return ""
    nodes = material.closure()
    rows: dict[int, list[Material]] = {}
    for node in nodes:
        rows.setdefault(node.men, []).append(node)
    width = 110 * max(len(row) for row in rows.values())
    places = {}
    for level, men in enumerate(sorted(rows, reverse=True)):
        for number, node in enumerate(rows[men]):
            places[node] = (int((number + 0.5) * width / len(rows[men])), 24 + 70 * level)
    lines = [
        f'<path class="edge" d="M{places[node][0]} {places[node][1] + 14}'
        f'L{places[child][0]} {places[child][1] - 14}"/>'
        for node in nodes
        for child in node.captures().values()
        if child in places
    ]
    present = set(store.materials())
    boxes = []
    for node, (x, y) in places.items():
        css = "node" if node in present else "node absent"
        box = (
            f'<rect class="{css}" x="{x - 50}" y="{y - 14}" width="100" height="28" rx="6"/>'
            f'<text x="{x}" y="{y + 5}">{node}</text>'
        )
        href = escape(with_settings(f"/endgames/{node}", view))
        boxes.append(f'<a href="{href}">{box}</a>' if node in present else box)
    height = 70 * len(rows) + 10
    return (
        f'<svg class="graph" viewBox="0 0 {width} {height}" style="max-width:{width}px" '
        f'role="group" aria-label="{view.message("graph")}">'
        f"{''.join(lines)}{''.join(boxes)}</svg>"
    )


def matrix(cells: Mapping[Material, TableStatistics], view: View) -> str:
    """Return a table of endgames as HTML: attacking armies in rows, defending armies in columns."""
    rows = _armies(material.first for material in cells)
    columns = _armies(material.second for material in cells)
    head = "".join(f'<th scope="col">{_name(army, Side.BLACK, view)}</th>' for army in columns)
    body = []
    for first in rows:
        found = {material.second: material for material in cells if material.first == first}
        entries = "".join(
            _cell(found[second], cells[found[second]], view) if second in found else "<td></td>"
            for second in columns
        )
        chapter = escape(with_settings(f"/handbook/{first.name}", view))
        name = f'<a href="{chapter}">{_name(first, Side.RED, view)}</a>'
        body.append(f'<tr><th scope="row">{name}</th>{entries}</tr>')
    legend = " ".join(class_badge(kind, view) for kind in CLASSES)
    return (
        f"<p>{view.message('matrix_note')} {legend}</p>"
        f'<div class="scroll" tabindex="0"><table class="matrix"><thead>'
        f'<tr><th scope="col">{view.message("matrix_corner")}</th>{head}</tr></thead>'
        f"<tbody>{''.join(body)}</tbody></table></div>"
    )


def _cell(material: Material, figures: TableStatistics, view: View) -> str:
    kind = class_of(figures.red_to_move)
    about = view.text(f"class_{kind}")
    if figures.max_distance:
        about += view.text("list_stop") + view.words.plies(figures.max_distance)
    name = escape(view.pair(material_name(material, view.language), about))
    href = escape(with_settings(f"/endgames/{material}", view))
    return (
        f'<td class="{kind}"><a href="{href}" title="{name}" '
        f'aria-label="{name}">{figures.max_distance or "="}</a></td>'
    )


def _name(army: Army, side: Side, view: View) -> str:
    """Return the name of a side's army as HTML; in English its letters, with a tooltip."""
    words = army_name(army, side, view.language)
    if view.language != "en":
        return escape(words)
    return f'<span title="{escape(words)}">{army.name}</span>'


def _armies(armies: Iterable[Army]) -> list[Army]:
    """Return the armies without duplicates, those with fewer pieces first."""
    return sorted(set(armies), key=lambda army: (sum(army.strength), army.strength))
