"""JSON Schema of the answers that commands and the board share, field by field.

`tbgen.board.web.schemas` has the board's other answers, `scripts/docs/answers.py` those of the
other commands.
"""

from __future__ import annotations

from tbgen.answers.fields import Schema, flag, number, or_null, record, several, text, whole
from tbgen.indexing.rulesets import Rules

SIDE = text("the side to move", "red", "black")
FEN = text("canonical FEN of the position, six fields")
MATERIAL = text("canonical name (docs/format.md)")
RULES = text("rule set of the table", *map(str, Rules))
MINOR = or_null(flag("whether advisors and elephants chase protected pieces; null but for wxf"))
METRIC = text("distance to mate, or to mate or conversion", "dtm", "dtc")
LIMIT = or_null(whole("limit on orders; null without a limit"))
CHECKED = flag("whether files were read whole (`--check`)")
SQUARE = text("a square, such as `e4`")

PIECE = record(
    "a piece of the requested position",
    side=text("its colour", "red", "black"),
    piece=text("`rook`, `knight`, ..."),
    square=SQUARE,
)
MECHANISM = or_null(
    record(
        "the deciding offence, if best play reaches its loop within 80 plies; else null",
        kind=text("the offence", "check", "chase"),
        offender=text("the side that loses by it", "red", "black"),
        victim=or_null(PIECE | {"description": "the piece that is chased; null for checks"}),
        by=several("the pieces that check or chase", PIECE),
    )
)
POSITION = {
    "fen": FEN,
    "material": MATERIAL,
    "rules": or_null(RULES | {"description": "rule set of the table; null if none is needed"}),
    "minor_chases": MINOR,
    "metric": or_null(METRIC | {"description": "metric of the table; null if none is needed"}),
    "side": SIDE,
    "outcome": text("for the side to move", "win", "draw", "loss"),
    "value": whole("the value in the notation of Fang, Hsu & Hsu"),
    "order": whole("0: by mate or conversion; k: by the rules of repetition"),
    "plies": or_null(whole("distance; null for a draw")),
    "in_check": flag("whether the side to move is in check"),
    "reason": text("the outcome in words"),
    "mechanism": MECHANISM,
}
AFTER = or_null(whole("of the position after the move; null if unknown"))
MOVE = {
    "move": text("in the requested notation"),
    "outcome": text("for the side that moves", "win", "draw", "loss", "unknown"),
    "value": AFTER,
    "order": AFTER,
    "plies": AFTER,
    "capture": flag("whether it takes a piece"),
    "check": flag("whether it gives check"),
    "best": flag("whether no move is better"),
    "reason": text("the result of the move in words"),
}
LEVEL = whole("of that side")
JUDGEMENT = record(
    "the referee's answer",
    fen=FEN | {"description": "the first position"},
    moves=several("the moves played, as ICCS", text("a move")),
    verdict=text("the verdict", "undecided", "draw", "red wins", "black wins"),
    level=record(
        "gravity of offences: 2 perpetual check, 1 perpetual chase (chinese: checks and threats of "
        "mate), 0 none",
        red=LEVEL,
        black=LEVEL,
    ),
    plies=several(
        "every ply with its label",
        record(
            "a ply",
            move=text("as ICCS"),
            side=SIDE | {"description": "the side that played it"},
            label=text("its label", "check", "chase", "idle", "kill", "open"),
            chased=several("the pieces that it chases, after the move", SQUARE),
            by=several("the pieces that chase them, after the move", SQUARE),
        ),
    ),
    reason=text("the verdict in words, with the article"),
)
BY_OUTCOME = whole("positions, by the outcome for the side to move")
SIDE_COUNTS = {"wins": BY_OUTCOME, "draws": BY_OUTCOME, "losses": BY_OUTCOME}


PROOF = record(
    "state of its proof, by certificates (docs/format.md)",
    status=text("the state", "proven", "proven but for", "unproven"),
    but_for=several(
        "tables whose own proof is missing, on which this proof rests",
        record(
            "a table",
            table=text("its name, as `KRKN.wxf.dtm`"),
            fault=text("what is wrong with it", "unproven", "changed", "damaged", "missing"),
        ),
    ),
    reason=or_null(text("the reason, if it is unproven; else null")),
)


def counted(side: str) -> Schema:
    """Return the schema of the numbers of positions of a table with one side to move."""
    return record(f"{side} to move", legal=whole("legal positions"), **SIDE_COUNTS)


LINE = record(
    "best play of both sides",
    **POSITION,
    ending=text("kind of the end", "mate", "stalemate", "loop", "draw", "unknown", "cut"),
    end=text("the end in words"),
    winner=or_null(text("the winner; null for a draw or an unknown end", "red", "black")),
    loop_start=or_null(whole("number, from 0, of the first move of the loop; null without one")),
    verdict=or_null(JUDGEMENT | {"description": "the referee's on the loop; null without one"}),
    moves=several(
        "the line, the loop once",
        record(
            "a move",
            side=SIDE | {"description": "the side that moves"},
            **MOVE,
            fen=FEN | {"description": "the position after it"},
        ),
    ),
)
STATS = record(
    "statistics of a table; mirror images count once",
    material=MATERIAL,
    rules=RULES,
    metric=METRIC,
    orders_limit=LIMIT,
    index_size=whole("slots for each side to move"),
    red_to_move=counted("Red"),
    black_to_move=counted("Black"),
    max_distance=whole("longest distance of order 0"),
    max_rule_distance=or_null(whole("longest distance of the orders above; null without")),
    orders=several(
        "order 1 and above",
        record(
            "an order",
            order=whole("its number"),
            positions=whole("decided in it"),
            max_distance=whole("longest distance"),
            check_patterns=or_null(whole("direct wins by this offence; null if not recorded")),
            chase_patterns=or_null(whole("direct wins by this offence; null if not recorded")),
        ),
    ),
    longest=several(
        "one for each order and side to move",
        record(
            "a position",
            order=whole("of the position"),
            side=SIDE,
            fen=FEN,
            value=whole("of the position"),
        ),
    ),
    legal=whole("positions of both sides"),
    draws=whole("positions of both sides"),
    rule_decided=whole("of order 1 and above"),
    rule_decided_rate=number("their share of the legal positions"),
    minor_chases=MINOR,
    bytes_on_disk=whole("the file"),
    build_seconds=or_null(number("null without a build record")),
    digest=text("equal for equal values; read from the header unless the file was checked"),
    checked=CHECKED,
    values=or_null(text("digest of the values alone; null unless the file was checked")),
    file=text("its path"),
    proof=PROOF,
)
