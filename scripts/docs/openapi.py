"""Write docs/openapi.json: the HTTP API for programs, with a request of each kind as an example.

    python scripts/docs/openapi.py

Answers are those of the command line (`scripts/docs/answers.py`) with what the board adds; the page
for people is docs/board.md, "HTTP". `tests/docs/test_openapi.py` asks every example.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from answers import (
    ANSWERS,
    FEN,
    JUDGEMENT,
    LIMIT,
    MATERIAL,
    METRIC,
    MINOR,
    MOVE,
    POSITION,
    PROOF,
    RULES,
    SIDE,
    Schema,
    flag,
    number,
    or_null,
    record,
    several,
    text,
    whole,
)

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "docs" / "openapi.json"

CHECKS = "9/9/4k4/9/9/9/9/3n5/9/R2K5_b"
LOOP = "f0e0,e8f8,e0f0,f8e8,f0e0,e8f8,e0f0,f8e8"

PARAMETERS: dict[str, tuple[str, Any]] = {
    "fen": ("a position in any notation of docs/notations.md, `_` for blanks", CHECKS),
    "moves": ("moves from it as ICCS, separated by commas, at most 400", "d2b1,d0d1"),
    "notation": ("also write moves so: wxf, zh, zh-hant, fairy", "zh"),
    "lang": ("language of reasons: en, zh-Hans, zh-Hant", "en"),
    "explain": ("1: follow best play to the loop that decides", "1"),
    "plies": ("the longest line", "40"),
    "pieces": ("zh or latin", "latin"),
    "flip": ("1: Black below", "1"),
    "limit": ("at most so many positions, up to 200", "5"),
    "seed": ("another number finds others, if there are more", "1"),
    "turn": ("whose turn it is: red, black", "red"),
    "outcome": ("for the side to move: win, draw, loss", "win"),
    "order": ("of this order", "0"),
    "least": ("plies from", "5"),
    "most": ("plies to", "9"),
    "only": ("1: one move alone keeps the win or the draw", "1"),
    "zugzwang": ("1: whoever is to move does worse than if the other were", "1"),
    "decided": ("check or chase: what the loser must begin with at once", "check"),
    "differs": ("1: another rule set that is here has another outcome", "1"),
    "width": ("in pixels, 64 to 2000", "480"),
    "material": ("a material", "KRKN"),
}
"""What each means, and an example."""


def with_optional(schema: Schema, **fields: Schema) -> Schema:
    """An object that may have more fields."""
    return schema | {"properties": schema["properties"] | fields}


BOARD_MOVE = with_optional(
    record("a move", **MOVE, fen=FEN | {"description": "the position after it"}),
    text=text("in `notation`"),
    forbidden=text("why it loses by repetition, where it does"),
)
PROBE = with_optional(
    record(
        "a position, after `moves` if there are any",
        **POSITION,
        terminal=flag("whether there is no legal move"),
        moves=several("every legal move, best first", BOARD_MOVE),
    ),
    suggested=or_null(text("with `moves`: the move to play")),
    judgement=or_null(JUDGEMENT | {"description": "with `moves`: the referee's, if one is due"}),
)
TABLE_FIGURES = {
    "legal": or_null(whole("legal positions")),
    "max_distance": or_null(whole("longest distance of order 0")),
    "rule_decided": or_null(whole("of order 1 and above")),
    "bytes_on_disk": or_null(whole("the file")),
    "build_seconds": or_null(number("null where no build record is")),
}


def without(schema: Schema, *names: str) -> Schema:
    """An object that lacks some fields."""
    kept = {name: field for name, field in schema["properties"].items() if name not in names}
    return schema | {"properties": kept, "required": list(kept)}


def line() -> Schema:
    """The answer of `line`, with the text of each move."""
    found = ANSWERS["line"]
    moves = found["properties"]["moves"]
    inner = moves["items"]
    with_text = record("a move", **inner["properties"], text=text("in `notation`"))
    return found | {"properties": found["properties"] | {"moves": moves | {"items": with_text}}}


SCHEMAS: dict[str, Schema] = {
    "probe": PROBE,
    "mainline": line(),
    "judgement": JUDGEMENT,
    "tables": record(
        "the tables; one that cannot be read has nulls, `error` and `hint`",
        tables=several(
            "their figures",
            with_optional(
                record(
                    "a table",
                    material=MATERIAL,
                    rules=RULES,
                    minor_chases=MINOR,
                    metric=METRIC,
                    orders_limit=LIMIT,
                    **TABLE_FIGURES,
                    proof=or_null(PROOF),
                ),
                error=text("why it cannot be read"),
                hint=text("what to do"),
            ),
        ),
    ),
    "table": without(without(ANSWERS["stats"], "file"), "values"),
    "histogram": record(
        "how many positions have each value",
        material=MATERIAL,
        histogram=several(
            "a line for each",
            record(
                "a value",
                side=SIDE,
                outcome=text("for the side to move", "win", "draw", "loss"),
                order=whole("its order"),
                plies=or_null(whole("its distance; null for a draw")),
                value=whole("the number"),
                positions=whole("how many"),
            ),
        ),
    ),
    "search": record(
        "positions of a table; with `share` 1 there are no others",
        material=MATERIAL,
        candidates=whole("positions with a wanted value"),
        share=number("the part of them, 0 to 1, that has been looked at"),
        positions=several("as `probe` has them, `moves` aside", record("a position", **POSITION)),
    ),
    "graph": record(
        "what captures lead to",
        material=MATERIAL,
        nodes=several(
            "bottom-up",
            record(
                "a material",
                material=MATERIAL,
                present=flag("whether its table is here"),
                captures=several(
                    "from it",
                    record(
                        "a capture",
                        taken=text("the piece, as in a FEN"),
                        material=MATERIAL,
                        needs_table=flag("false where all is drawn"),
                    ),
                ),
            ),
        ),
    ),
    "health": record("well", status=text("ok"), tables=whole("how many tables there are")),
    "error": record("a failure", error=text("one line that says what"), hint=text("what to do")),
}

JSON, PLAIN = "application/json", "text/plain"
SVG, PNG, GIF = "image/svg+xml", "image/png", "image/gif"

FIELDS = (
    "turn", "outcome", "order", "least", "most", "only", "zugzwang", "decided", "differs"
)  # fmt: skip
"""What a search may be asked for."""

PATHS: dict[str, tuple[str, str, str, tuple[str, ...]]] = {
    "/v1/probe": (
        "Value and moves",
        JSON,
        "probe",
        ("fen", "moves", "notation", "lang", "explain"),
    ),
    "/v1/mainline": ("Best play", JSON, "mainline", ("fen", "plies", "notation", "lang")),
    "/v1/judge": ("The referee", JSON, "judgement", ("fen", "moves")),
    "/v1/render.svg": ("A picture", SVG, "", ("fen", "moves", "pieces", "flip")),
    "/v1/render.png": ("The same as pixels", PNG, "", ("fen", "moves", "pieces", "flip", "width")),
    "/v1/animation.svg": (
        "A line or a game that moves",
        SVG,
        "",
        ("fen", "moves", "pieces", "flip"),
    ),
    "/v1/animation.gif": (
        "The same as pixels",
        GIF,
        "",
        ("fen", "moves", "pieces", "flip", "width"),
    ),
    "/v1/tables": ("All tables", JSON, "tables", ()),
    "/v1/tables/{material}": ("Figures of a table", JSON, "table", ()),
    "/v1/tables/{material}/histogram": ("Positions by value", JSON, "histogram", ()),
    "/v1/tables/{material}/search": (
        "Positions by what is asked of them",
        JSON,
        "search",
        (*FIELDS, "limit", "seed"),
    ),
    "/v1/tables/{material}/graph": ("What captures lead to", JSON, "graph", ()),
    "/v1/graph/{material}.dot": ("The same for Graphviz", PLAIN, "", ()),
    "/export.pgn": ("A game", PLAIN, "", ("fen", "moves", "notation")),
    "/healthz": ("Whether the server is well", JSON, "health", ()),
    "/metrics": ("Counts for Prometheus", PLAIN, "", ()),
}
"""Path: what it answers, as which type, by which schema, to which parameters."""

REQUIRED = {"fen", "material"}


def parameter(name: str, where: str) -> Schema:
    """A parameter of a path or of a query."""
    meaning, example = PARAMETERS[name]
    return {
        "name": name,
        "in": where,
        "description": meaning,
        "required": name in REQUIRED,
        "schema": {"type": "string"},
        "example": example,
    }


def operation(path: str) -> Schema:
    """What may be asked of a path."""
    summary, kind, schema, query = PATHS[path]
    content = {"schema": {"$ref": f"#/components/schemas/{schema}"}} if schema else {}
    failed = {"description": "a failure", "content": {JSON: {"schema": SCHEMAS["error"]}}}
    missing = failed if schema != "probe" else {
        "description": "the table is missing: `error` and `hint` beside what is known",
        "content": {JSON: {"schema": {"type": "object", "required": ["error", "hint", "moves"]}}},
    }  # fmt: skip
    listed = [parameter("material", "path")] if "{material}" in path else []
    return {
        "summary": summary,
        "parameters": listed + [parameter(name, "query") for name in query],
        "responses": {
            "200": {"description": summary, "content": {kind: content}},
            "400": failed,
            "404": missing,
            "503": failed,
        },
    }


def document() -> str:
    """The whole file."""
    content = {
        "openapi": "3.1.0",
        "info": {
            "title": "tbgen",
            "version": "1",
            "description": "The HTTP API of `tbgen serve`; docs/board.md has limits and errors.",
        },
        "servers": [{"url": "http://127.0.0.1:8064"}],
        "paths": {path: {"get": operation(path)} for path in PATHS},
        "components": {"schemas": SCHEMAS},
    }
    return json.dumps(content, indent=1) + "\n"


if __name__ == "__main__":
    FILE.write_text(document(), encoding="utf-8")
