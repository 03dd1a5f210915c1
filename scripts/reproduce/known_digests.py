"""Compare the list of known digests, tbgen/publishing/digests.csv, with tables, or write it.

    tbgen build --men 5 --jobs auto --tables DIR
    tbgen build practical --men 9 --jobs auto --tables DIR
    tbgen build --attackers 1 --men 12 --jobs auto --tables DIR
    tbgen build KRNKRAABB KCPABBKAABB KRNKRC KRNBKRBB --tables DIR
    tbgen build --men 6 --jobs auto --tables DIR
    python scripts/reproduce/known_digests.py DIR            compare the list with the tables
    python scripts/reproduce/known_digests.py DIR --write    write the tables' digests

Rows of tables that are not in DIR stay unchanged. A comparison has exit status 1 if any table has
other digests, or none is in DIR.
"""

from __future__ import annotations

import csv
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from dataclasses import replace
from itertools import chain
from pathlib import Path

from tqdm import tqdm

from tbgen.building.packing import checked_digest
from tbgen.building.sets import materials_of
from tbgen.publishing.known import COLUMNS, KNOWN, Digests, read_known
from tbgen.tables import Metric, Rules, RuleSet, TableFile, TableName

BOOKS = Path(__file__).resolve().parents[2] / "docs" / "classical-books.csv"
"""Verdicts of books on the classical endgames."""


def listed_names() -> list[TableName]:
    """Return the names of the tables that the list may have, all under `wxf`, in the list's order.

    Each material has two names: with distances to mate, then with those to conversion. Materials
    are those of at most six men, and those of at most two attackers; also Table 1 of the paper, the
    classical endgames, KRNKRC and KRNBKRBB, each with all materials that captures lead to.
    """
    with BOOKS.open(encoding="utf-8") as file:
        classical = [row["material"] for row in csv.DictReader(file)]
    largest = materials_of(("table1", "KRNKRC", "KRNBKRBB", *classical))
    sets = (
        materials_of((), 5), materials_of((), 8, attackers=2), materials_of((), attackers=1),
        *(material.closure() for material in largest), materials_of((), 6),
        materials_of((), 9, attackers=2), materials_of((), attackers=2),
    )  # fmt: skip
    rules = RuleSet(Rules.WXF)
    return [
        TableName(each, rules, metric) for each in dict.fromkeys(chain(*sets)) for metric in Metric
    ]


def digests_in(directory: Path) -> dict[str, Digests]:
    """Return the digests, of contents and of values, of a directory's listed tables by file name.

    Verifies all checksums, too. A table of distances to conversion is left out if the directory has
    one of distances to mate for the same material.
    """
    found: dict[str, Digests] = {}
    for name in tqdm(listed_names(), disable=None):
        to_mate = replace(name, metric=Metric.DTM).filename
        if to_mate in found or not (directory / name.filename).exists():
            continue
        with TableFile(directory / name.filename, name=name) as file:
            values = checked_digest(file, threads=2)
            found[name.filename] = Digests(file.header.digest.hex(), values.hex())
    return found


def main() -> int:
    """Compare or write the list; return 1 if a comparison fails or finds no listed table in DIR."""
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path, metavar="DIR")
    parser.add_argument("--write", action="store_true", help="Write the list.")
    options = parser.parse_args()
    found, known = digests_in(options.directory), read_known()
    if options.write:
        rows, files = known | found, sorted(name.filename for name in listed_names())
        with KNOWN.open("w", newline="", encoding="ascii") as out:
            writer = csv.writer(out, lineterminator="\n")
            writer.writerows([COLUMNS, *((file, *rows[file]) for file in files if file in rows)])
        return 0
    others = [name for name, digests in found.items() if known.get(name) != digests]
    print(f"{len(found)} tables: {len(found) - len(others)} as listed", *others)
    return 1 if others or not found else 0


if __name__ == "__main__":
    sys.exit(main())
