"""JSON Schema of the answers that commands and the board share, field by field.

Schemas of the board's own answers are in `tbgen.board.web.schemas`. Each function below returns the
schema of one field. The parameter `meaning` is the text of `description` in the schema.
"""

from __future__ import annotations

from typing import Any

from tbgen.indexing.rulesets import Rules

Schema = dict[str, Any]

# -- fields, by type ---------------------------------------------------------------------------


def string(meaning: str, *choices: str) -> Schema:
    """Return the schema of a string; if `choices` are given, it must be one of them."""
    return {"type": "string", "description": meaning} | ({"enum": list(choices)} if choices else {})


def integer(meaning: str) -> Schema:
    """Return the schema of an integer of 0 or more."""
    return {"type": "integer", "minimum": 0, "description": meaning}


def number(meaning: str) -> Schema:
    """Return the schema of a number of 0 or more."""
    return {"type": "number", "minimum": 0, "description": meaning}


def boolean(meaning: str) -> Schema:
    """Return the schema of a boolean."""
    return {"type": "boolean", "description": meaning}


def nullable(schema: Schema) -> Schema:
    """Return a copy of a schema that also accepts null; the schema must have a single type."""
    found = schema | {"type": [schema["type"], "null"]}
    return found | ({"enum": [*schema["enum"], None]} if "enum" in schema else {})


def record(meaning: str, **fields: Schema) -> Schema:
    """Return the schema of an object with members `fields`, all of them required."""
    return {"type": "object", "description": meaning, "properties": fields, "required": [*fields]}


def extended(schema: Schema, **fields: Schema) -> Schema:
    """Return a copy of an object's schema with further, optional members `fields`."""
    return schema | {"properties": schema["properties"] | fields}


def array(meaning: str, items: Schema) -> Schema:
    """Return the schema of an array of `items`."""
    return {"type": "array", "description": meaning, "items": items}


# -- answers -----------------------------------------------------------------------------------

SIDE = string("the side to move", "red", "black")
FEN = string("canonical FEN of the position, six fields")
MATERIAL = string("canonical name (docs/format.md)")
RULES = string("rule set of the table", *map(str, Rules))
MINOR = nullable(boolean("whether advisors and elephants chase protected pieces; null but for wxf"))
METRIC = string("distance to mate, or to mate or conversion", "dtm", "dtc")
LIMIT = nullable(integer("limit on orders; null without a limit"))
CHECKED = boolean("whether files were read whole (`--check`)")
SQUARE = string("a square, such as `e4`")

PIECE = record(
    "a piece of the requested position",
    side=string("its colour", "red", "black"),
    piece=string("`rook`, `knight`, ..."),
    square=SQUARE,
)
MECHANISM = nullable(
    record(
        "the deciding offence, if best play reaches its loop within 80 plies; else null",
        kind=string("the offence", "check", "chase"),
        offender=string("the side that loses by it", "red", "black"),
        victim=nullable(PIECE | {"description": "the piece that is chased; null for checks"}),
        by=array("the pieces that check or chase", PIECE),
    )
)
POSITION = {
    "fen": FEN,
    "material": MATERIAL,
    "rules": nullable(RULES | {"description": "rule set of the tables; null if unknown"}),
    "minor_chases": MINOR,
    "metric": nullable(METRIC | {"description": "metric of the table; null if none is needed"}),
    "side": SIDE,
    "outcome": string("for the side to move", "win", "draw", "loss"),
    "value": integer("the value in the notation of Fang, Hsu & Hsu"),
    "order": integer("0: by mate or conversion; k: by the rules of repetition"),
    "plies": nullable(integer("distance; null for a draw")),
    "in_check": boolean("whether the side to move is in check"),
    "reason": string("the outcome in words"),
    "mechanism": MECHANISM,
}
AFTER = nullable(integer("of the position after the move; null if unknown"))
MOVE = {
    "move": string("in the requested notation"),
    "outcome": string("for the side that moves", "win", "draw", "loss", "unknown"),
    "value": AFTER,
    "order": AFTER,
    "plies": AFTER | {"description": "of the position after the move; null if unknown or a draw"},
    "capture": boolean("whether it takes a piece"),
    "check": boolean("whether it gives check"),
    "best": boolean("whether the move is known to be a best one"),
    "reason": string("the result of the move in words"),
}
LEVEL = integer("of that side")
JUDGEMENT = record(
    "the referee's answer",
    fen=FEN | {"description": "the first position"},
    moves=array("the moves played, as ICCS", string("a move")),
    verdict=string("the verdict", "undecided", "draw", "red wins", "black wins"),
    level=record(
        "gravity of offences: 2 perpetual check, 1 perpetual chase (chinese: checks and threats of "
        "mate), 0 none",
        red=LEVEL,
        black=LEVEL,
    ),
    plies=array(
        "every ply with its label",
        record(
            "a ply",
            move=string("as ICCS"),
            side=SIDE | {"description": "the side that played it"},
            label=string("its label", "check", "chase", "idle", "kill", "open"),
            chased=array("the pieces that it chases, after the move", SQUARE),
            by=array("the pieces that chase them, after the move", SQUARE),
        ),
    ),
    reason=string("the verdict in words, with the article"),
)
BY_OUTCOME = integer("positions, by the outcome for the side to move")
SIDE_COUNTS = {"wins": BY_OUTCOME, "draws": BY_OUTCOME, "losses": BY_OUTCOME}


