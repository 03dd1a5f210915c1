"""Every field of every answer with `--json`, described once, as JSON Schema.

    ANSWERS    the answer of each command, of the kinds of `fields`

`python scripts/docs/schemas.py` writes the schema and the page.
"""

from __future__ import annotations

from fields import Schema, flag, number, or_null, record, several, text, whole
from terms import (
    CHECKED,
    FEN,
    LIMIT,
    MATERIAL,
    MECHANISM,
    METRIC,
    MINOR,
    RULES,
    SIDE,
    SQUARE,
)

POSITION = {
    "fen": FEN,
    "material": MATERIAL,
    "rules": or_null(RULES | {"description": "rule set of the table; null if none is needed"}),
    "minor_chases": MINOR,
    "metric": or_null(METRIC | {"description": "metric of the table; null if none is needed"}),
    "side": SIDE,
    "outcome": text("for the side to move", "win", "draw", "loss"),
    "value": whole("the number that Fang, Hsu & Hsu print"),
    "order": whole("0: by mate or conversion; k: by the rules of repetition"),
    "plies": or_null(whole("distance; null for a draw")),
    "in_check": flag("whether the side to move is in check"),
    "reason": text("the outcome in words"),
    "mechanism": MECHANISM,
}
AFTER = or_null(whole("of the position after the move; null if unknown"))
MOVE = {
    "move": text("in the notation asked for"),
    "outcome": text("for the side that moves", "win", "draw", "loss", "unknown"),
    "value": AFTER,
    "order": AFTER,
    "plies": AFTER,
    "capture": flag("whether it takes a piece"),
    "check": flag("whether it gives check"),
    "best": flag("whether no move is better"),
    "reason": text("what it does, in words"),
}
FOUND = ("fen", "side", "outcome", "order", "plies")
LEVEL = whole("of that side")
JUDGEMENT = record(
    "the referee's answer",
    fen=FEN | {"description": "the first position"},
    moves=several("what was played, as ICCS", text("a move")),
    verdict=text("who wins", "undecided", "draw", "red wins", "black wins"),
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
            side=SIDE | {"description": "who played it"},
            label=text("what it does", "check", "chase", "idle", "kill", "open"),
            chased=several("the pieces that it chases, after the move", SQUARE),
            by=several("the pieces that chase them, after the move", SQUARE),
        ),
    ),
    reason=text("the verdict in words, with the article"),
)
BY_OUTCOME = whole("positions, by the outcome for the side to move")
SIDE_COUNTS = {"wins": BY_OUTCOME, "draws": BY_OUTCOME, "losses": BY_OUTCOME}
DIRECT = whole("direct wins (value 255): all, by perpetual check, by perpetual chase")


PROOF = record(
    "how far it is proven, by certificates (docs/format.md)",
    status=text("what they amount to", "proven", "proven but for", "unproven"),
    but_for=several(
        "tables that it is not proven without",
        record(
            "a table",
            table=text("its name, as `KRKN.wxf.dtm`"),
            fault=text("what is wrong with it", "unproven", "changed", "damaged", "missing"),
        ),
    ),
    reason=or_null(text("why it is unproven; null where it is not")),
)
FAILURE = record(
    "what could not be done",
    input=text("what was asked about"),
    error=text("one line that says what"),
    hint=text("one line on what to do, or empty"),
)


def counted(side: str) -> Schema:
    """The counts of `stats` with one side to move."""
    return record(f"{side} to move", legal=whole("legal positions"), **SIDE_COUNTS)


def proven(side: str) -> Schema:
    """The counts of `verify` with one side to move."""
    return record(
        f"{side} to move",
        positions=whole("legal positions"),
        **SIDE_COUNTS,
        rule_decided=whole("of order 1 and above"),
        direct=DIRECT,
        direct_checks=DIRECT,
        direct_chases=DIRECT,
    )


