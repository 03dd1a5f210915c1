"""The names that the query of an address may have; any other is refused, and the nearest named.

An answer that leaves out what it does not know would be taken for the answer to what was asked.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from difflib import get_close_matches

from tbgen.board.web.http import RequestError
from tbgen.board.web.openapi import ENDPOINTS
from tbgen.board.web.state import SETTINGS, VIEW
from tbgen.finding.query import FIELDS
from tbgen.indexing.errors import excerpt

_PAGES: dict[str, tuple[str, ...]] = {
    "/": (*VIEW, "piece", "was"),
    "/find": (*SETTINGS, "q"),
    "/puzzle": SETTINGS,
    "/puzzle/{material}": (*SETTINGS, "task", "level"),
    "/reply": VIEW,
    "/search/{material}": (*SETTINGS, *FIELDS, "seed"),
    "/endgames": SETTINGS,
    "/endgames/{material}": (*SETTINGS, "won", "order", "plies"),
    "/handbook": SETTINGS,
    "/handbook/{attacker}": SETTINGS,
    "/embed": VIEW,
    "/build": SETTINGS,
    "/api": SETTINGS,
}

KNOWN = _PAGES | {
    endpoint.path: (*endpoint.parameters, *(VIEW if "fen" in endpoint.parameters else ()))
    for endpoint in ENDPOINTS
}
"""By the path of a route. An address of programs about a position takes what the board takes."""


def refuse_unknown(path: str, asked: Iterable[str]) -> None:
    """Raise `RequestError` unless the address takes all that is asked; `path` is the route's."""
    known = KNOWN.get(path, ())
    for name in asked:
        if name not in known:
            raise RequestError(400, f"{path} has no parameter {excerpt(name)}", _hint(name, known))


def _hint(name: str, known: Collection[str]) -> str:
    """A name to write instead."""
    nearest = get_close_matches(name, known, 1)
    if nearest:
        return f"write {nearest[0]}"
    return f"it has {', '.join(dict.fromkeys(known))}" if known else "it has none"
