"""Compare the CPU seconds of a run of `tbgen build` with the plan, and add them to its data.

    python scripts/measure/learn.py DIRECTORY [--write] [--csv FILE]

DIRECTORY has the tables of the run, each with a build record of its CPU seconds. Prints the
accuracy of `tbgen plan` for the tables that tbgen/building/measured.csv (or FILE) lacks, as
`plan_accuracy.py` does.

`--write` puts the tables of the run into the file, in place of their older rows. The seconds of all
other rows are adapted to the machine and the solver of the run: multiplied by the speed factor, the
median ratio of the run's seconds to the file's. A row of other rules is instead multiplied by the
ratio of its material under `wxf`, if the run has it. Wall seconds of new rows are estimated from
CPU seconds, so that other load during the run has no influence.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

from frame import arguments
from growth import here, read_growth, row_of, write_growth
from measuring import Measurement, Run
from plan_accuracy import report, unseen

from tbgen.building.features import Outcomes
from tbgen.building.measured import CLOCK_SECONDS, MEASURED, Measured, Measurements
from tbgen.indexing.rulesets import Rules
from tbgen.tables import TableFile, TableName, read_build_record


def recorded(directory: Path) -> list[Measured]:
    """Return a row of measured costs for each table of a directory that has a build record.

    Tables with limited orders or without minor chases are left out.
    """
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


def speed_factor(run: Iterable[Measured], measured: Iterable[Measured]) -> float:
    """Return the ratio of the run's CPU seconds to those in the file of measured costs.

    It is the median over the tables that both have, with more than `CLOCK_SECONDS` in the file; 1
    if there is no such table.
    """
    known = {(row.material, row.rules): row.cpu_seconds for row in measured}
    ratios = [
        row.cpu_seconds / known[row.material, row.rules]
        for row in run
        if known.get((row.material, row.rules), 0) > CLOCK_SECONDS
    ]
    return median(ratios) if ratios else 1.0


def merged(run: Iterable[Measured], measured: Sequence[Measured]) -> list[Measured]:
    """Return the measured costs of all tables: rows of a run, and older ones scaled to its speed.

    Build records have no peak of memory. A row of the run takes it from the older row of its table,
    else it is 0.
    """
    new = {(row.material, row.rules): row for row in run}
    old = {(row.material, row.rules): row for row in measured}
    factor, usual = speed_factor(new.values(), measured), Measurements.of(measured).wall_per_cpu
    factors = {
        material: row.cpu_seconds / old[material, rules].cpu_seconds
        for (material, rules), row in new.items()
        if rules == Rules.WXF and (material, rules) in old
    }
    rows = [
        replace(
            row,
            wall_seconds=round(row.cpu_seconds * usual, 4),
            peak_bytes=old[key].peak_bytes if key in old else 0,
        )
        for key, row in new.items()
    ]
    for key, row in old.items():
        if key not in new:
            ratio = factors.get(row.material, factor)
            cpu, wall = round(row.cpu_seconds * ratio, 4), round(row.wall_seconds * ratio, 4)
            rows.append(replace(row, cpu_seconds=cpu, wall_seconds=wall))
    return rows


def main() -> None:
    """Read the command line, report the accuracy of the plan, and write the rows."""
    parser = arguments(__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--write", action="store_true", help="Write the rows to the file.")
    parser.add_argument("--csv", type=Path, default=MEASURED)
    options = parser.parse_args()
    _, measured = read_growth(options.csv)
    run = recorded(options.directory)
    known = {(row.material, row.rules) for row in measured}
    new = [row for row in run if (row.material, row.rules) not in known]
    report(unseen(new, Measurements.of(measured)))
    print(f"{len(run)} tables, {len(new)} of them new to the file; "
          f"speed factor {speed_factor(run, measured):.2f}")  # fmt: skip
    if options.write and run:
        write_growth(options.csv, here(), merged(run, measured))


if __name__ == "__main__":
    main()
