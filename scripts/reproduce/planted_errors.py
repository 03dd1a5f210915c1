"""Plant errors in tables, and check that the proof finds each of them.

    python scripts/reproduce/planted_errors.py                  1000 changes a table
    python scripts/reproduce/planted_errors.py --changes 20     a quick run
    python scripts/reproduce/planted_errors.py KRKN KNK --rules check wxf-nominor
    python scripts/reproduce/planted_errors.py --write          docs/planted-errors.csv

Solves tables in memory, proves them, and proves them again with each change in turn. A change
alters one code at a random legal position (a single change), several codes that agree with each
other (a `pair` or a `shift`), or a region (all of an order or above, or a loop). Each of five kinds
has a fifth of the single changes. If a kind is impossible in a table (no direct win to remove),
the others take its share. tests/helpers/planting.py describes the kinds. No table is written to a
file, where checksums would show the change. Exit status 1 if a change is not found.

`--write` stores the rows of each finished table in docs/planted-errors.csv, in place of its earlier
rows. It skips tables with `--changes` single changes in that file, so an interrupted run resumes.
Delete the file first after a change of the proof.
"""

from __future__ import annotations

import csv
import random
import sys
import time
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tbgen.indexing import Material
from tbgen.indexing.rulesets import Rules
from tbgen.tables.rule_sets import RuleSet
from tests.helpers.paths import DOCS
from tests.helpers.planting import SEVERAL, SINGLE, Change, Target, regions, several, single

FIGURES = DOCS / "planted-errors.csv"

MATERIALS = (
    "KNK", "KNKB", "KRKA", "KPPK", "KPKP", "KRKP", "KNKN", "KRKN", "KRAKR", "KNKCA", "KNKPP",
)  # fmt: skip
"""Materials from small to large: the inner piece of the index with and without a twin; pawns,
advisors and elephants; one or two attacking sides. KNKCA has perpetual checks of four orders, KNKPP
has chases.
"""

RULE_SETS = {str(each): each for each in
             (*map(RuleSet, Rules), RuleSet(Rules.WXF, minor_chases=False))}  # fmt: skip
"""Rule sets by the names that `--rules` accepts."""

PAIRS, SHIFTS = 20, 50
"""A `pair` follows every `PAIRS` single changes, a `shift` every `SHIFTS`."""


class Row(NamedTuple):
    """Numbers of changes of one kind planted and found in one table; `rules` is in `RULE_SETS`."""

    material: str
    rules: str
    kind: str
    planted: int
    found: int


def changes_of(target: Target, singles: int, rng: random.Random) -> Iterator[Change]:
    """Yield the changes to plant in a table, whole regions first.

    Then come `singles` changes of one code, of all kinds in turn. A `pair` follows every `PAIRS`
    single changes, a `shift` every `SHIFTS`.
    """
    yield from regions(target)
    planted, possible = dict.fromkeys(SINGLE, 0), list(SINGLE)
    while possible and sum(planted.values()) < singles:
        kind = min(possible, key=lambda kind: planted[kind])
        change = single(target, kind, rng)
        if change is None:
            possible.remove(kind)
            continue
        planted[kind] += 1
        yield change
        for kind, every in zip(SEVERAL, (PAIRS, SHIFTS), strict=True):
            change = several(target, kind, rng) if sum(planted.values()) % every == 0 else None
            if change is not None:
                yield change


def plant(
    material: str, rules: str, singles: int, seconds: float, seed: int
) -> tuple[list[Row], float]:
    """Solve a table, and plant in it the changes of `changes_of`; print those that are not found.

    rules : a name in `RULE_SETS`
    singles : number of single changes
    seconds : wall seconds, solving not included, after which no further change is planted

    Returns a row for each kind of change, and the CPU seconds, solving included. Exits if the proof
    refutes the unchanged table.
    """
    started = time.process_time()
    target = Target(material, RULE_SETS[rules])
    if not target.is_sound():
        raise SystemExit(f"{material} ({rules}) is refuted as it was solved")
    counts: dict[str, list[int]] = {}
    deadline = time.monotonic() + seconds
    for change in changes_of(target, singles, random.Random(f"{seed} {material} {rules}")):
        planted_found = counts.setdefault(change.kind, [0, 0])
        planted_found[0] += 1
        if target.is_found(change):
            planted_found[1] += 1
        else:
            for (side, slot), value in list(change.values.items())[:3]:
                fen = target.table.position(side, slot).fen
                print(f"NOT FOUND {material} {rules} {change.kind}: {fen} as {value}", flush=True)
        if time.monotonic() > deadline:
            break
    rows = [Row(material, rules, kind, *counts[kind]) for kind in sorted(counts)]
    return rows, time.process_time() - started


def show(rows: list[Row], seconds: float) -> None:
    """Print the figures of one table, and the CPU seconds that it took, as a line."""
    parts = ", ".join(f"{row.kind} {row.found}/{row.planted}" for row in rows)
    print(f"{rows[0].material:6} {rows[0].rules:11} {seconds:6.0f} CPU s  {parts}", flush=True)


def total(rows: list[Row]) -> str:
    """Format sums over rows as `1000 of 1000`: changes found of changes planted."""
    return f"{sum(row.found for row in rows)} of {sum(row.planted for row in rows)}"


def read() -> list[Row]:
    """Read the rows of docs/planted-errors.csv; empty if there is no such file."""
    if not FIGURES.exists():
        return []
    with open(FIGURES, newline="", encoding="utf-8") as file:
        return [
            Row(*names, int(planted), int(found))
            for *names, planted, found in list(csv.reader(file))[1:]
        ]


def write(rows: list[Row]) -> None:
    """Write the rows of one table to docs/planted-errors.csv, in place of its earlier rows."""
    others = [row for row in read() if row[:2] != rows[0][:2]]
    with open(FIGURES, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Row._fields)
        writer.writerows(sorted(others + rows))


def planted_before(material: str, rules: str) -> int:
    """Return the number of planted single changes of a table in docs/planted-errors.csv."""
    return sum(row.planted for row in read() if row[:2] == (material, rules) and row.kind in SINGLE)


def main() -> int:
    """Plant the changes; return 1 if one is not found."""
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument(
        "materials",
        nargs="*",
        type=Material.parse,
        metavar="MATERIAL",
        help=f"Default: {' '.join(MATERIALS)}.",
    )
    parser.add_argument("--rules", nargs="+", choices=RULE_SETS, default=list(RULE_SETS))
    parser.add_argument("--changes", type=int, default=1000, help="Single changes in a table.")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="At most, of a table.")
    parser.add_argument("--jobs", type=int, default=2, help="Tables at once.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="Write docs/planted-errors.csv.")
    options = parser.parse_args()
    wanted = [
        (material.name, rules)
        for material in options.materials or map(Material.parse, MATERIALS)
        for rules in options.rules
        if not options.write or planted_before(material.name, rules) < options.changes
    ]
    rows: list[Row] = []
    with ProcessPoolExecutor(options.jobs, get_context("spawn")) as pool:
        started = [
            pool.submit(plant, material, rules, options.changes, options.seconds, options.seed)
            for material, rules in wanted
        ]
        for future in as_completed(started):
            found, seconds = future.result()
            rows += found
            show(found, seconds)
            if options.write:
                write(found)
    single_rows = [row for row in rows if row.kind in SINGLE]
    others = [row for row in rows if row.kind not in SINGLE]
    print(f"single changes found: {total(single_rows)}; of several codes: {total(others)}")
    return int(any(row.found < row.planted for row in rows))


if __name__ == "__main__":
    sys.exit(main())
