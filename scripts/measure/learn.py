"""Compare the CPU seconds of a run of `tbgen build` with the plan, and add them to its data.

    python scripts/measure/learn.py DIRECTORY [--write] [--csv FILE]

DIRECTORY has the tables of the run, each with a build record of its CPU seconds. Prints the
accuracy of `tbgen plan` for the tables that tbgen/building/measured.csv (or FILE) lacks, as
`plan_accuracy.py` does.

`--write` adds these tables to the file, and changes no other row. Their CPU seconds are scaled to
the machine of the file: divided by the speed factor, the median ratio of the run's seconds to the
file's. So other load during the run has little influence. Wall seconds are estimated from CPU
seconds. `plot_growth.py --measure` measures all rows again, after a change of the solver.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

from frame import arguments
from growth import read_measurements, row_of, write_growth
from measuring import Measurement, Run
from plan_accuracy import report, unseen

from tbgen.building.features import Outcomes
from tbgen.building.measured import CLOCK_SECONDS, MEASURED, Measured, Measurements
from tbgen.tables import TableFile, TableName, read_build_record


def recorded(directory: Path) -> list[Measured]:
    """Return a row of measured costs for each table of a directory that has a build record.

    Tables with limited orders or without minor chases are left out. Build records have no peak of
    memory, so it is 0 in the rows.
    """
    rows = []
    for path in sorted(directory.glob("*.xqt")):
        name = TableName.parse(path.name)
        record = read_build_record(path)
        if name is None or name.orders or not name.rule_set.minor_chases or len(record) < 2:
            continue
        with TableFile(path, name=name) as file:
            statistics = file.statistics
        wall, cpu = record["build_seconds"], record["cpu_seconds"]
        cost = Measurement(Run(wall, cpu, 0), cpu, wall, path.stat().st_size, 0)
        orders = max((each.order for each in statistics.orders), default=0)
        rows.append(row_of(name.material, name.rules, cost, Outcomes.of(statistics), orders))
    return rows


def speed_factor(run: Iterable[Measured], measured: Iterable[Measured]) -> float:
    """Return the ratio of the run's CPU seconds to those in the file of measured costs.

    The result is the median over the tables that both have, with more than `CLOCK_SECONDS` in the
    file; 1 without such tables.
    """
    known = {(row.material, row.rules): row.cpu_seconds for row in measured}
    ratios = [
        row.cpu_seconds / known[row.material, row.rules]
        for row in run
        if known.get((row.material, row.rules), 0) > CLOCK_SECONDS
    ]
    return median(ratios) if ratios else 1.0


def additional(run: Sequence[Measured], measured: Sequence[Measured]) -> list[Measured]:
    """Return the rows of a run that the file lacks, with seconds scaled to the file's machine."""
    known = {(row.material, row.rules) for row in measured}
    factor, usual = speed_factor(run, measured), Measurements.of(measured).wall_per_cpu
    rows = []
    for row in run:
        if (row.material, row.rules) not in known:
            cpu = row.cpu_seconds / factor
            rows.append(replace(row, cpu_seconds=round(cpu, 4), wall_seconds=round(cpu * usual, 4)))
    return rows


def main() -> None:
    """Report the accuracy of the plan, and with `--write` add the new rows to the file."""
    parser = arguments(__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--write", action="store_true", help="Write the rows to the file.")
    parser.add_argument("--csv", type=Path, default=MEASURED)
    options = parser.parse_args()
    where, measured, known = read_measurements(options.csv)
    run = recorded(options.directory)
    new = additional(run, measured)
    report(unseen(new, known))
    print(f"{len(run)} tables, {len(new)} of them new to the file; "
          f"speed factor {speed_factor(run, measured):.2f}")  # fmt: skip
    if options.write and new:
        write_growth(options.csv, where, [*measured, *new])


if __name__ == "__main__":
    main()
