"""Write docs/positions.csv: positions with slots and values, to test other readers.

    python scripts/docs/reference_positions.py TABLES > docs/positions.csv

TABLES has the tables in `MATERIALS` with their supporting tables. Prints for each table the
positions of longest distance of every order and side to move, then random ones of every side,
outcome and order. In every third position colours are exchanged; a random fifth is mirrored.
"""

from __future__ import annotations

import csv
import random
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Iterator
from pathlib import Path

from tbgen.indexing import Position
from tbgen.probing.columns import sampled_columns
from tbgen.tables import Tablebase, TableFile

MATERIALS = {
    ("none", "dtm"): ("KRK", "KNK", "KRKN"),
    ("none", "dtc"): ("KRKN", "KNNKA"),
    ("check", "dtm"): ("KRKN", "KRAKR", "KPPKA", "KCAKB"),
}
"""Materials whose positions are written, by rules and metric."""

COLUMNS = ("rules", "metric", "fen", "material", "slot", "outcome", "order", "plies", "value")
SAMPLE = 4000
PER_OUTCOME = 3


def chosen(file: TableFile) -> Iterator[Position]:
    """Yield positions of one table: those of longest distance, then random ones.

    The random ones are up to `PER_OUTCOME` of each side, outcome and order in a sample of `SAMPLE`.
    """
    for longest in file.statistics.longest:
        yield Position.from_fen(longest.fen)
    columns = sampled_columns(file, SAMPLE, seed=11)
    keys = zip(*(columns[name].tolist() for name in ("side", "outcome", "order")), strict=True)
    taken: dict[tuple[int, int, int], int] = {}
    for key, position in zip(keys, columns.positions(), strict=True):
        taken[key] = taken.get(key, 0) + 1
        if taken[key] <= PER_OUTCOME:
            yield position


def main() -> None:
    """Write the rows of all tables to stdout."""
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("tables", type=Path, help="The directory of the tables.")
    directory = parser.parse_args().tables
    rng = random.Random(3)
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(COLUMNS)
    for (rules, metric), materials in MATERIALS.items():
        with Tablebase.open(directory, rules=rules, metric=metric) as tablebase:
            for material in materials:
                file = tablebase.table(material)
                for number, position in enumerate(chosen(file)):
                    slot = file.layout.slot(position)
                    shown = position.swapped() if number % 3 == 2 else position
                    shown = shown.mirrored() if rng.random() < 0.2 else shown
                    value = tablebase.probe(shown)
                    fen = " ".join(shown.fen.split()[:2])
                    worth = value.outcome.name.lower(), value.order, value.plies or 0, value.value
                    writer.writerow((rules, metric, fen, material, slot, *worth))


if __name__ == "__main__":
    main()
