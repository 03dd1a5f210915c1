"""Frame of every page, and HTML elements that pages share.

    wide_page, board_page    ->  <head>, <header> with links to modes and pages, <main>, settings
    link, table, ...         ->  elements; plain text and addresses in them are escaped

The script replaces <header>, <main> and settings when a link is followed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from html import escape
from typing import Any
from urllib.parse import urlencode

from tbgen.board.drawing.diagram import BOARDS, names_of_pieces, symbols
from tbgen.board.drawing.pieces import PIECE_SETS
from tbgen.board.language.i18n import LANGUAGES
from tbgen.board.web.assets import address as static_address
from tbgen.board.web.http import HTML, Answer
from tbgen.board.web.view import MODES, THEMES, View, default_notation
from tbgen.indexing import Material
from tbgen.notation import MOVE_NOTATIONS


def class_badge(kind: str, view: View) -> str:
    """Return an endgame's class as HTML; `kind` is `won`, `open` or `drawn`."""
    return f'<span class="class {kind}">{view.message(f"class_{kind}")}</span>'


def link(href: str, label: str, css: str = "", extra: str = "") -> str:
    """Return an <a> element; `extra` has further attributes as HTML, with a blank before each."""
    attribute = f' class="{css}"' if css else ""
    return f'<a{attribute} href="{escape(href)}"{extra}>{escape(label)}</a>'


def page_link(
    path: str, view: View, label: str, css: str = "", query: Mapping[str, str] | None = None
) -> str:
    """Return a link to `path`, with `query` and the view's settings, without its game."""
    return link(with_settings(path, view, query), label, css)


def figures_link(material: Material, view: View) -> str:
    """Return a link to the page of an endgame, which has the statistics of its table."""
    return page_link(f"/endgames/{material}", view, view.text("all_figures"))


def details(summary: str, content: str, css: str = "", *, is_open: bool = False) -> str:
    """Return a <details> element, folded unless `is_open`: `summary` as text, `content` as HTML."""
    opened = " open" if is_open else ""
    return f'<details class="{css}"{opened}><summary>{escape(summary)}</summary>{content}</details>'


