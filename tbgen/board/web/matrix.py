"""All endgames at a glance: who attacks in rows, who defends in columns, coloured by outcome.

    materials, outcome classes  ->  a table of links; empty where there is no table

What makes an endgame won, drawn or open is decided in `tbgen.finding.handbook`. A row's name leads
to the chapter of the attacker.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape

from tbgen.board.language.i18n import text
from tbgen.board.language.names import army_name, material_name
from tbgen.board.web.layout import with_settings
from tbgen.board.web.markup import class_badge, message
from tbgen.board.web.state import View
from tbgen.indexing import Army, Material, Side


@dataclass(frozen=True)
class Cell:
    """An endgame in the matrix: `won`, `drawn` or `open`, and its longest distance in plies."""

    kind: str
    longest: int


def matrix(cells: Mapping[Material, Cell], view: View) -> str:
    """The table; the armies with the most pieces last."""
    language = view.language
    rows = _armies(material.first for material in cells)
    columns = _armies(material.second for material in cells)
    head = "".join(f'<th scope="col">{_name(army, Side.BLACK, language)}</th>' for army in columns)
    body = []
    for first in rows:
        found = {material.second: material for material in cells if material.first == first}
        entries = "".join(
            _cell(found[second], cells[found[second]], view) if second in found else "<td></td>"
            for second in columns
        )
        chapter = escape(with_settings(f"/handbook/{first.name}", view))
        name = f'<a href="{chapter}">{_name(first, Side.RED, language)}</a>'
        body.append(f'<tr><th scope="row">{name}</th>{entries}</tr>')
    legend = " ".join(class_badge(kind, language) for kind in ("won", "open", "drawn"))
    note = message(language, "matrix_note")
    corner = message(language, "matrix_corner")
    return (
        f'<p>{note} {legend}</p><div class="scroll" tabindex="0"><table class="matrix"><thead>'
        f'<tr><th scope="col">{corner}</th>{head}</tr></thead>'
        f"<tbody>{''.join(body)}</tbody></table></div>"
    )


def _cell(material: Material, cell: Cell, view: View) -> str:
    language = view.language
    kind = text(language, f"class_{cell.kind}")
    plies = f"{cell.longest} {text(language, 'plies')}"
    stop = text(language, "list_stop")
    name = f"{material_name(material, language)}{text(language, 'colon')}{kind}{stop}{plies}"
    href = escape(with_settings(f"/endgames/{material}", view))
    return (
        f'<td class="{cell.kind}"><a href="{href}" title="{escape(name)}" '
        f'aria-label="{escape(name)}">{cell.longest or "="}</a></td>'
    )


def _name(army: Army, side: Side, language: str) -> str:
    """Letters, with the words to be pointed at; the words themselves where they are short."""
    words = army_name(army, side, language)
    if language != "en":
        return escape(words)
    return f'<span title="{escape(words)}">{army.name}</span>'


def _armies(armies: Iterable[Army]) -> list[Army]:
    """Each once, those with few pieces first."""
    return sorted(set(armies), key=lambda army: (sum(army.strength), army.strength))
