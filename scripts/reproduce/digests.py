"""Digests of a hundred tables for each of `RULE_SETS`, to prove that a refactoring keeps them.

    python scripts/reproduce/digests.py            build them, and compare with docs/digests.csv
    python scripts/reproduce/digests.py --write    write that file; after a change of the format
    python scripts/reproduce/digests.py KRKN ...   only these materials and their supporting tables
    python scripts/reproduce/digests.py --rules computer taiwan     only these rule sets

The materials have every kind of piece, single and in pairs, in each of the three parts of the
index: lead, mid groups and inner piece (docs/format.md). There are pawns on both sides, codes of
one byte and of two, and distances to mate and to conversion. A digest covers the values of a table,
their arrangement and the statistics, but not the compression. Exit status 1 if any digest differs.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import tempfile
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
DIGESTS = ROOT / "docs" / "digests.csv"

MATERIALS = (
    "KRNKR", "KRKNN", "KRPKR", "KNPKN", "KRKNP", "KRKNAABB", "KRAKCA", "KNKPP", "KRKPP", "KCAKPB",
    "KNNKC", "KPPAKP", "KRRKAB", "KCCKBB", "KNPKAA", "KCABKA", "KRAKRA", "KRKCAA", "KNCKAB",
)  # fmt: skip
"""Materials to build; their supporting tables are built with them."""

RULE_SETS = {
    "none": ("--rules", "none"),
    "check": ("--rules", "check"),
    "check, order 1": ("--rules", "check", "--orders", "1"),
    "wxf": ("--rules", "wxf"),
    "wxf, no minor chases": ("--rules", "wxf", "--no-minor-chases"),
    "computer": ("--rules", "computer"),
    "taiwan": ("--rules", "taiwan"),
    "unprotected": ("--rules", "unprotected"),
}
"""Options of `tbgen build`, by the name of the rule set in docs/digests.csv."""

CONVERSION = ("KRKN", "KNKP", "KRAKCA")
"""Materials that a run over all `MATERIALS` builds in distance to conversion, too."""


class TableKey(NamedTuple):
    """Key of a table: its rule set, by its name in `RULE_SETS`, and its file name."""

    rule_set: str
    file: str


def tbgen(*arguments: str) -> str:
    """Run `tbgen` of this checkout with these arguments, and return its output."""
    command = [sys.executable, "-m", "tbgen", *arguments]
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def build(
    directory: Path, materials: tuple[str, ...], rule_sets: Iterable[str]
) -> dict[TableKey, str]:
    """Build tables under rule sets; return the digests, also of supporting tables.

    `directory` gets a folder for each rule set. With `MATERIALS`, `CONVERSION` is built, too.

    rule_sets : names in `RULE_SETS`
    """
    digests = {}
    conversion = CONVERSION if materials == MATERIALS else ()
    for rule_set in rule_sets:
        options = RULE_SETS[rule_set]
        folder = str(directory / rule_set.replace(", ", "-").replace(" ", "-"))
        tbgen("build", *materials, "--tables", folder, *options)
        for name in conversion:
            tbgen("build", name, "--metric", "dtc", "--tables", folder, *options)
        for entry in json.loads(tbgen("ls", "--tables", folder, "--json"))["tables"]:
            digests[TableKey(rule_set, entry["file"])] = entry["digest"]
    return digests


def read() -> dict[TableKey, str]:
    """Read the known digests from docs/digests.csv."""
    with open(DIGESTS, newline="", encoding="utf-8") as file:
        return {
            TableKey(row["rule_set"], row["file"]): row["digest"] for row in csv.DictReader(file)
        }


def write(digests: dict[TableKey, str]) -> None:
    """Write these digests, sorted, to docs/digests.csv."""
    with open(DIGESTS, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("rule_set", "file", "digest"))
        writer.writerows((*table, digest) for table, digest in sorted(digests.items()))


def compare(found: dict[TableKey, str], known: dict[TableKey, str]) -> int:
    """Print the tables in `found` or `known` whose digests differ, and counts; return 1 if any.

    A table in only one of the two differs, too.
    """
    differing = [table for table in found | known if found.get(table) != known.get(table)]
    for table in differing:
        digests = f"{found.get(table)}, known {known.get(table)}"
        print(f"DIFFERS {table.file} ({table.rule_set}): {digests}")
    same = sum(found[table] == known.get(table) for table in found)
    sets = len({table.rule_set for table in found})
    print(f"{same} of {len(found)} tables of {sets} rule sets have the digests that are known")
    return 1 if differing else 0


def main() -> int:
    """Build the tables, and compare or write their digests; return the exit status."""
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("materials", nargs="*", metavar="MATERIAL", help="Default: all of them.")
    parser.add_argument(
        "--rules", nargs="+", choices=RULE_SETS, default=list(RULE_SETS), help="Default: all."
    )
    parser.add_argument("--write", action="store_true", help="Write docs/digests.csv.")
    options = parser.parse_args()
    if options.write and options.materials:
        parser.error("--write takes all materials")
    with tempfile.TemporaryDirectory() as folder:
        found = build(Path(folder), tuple(options.materials) or MATERIALS, options.rules)
    known = read()
    if options.write:
        others = {table: known[table] for table in known if table.rule_set not in options.rules}
        write(others | found)
        return 0
    known = {table: known[table] for table in known if table.rule_set in options.rules}
    if options.materials:
        known = {table: known[table] for table in known.keys() & found.keys()}
    return compare(found, known)


if __name__ == "__main__":
    sys.exit(main())
