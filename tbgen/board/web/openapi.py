"""Description of the addresses for programs: as OpenAPI, and as a page with forms.

    ENDPOINTS  ->  /openapi.json        OpenAPI 3.1
               ->  /api                 a form or link for each address

Unknown parameters are refused: a client would not notice that an answer ignores a misspelt one.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from difflib import get_close_matches
from html import escape
from typing import Any

from starlette.datastructures import QueryParams

from tbgen import __version__
from tbgen.board.drawing.diagram import BOARDS
from tbgen.board.drawing.pieces import PIECE_SETS
from tbgen.board.knowledge.search import MOST_SHOWN
from tbgen.board.knowledge.store import MAX_LINE
from tbgen.board.language.i18n import LANGUAGES, text
from tbgen.board.web.api import FORMATS, MAX_GIF_WIDTH, MAX_WIDTH, MIN_WIDTH
from tbgen.board.web.http import CSV, GIF, JSON, PNG, SVG, TEXT, Answer, RequestError
from tbgen.board.web.layout import link, wide_page
from tbgen.board.web.schemas import SCHEMAS
from tbgen.board.web.view import MAX_MOVES, MAX_POSITION_TEXT, VIEW, View
from tbgen.finding.query import FIELDS, LARGEST_NUMBER, SORTS
from tbgen.indexing.errors import excerpt
from tbgen.notation import MOVE_NOTATIONS

_LOOP = "9/9/4k4/9/9/9/9/9/1n7/R2K5_w"

_COUNT: dict[str, Any] = {"type": "integer", "minimum": 0, "maximum": LARGEST_NUMBER}

_SWITCH = {"enum": ["1"]}

_PARAMETERS: dict[str, tuple[dict[str, Any], str]] = {
    "fen": ({"type": "string", "maxLength": MAX_POSITION_TEXT}, _LOOP),
    "moves": ({"type": "string"}, "d0d1,b1c3"),
    "notation": ({"enum": list(MOVE_NOTATIONS)}, "wxf"),
    "lang": ({"enum": list(LANGUAGES)}, "en"),
    "explain": (_SWITCH, "1"),
    "plies": ({"type": "integer", "minimum": 1, "maximum": MAX_LINE}, "40"),
    "pieces": ({"enum": list(PIECE_SETS)}, "zh"),
    "flip": (_SWITCH, "1"),
    "board": ({"enum": list(BOARDS)}, "wood"),
    "limit": ({"type": "integer", "minimum": 1, "maximum": MOST_SHOWN}, "5"),
    "seed": (_COUNT, "1"),
    "turn": ({"enum": ["red", "black"]}, "red"),
    "outcome": ({"enum": ["win", "draw", "loss"]}, "win"),
    "order": ({"type": "string"}, "1-3"),
    "least": (_COUNT, "5"),
    "most": (_COUNT, "9"),
    "only": (_SWITCH, "1"),
    "zugzwang": (_SWITCH, "1"),
    "decided": ({"enum": ["check", "chase"]}, "check"),
    "differs": (_SWITCH, "1"),
    "format": ({"enum": list(FORMATS)}, "json"),
    "name": ({"type": "string", "maxLength": 100}, "rook against knight"),
    "study": (_SWITCH, "1"),
    "at": ({"type": "string"}, "R@e5,n@a9"),
    "sort": ({"enum": list(SORTS)}, "-plies"),
    "width": ({"type": "integer", "minimum": MIN_WIDTH, "maximum": MAX_WIDTH}, "480"),
    "material": ({"type": "string"}, "KRKN"),
}
"""Schema and example of each parameter by name; its description is the text `asked_NAME`."""


@dataclass(frozen=True)
class Endpoint:
    """Address for programs, answered by the method `name` of `Api` with media type `media`.

    `parameters` are those of the query; `fen` and parameters in the path are required. The text
    whose key is the path (texts.csv) is the summary.
    """

    path: str
    name: str
    parameters: tuple[str, ...] = ()
    media: str = JSON

    @property
    def schema(self) -> str:
        """Name of the answer's schema in `SCHEMAS`; empty for other media than JSON."""
        return {"judge": "judgement"}.get(self.name, self.name) if self.media == JSON else ""

    @property
    def known(self) -> tuple[str, ...]:
        """Parameters accepted in the query; with `fen`, also all those of a board page (`VIEW`)."""
        return (*self.parameters, *(VIEW if "fen" in self.parameters else ()))


_PICTURE = ("fen", "moves", "pieces", "flip", "board", "notation", "lang")

ENDPOINTS = (
    Endpoint("/v1/probe", "probe", ("fen", "moves", "notation", "lang", "explain")),
    Endpoint("/v1/mainline", "mainline", ("fen", "plies", "notation", "lang")),
    Endpoint("/v1/judge", "judge", ("fen", "moves", "lang")),
    Endpoint("/v1/render.svg", "render", _PICTURE, SVG),
    Endpoint("/v1/render.png", "render_png", (*_PICTURE, "width"), PNG),
    Endpoint("/v1/animation.svg", "animation", _PICTURE, SVG),
    Endpoint("/v1/animation.gif", "animation_gif", (*_PICTURE, "width"), GIF),
    Endpoint("/export.pgn", "export", ("fen", "moves", "notation", "lang"), TEXT),
    Endpoint("/v1/tables", "tables", ("name",)),
    Endpoint("/v1/tables/{material}", "table"),
    Endpoint("/v1/tables/{material}/histogram", "histogram"),
    Endpoint(
        "/v1/tables/{material}/search",
        "search",
        (*FIELDS, "limit", "seed", "format", "notation", "lang"),
    ),
    Endpoint("/v1/tables/{material}/graph", "graph"),
    Endpoint("/v1/graph/{material}.dot", "dot", media=TEXT),
    Endpoint("/healthz", "health"),
    Endpoint("/metrics", "metrics", media=TEXT),
)


