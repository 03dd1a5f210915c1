"""Panels beside a position, and boards of an endgame's page, as HTML.

The functions that return HTML return "" if there is nothing to show.

A *heat map* shows, on each square where one piece of a position might stand, the value of the
position with the piece there.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from html import escape

from tbgen.answers.as_json import outcome_name
from tbgen.board.drawing.bitmap import can_rasterise
from tbgen.board.drawing.diagram import Point
from tbgen.board.drawing.figures import orders_of, place_of
from tbgen.board.knowledge.analysis import heat_map, last_mistake, values_by_rules
from tbgen.board.knowledge.puzzles import comparable
from tbgen.board.knowledge.store import Facts, TableStore, winner_of
from tbgen.board.language.words import piece_name, point_name, proof_in_words, result_name
from tbgen.board.web.layout import copy_button, details, figures_link, link, page_link
from tbgen.board.web.small_boards import (
    MAX_SLOTS,
    ExtremeWin,
    linked_histogram,
    longest_win,
    longest_wins,
    small_boards,
)
from tbgen.board.web.verdict import moves_in_words, rules_name, short_value, value_badge
from tbgen.board.web.view import View
from tbgen.indexing import Material, Position, Side
from tbgen.notation import format_position
from tbgen.play.preference import worth_of_move
from tbgen.rules import is_legal
from tbgen.tables import Outcome, ProbeResult, TablebaseError, TableStatistics

VALUED_MOVES = 60
"""Number of moves at the end of a game whose values are shown; older moves have none."""

RULES_BOARDS = 8
"""Maximum number of boards that `rules_boards` returns for an endgame's page."""

QUICK_SLOTS = 2_000_000
"""Limit in place of `MAX_SLOTS` for the search of a longest win while a position's page is made."""

FRAME_SIZE = 'width="420" height="580" style="max-width:100%"'
"""Attributes of the offered <iframe>: it shrinks on a phone, and the embedded page fits into it."""


def rules_headline(known: Sequence[ProbeResult], facts: Facts, view: View) -> str:
    """Return a paragraph on the rule sets in `known` (`values_by_rules`) with other outcomes."""
    others = _other_outcomes(facts.position, known, view)
    if not others:
        return ""
    drawn = known[0].outcome == Outcome.DRAW
    said = view.message("only_rules_draw" if drawn else "only_rules_win")
    rest = escape(view.text("choice_stop").join(others))
    return f'<p class="matter"><b>{said}</b> {rest} {_more_link(facts.position.material, view)}</p>'


def _other_outcomes(position: Position, known: Sequence[ProbeResult], view: View) -> list[str]:
    """Return phrases (rule set and result) on the values whose outcome is not that of the first."""
    return [
        view.text(
            "only_rules_else",
            rules=rules_name(result.rule_set, view),
            result=result_name(winner_of(position.side, result.outcome), view.language),
        )
        for result in known
        if result.outcome != known[0].outcome
    ]


def _more_link(material: Material, view: View) -> str:
    """Return the link to a search for positions whose outcome depends on the repetition rules."""
    label, query = view.text("only_rules_more"), {"differs": "1"}
    return page_link(f"/search/{material}", view, label, "button small", query)


def rules_panel(known: Sequence[ProbeResult], view: View) -> str:
    """Return the values `known` (`values_by_rules`) as a folded list, open if outcomes differ."""
    if not known:
        return ""
    rows = [
        f"<li><span>{escape(rules_name(result.rule_set, view))}</span> "
        f'<b class="badge {outcome_name(result.outcome)}">'
        f"{view.message(outcome_name(result.outcome))}</b> "
        f"<small>{escape(short_value(result.exact))}</small></li>"
        for result in known
    ]
    differ = len({result.outcome for result in known}) > 1
    content = f'<ul class="rules">{"".join(rows)}</ul>'
    return details(view.text("rules_table"), content, "panel", is_open=differ)


def rules_boards(
    store: TableStore, material: Material, figures: TableStatistics, view: View
) -> str:
    """Return boards, as HTML, of wins by repetition that have another outcome under other rules.

    Only wins in the table's statistics with the winner to move are examined. The highest orders
    come first, at most `RULES_BOARDS`.
    """
    if material not in comparable(store):
        return ""
    found = []
    for win in sorted(longest_wins(figures), key=lambda win: -win.order):
        if not win.order or not win.has_move:
            continue
        known: list[ProbeResult] = []
        with contextlib.suppress(TablebaseError, OSError):
            known = values_by_rules(store, store.probe(win.position))
        if others := _other_outcomes(win.position, known, view):
            said = result_name(win.winner, view.language) + view.text("of_order", n=win.order)
            found.append((win.position, said + view.text("choice_stop") + others[0]))
    heading = f"<h2>{view.message('only_rules')} {_more_link(material, view)}</h2>"
    return heading + small_boards(found[:RULES_BOARDS], view) if found else ""


