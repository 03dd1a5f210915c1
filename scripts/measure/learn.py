"""Add the build records of a run to the measurements of `tbgen plan`.

    tables and build records of a directory  ->  rows in the form of tbgen/building/measured.csv
                                             ->  accuracy of the plan for them

    python scripts/measure/learn.py DIRECTORY [--write] [--csv FILE]

Each table has a build record beside it, with its processor time. The times are divided by the speed
factor of the run's machine: the median ratio of times over the tables that measured.csv has already
and that took long enough, 1 if there are none. `--write` adds the other tables; their peak of
memory is 0, since no record has it. The report is that of `plan_accuracy.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

from frame import arguments
from growth import read_growth, row_of, write_growth
from measuring import Measurement, Run
from plan_accuracy import report, unseen

from tbgen.building.features import Outcomes
from tbgen.building.measured import CLOCK_SECONDS, MEASURED, Measured, Measurements
from tbgen.tables import TableFile, TableName, read_build_record


def recorded(directory: Path) -> list[Measured]:
    """Return rows for the tables with all orders and a build record; times are those of the run."""
    rows = []
    for path in sorted(directory.glob("*.xqt")):
        name = TableName.parse(path.name)
        record = read_build_record(path)
        if name is None or name.orders or not name.rule_set.minor_chases or len(record) < 2:
            continue
        with TableFile(path, name=name) as file:
            statistics = file.statistics
        rules = name.rules
        assert rules is not None, "the name of a table has its rules"
        wall, cpu = record["build_seconds"], record["cpu_seconds"]
        cost = Measurement(Run(wall, cpu, 0), cpu, wall, path.stat().st_size, 0)
        outcomes, orders = Outcomes.of(statistics), len(statistics.orders)
        rows.append(row_of(name.material, rules, cost, outcomes, orders))
    return rows


def machine(rows: Iterable[Measured], measured: Sequence[Measured]) -> float:
    """Return the speed factor: seconds of the run for one CPU second of the measurements."""
    usual = {(row.material, row.rules): row.cpu_seconds for row in measured}
    ratios = [
        row.cpu_seconds / usual[row.material, row.rules]
        for row in rows
        if usual.get((row.material, row.rules), 0) > CLOCK_SECONDS
    ]
    return median(ratios) if ratios else 1.0


def learned(rows: Iterable[Measured], measured: Sequence[Measured]) -> list[Measured]:
    """Return the rows of tables not measured yet, with times divided by the speed factor.

    Wall seconds are estimated, so that other load during the run has no influence.
    """
    listed = list(rows)
    known = {(row.material, row.rules) for row in measured}
    scale, usual = machine(listed, measured), Measurements.of(measured).wall_per_cpu
    return [
        replace(
            row,
            cpu_seconds=round(row.cpu_seconds / scale, 4),
            wall_seconds=round(row.cpu_seconds / scale * usual, 4),
        )
        for row in listed
        if (row.material, row.rules) not in known
    ]


def main() -> None:
    """Read the command line, report the accuracy of the plan, and add rows."""
    parser = arguments(__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--write", action="store_true", help="Add the rows to the file.")
    parser.add_argument("--csv", type=Path, default=MEASURED)
    options = parser.parse_args()
    where, measured = read_growth(options.csv)
    found = learned(recorded(options.directory), measured)
    report(unseen(found, Measurements.of(measured)))
    if options.write and found:
        write_growth(options.csv, where, [*measured, *found])
    print(f"{len(found)} tables are new, {len(measured)} were known")


if __name__ == "__main__":
    main()
