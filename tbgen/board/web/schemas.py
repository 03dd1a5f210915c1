"""JSON Schemas of the answers of the HTTP API: the components of OpenAPI.

Most are schemas of the command line (`tbgen.answers.schema`) with the board's own fields.
"""

from __future__ import annotations

from tbgen.answers import schema
from tbgen.answers.schema import (
    array,
    boolean,
    counted,
    extended,
    integer,
    nullable,
    number,
    record,
    string,
)

TEXT = string("the move in `notation`")
ERROR, HINT = string("what failed, in one line"), string("what to do about it")


def without(base: schema.Schema, *names: str) -> schema.Schema:
    """Return a copy of an object schema without the fields `names`; all others are required."""
    kept = {name: field for name, field in base["properties"].items() if name not in names}
    return base | {"properties": kept, "required": list(kept)}


def position(meaning: str, **fields: schema.Schema) -> schema.Schema:
    """Return the schema of an answer about a position and its moves, optionally after a game.

    `meaning` is the description in the schema. `fields` are added to the fields of a position; a
    field of the same name is replaced.
    """
    move = extended(
        record("a move", **schema.MOVE, fen=schema.FEN | {"description": "the position after it"}),
        text=TEXT,
        forbidden=string("the referee's reason, if the move loses by repetition"),
    )
    judgement = schema.JUDGEMENT | {"description": "with `moves`: of a repetition, else null"}
    return extended(
        record(
            meaning,
            **(schema.POSITION | fields),
            terminal=boolean("true if there is no legal move"),
            moves=array("every legal move, best first", move),
        ),
        suggested=nullable(string("with `moves`: the move to play")),
        judgement=nullable(judgement),
    )


_MOVES = schema.LINE["properties"]["moves"]

ENTRY = record(
    "a table",
    material=schema.MATERIAL,
    rules=schema.RULES,
    minor_chases=schema.MINOR,
    metric=schema.METRIC,
    orders_limit=schema.LIMIT,
    legal=nullable(integer("legal positions")),
    red_to_move=nullable(counted("Red")),
    black_to_move=nullable(counted("Black")),
    max_distance=nullable(integer("longest distance of order 0, in plies")),
    rule_decided=nullable(integer("positions of order 1 and above")),
    bytes_on_disk=nullable(integer("bytes of the file")),
    build_seconds=nullable(number("null without a build record")),
    proof=nullable(schema.PROOF),
)

SCHEMAS: dict[str, schema.Schema] = {
    "probe": position("a position, after `moves` if there are any"),
    "missing": position(
        "a position whose table is missing, with what is known of its moves",
        error=ERROR,
        hint=HINT,
        outcome=string("not known", "unknown"),
        value=nullable(integer("null")),
        order=nullable(integer("null")),
    ),
    "mainline": extended(
        schema.LINE, moves=_MOVES | {"items": extended(_MOVES["items"], text=TEXT)}
    ),
    "judgement": schema.JUDGEMENT,
    "tables": record(
        "the tables; an unreadable one has nulls, `error` and `hint`",
        tables=array("their figures", extended(ENTRY, error=ERROR, hint=HINT)),
    ),
    "table": without(schema.STATS, "file", "values", "checked"),
    "histogram": record(
        "number of positions with each value",
        material=schema.MATERIAL,
        histogram=schema.HISTOGRAM,
    ),
    "search": record(
        "positions of a table: all if `share` is 1, but with `sort` the first `limit` of them",
        material=schema.MATERIAL,
        candidates=integer("positions with a wanted value"),
        share=number("share of the table that the positions come from, 0 to 1"),
        positions=array(
            "as in `probe`, without `moves`",
            extended(
                record("a position", **schema.POSITION),
                length=integer("plies of the unique line; only of studies"),
            ),
        ),
    ),
    "graph": record(
        "materials reachable by captures",
        material=schema.MATERIAL,
        nodes=array(
            "bottom-up",
            record(
                "a material",
                material=schema.MATERIAL,
                present=boolean("true if its table is present"),
                captures=array(
                    "captures from it",
                    record(
                        "a capture",
                        taken=string("FEN letter of the piece"),
                        material=schema.MATERIAL,
                        needs_table=boolean("false if all positions are drawn"),
                    ),
                ),
            ),
        ),
    ),
    "health": record(
        "state of the server", status=string("ok"), tables=integer("number of tables")
    ),
    "error": record("a failure", error=ERROR, hint=HINT),
}
"""Schemas by name; `Endpoint.schema` refers to them."""
