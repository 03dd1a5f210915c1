"""The frame of every page, and the small pieces of HTML that pages share.

    page(view, title, main)  ->  <html> head, navigation, <main id="main">, settings

The script replaces `main` when a link is followed; without it the links simply work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from html import escape
from urllib.parse import urlencode

from tbgen.board.i18n import LANGUAGES, text
from tbgen.board.pieces import PIECE_SETS
from tbgen.board.state import THEMES, View
from tbgen.notation import MOVE_NOTATIONS


def page(
    view: View,
    title: str,
    main: str,
    address: Callable[[View], str] = View.href,
    data: dict[str, str] | None = None,
) -> str:
    """A whole page.

    `address` says where this page is for a view with other settings; `data` are attributes of
    `main` for the script.
    """
    language = view.language
    theme = f' data-theme="{view.theme}"' if view.theme else ""
    attributes = "".join(f' data-{key}="{escape(value)}"' for key, value in (data or {}).items())
    heading = escape(f"{title} - {text(language, 'title')}")
    return (
        f'<!doctype html><html lang="{language}"{theme}><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="color-scheme" content="light dark"><title>{heading}</title>'
        f'<link rel="stylesheet" href="/static/board.css">'
        f'<link rel="icon" href="/static/icon.svg">'
        f'<script type="module" src="/static/board.js"></script></head><body>'
        f'<header>{_navigation(view)}</header><main id="main"{attributes}>{main}</main>'
        f'<footer id="settings">{_settings(view, address)}</footer></body></html>'
    )


def link(href: str, label: str, css: str = "", extra: str = "") -> str:
    """An anchor with a text."""
    attribute = f' class="{css}"' if css else ""
    return f'<a{attribute} href="{escape(href)}"{extra}>{escape(label)}</a>'


def details(summary: str, content: str, css: str = "") -> str:
    """Something to open; `content` is HTML."""
    return f'<details class="{css}"><summary>{escape(summary)}</summary>{content}</details>'


def table(head: Iterable[str], rows: Iterable[Iterable[str]], css: str = "") -> str:
    """A table; cells are HTML."""
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    names = "".join(f"<th>{escape(name)}</th>" for name in head)
    return (
        f'<div class="scroll"><table class="{css}"><thead><tr>{names}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def with_settings(path: str, view: View) -> str:
    """The address of a page without a board, in the view's language and theme."""
    query = {key: value for key, value in view.settings().items() if key in ("lang", "theme")}
    return f"{path}?{urlencode(query)}" if query else path


def _navigation(view: View) -> str:
    """The pages there are."""
    entries = [
        (view.href(mode="read", chosen=None), "board"),
        (with_settings("/endgames", view), "endgames"),
        (view.href(mode="edit", chosen=None), "editor"),
    ]
    links = "".join(link(href, text(view.language, key)) for href, key in entries)
    return (
        f"<nav>{link(with_settings('/', view), text(view.language, 'title'), 'home')}{links}</nav>"
    )


def _settings(view: View, address: Callable[[View], str]) -> str:
    """Links that change how things are shown."""
    language = view.language

    def row(key: str, options: Iterable[tuple[View, str, bool]]) -> str:
        links = []
        for changed, label, chosen in options:
            if chosen:
                links.append(f'<b aria-current="true">{escape(label)}</b>')
            else:
                links.append(link(address(changed), label))
        return f"<p><span>{escape(text(language, key))}:</span> {' '.join(links)}</p>"

    rows = [
        row("language", (
            (_in_language(view, tag), name, tag == language) for tag, name in LANGUAGES.items()
        )),
    ]  # fmt: skip
    if address(replace(view, pieces=PIECE_SETS[-1])) != address(view):
        # Only where pieces and moves are shown.
        rows.append(row("notation", (
            (replace(view, notation=name), _notation_name(language, name), name == view.notation)
            for name in MOVE_NOTATIONS
        )))  # fmt: skip
        rows.append(row("pieces", (
            (replace(view, pieces=name), text(language, name), name == view.pieces)
            for name in PIECE_SETS
        )))  # fmt: skip
    rows.append(row("theme", (
        (replace(view, theme=name), text(language, name), name == view.theme) for name in THEMES
    )))  # fmt: skip
    return "".join(rows)


def _in_language(view: View, language: str) -> View:
    """The view in another language, with that language's own notation of moves."""
    changed = replace(view, language=language, asked_language=True)
    kept = view.notation if "notation" in view.settings() else changed.usual_notation
    return replace(changed, notation=kept)


def _notation_name(language: str, notation: str) -> str:
    return text(language, f"n_{notation}" if notation.startswith("zh") else notation)
