"""Output of `tbgen verify`: results on stdout, live progress on stderr, entries of `--json`."""

from __future__ import annotations

import sys
from collections.abc import Container, Iterable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import click

from tbgen.answers import failures
from tbgen.cli.command import show_failure
from tbgen.cli.streams import LiveLine
from tbgen.scheduling.forecast import Forecast
from tbgen.scheduling.queue import Job, Start
from tbgen.scheduling.run import LostError, Observer, PostponedError
from tbgen.system.units import counted, format_duration

# The verifier is imported when a table is proven.
if TYPE_CHECKING:
    from tbgen.tables import TableName
    from tbgen.tables.proofs import ProofStatus
    from tbgen.verify import VerifyReport
    from tbgen.verify.files import ProvenTable, TableProver

CERTIFIED = "proven by certificate"
COMPILING = "compiling the kernels of proofs, once on this machine: about 20 s"


def title(name: TableName) -> str:
    """Return a table's title: `KRKN (wxf without minor chases, at most 2 orders, dtm)`."""
    option = "" if name.rule_set.minor_chases else " without minor chases"
    limit = f", at most {counted(name.orders, 'order')}" if name.orders else ""
    return f"{name.material} ({name.rules}{option}{limit}, {name.metric})"


def show_report(name: TableName, report: VerifyReport, status: ProofStatus | None) -> None:
    """Print the report of one table; of a proven one also the certificate's `status`, if given."""
    show_verdict(name, report)
    for side, totals in (("red", report.red_to_move), ("black", report.black_to_move)):
        click.echo(
            f"  {side + ' to move':14}{totals.positions:,}: {counted(totals.wins, 'win')}, "
            f"{counted(totals.draws, 'draw')}, {counted(totals.losses, 'loss', 'losses')}; "
            f"{totals.rule_decided:,} by rules, {counted(totals.direct, 'direct win')} among them "
            f"({totals.direct_checks:,} by perpetual check, "
            f"{totals.direct_chases:,} by perpetual chase)"
        )
    if report.rules != "none":
        click.echo(
            f"  {'patterns':14}{counted(report.orders_examined, 'order')} searched, "
            f"{counted(report.offenders_examined, 'possible checker')}, "
            f"{counted(report.chasers_examined, 'possible chaser')}"
        )
    if report.ok and status is not None:
        click.echo(f"  {'certificate':14}{status}")
    if report.findings:
        click.echo(f"  {counted(report.findings, 'wrong position')}, the first one:")
        click.echo(f"  {report.first}")
    for problem in report.file_problems:
        click.echo(f"  {problem}")


def show_verdict(name: TableName, report: VerifyReport) -> None:
    """Print the verdict on one table in one line."""
    verdict = "proven" if report.ok else "REFUTED"
    click.echo(
        f"{title(name)}: {verdict}, {counted(report.positions, 'position')} "
        f"in {report.seconds:.1f} s"
    )


def show_notes(notes: Iterable[str]) -> None:
    """Print notes on certificates to stderr."""
    for note in notes:
        click.echo(f"note: {note}", err=True)


@dataclass(frozen=True, slots=True)
class Prover:
    """Picklable `TableProver` that prints a line before kernels are compiled."""

    prove: TableProver

    def __call__(self, start: Start) -> ProvenTable:
        """Prove the table of a job."""
        from tbgen.compiling.jit import notify_before_compiling

        with notify_before_compiling(print_compiling):
            return self.prove(start)


@cache
def print_compiling() -> None:
    """Print to stderr, once in a process, that kernels are compiled."""
    clear = "\r\x1b[K" if sys.stderr.isatty() else ""
    click.echo(clear + COMPILING, err=True)