def where_panel(facts: Facts, view: View) -> str:
    """Return a section of links that choose the heat map's piece, or change the side to move."""
    if facts.result is None:
        return ""
    links = ""
    for code, square in view.position.pieces():
        chosen = square == view.heat_square
        name = f"{piece_name(code, view.language)} {point_name(square, view.language)}"
        href = view.href(heat_square=None if chosen else square, chosen=None)
        links += link(href, name, "button small" + " on" * chosen)
    content = f'<p>{view.message("where_note")}</p><p class="pieces-row">{links}</p>'
    flipped = Position(view.position.board, view.position.side.other)
    if is_legal(flipped):
        href = view.at(flipped).href(heat_square=view.heat_square)
        other = view.text("other_turn", side=flipped.side)
        content += f"<p>{link(href, other, 'button small')}</p>"
    return details(view.text("where"), content, "panel where", is_open=view.heat_square is not None)


def heat_points(store: TableStore, view: View) -> dict[int, Point]:
    """Return the points of the heat map by square; empty if `view.heat_square` is None.

    Each links to the position with the piece on its square. Raises like `heat_map`.
    """
    if view.heat_square is None:
        return {}
    return {
        square: Point(
            view.at(position).href(), outcome_name(result.outcome), short_value(result.exact)
        )
        for square, (position, result) in heat_map(store, view.position, view.heat_square).items()
    }


def mistake_note(store: TableStore, facts: Facts, view: View) -> str:
    """Return a notice that the last move gave up a win or a draw; empty if not, or if unknown."""
    if facts.over is not None and facts.over.why == "repetition":  # this outweighs the table
        return ""
    found = None
    with contextlib.suppress(TablebaseError, OSError):  # a table is damaged
        found = last_mistake(store, view.positions, view.moves)
    if found is None:
        return ""
    move, best = (view.move_name(found.before, move) for move in (view.moves[-1], found.best.move))
    was, now = (view.text(outcome_name(each.outcome)) for each in (found.lost, found.got))
    said = view.text("slip", move=move, was=was, now=now, best=best)
    if found.reply is not None:
        reply = view.move_name(facts.position, found.reply.move)
        said += f" {view.text('slip_reply', reply=reply, now=now)}".replace("。 ", "。")
    return f'<p class="notice slip">{escape(said)}</p>'


def endgame_panel(store: TableStore, facts: Facts, view: View) -> str:
    """Return a folded section on the endgame: histogram, longest wins, proof and links.

    The histogram is that of the position's order, with a mark on the position's bar; for a draw it
    is that of the table's lowest order, without a mark.
    """
    if facts.result is None or facts.result.metric is None:
        return ""
    material = facts.position.material
    try:
        figures, _ = store.statistics(material)
        status = store.proof_so_far(material)
    except (TablebaseError, OSError):
        return ""
    spot = place_of(facts.position, facts.result)
    order = spot[0] if spot else min(orders_of(figures), default=0)
    picture = linked_histogram(figures, order, view, spot[1:] if spot else None)
    if picture:
        name = f"{view.message('histogram')}{view.message('of_order', n=order)}"
        note = f'<p class="under">{view.message("histogram_note")}</p>'
        picture = f"<h2>{name}</h2>{picture}{note}"
    proof = proof_in_words(status, view.language) + view.text("stop_mark")
    content = (
        f"{picture}{longest_boards(store, figures, view, most=4)}"
        f"<p>{escape(view.pair(view.text('proof'), proof))}{figures_link(material, view)}</p>"
        f"<p>{page_link(f'/search/{material}', view, view.text('find_title'))}</p>"
    )
    return details(view.text("this_endgame"), content, "panel endgame")


def longest_boards(
    store: TableStore, figures: TableStatistics, view: View, most: int | None = None
) -> str:
    """Return the longest win of each side and order as a small board; empty without wins.

    The wins are from the table's statistics. If these have no win of order 0 of a side, the table
    is searched (`longest_win`), unless it has more than `MAX_SLOTS` (with `most`, `QUICK_SLOTS`)
    slots per side to move.

    most : maximum number of boards; None for all
    """
    limit = MAX_SLOTS if most is None else QUICK_SLOTS
    longest: dict[tuple[int, Side], ExtremeWin] = {}
    for win in sorted(longest_wins(figures), key=lambda win: win.length):
        longest[win.order, win.winner] = win
    for side in Side:
        if (0, side) not in longest and figures.index_size <= limit:
            with contextlib.suppress(TablebaseError, OSError):  # a block of values is damaged
                searched = longest_win(store, figures, side)
                if searched is not None:
                    longest[0, side] = searched
    found = []
    for _, win in sorted(longest.items()):
        said, moves = result_name(win.winner, view.language), moves_in_words(win.plies, view)
        if win.order and win.plies:
            said = view.text("longest_loop", side=said, n=win.order, moves=moves)
        elif win.order:
            said += view.text("of_order", n=win.order)
        elif win.plies:
            said = view.text("longest_of", side=said, n=moves)
        found.append((win.position, said))
    heading = f"<h3>{view.message('longest_wins')}</h3>"
    return heading + small_boards(found[:most], view) if found else ""


