"""JSON Schema of every answer with `--json`, with a description of each field.

    ANSWERS    the answer of each command; parts shared with the board: `tbgen.answers.schema`

`python scripts/docs/schemas.py` writes the schema and the page.
"""

from __future__ import annotations

from tbgen.answers.fields import Schema, flag, number, or_null, record, several, text, whole
from tbgen.answers.schema import (
    CHECKED,
    FEN,
    JUDGEMENT,
    LIMIT,
    LINE,
    MATERIAL,
    METRIC,
    MINOR,
    MOVE,
    POSITION,
    PROOF,
    RULES,
    SIDE,
    SIDE_COUNTS,
    STATS,
)

FOUND = ("fen", "side", "outcome", "order", "plies")
DIRECT = whole("direct wins (value 255): all, by perpetual check, by perpetual chase")
FAILURE = record(
    "an error",
    input=text("the input that failed"),
    error=text("the error in one line"),
    hint=text("a remedy in one line, or empty"),
)


def proven(side: str) -> Schema:
    """Return the schema of one part of the answer of `tbgen verify`.

    It holds the numbers of positions proven for one side to move.
    """
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
        "the estimated cost of a build",
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
                holes=whole("slots without a position"),
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
        "the tables of a build",
        directory=text("as it was named"),
        rules=RULES,
        minor_chases=MINOR,
        tables=several(
            "in the order of building; tables that existed have no size and time",
            {
                "type": "object",
                "description": "a table",
                "properties": {
                    "table": text("its name, such as `KRKN.wxf.dtm`"),
                    "built": flag("false if it existed"),
                    "bytes_on_disk": whole("size of its file"),
                    "build_seconds": number("time"),
                    "profile": several(
                        "with --profile: cost of each phase, in order, and of `all` together",
                        record(
                            "a phase",
                            phase=text("its name, such as `captures`, or `all`"),
                            order=whole("of a phase that is repeated for each order, else 0"),
                            seconds=number("time"),
                            cpu_seconds=number("processor time of all threads"),
                            busy=number("used share of the time of all threads, 0 to 1"),
                            sweeps=whole("number of sweeps"),
                            rows=whole("rows examined by sweeps"),
                            settled=whole("positions that got a value"),
                        ),
                    ),
                },
                "required": ["table", "built"],
            },
        ),
        failed=several("with --keep-going, tables that failed", FAILURE),
        left_out=several("tables that need a failed one", text("a material")),
    ),
    "pack": record(
        "win-draw-loss files",
        directory=text("as it was named"),
        files=several(
            "in the order of the tables' arguments",
            record(
                "a file",
                file=text("its name"),
                bytes_on_disk=whole("its size"),
                source=text("the table it is derived from"),
                source_bytes=whole("the size of that table"),
                written=flag("false if it existed"),
            ),
        ),
        archive=or_null(text("of all files; null without --out")),
    ),
    "probe": record(
        "a position",
        **POSITION,
        moves=several("every legal move, best first", record("a move", **MOVE)),
    ),
    "line": LINE,
    "verify": record(
        "proofs",
        ok=flag("whether all are proven"),
        tables=several(
            "in the order of the arguments",
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
                offenders_examined=whole("possible perpetual checkers"),
                chasers_examined=whole("possible perpetual chasers"),
                orders_examined=whole("orders that were searched"),
                complete=flag("whether the search for patterns was completed"),
                findings=whole("positions with a wrong value"),
                first=or_null(
                    {
                        "type": "object",
                        "description": "the first one, stored and expected value, or null",
                    }
                ),
                digest=text("of the proven contents"),
                proof=PROOF,
                notes=several("on certificates", text("a note")),
                file_problems=several("faults of the file itself", text("a problem")),
                seconds=number("time"),
            ),
        ),
    ),
    "stats": STATS,
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
                    text("as stated in the file unless it was checked; null if it cannot be read")
                ),
                checked=CHECKED,
                values=or_null(text("digest of the values only; null unless the file was checked")),
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
                    "source": text("the table it is derived from"),
                    "error": text("the error in one line"),
                    "hint": text("a remedy in one line"),
                },
                "required": ["file", "bytes_on_disk", "digest"],
            },
        ),
    ),
    "index": record(
        "the files that others can fetch",
        index=text("the index file"),
        files=several(
            "the files",
            record(
                "a file",
                file=text("its name"),
                bytes=whole("of the file"),
                sha256=text("of the file"),
                digest=or_null(text("of a table; null for a certificate")),
                values=or_null(text("digest of a table's values; null if not computed")),
            ),
        ),
    ),
    "fetch": record(
        "the result of a fetch",
        directory=text("as it was named"),
        fetched=several("files that are new", text("a name")),
        present=several("files that existed", text("a name")),
        failed=several("files that could not be fetched", FAILURE),
        missing=several("materials that the index does not list", text("a material")),
    ),
    "find": record(
        "the positions of a table that match",
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
        "the written file",
        material=MATERIAL,
        rules=RULES,
        minor_chases=MINOR,
        metric=METRIC,
        orders_limit=LIMIT,
        index_size=whole("slots for each side to move"),
        rows=whole("positions written"),
        columns={"type": "object", "description": "meaning of each column"},
        out=text("the file"),
    ),
    "judge": JUDGEMENT,
    "convert": record(
        "a position, or moves, in other notations",
        input=text("the input"),
        **{"from": text("its notation", "fen", "pai", "six", "board")},
        to=text("the requested notation", "fen", "pai", "six", "board"),
        text=text("the position in it, after the moves"),
        fen=FEN | {"description": "the position after the moves"},
        material=MATERIAL,
        side=SIDE,
        viewpoint=text("the side at the bottom", "red", "black"),
        moves=several(
            "the moves",
            record(
                "a move",
                input=text("the input"),
                text=text("in the requested notation"),
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
        url=text("its address"),
        entry=or_null(text("the address for building tables; null without --allow-build")),
        tables=whole("number of tables"),
    ),
    "doctor": record(
        "the environment",
        tbgen=text("version"),
        python=text("version"),
        platform=text("as Python names it"),
        packages={"type": "object", "description": "versions; null for a missing package"},
        cores=whole("usable cores"),
        memory={"type": "object", "description": "`total`, `available`, and its limit"},
        kernel_cache={"type": "object", "description": "folder of compiled code"},
        tables={"type": "object", "description": "the tables directory, and its free space"},
        problems=several("faults found", text("a problem")),
    ),
    "error": FAILURE | {"description": "instead of an answer; exit status 1, 2 or 3"},
}
"""Schema of each command's answer; `error` holds for all commands."""
