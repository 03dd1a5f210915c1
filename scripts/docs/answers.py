"""Description of the fields that commands print with `--json`, as JSON Schema.

`ANSWERS` maps each command to the schema of its output, and `error` to that of an error; the script
`schemas.py` writes them to files. Parts that the board uses, too, are in `tbgen.answers.schema`.
"""

from __future__ import annotations

from tbgen.answers.schema import (
    CHECKED,
    FEN,
    HISTOGRAM,
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
    Schema,
    array,
    boolean,
    extended,
    integer,
    nullable,
    number,
    record,
    string,
)
from tbgen.notation import MOVE_NOTATIONS

FOUND = ("fen", "side", "outcome", "order", "plies")
DIRECT = integer("direct wins (value 255): all, by perpetual check, by perpetual chase")
FAILURE = record(
    "an error",
    input=string("the input that failed"),
    error=string("the error in one line"),
    hint=string("a remedy in one line, or empty"),
)
LINE_NUMBER = integer("number of the line, from 1; only if each line of an input is answered")
GAME_NUMBER = integer("number of the game, from 1; only if several games of a text are answered")


def proven(side: str) -> Schema:
    """Return the schema of the numbers of positions that `tbgen verify` proves for a side to move.

    side : the side's name in the description, "Red" or "Black"
    """
    return record(
        f"{side} to move",
        positions=integer("legal positions"),
        **SIDE_COUNTS,
        rule_decided=integer("of order 1 and above"),
        direct=DIRECT,
        direct_checks=DIRECT,
        direct_chases=DIRECT,
    )


TABLE = {
    "material": MATERIAL,
    "rules": RULES,
    "minor_chases": MINOR,
    "orders_limit": LIMIT,
    "metric": METRIC,
}
SETTLED = {
    "digest": string("of the contents"),
    "proof": PROOF,
    "notes": array("on certificates", string("a note")),
}
PROVEN = record(
    "a table that was proven or refuted",
    **TABLE,
    ok=boolean("whether it is proven"),
    by=string("how it was settled", "proof"),
    index_size=integer("slots for each side to move"),
    positions=integer("legal positions"),
    red_to_move=proven("Red"),
    black_to_move=proven("Black"),
    offenders_examined=integer("possible perpetual checkers"),
    chasers_examined=integer("possible perpetual chasers"),
    orders_examined=integer("orders that were searched"),
    complete=boolean("whether the search for patterns was completed"),
    findings=integer("positions with a wrong value"),
    first=nullable(
        {"type": "object", "description": "the first one, stored and expected value, or null"}
    ),
    file_problems=array("faults of the file itself", string("a problem")),
    seconds=number("time"),
    **SETTLED,
)
CERTIFIED = record(
    "with --closure, a table whose certificate is valid",
    **TABLE,
    ok=boolean("true"),
    by=string("how it was settled", "certificate"),
    **SETTLED,
)
UNPROVEN = record(
    "with --closure, a table whose proof ended in an error, or was not tried",
    **TABLE,
    ok=boolean("false"),
    by={"type": "null", "description": "it was not settled"},
    error=string("the error in one line"),
    hint=string("a remedy in one line, or empty"),
)
WDL = record(
    "a win-draw-loss file",
    material=MATERIAL,
    rule_set=string("the rule set, as in names of files"),
    file=string("its name"),
    source=string("the table it is derived from"),
    ok=boolean("whether it is proven"),
    positions=integer("legal positions"),
    inconsistent=integer("positions whose outcome is not the best of their moves"),
    differing=integer("positions whose outcome is not that of `source`"),
    compared=boolean("false if `source` is missing or has another digest"),
    first=nullable(string("FEN of the first wrong position; null without one")),
    problems=array("faults of the file's counts", string("a problem")),
)
LISTED = record(
    "a table",
    file=string("its name"),
    digest=string("of the file"),
    values=string("of the values only"),
    standing=string("compared with the list", "agrees", "rearranged", "differs", "unknown"),
)

WORKERS = record(
    "with --workers, a simulated run with workers of one thread each",
    workers=integer("their number"),
    simulation=record(
        "the run",
        seconds=number("until the last table is done"),
        longest_path=number("seconds of the longest chain of tables that need each other"),
        busy=number("used share of the time of all workers, 0 to 1"),
    ),
    classes=array(
        "tables by memory, ascending",
        record(
            "tables that fit into a memory, and into none of the smaller ones",
            memory_bytes=nullable(integer("the memory; null without a limit")),
            tables=integer("their number"),
            seconds=number("of one worker"),
        ),
    ),
)

