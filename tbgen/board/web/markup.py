"""HTML that pages share: messages, links, tables and buttons. Texts and attributes are escaped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape

from tbgen.board.language.i18n import text


def message(language: str, key: str, **fields: object) -> str:
    """The message of a key, as HTML."""
    return escape(text(language, key, **fields))


def class_badge(kind: str, language: str) -> str:
    """The class of an endgame: `won`, `open` or `drawn`."""
    return f'<span class="class {kind}">{message(language, f"class_{kind}")}</span>'


def link(href: str, label: str, css: str = "", extra: str = "") -> str:
    """An anchor with a text."""
    attribute = f' class="{css}"' if css else ""
    return f'<a{attribute} href="{escape(href)}"{extra}>{escape(label)}</a>'


def details(summary: str, content: str, css: str = "", *, is_open: bool = False) -> str:
    """Something to open; `content` is HTML."""
    opened = " open" if is_open else ""
    return f'<details class="{css}"{opened}><summary>{escape(summary)}</summary>{content}</details>'


def table(head: Iterable[str], rows: Iterable[Iterable[str]], css: str = "") -> str:
    """A table; cells are HTML."""
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    names = "".join(f"<th>{escape(name)}</th>" for name in head)
    return (
        f'<div class="scroll" tabindex="0"><table class="{css}"><thead><tr>{names}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def hidden_fields(query: Mapping[str, str]) -> str:
    """The hidden fields of a form."""
    return "".join(
        f'<input type="hidden" name="{escape(key)}" value="{escape(value)}">'
        for key, value in query.items()
    )


def copy_button(content: str, language: str) -> str:
    """A button that copies a text; only where scripts run."""
    return (
        f'<button type="button" class="copy small" hidden data-copy="{escape(content)}" '
        f'data-done="{message(language, "copied")}" '
        f'data-failed="{message(language, "copy_failed")}">'
        f"{message(language, 'copy')}</button>"
    )


def screen_button(language: str) -> str:
    """A button that shows the board on the whole screen; only where scripts run."""
    enter, leave = (message(language, key) for key in ("whole_screen", "leave_screen"))
    return (
        f'<button type="button" class="whole-screen" hidden data-enter="{enter}" '
        f'data-leave="{leave}">{enter}</button>'
    )