def game_record(store: TableStore, view: View) -> str:
    """Return the moves played, in pairs, as HTML; each move links to the position after it.

    Moves of the loop that the referee judged are marked. In mode `read`, a move has the referee's
    label, and each of the last `VALUED_MOVES` also its value for the side that moved, if known.
    """
    if not view.moves:
        return ""
    judged = store.judge(view.start, view.moves)
    first, last = judged.span or (0, 0)
    items = []
    for number, (position, move) in enumerate(zip(view.positions, view.moves, strict=False), 1):
        left = len(view.moves) - number
        current = ' aria-current="true"' if not left else ""
        label, css = view.move_name(position, move), "loop" if first < number <= last else ""
        item = link(view.back(left).href(), label, css, current)
        if view.mode == "read":
            if left < VALUED_MOVES:
                with contextlib.suppress(TablebaseError, OSError):
                    value = store.tables.probe(view.positions[number]).exact
                    item += f" {value_badge(worth_of_move(value, False))}"
            item += label_sign(judged.plies[number - 1].label, view)
        items.append(item)
    record = f'<p class="game">{pairs(items, view)}</p>'
    return details(view.aside(view.text("game"), len(items)), record, "panel record", is_open=True)


def label_sign(label: str, view: View) -> str:
    """Return the referee's label of a move, check or chase, as HTML; empty for other moves."""
    if label not in ("check", "chase"):
        return ""
    return f' <i class="{label}">{view.message(f"ply_{label}")}</i>'


def pairs(items: Sequence[str], view: View) -> str:
    """Return moves in numbered pairs, `1. h2e2 h9g7 2. h0g2`, as HTML; an item is a move as HTML.

    If Black begins in `view.start`, `…` stands for Red's first move.
    """
    found = list(items)
    if view.start.side == Side.BLACK and found:
        found.insert(0, "…")
    return " ".join(
        f'<span class="pair"><b>{number // 2 + 1}.</b> '
        f"{' '.join(found[number : number + 2])}</span>"
        for number in range(0, len(found), 2)
    )


def share_panel(facts: Facts, view: View) -> str:
    """Return a section with links to other forms of the position or game, and texts to copy.

    In line mode the permanent link plays the film. In play mode links that would show values or
    best play are left out.
    """
    playing = view.mode == "play"
    # The links name the language: who opens them may send another `Accept-Language`.
    view = replace(view, chosen=None, heat_square=None, hint="", asked_language=True)
    shown, embedded = replace(view, mode="read"), view.href("/embed")
    untold = (playing or facts.result is None) and not view.moves
    permanent = view if playing else shown.at(view.position)
    if view.mode == "line":
        permanent = replace(view, autoplay=True, film_ply=0)
    found = [(permanent.href(), view.text("permalink"))]
    if not untold:
        found.append((shown.href("/export.pgn"), view.text("export")))
    found.append((shown.href("/v1/render.svg"), "SVG"))
    if can_rasterise():
        found.append((shown.href("/v1/render.png"), "PNG"))
    if not untold:
        found.append((view.href("/v1/animation.svg"), view.text("moving")))
        if can_rasterise():
            found.append((view.href("/v1/animation.gif"), "GIF"))
    found.append((embedded, view.text("embed")))
    if not playing:
        found.append((shown.href("/v1/probe"), "JSON"))
    links = " ".join(link(href, name) for href, name in found)
    frame = f'<iframe src="{view.origin}{embedded}" {FRAME_SIZE}></iframe>'
    below = Side.BLACK if view.flip else Side.RED
    codes = "".join(
        f"<p><code>{escape(code)}</code> {copy_button(code, view)}</p>"
        for code in (view.position.fen, format_position(view.position, "pai", below), frame)
    )
    content = (
        f'<p class="links">{links}</p><div class="codes">{codes}</div>'
        f'<p class="under">{view.message("keys")}</p>'
    )
    return details(view.text("share"), content, "panel")