_ERRORS = {
    "400": "bad input",
    "405": "not GET or HEAD",
    "413": "a request with a body",
    "414": "the address is too long",
    "421": "the name of another machine",
    "500": "a damaged file",
    "503": "busy, or too long",
}
"""Meaning of each error status, except 404, with which an address for programs may answer."""


def description(root: str = "") -> dict[str, Any]:
    """Return the OpenAPI 3.1 document; `root` is the path prefix of the server."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "tbgen",
            "version": __version__,
            "description": "Perfect play in xiangqi endgames. Everything is read by GET.",
        },
        "servers": [{"url": root or "/"}],
        "paths": {endpoint.path: {"get": _operation(endpoint)} for endpoint in ENDPOINTS},
        "components": {"schemas": SCHEMAS},
    }


def _operation(endpoint: Endpoint) -> dict[str, Any]:
    missing = "missing" if endpoint.name == "probe" else "error"
    inside = [name for name in _PARAMETERS if f"{{{name}}}" in endpoint.path]
    answer = _response("the answer", endpoint.media, endpoint.schema)
    if "format" in endpoint.parameters:
        answer["content"] |= {CSV: {}, TEXT: {}}
    return {
        "summary": text("en", endpoint.path),
        "parameters": [
            {
                "name": name,
                "in": "path" if name in inside else "query",
                "required": name in ("fen", "material"),
                "description": _meaning("en", name),
                "schema": _PARAMETERS[name][0]
                | ({"maximum": MAX_GIF_WIDTH} if (name, endpoint.media) == ("width", GIF) else {}),
                "example": _PARAMETERS[name][1],
            }
            for name in (*inside, *endpoint.parameters)
        ],
        "responses": {
            "200": answer,
            **{status: _response(meaning, JSON, "error") for status, meaning in _ERRORS.items()},
            "404": _response("no such table, or none is possible", JSON, missing),
        },
    }


def _response(meaning: str, media: str, schema: str) -> dict[str, Any]:
    """Return the OpenAPI description of one response; `schema` is a name in `SCHEMAS` or empty."""
    said = {"schema": {"$ref": f"#/components/schemas/{schema}"}} if schema else {}
    return {"description": meaning, "content": {media: said}}


def _meaning(language: str, name: str) -> str:
    return text(language, f"asked_{name}", n=MAX_MOVES)


def api_page(view: View) -> Answer:
    """Return the page that lists every address with a form or link to try it."""
    sections = "".join(_section(endpoint, view) for endpoint in ENDPOINTS)
    machine = link("/openapi.json", "OpenAPI")
    content = f"<p>{view.message('api_note')} {machine}</p>{sections}"
    return wide_page(view, view.text("api"), content, "/api", css="wide api")


def _section(endpoint: Endpoint, view: View) -> str:
    """Return the section of an address as HTML: with a form, or a link if it has no parameters."""
    address = endpoint.path.replace("{material}", _PARAMETERS["material"][1])
    tried = f"<p>{link(address, view.text('api_try'), 'button')}</p>"
    if endpoint.parameters:
        fields = ""
        for name in endpoint.parameters:
            meaning = escape(_meaning(view.language, name))
            example = f'required value="{_LOOP}"' if name == "fen" else ""
            fields += f'<label>{meaning} <code>{name}</code><input name="{name}" {example}></label>'
        tried = (
            f'<form class="plain" action="{address}" method="get">{fields}'
            f'<button type="submit">{view.message("api_try")}</button></form>'
        )
    heading = f"<h2><code>{escape(endpoint.path)}</code></h2>"
    return f"<section>{heading}<p>{view.message(endpoint.path)}</p>{tried}</section>"


def refuse_parameters(
    path: str, known: Collection[str], listed: Collection[str], asked: QueryParams
) -> None:
    """Raise `RequestError` for a parameter not in `known`, and for any but `at` given twice.

    listed : parameters whose value must be empty or in their `enum` (`_PARAMETERS`), if any
    """
    for name in asked:
        if name not in known:
            hint = f"it has {', '.join(dict.fromkeys(known))}" if known else "it has none"
            for nearest in get_close_matches(name, known, 1):
                hint = f"write {nearest}"
            raise RequestError(400, f"{path} has no parameter {excerpt(name)}", hint)
        if name != "at" and (times := len(asked.getlist(name))) > 1:
            raise RequestError(400, f"{name} is given {times} times", "give it once")
    for name in listed:
        values = _PARAMETERS[name][0].get("enum")
        if values and asked.get(name) and asked[name] not in values:
            raise RequestError(400, f"{name} is none of {', '.join(values)}", f"{name}={values[0]}")