PROOF = record(
    "state of its proof, by certificates (docs/format.md)",
    status=string("the state", "proven", "proven but for", "unproven"),
    but_for=array(
        "tables whose own proof is missing, on which this proof rests",
        record(
            "a table",
            table=string("its name, as `KRKN.wxf.dtm`"),
            fault=string("what is wrong with it", "unproven", "changed", "damaged", "missing"),
        ),
    ),
    reason=nullable(string("the reason, if it is unproven; else null")),
)


def counted(side: str) -> Schema:
    """Return the schema of a table's counts of positions by outcome; `side`: `Red` or `Black`."""
    return record(f"{side} to move", legal=integer("legal positions"), **SIDE_COUNTS)


LINE = record(
    "best play of both sides",
    **POSITION,
    ending=string("kind of the end", "mate", "stalemate", "loop", "draw", "unknown", "cut"),
    end=string("the end in words"),
    winner=nullable(string("the winner; null for a draw or an unknown end", "red", "black")),
    loop_start=nullable(integer("number, from 0, of the first move of the loop; null without one")),
    verdict=nullable(JUDGEMENT | {"description": "the referee's on the loop; null without one"}),
    moves=array(
        "the line, the loop once",
        record(
            "a move",
            side=SIDE | {"description": "the side that moves"},
            **MOVE,
            fen=FEN | {"description": "the position after it"},
        ),
    ),
)
_DIRECT_WINS = integer("direct wins by this offence; null if not recorded")
HISTOGRAM = array(
    "one entry for each value",
    record(
        "a value",
        side=SIDE,
        outcome=string("for the side to move", "win", "draw", "loss"),
        order=integer("order"),
        plies=nullable(integer("distance in plies; null for a draw")),
        value=integer("stored value"),
        positions=integer("number of positions"),
    ),
)
STATS = record(
    "statistics of a table; mirror images count once",
    material=MATERIAL,
    rules=RULES,
    metric=METRIC,
    orders_limit=LIMIT,
    index_size=integer("slots for each side to move"),
    red_to_move=counted("Red"),
    black_to_move=counted("Black"),
    max_distance=integer("longest distance of order 0"),
    max_rule_distance=nullable(integer("longest distance of the orders above; null without")),
    orders=array(
        "order 1 and above",
        record(
            "an order",
            order=integer("its number"),
            positions=integer("decided in it"),
            max_distance=integer("longest distance"),
            check_patterns=nullable(_DIRECT_WINS),
            chase_patterns=nullable(_DIRECT_WINS),
        ),
    ),
    longest=array(
        "one for each order and side to move",
        record(
            "a position",
            order=integer("of the position"),
            side=SIDE,
            fen=FEN,
            value=integer("of the position"),
        ),
    ),
    legal=integer("positions of both sides"),
    draws=integer("positions of both sides"),
    rule_decided=integer("of order 1 and above"),
    rule_decided_rate=number("their share of the legal positions"),
    minor_chases=MINOR,
    bytes_on_disk=integer("the file"),
    build_seconds=nullable(number("null without a build record")),
    digest=string(
        "of values, arrangement and metadata; read from the header unless the file was checked"
    ),
    checked=CHECKED,
    values=nullable(string("digest of the values alone; null unless the file was checked")),
    file=string("its path"),
    proof=PROOF,
)