PHASE = record(
    "a phase",
    phase=string("its name, such as `captures`, or `all`"),
    order=integer("of a phase that is repeated for each order, else 0"),
    seconds=number("time"),
    cpu_seconds=number("processor time of all threads"),
    busy=number("used share of the time of all threads, 0 to 1"),
    sweeps=integer("number of sweeps"),
    rows=integer("rows examined by sweeps"),
    settled=integer("positions that got a value"),
)

ANSWERS: dict[str, Schema] = {
    "plan": extended(
        record(
            "the estimated cost of a build",
            rules=RULES,
            minor_chases=MINOR,
            orders_limit=LIMIT,
            tables=array(
                "bottom-up",
                record(
                    "a table",
                    material=MATERIAL,
                    index_size=integer("slots for each side to move"),
                    placements=integer("slots with a position, legal or not"),
                    holes=integer("slots without a position"),
                    memory_bytes=integer("estimate"),
                    disk_bytes=integer("estimate"),
                    cpu_seconds=number("estimate"),
                    seconds=number("estimate"),
                    present=boolean("whether it is finished"),
                ),
            ),
            missing=integer("tables to build"),
            memory_bytes=integer("of the largest table"),
            slots=integer("of all tables, for each side to move"),
            disk_bytes=integer("of all tables"),
            scratch_bytes=integer(
                "most bytes on disk beside the tables while one is built, or as many as `--workers`"
            ),
            seconds=number("of all tables"),
        ),
        workers=WORKERS,
    ),
    "build": record(
        "the tables of a build",
        directory=string("as it was named"),
        rules=RULES,
        minor_chases=MINOR,
        tables=array(
            "in the order of building; tables that existed have no size and time",
            extended(
                record(
                    "a table",
                    table=string("its name, such as `KRKN.wxf.dtm`"),
                    built=boolean("false if it existed"),
                ),
                bytes_on_disk=integer("size of its file"),
                build_seconds=number("time"),
                profile=array(
                    "with --profile: cost of each phase, in order, and of `all` together", PHASE
                ),
            ),
        ),
        failed=array("with --keep-going, tables that failed", FAILURE),
        left_out=array("tables that need a failed one", string("a material")),
    ),
    "pack": record(
        "win-draw-loss files",
        directory=string("as it was named"),
        files=array(
            "in the order of the tables' arguments",
            record(
                "a file",
                file=string("its name"),
                bytes_on_disk=integer("its size"),
                source=string("the table it is derived from"),
                source_bytes=integer("the size of that table"),
                written=boolean("false if it existed"),
            ),
        ),
        archive=nullable(string("of all files; null without --out")),
    ),
    "probe": extended(
        record(
            "a position",
            **POSITION,
            moves=array("every legal move, best first", record("a move", **MOVE)),
        ),
        line=LINE_NUMBER,
    ),
    "line": LINE,
    "verify": {
        "description": "proofs; with --wdl or --digests, the results for files",
        "oneOf": [
            record(
                "proofs",
                ok=boolean("whether all are proven"),
                tables=array("bottom-up", {"oneOf": [PROVEN, CERTIFIED, UNPROVEN]}),
            ),
            record(
                "with --wdl",
                ok=boolean("whether all are proven"),
                files=array("in the order of the arguments", WDL),
            ),
            record(
                "with --digests",
                ok=boolean("false if a file has other values than listed"),
                list=nullable(string("the list of --against; null for the project's")),
                tables=array("in the order of the arguments", LISTED),
            ),
        ],
    },
    "stats": extended(
        STATS,
        histogram=HISTOGRAM | {"description": "with `--histogram`: one entry for each value"},
    ),
    "ls": record(
        "the tables present",
        directory=string("as it was named"),
        tables=array(
            "smaller materials first; one that cannot be read also has `error` and `hint`",
            record(
                "a table",
                **TABLE,
                bytes_on_disk=integer("the file"),
                digest=nullable(
                    string("as stated in the file unless it was checked; null if it cannot be read")
                ),
                checked=CHECKED,
                values=nullable(
                    string("digest of the values only; null unless the file was checked")
                ),
                file=string("its name"),
                proof=PROOF,
            ),
        ),
        wdl=array(
            "win-draw-loss files; one that cannot be read has `error` and `hint`, and no `source`",
            extended(
                record(
                    "a file",
                    file=string("its name"),
                    bytes_on_disk=integer("its size"),
                    digest=nullable(string("null if it cannot be read")),
                ),
                source=string("the table it is derived from"),
                error=string("the error in one line"),
                hint=string("a remedy in one line"),
            ),
        ),
    ),
    "index": record(
        "the files that others can fetch",
        index=string("the index file"),
        files=array(
            "the files",
            record(
                "a file",
                file=string("its name"),
                bytes=integer("of the file"),
                sha256=string("of the file"),
                digest=nullable(string("of a table; null for a certificate")),
                values=nullable(string("digest of a table's values; null if not computed")),
            ),
        ),
    ),
    "fetch": record(
        "the result of a fetch",
        directory=string("as it was named"),
        fetched=array("files that are new", string("a name")),
        present=array("files that existed", string("a name")),
        failed=array("files that could not be fetched", FAILURE),
        missing=array("materials that the index does not list", string("a material")),
    ),
    "find": record(
        "the positions of a table that match",
        material=MATERIAL,
        rules=RULES,
        minor_chases=MINOR,
        positions=nullable(
            array(
                "all of them; null with --count",
                record(
                    "a position",
                    **{name: POSITION[name] for name in FOUND},
                    slot=integer("number in the table (docs/format.md)"),
                    length=nullable(
                        integer("plies of a study's unique line; null without --study")
                    ),
                ),
            )
        ),
        count=integer("positions found"),
    ),
    "dump": record(
        "the written file",
        material=MATERIAL,
        rules=RULES,
        minor_chases=MINOR,
        metric=METRIC,
        orders_limit=LIMIT,
        digest=string("of the table"),
        version=string("of tbgen"),
        index_size=integer("slots for each side to move"),
        rows=integer("positions written"),
        columns={"type": "object", "description": "meaning of each column"},
        out=string("the file"),
    ),
    "judge": extended(
        record(
            JUDGEMENT["description"],
            **JUDGEMENT["properties"],
            decided=nullable(
                record(
                    "the first position of the game that has a verdict; null without one",
                    ply=integer("plies played before it"),
                    verdict=string("the verdict", "draw", "red wins", "black wins"),
                    reason=string("the verdict in words, with the article"),
                )
            ),
        ),
        line=LINE_NUMBER,
        game=GAME_NUMBER,
    ),
    "convert": extended(
        record(
            "a position, or moves, in other notations",
            input=string("the input"),
            **{"from": string("its notation", "fen", "pai", "six", "board")},
            to=string("the requested notation", "fen", "pai", "six", "board"),
            text=string("the position in it, after the moves"),
            fen=FEN | {"description": "the position after the moves"},
            material=MATERIAL,
            side=SIDE,
            viewpoint=string("the side at the bottom", "red", "black"),
            moves=array(
                "the moves",
                record(
                    "a move",
                    input=string("the input"),
                    text=string("in the requested notation"),
                    **dict.fromkeys(MOVE_NOTATIONS, string("in this notation")),
                ),
            ),
        ),
        line=LINE_NUMBER,
    ),
    "diagram": record(
        "a picture",
        fen=FEN | {"description": "the position that it shows"},
        format=string("of the file", "svg", "png"),
        out=string("the file"),
    ),
    "serve": record(
        "once the port is open",
        url=string("its address"),
        entry=nullable(string("the address for building tables; null without --allow-build")),
        tables=integer("number of tables"),
    ),
    "doctor": extended(
        record(
            "the environment",
            tbgen=string("version"),
            python=string("version"),
            platform=string("as Python names it"),
            packages={"type": "object", "description": "versions; null for a missing package"},
            cores=integer("usable cores"),
            memory={"type": "object", "description": "`total`, `available`, and its limit"},
            kernel_cache={"type": "object", "description": "folder of compiled code"},
            tables={"type": "object", "description": "the tables directory, and its free space"},
            problems=array("faults found", string("a problem")),
        ),
        numba=record(
            "with --numba, a function compiled in a trial",
            cache_folder=string("folder of compiled code"),
            compiles=boolean("whether the function's result was right"),
        ),
    ),
    "error": extended(
        FAILURE | {"description": "instead of an answer; exit status 1, 2 or 3"},
        line=LINE_NUMBER,
        game=GAME_NUMBER,
    ),
}
"""Schema of each command's answer; `error` holds for all commands."""
