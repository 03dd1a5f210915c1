"""Write docs/openapi.json: the HTTP API for programs, with a request of each kind as an example.

    python scripts/docs/openapi.py

Addresses and parameters are those that the board itself tells (`tbgen.board.web.openapi`).
Answers are those of the command line (`scripts/docs/answers.py`) with what the board adds; the
page for people is docs/http.md. `tests/docs/test_openapi.py` asks every example.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

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
    counted,
    flag,
    number,
    or_null,
    record,
    several,
    text,
    whole,
)

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tbgen.board.web.http import JSON  # noqa: E402
from tbgen.board.web.openapi import description  # noqa: E402

FILE = ROOT / "docs" / "openapi.json"


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
    "red_to_move": or_null(counted("Red")),
    "black_to_move": or_null(counted("Black")),
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


FOUND = record("a position", **POSITION)
FOUND["properties"]["length"] = whole("of studies alone: the plies of the unique line")

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
    "table": without(ANSWERS["stats"], "file", "values", "checked"),
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
        positions=several("as `probe` has them, `moves` aside", FOUND),
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

ANSWERED = {
    "/v1/probe": "probe",
    "/v1/mainline": "mainline",
    "/v1/judge": "judgement",
    "/v1/tables": "tables",
    "/v1/tables/{material}": "table",
    "/v1/tables/{material}/histogram": "histogram",
    "/v1/tables/{material}/search": "search",
    "/v1/tables/{material}/graph": "graph",
    "/healthz": "health",
}
"""The schema of what a path answers; all others answer text and pictures."""

MISSING = {
    "description": "the table is missing: `error` and `hint` beside what is known",
    "content": {JSON: {"schema": {"type": "object", "required": ["error", "hint", "moves"]}}},
}


def described() -> Schema:
    """The board's own description with the fields of every answer."""
    found = description()
    found["info"] |= {
        "version": "1",
        "description": "The HTTP API of `tbgen serve`; docs/http.md has limits and errors.",
    }
    found["servers"] = [{"url": "http://127.0.0.1:8064"}]
    for path, methods in found["paths"].items():
        responses = methods["get"]["responses"]
        if path in ANSWERED:
            named = f"#/components/schemas/{ANSWERED[path]}"
            responses["200"]["content"] = {JSON: {"schema": {"$ref": named}}}
        for status in ("400", "404", "503"):
            responses[status]["content"] = {JSON: {"schema": SCHEMAS["error"]}}
    found["paths"]["/v1/probe"]["get"]["responses"]["404"] = MISSING
    return found | {"components": {"schemas": SCHEMAS}}


def document() -> str:
    """The whole file."""
    return json.dumps(described(), indent=1) + "\n"


if __name__ == "__main__":
    FILE.write_text(document(), encoding="utf-8")
