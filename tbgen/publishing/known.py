"""Known digests of the tables that this project has built and proven.

    digests.csv   a line for each table: file name, digest of its contents, digest of its
                  values alone (docs/format.md)
    a table       agrees      it has the contents of the table of its name in the list
                  rearranged  it has the same values as that table, but another arrangement or
                              other statistics
                  differs     it has other values
                  unknown     the list has no table of its name

*Contents* are values, arrangement (their order in the file) and statistics.
`scripts/reproduce/known_digests.py` writes the list.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from tbgen.indexing.errors import InputError
from tbgen.tables import checked_json
from tbgen.tables.files import open_to_read

KNOWN = Path(__file__).with_name("digests.csv")

COLUMNS = ("file", "digest", "values")


class Digests(NamedTuple):
    """The two digests of a table, as hexadecimal digits."""

    digest: str
    """Digest of values, arrangement and statistics, as stored in the header."""
    values: str


class Standing(StrEnum):
    """Result of comparing a table with the list; the module's docstring defines the members."""

    AGREES = "agrees"
    REARRANGED = "rearranged"
    DIFFERS = "differs"
    UNKNOWN = "unknown"


def read_known(path: Path = KNOWN) -> dict[str, Digests]:
    """Return known digests by file name; raises `OSError`, `InputError` if the file is no list."""
    with os.fdopen(open_to_read(path), "r", encoding="utf-8", newline="") as file:
        try:
            head, *rows = csv.reader(file, strict=True)
            if tuple(head) != COLUMNS:
                raise ValueError(f"other columns: {head}")
            return {
                name: Digests(checked_json.DIGEST(digest), checked_json.DIGEST(values))
                for name, digest, values in rows
            }
        except (csv.Error, ValueError):
            raise InputError(
                f"{path} is no list of digests", f"its columns are {', '.join(COLUMNS)}"
            ) from None


def standing(file: str, found: Digests, known: Mapping[str, Digests]) -> Standing:
    """Compare a table's digests `found` with the list `known`; `file` is the table's file name."""
    if file not in known:
        return Standing.UNKNOWN
    if found.values != known[file].values:
        return Standing.DIFFERS
    return Standing.AGREES if found.digest == known[file].digest else Standing.REARRANGED
