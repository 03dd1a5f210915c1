"""Build records: the time that a table took to build, in a JSON file beside the table.

`KRNKR.none.dtm.build.json` belongs to `KRNKR.none.dtm.xqt`. Times are not stored in the table, so
that every build of a table has the same bytes.
"""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path

from tbgen.tables import checked_json
from tbgen.tables.files import open_to_read, replacing
from tbgen.tables.names import SUFFIX

RECORD_FIELDS = ("build_seconds", "cpu_seconds")
"""Fields of a build record: wall and processor time of the table, in seconds."""

MAX_RECORD = 1 << 14  # characters


def build_record_path(table: Path) -> Path:
    """Return the path of the build record of a table, beside its file `table`."""
    return table.with_name(table.name.removesuffix(SUFFIX) + ".build.json")


def write_build_record(table: Path, record: dict[str, float]) -> None:
    """Write the `RECORD_FIELDS` in `record` as the build record of `table`; raises `OSError`."""
    with replacing(build_record_path(table)) as file:
        file.write((json.dumps(record, sort_keys=True) + "\n").encode())


def read_build_record(table: Path) -> dict[str, float]:
    """Return the valid `RECORD_FIELDS` of a table's build record; empty if it cannot be read."""
    try:
        path = build_record_path(table)
        with os.fdopen(open_to_read(path), "r", encoding="utf-8") as file:
            found = checked_json.parse_object(file.read(MAX_RECORD), {})
    except (OSError, ValueError):
        return {}
    record = {}
    for name in RECORD_FIELDS:
        with contextlib.suppress(KeyError, checked_json.SchemaError):
            record[name] = checked_json.non_negative(found[name])
    return record