ANSWERS: dict[str, Schema] = {
    "plan": record(
        "what a build would take",
        rules=RULES,
        minor_chases=MINOR,
        orders_limit=LIMIT,
        tables=several(
            "bottom-up",
            record(
                "a table",
                material=MATERIAL,
                index_size=whole("slots for each side to move"),
                placements=whole("slots with a position, legal or not"),
                holes=whole("slots without one"),
                memory_bytes=whole("estimate"),
                disk_bytes=whole("estimate"),
                cpu_seconds=number("estimate"),
                seconds=number("estimate"),
                present=flag("whether it is finished"),
            ),
        ),
        missing=whole("tables to build"),
        memory_bytes=whole("of the largest table"),
        slots=whole("of all tables, for each side to move"),
        disk_bytes=whole("of all tables"),
        seconds=number("of all tables"),
    ),
    "build": record(
        "what was built",
        directory=text("as it was named"),
        rules=RULES,
        minor_chases=MINOR,
        tables=several(
            "in the order of building; those that were there lack size and time",
            {
                "type": "object",
                "description": "a table",
                "properties": {
                    "table": text("its name, as `KRKN.wxf.dtm`"),
                    "built": flag("false if it was there"),
                    "bytes_on_disk": whole("its file"),
                    "build_seconds": number("time"),
                    "profile": several(
                        "with --profile: what each phase has cost, in turn, and `all` together",
                        record(
                            "a phase",
                            phase=text("its name, as `captures`, or `all`"),
                            order=whole("of a phase that comes again for each order, else 0"),
                            seconds=number("time"),
                            cpu_seconds=number("processor time of all threads"),
                            busy=number("the part of their time that threads worked, 0 to 1"),
                            sweeps=whole("how many"),
                            rows=whole("that sweeps looked at"),
                            settled=whole("positions that were given a value"),
                        ),
                    ),
                },
                "required": ["table", "built"],
            },
        ),
        failed=several("with --keep-going, tables that failed", FAILURE),
        left_out=several("tables that need one that failed", text("a material")),
    ),
    "pack": record(
        "win-draw-loss files",
        directory=text("as it was named"),
        files=several(
            "as the tables were named",
            record(
                "a file",
                file=text("its name"),
                bytes_on_disk=whole("its size"),
                source=text("the table that it is derived from"),
                source_bytes=whole("the size of that"),
                written=flag("false if it was there"),
            ),
        ),
        archive=or_null(text("of all files; null without --out")),
    ),
    "probe": record(
        "a position",
        **POSITION,
        moves=several("every legal move, best first", record("a move", **MOVE)),
    ),
    "line": record(
        "best play of both sides",
        **POSITION,
        ending=text("how it ends", "mate", "stalemate", "loop", "draw", "unknown", "cut"),
        end=text("how it ends, in words"),
        winner=or_null(text("who wins; null for a draw or an end unknown", "red", "black")),
        loop_start=or_null(whole("the move, from 0, with which the loop begins; null without one")),
        verdict=or_null(JUDGEMENT | {"description": "the referee's on the loop; null without"}),
        moves=several(
            "the line, the loop once",
            record(
                "a move",
                side=SIDE | {"description": "who moves"},
                **MOVE,
                fen=FEN | {"description": "the position after it"},
            ),
        ),
    ),
    "verify": record(
        "proofs",
        ok=flag("whether all are proven"),
        tables=several(
            "as they were named",
            record(
                "a table",
                material=MATERIAL,
                rules=RULES,
                metric=METRIC,
                minor_chases=MINOR,
                orders_limit=LIMIT,
                ok=flag("whether it is proven"),
                index_size=whole("slots for each side to move"),
                positions=whole("legal positions"),
                red_to_move=proven("Red"),
                black_to_move=proven("Black"),
                offenders_examined=whole("possible perpetual checkers that rows have not settled"),
                chasers_examined=whole("positions in which somebody may be chasing for ever"),
                orders_examined=whole("orders that were searched"),
                complete=flag("whether the search of patterns came to its end"),
                findings=whole("positions that are wrong"),
                first=or_null(
                    {
                        "type": "object",
                        "description": "the first: stored and expected; null without",
                    }
                ),
                digest=text("of the contents that were proven"),
                proof=PROOF,
                notes=several("what became of certificates", text("a note")),
                file_problems=several("what is wrong with the file itself", text("a problem")),
                seconds=number("time"),
            ),
        ),
    ),
    "stats": {
        **record(
            "the figures of a table; mirror images count once",
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
                    check_patterns=or_null(whole("direct wins by check; null if not recorded")),
                    chase_patterns=or_null(whole("direct wins by chase; null if not recorded")),
                ),
            ),
            longest=several(
                "one for each order and side to move",
                record(
                    "a position",
                    order=whole("its order"),
                    side=SIDE,
                    fen=FEN,
                    value=whole("its value"),
                ),
            ),
            legal=whole("legal positions"),
            draws=whole("drawn positions"),
            rule_decided=whole("of order 1 and above"),
            rule_decided_rate=number("their share of the legal positions"),
            minor_chases=MINOR,
            bytes_on_disk=whole("the file"),
            build_seconds=or_null(number("null where no build record is")),
            digest=text("equal digests, equal values; the file's word unless it was checked"),
            checked=CHECKED,
            values=or_null(text("digest of the values alone; null unless the file was checked")),
            file=text("its path"),
            proof=PROOF,
        ),
    },
    "ls": record(
        "the tables present",
        directory=text("as it was named"),
        tables=several(
            "smaller materials first; one that cannot be read also has `error` and `hint`",
            record(
                "a table",
                material=MATERIAL,
                rules=RULES,
                minor_chases=MINOR,
                orders_limit=LIMIT,
                metric=METRIC,
                bytes_on_disk=whole("the file"),
                digest=or_null(
                    text("the file's word unless it was checked; null if it cannot be read")
                ),
                checked=CHECKED,
                values=or_null(
                    text("digest of the values alone; null unless the file was checked")
                ),
                file=text("its name"),
                proof=PROOF,
            ),
        ),
        wdl=several(
            "win-draw-loss files; one that cannot be read has `error` and `hint`, and no `source`",
            {
                "type": "object",
                "description": "a file",
                "properties": {
                    "file": text("its name"),
                    "bytes_on_disk": whole("its size"),
                    "digest": or_null(text("null if it cannot be read")),
                    "source": text("the table that it is derived from"),
                    "error": text("what is wrong"),
                    "hint": text("what to do"),
                },
                "required": ["file", "bytes_on_disk", "digest"],
            },
        ),
    ),
    "index": record(
        "what others may fetch",
        index=text("the file that lists it"),
        files=several(
            "the files",
            record(
                "a file",
                file=text("its name"),
                bytes=whole("of the file"),
                sha256=text("of the file"),
                digest=or_null(text("of a table; null for a certificate")),
                values=or_null(text("digest of a table's values; null if not worked out")),
            ),
        ),
    ),
    "fetch": record(
        "what was fetched",
        directory=text("as it was named"),
        fetched=several("files that are new", text("a name")),
        present=several("files that were there", text("a name")),
        failed=several("files that were not to be had", FAILURE),
        missing=several("materials that the index does not list", text("a material")),
    ),
    "find": record(
        "the positions of a table that are as described",
        material=MATERIAL,
        rules=RULES,
        minor_chases=MINOR,
        positions=or_null(
            several(
                "all of them; null with --count",
                record(
                    "a position",
                    **{name: POSITION[name] for name in FOUND},
                    slot=whole("number in the table (docs/format.md)"),
                    length=or_null(whole("plies of a study's unique line; null without --study")),
                ),
            )
        ),
        count=whole("positions found"),
    ),
    "dump": record(
        "what was written",
        material=MATERIAL,
        rules=RULES,
        minor_chases=MINOR,
        metric=METRIC,
        orders_limit=LIMIT,
        index_size=whole("slots for each side to move"),
        rows=whole("positions written"),
        columns={"type": "object", "description": "what each column means"},
        out=text("the file"),
    ),
    "judge": JUDGEMENT,
    "convert": record(
        "a position, or moves, in other notations",
        input=text("what was read"),
        **{"from": text("its notation", "fen", "pai", "six", "board")},
        to=text("the notation asked for", "fen", "pai", "six", "board"),
        text=text("the position in it, after the moves"),
        fen=FEN | {"description": "the position after the moves"},
        material=MATERIAL,
        side=SIDE,
        viewpoint=text("the side at the bottom", "red", "black"),
        moves=several(
            "the moves",
            record(
                "a move",
                input=text("what was read"),
                text=text("in the notation asked for"),
                **dict.fromkeys(
                    ("iccs", "fairy", "wxf", "zh", "zh-hant"), text("in this notation")
                ),
            ),
        ),
    ),
    "diagram": record(
        "a picture",
        fen=FEN | {"description": "the position that it shows"},
        format=text("of the file", "svg", "png"),
        out=text("the file"),
    ),
    "serve": record(
        "once the port is open",
        url=text("where"),
        entry=or_null(text("the address to have tables built from; null without --allow-build")),
        tables=whole("how many tables there are"),
    ),
    "doctor": record(
        "the environment",
        tbgen=text("version"),
        python=text("version"),
        platform=text("as Python names it"),
        packages={"type": "object", "description": "versions; null for what is missing"},
        cores=whole("that may be used"),
        memory={"type": "object", "description": "`total`, `available`, and what limits it"},
        kernel_cache={"type": "object", "description": "where compiled code is kept"},
        tables={"type": "object", "description": "the tables directory, and the space left"},
        problems=several("what is wrong", text("a problem")),
    ),
    "error": FAILURE | {"description": "in place of any answer; exit status 1, 2 or 3"},
}
"""By command; `error` is for all of them."""
