"""`tbgen verify --wdl`: prove win-draw-loss files instead of tables."""

from __future__ import annotations

import click

from tbgen.answers import failures
from tbgen.cli import options
from tbgen.cli.command import show_json
from tbgen.indexing import InputError, Material


def prove_outcomes(
    selection: options.Selection, materials: list[Material], threads: int, as_json: bool
) -> int:
    """Prove the win-draw-loss files of some materials, say what was found; the exit status."""
    # Compiled kernels are loaded only when something is to be verified.
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
                else f"consistent; {report.source}, which would prove it, is not there"
            )  # fmt: skip
            verdict = compared if report.ok else "REFUTED"
            click.echo(f"{report.file}: {verdict}, {report.positions:,} positions")
            if report.inconsistent or report.differing:
                click.echo(
                    f"  {report.inconsistent:,} positions are not the best of their moves, "
                    f"{report.differing:,} are not as in {report.source}; the first: {report.first}"
                )
            for problem in report.problems:
                click.echo(f"  {problem}")
    ok = all(report.ok for report in reports)
    if as_json:
        show_json({"ok": ok, "files": [report.to_json() for report in reports]})
    return failures.OK if ok else failures.FINDINGS