def table(head: Iterable[str], rows: Iterable[Iterable[str]], css: str = "") -> str:
    """Return a <table> in a <div> that scrolls it; `head` has plain texts, `rows` cells as HTML."""
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    names = "".join(f"<th>{escape(name)}</th>" for name in head)
    return (
        f'<div class="scroll" tabindex="0"><table class="{css}"><thead><tr>{names}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def hidden_fields(query: Mapping[str, str]) -> str:
    """Return hidden form fields that carry the parameters of a query, as HTML."""
    return "".join(
        f'<input type="hidden" name="{escape(key)}" value="{escape(value)}">'
        for key, value in query.items()
    )


def copy_button(content: str, view: View) -> str:
    """Return a button, as HTML, that copies the text `content`; hidden without scripts."""
    return (
        f'<button type="button" class="copy small" hidden data-copy="{escape(content)}" '
        f'data-done="{view.message("copied")}" '
        f'data-failed="{view.message("copy_failed")}">'
        f"{view.message('copy')}</button>"
    )


def turn_buttons(view: View) -> str:
    """Return a link that turns the board, and a button for full screen (hidden without scripts)."""
    enter, leave = (view.message(key) for key in ("whole_screen", "leave_screen"))
    flip = link(view.href(flip=not view.flip), view.text("flip"), "button flip")
    return (
        f'{flip}<button type="button" class="whole-screen" hidden data-enter="{enter}" '
        f'data-leave="{leave}">{enter}</button>'
    )


def page(
    view: View,
    title: str,
    main: str,
    address: Callable[[View], str] = View.href,
    data: Mapping[str, str] | None = None,
    css: str = "",
    head: str = "",
    status: int = 200,
    complete: bool = True,
) -> Answer:
    """Return a whole page; `complete` as in `Answer`.

    title : plain text; main : HTML of the <main> element, css : its class
    address : returns the address of this page for a view with other settings
    data : attributes `data-NAME` of <main>, by NAME, for the script
    head : further tags of <head>, as HTML
    """
    data = data or {}
    theme = f' data-theme="{view.theme}"' if view.theme else ""
    attributes = "".join(f' data-{key}="{escape(value)}"' for key, value in data.items())
    heading = escape(f"{title} - {view.text('title')}")
    target, skip = ("moves", "skip") if 'id="moves"' in main else ("main", "skip_main")
    whole = (
        f'<!doctype html><html lang="{view.language}" data-root="/"{theme}><head>'
        f'<meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="color-scheme" content="light dark"><title>{heading}</title>'
        f'<meta name="description" content="{view.message("start_here")}">'
        f'{head}<link rel="stylesheet" href="{static_address("board.css")}">'
        f'<link rel="icon" href="{static_address("icon.svg")}">'
        f'<script type="module" src="{static_address("board.js")}"></script></head><body>'
        f"{link(f'#{target}', view.text(skip), 'skip')}"
        f'<svg class="symbols" width="0" height="0" aria-hidden="true">'
        f"{symbols(view.pieces, with_board=True)}</svg>"
        f"<header>{_navigation(view, 'mode' in data)}</header>"
        f'<p id="said" class="unseen" role="status"></p>'
        f'<main id="main" class="{css}" data-failed="{view.message("failed")}"'
        f"{attributes}>{main}</main>"
        f'<footer id="settings">{_settings(view, address)}</footer></body></html>'
    )
    return Answer(whole, HTML, status, complete=complete)


def board_page(
    view: View, title: str, verdict: str, stage: str, side: str = "", css: str = "workspace",
    **how: Any,
) -> Answer:  # fmt: skip
    """Return a page with a board, in up to three sections of HTML; empty sections are left out.

    verdict : outcome; stage : board and buttons; side : moves and panels
    css : class of the <main> element; how : further arguments of `page`
    """
    sections = {"verdict": verdict, "stage": stage, "side": side}
    main = "".join(
        f'<section class="{name}">{content}</section>'
        for name, content in sections.items()
        if content
    )
    data = {**how.pop("data", {}), "names": names_of_pieces(view.language)}
    return page(view, title, main, css=css, data=data, **how)


def wide_page(
    view: View,
    title: str,
    content: str,
    path: str,
    query: Mapping[str, str] | None = None,
    css: str = "wide",
    heading: str = "",
    status: int = 200,
    complete: bool = True,
) -> Answer:
    """Return a page without a board: heading and `content` (HTML), in a <div> of class `css`.

    path, query : address of the page, without the view's settings
    heading : HTML; if empty, the heading is `title`, which is plain text
    """
    main = f'<div class="{css}"><h1>{heading or escape(title)}</h1>{content}</div>'
    own = partial(with_settings, path, query=query)
    return page(view, title, main, own, status=status, complete=complete)


def with_settings(path: str, view: View, query: Mapping[str, str] | None = None) -> str:
    """Return an address: `path`, with `query` and the view's settings, without its game."""
    whole = {**(query or {}), **view.settings()}
    return f"{path}?{urlencode(whole)}" if whole else path


def _navigation(view: View, on_board: bool) -> str:
    """Return the content of <header>: links to modes and pages, search box.

    On the board, the link to mode `view.mode` is marked as current.
    """
    shown = view.back(0)
    links = []
    for mode in MODES:
        visitor = view.visitor if view.mode == "play" else view.position.side
        current = ' aria-current="page"' if on_board and mode == view.mode else ""
        href = shown.href(mode=mode, visitor=visitor)
        links.append(link(href, view.text(mode), f"tab {mode}", current))
    links.append(page_link("/endgames", view, view.text("endgames"), "tab"))
    material = view.position.material
    if material.needs_table:
        links.append(page_link(f"/search/{material}", view, view.text("find_tab"), "tab"))
    label = view.message("find")
    find = (
        f'<form class="find" action="/find" method="post" role="search">'
        f"{hidden_fields(view.settings())}"
        f'<input name="q" aria-label="{label}" placeholder="{label}" '
        f'autocomplete="off" spellcheck="false">'
        f'<button type="submit">{view.message("find_go")}</button></form>'
    )
    home = page_link("/", view, view.text("title"), "home")
    return f'{home}<nav aria-label="{view.message("title")}">{"".join(links)}</nav>{find}'


def _settings(view: View, address: Callable[[View], str]) -> str:
    """Return the <footer>'s content: links for settings (`address` as in `page`) and to the API."""
    notations = {name: f"n_{name}" if name.startswith("zh") else name for name in MOVE_NOTATIONS}
    rows: dict[str, Mapping[str, str]] = {
        "language": LANGUAGES,
        "notation": {name: view.text(key) for name, key in notations.items()},
        "pieces": {name: view.text(name) for name in PIECE_SETS},
        "board": {name: view.text(name) for name in BOARDS},
        "theme": {name: view.text(name or "auto") for name in THEMES},
    }
    found = []
    for field, labels in rows.items():
        links = []
        for name, label in labels.items():
            change: dict[str, Any] = {field: name}
            if field == "language":
                change["asked_language"] = True
                if "notation" not in view.settings():
                    change["notation"] = default_notation(name)
            changed = replace(view, **change)
            chosen = name == getattr(view, field)
            current = f'<b aria-current="true">{escape(label)}</b>'
            links.append(current if chosen else link(address(changed), label))
        title = view.text("wooden" if field == "board" else field) + view.text("colon")
        found.append(f"<p><span>{escape(title)}</span>{' '.join(links)}</p>")
    return f"{''.join(found)}<p>{page_link('/api', view, view.text('api'))}</p>"
