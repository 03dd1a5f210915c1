"""The addresses for programs, described once: as OpenAPI, and as a page that tries them.

    ENDPOINTS  ->  /openapi.json        OpenAPI 3.1
               ->  /api                 every address with a form; answers come as they are

What the answers hold is said field by field in `schemas`; `api` makes them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import Any

from tbgen import __version__
from tbgen.board.drawing.pieces import PIECE_SETS
from tbgen.board.knowledge.games import MAX_MOVES
from tbgen.board.knowledge.library import MAX_LINE
from tbgen.board.knowledge.search import MOST_SHOWN
from tbgen.board.language.i18n import LANGUAGES, localise, text
from tbgen.board.web.http import GIF, JSON, PNG, SVG, TEXT, Answer
from tbgen.board.web.layout import wide_page
from tbgen.board.web.markup import link, message
from tbgen.board.web.schemas import SCHEMAS
from tbgen.board.web.state import MAX_POSITION_TEXT, View
from tbgen.finding.query import FIELDS, LARGEST, SORTS
from tbgen.notation import MOVE_NOTATIONS

_LOOP = "9/9/4k4/9/9/9/9/9/1n7/R2K5_w"

MIN_WIDTH, MAX_WIDTH = 64, 2000
"""Pixels of a picture; a narrower one is drawn so wide."""

MAX_GIF_WIDTH = 800

_COUNT: dict[str, Any] = {"type": "integer", "minimum": 0, "maximum": LARGEST}

_PARAMETERS: dict[str, tuple[str, str, dict[str, Any], str]] = {
    "fen": (
        "the position, in any notation, _ for blanks",
        "局面，任何记法",
        {"type": "string", "maxLength": MAX_POSITION_TEXT},
        _LOOP,
    ),
    "moves": (
        f"moves in ICCS, separated by commas, at most {MAX_MOVES}",
        "坐标着法，用逗号分开",
        {"type": "string"},
        "d0d1,b1c3",
    ),
    "notation": ("adds the text of moves", "着法记法", {"enum": list(MOVE_NOTATIONS)}, "wxf"),
    "lang": ("language of reasons", "原因的语言", {"enum": list(LANGUAGES)}, "en"),
    "explain": ("1: say who checks or chases", "取1时说明谁长将、谁长捉", {"enum": ["1"]}, "1"),
    "plies": (
        "at most so many plies",
        "最多步数",
        {"type": "integer", "minimum": 0, "maximum": MAX_LINE},
        "40",
    ),
    "pieces": ("how pieces are drawn", "棋子样式", {"enum": list(PIECE_SETS)}, "zh"),
    "flip": ("1: Black below", "取1时黑方在下", {"enum": ["1"]}, "1"),
    "limit": (
        "at most so many positions",
        "最多局面数",
        {"type": "integer", "minimum": 1, "maximum": MOST_SHOWN},
        "5",
    ),
    "seed": ("another number finds others", "换一个数，换一批局面", _COUNT, "1"),
    "turn": ("whose turn it is", "轮走方", {"enum": ["red", "black"]}, "red"),
    "outcome": ("for the side to move", "轮走方的结果", {"enum": ["win", "draw", "loss"]}, "win"),
    "order": ("orders: 2, 1-3, 1- or -3", "阶", {"type": "string"}, "1-3"),
    "least": ("plies from", "步数从", _COUNT, "5"),
    "most": ("plies to", "步数到", _COUNT, "9"),
    "only": ("1: one move alone keeps the result", "取1时只有一着保持结果", {"enum": ["1"]}, "1"),
    "zugzwang": ("1: mutual zugzwang", "取1时互相欠行", {"enum": ["1"]}, "1"),
    "decided": (
        "what the loser must begin at once",
        "负方立即开始的循环",
        {"enum": ["check", "chase"]},
        "check",
    ),
    "differs": (
        "1: another rule set here has another outcome",
        "取1时其他规则下结果不同",
        {"enum": ["1"]},
        "1",
    ),
    "format": (
        "of the positions: json, csv, or pgn with best play",
        "局面的格式",
        {"enum": ["json", "csv", "pgn"]},
        "json",
    ),
    "name": (
        "an endgame in any spelling",
        "残局名称，任何写法",
        {"type": "string", "maxLength": 100},
        "rook against knight",
    ),
    "study": ("1: studies, unique move by move", "取1时唯一解的排局", {"enum": ["1"]}, "1"),
    "at": ("pieces on squares", "指定位置的棋子", {"type": "string"}, "R@e5,r@a9"),
    "sort": (
        "least first, or with - largest first, of those found",
        "排序，加负号为从大到小",
        {"enum": list(SORTS)},
        "-plies",
    ),
    "width": (
        "in pixels",
        "像素宽度",
        {"type": "integer", "minimum": MIN_WIDTH, "maximum": MAX_WIDTH},
        "480",
    ),
    "material": ("an endgame", "残局", {"type": "string"}, "KRKN"),
}
"""By name: what it is in English and in Chinese, its schema, an example."""


@dataclass(frozen=True)
class Endpoint:
    """An address: what it answers in English and in Chinese, its parameters, its type.

    Parameters in the path are required, and so is `fen`. `schema` names the object of `SCHEMAS`
    that is answered as JSON; `widest` is the largest `width`.
    """

    path: str
    english: str
    chinese: str
    parameters: tuple[str, ...] = ()
    media: str = JSON
    schema: str = ""
    widest: int = MAX_WIDTH
    names: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        """Find the parameters of the path."""
        inside = tuple(name for name in _PARAMETERS if f"{{{name}}}" in self.path)
        object.__setattr__(self, "names", (*inside, *self.parameters))


ENDPOINTS = (
    Endpoint(
        "/v1/probe",
        "Value and moves of a position, or after a game",
        "局面或对局之后的值与着法",
        ("fen", "moves", "notation", "lang", "explain"),
        schema="probe",
    ),
    Endpoint(
        "/v1/mainline",
        "Best play of both sides",
        "双方最佳变化",
        ("fen", "plies", "notation", "lang"),
        schema="mainline",
    ),
    Endpoint(
        "/v1/judge",
        "The referee on a repetition, ply by ply",
        "裁判逐步判定循环",
        ("fen", "moves"),
        schema="judgement",
    ),
    Endpoint(
        "/v1/render.svg",
        "A picture of a position",
        "局面图",
        ("fen", "moves", "pieces", "flip"),
        SVG,
    ),
    Endpoint(
        "/v1/render.png",
        "The same as pixels",
        "同上，位图",
        ("fen", "moves", "pieces", "flip", "width"),
        PNG,
    ),
    Endpoint(
        "/v1/animation.svg",
        "A game, or best play, as a picture that moves",
        "对局或最佳变化的动画",
        ("fen", "moves", "pieces", "flip"),
        SVG,
    ),
    Endpoint(
        "/v1/animation.gif",
        "The same as pixels",
        "同上，位图",
        ("fen", "moves", "pieces", "flip", "width"),
        GIF,
        widest=MAX_GIF_WIDTH,
    ),
    Endpoint(
        "/export.pgn",
        "A game, or best play, as text",
        "棋谱文本",
        ("fen", "moves", "notation", "lang"),
        TEXT,
    ),
    Endpoint(
        "/v1/tables",
        "All tables, or one by its name, with their main figures",
        "全部残局库",
        ("name",),
        schema="tables",
    ),
    Endpoint("/v1/tables/{material}", "The figures of a table", "一个残局库的数据", schema="table"),
    Endpoint(
        "/v1/tables/{material}/histogram",
        "How many positions have each value",
        "各值的局面数",
        schema="histogram",
    ),
    Endpoint(
        "/v1/tables/{material}/search",
        "Positions by what is asked of them, in six seconds at most",
        "按条件找局面，最多六秒",
        (*FIELDS, "limit", "seed", "format"),
        schema="search",
    ),
    Endpoint(
        "/v1/tables/{material}/graph", "What captures lead to", "吃子后转入的残局", schema="graph"
    ),
    Endpoint("/v1/graph/{material}.dot", "The same for Graphviz", "同上，图形描述", media=TEXT),
    Endpoint("/healthz", "Whether the server is well", "服务器状态", schema="health"),
    Endpoint("/metrics", "Counts for Prometheus", "计数", media=TEXT),
)


def description(root: str = "") -> dict[str, Any]:
    """The document of OpenAPI 3.1 of a server, below the path `root` of its host."""
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
    """One address as OpenAPI has it."""
    missing = "missing" if endpoint.schema == "probe" else "error"
    return {
        "summary": endpoint.english,
        "parameters": [
            {
                "name": name,
                "in": "path" if f"{{{name}}}" in endpoint.path else "query",
                "required": name in ("fen", "material"),
                "description": _PARAMETERS[name][0],
                "schema": _schema(endpoint, name),
                "example": _PARAMETERS[name][3],
            }
            for name in endpoint.names
        ],
        "responses": {
            "200": _response("the answer", endpoint.media, endpoint.schema),
            "400": _response("bad input", JSON, "error"),
            "404": _response("no such table", JSON, missing),
            "503": _response("busy", JSON, "error"),
        },
    }


def _response(meaning: str, media: str, schema: str) -> dict[str, Any]:
    """One answer of an address; JSON has a schema."""
    said = {"schema": {"$ref": f"#/components/schemas/{schema}"}} if schema else {}
    return {"description": meaning, "content": {media: said}}


def _schema(endpoint: Endpoint, name: str) -> dict[str, Any]:
    """The values of a parameter."""
    found = _PARAMETERS[name][2]
    return found | {"maximum": endpoint.widest} if name == "width" else found


def api_page(view: View) -> Answer:
    """Every address with what it takes, and a form that asks it."""
    language = view.language
    sections = "".join(_section(endpoint, language) for endpoint in ENDPOINTS)
    machine = link("/openapi.json", "OpenAPI")
    content = f"<p>{message(language, 'api_note')} {machine}</p>{sections}"
    return wide_page(view, text(language, "api"), content, "/api", css="wide api")


def _section(endpoint: Endpoint, language: str) -> str:
    """One address, asked about an endgame where its path has one; a link where it takes nothing."""
    summary = localise(language, endpoint.english, endpoint.chinese)
    heading = f"<h2><code>{escape(endpoint.path)}</code></h2><p>{escape(summary)}</p>"
    ask = message(language, "api_try")
    address = endpoint.path.replace("{material}", _PARAMETERS["material"][3])
    if not endpoint.parameters:
        asked = link(address, text(language, "api_try"), "button")
        return f"<section>{heading}<p>{asked}</p></section>"
    fields = "".join(
        f"<label>{escape(localise(language, *_PARAMETERS[name][:2]))} "
        f'<code>{name}</code><input name="{name}" '
        f"{'required' if name == 'fen' else ''} "
        f'value="{escape(_PARAMETERS[name][3] if name == "fen" else "")}"></label>'
        for name in endpoint.parameters
    )
    return (
        f'<section>{heading}<form class="plain" action="{address}" method="get">{fields}'
        f'<button type="submit">{ask}</button></form></section>'
    )