class ClosureProgress(Observer):
    """Progress of `tbgen verify --closure`: proofs of tables and of their supporting tables.

    `entries` are the JSON entries of the tables, by job key; `worst` is the exit status so far.

    forecast : estimates the time left
    line : shows the progress on stderr
    quiet : whether to print nothing on stdout
    """

    every = 2.0

    def __init__(self, jobs: list[Job], forecast: Forecast, line: LiveLine, *, quiet: bool) -> None:
        self.entries: dict[str, dict[str, Any]] = {}
        self.worst = failures.OK
        self._jobs = jobs
        self._forecast = forecast
        self._line = line
        self._quiet = quiet
        self._counts = {"proven": 0, CERTIFIED: 0, "refuted": 0, "failed": 0, "left out": 0}

    def started(self, start: Start) -> None:
        """Show that the proof of a table begins."""
        self._forecast.started(start)
        self.waiting("")

    def finished(self, start: Start, result: ProvenTable) -> None:
        """Record and print a table that was proven now or has a valid certificate."""
        self._line.clear()
        self._forecast.finished(start, result)
        self._record(start.job, result)
        self._counts[CERTIFIED if result.report is None else "proven"] += 1
        if not self._quiet and result.report is None:
            click.echo(f"{title(result.name)}: proven, by its certificate")
        elif not self._quiet and result.report is not None:
            show_verdict(result.name, result.report)
        show_notes(result.notes)
        self.waiting("")

    def retried(self, start: Start, error: PostponedError | LostError) -> None:
        """Print that a job is tried again: its process was lost."""
        self._line.clear()
        self._forecast.retried(start, error)
        click.echo(f"note: {start.job.key}: {error}; trying again with more memory", err=True)

    def failed(self, start: Start, error: BaseException) -> None:
        """Record and print a refuted table or a failed proof; raise bugs."""
        from tbgen.verify.files import RefutedError

        self._line.clear()
        self._forecast.failed(start, error)
        if isinstance(error, RefutedError):
            self._counts["refuted"] += 1
            self.worst = max(self.worst, failures.FINDINGS)
            self._record(start.job, error.settled)
            assert error.settled.report is not None
            if not self._quiet:
                show_report(error.settled.name, error.settled.report, None)
            show_notes(error.settled.notes)
            return
        self._counts["failed"] += 1
        if isinstance(error, LostError):
            hint = "there may be too little memory"
            failure = failures.Failure(failures.BAD_INPUT, f"{start.job.key}: {error}", hint)
        else:
            failure = failures.expected(error)
        self.worst = max(self.worst, failure.status)
        self.entries[start.job.key] = _unproven(start.job, failure.message, failure.hint)
        show_failure(failure)

    def left_out(self, keys: Container[str]) -> None:
        """Record and print the jobs with these keys: a supporting table of each is not proven."""
        reason = "not tried, a supporting table is not proven"
        for job in self._jobs:
            if job.key in keys:
                self.entries[job.key] = _unproven(job, reason, "")
                self._counts["left out"] += 1
                self.worst = max(self.worst, failures.FINDINGS)
                if not self._quiet:
                    click.echo(f"{title(name_of(job))}: {reason}")

    def summary(self) -> str:
        """Return the totals, such as `6 tables: 5 proven, 1 proven by certificate`."""
        counts = [
            f"{count} {word}" for word, count in self._counts.items() if count or word == "proven"
        ]
        return f"{counted(len(self._jobs), 'table')}: {', '.join(counts)}"

    def _record(self, job: Job, settled: ProvenTable) -> None:
        """Add to `entries` the JSON entry of a table that was proven, refuted or certified."""
        entry = name_of(job).to_json() | {"ok": True, "by": "certificate"}
        if settled.report is not None:
            entry = settled.report.to_json()
        self.entries[job.key] = entry | {"digest": settled.digest, "notes": list(settled.notes)}

    def waiting(self, trouble: str) -> None:
        """Show number of tables done, time left and running jobs."""
        left, now = "", ", ".join(self._forecast.running)
        if self._counts["proven"]:
            left = f"; about {format_duration(self._forecast.seconds_left())} left"
        done = f"{len(self.entries)} of {counted(len(self._jobs), 'table')}"
        self._line.update(f"{done}{left}; now {now}")


def _unproven(job: Job, error: str, hint: str) -> dict[str, Any]:
    """Return the JSON entry of a table neither proven nor refuted; `hint` may be empty."""
    return name_of(job).to_json() | {"ok": False, "by": None, "error": error, "hint": hint}


def name_of(job: Job) -> TableName:
    """Return the table that a job proves."""
    name: Any = job.payload
    return name
