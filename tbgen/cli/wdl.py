"""Win-draw-loss files in `verify --wdl` and `ls`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from tbgen.answers import failures
from tbgen.cli import options
from tbgen.cli.command import show_failure, show_json
from tbgen.indexing import InputError, Material
from tbgen.indexing.systems import usable_cores
from tbgen.tables import WdlFile, WdlName


def prove_outcomes(
    selection: options.Selection, materials: list[Material], threads: int, as_json: bool
) -> int:
    """Prove win-draw-loss files, print the findings, and return the exit status."""
    # Compiled kernels are loaded only when a file is verified.
    from tbgen.verify.wdl import verify_wdl

    reports = []
    with selection.open() as opened:
        for material in materials:
            report = verify_wdl(opened, material, threads=threads)
            if report is None:
                raise InputError(
                    f"there is no win-draw-loss file of {material}", f"run: tbgen pack {material}"
                )
            reports.append(report)
            if as_json:
                continue
            compared = (
                f"equal to {report.source}" if report.compared
                else f"consistent; {report.source}, which would prove it, is missing"
            )  # fmt: skip
            verdict = compared if report.ok else "REFUTED"
            click.echo(f"{report.file}: {verdict}, {report.positions:,} positions")
            if report.inconsistent or report.differing:
                click.echo(
                    f"  {report.inconsistent:,} positions are not the best of their moves, "
                    f"{report.differing:,} differ from {report.source}; the first: {report.first}"
                )
            for problem in report.problems:
                click.echo(f"  {problem}")
    ok = all(report.ok for report in reports)
    if as_json:
        show_json({"ok": ok, "files": [report.to_json() for report in reports]})
    return failures.OK if ok else failures.FINDINGS


def list_outcomes(
    named: Iterable[tuple[WdlName, Path]], selection: options.Selection, check: bool
) -> tuple[list[dict[str, Any]], int]:
    """Return the JSON of the selected win-draw-loss files, fewest men first, and the exit status.

    check : whether files are read whole

    The error of a file that cannot be read is in its entry, and is printed.
    """
    entries, worst = [], failures.OK
    for name, path in sorted(named, key=lambda found: (found[0].material.men, found[1].name)):
        if not selection.choice.admits(name.rule_set):
            continue
        entry = {"file": path.name, "bytes_on_disk": path.stat().st_size, "digest": None}
        try:
            with WdlFile(path, name=name) as file:
                if check:
                    file.check(threads=usable_cores())
                entry |= {"digest": file.header.digest.hex(), "source": file.statistics.source.file}
        except Exception as error:
            failure = failures.expected(error)
            entry |= {"error": failure.message, "hint": failure.hint}
            worst = max(worst, failure.status)
            show_failure(failure)
        entries.append(entry)
    return entries, worst
