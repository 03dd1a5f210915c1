"""`tbgen verify`: prove tables or win-draw-loss files, or compare tables with known digests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tbgen.answers import failures
from tbgen.cli import options
from tbgen.cli.command import Command, show_json
from tbgen.cli.lessons import WHICH_TABLES, show_next, typed_options
from tbgen.cli.materials import MaterialChoice, choice_arguments, require_tables
from tbgen.cli.proofs import COMPILING, ClosureProgress, Prover, name_of, show_notes, show_report
from tbgen.cli.streams import LiveLine
from tbgen.indexing import InputError, Material
from tbgen.system.allowance import usable_memory
from tbgen.system.platform import import_permanently, usable_cores
from tbgen.system.units import counted
from tbgen.tables.errors import MissingTableError, command_for
from tbgen.tables.names import TableName
from tbgen.tables.proofs import Proofs, find_in_directory

if TYPE_CHECKING:
    from tbgen.verify.files import TableProver

KERNELS_BYTES = 100 << 20
"""Minimum bytes of memory to load compiled kernels; the proof of a small table took 75 MiB."""

_STANDINGS = {
    "agrees": "as listed",
    "rearranged": "with the listed values, but another arrangement or metadata",
    "differs": "with OTHER VALUES than listed",
    "unknown": "not listed",
}
"""Result of comparing a table with a list, as text, by member of `publishing.known.Standing`."""


@click.command(cls=Command)
@choice_arguments
@options.table_options
@options.threads_option
@click.option(
    "--plain", is_flag=True,
    help="Check positions one by one: slower, with equal findings.",
)  # fmt: skip
@options.memory_option
@click.option("--closure", is_flag=True, help="First prove all tables that captures lead to.")
@click.option(
    "--jobs", type=options.jobs, metavar="N|auto",
    help="With --closure, number of tables proven at once. Default: auto, one per core.",
)  # fmt: skip
@click.option("--force", is_flag=True, help="With --closure, also prove certified tables.")
@click.option(
    "--certificate/--no-certificate", default=True, show_default=True,
    help="Write a certificate beside each table that is proven.",
)  # fmt: skip
@click.option("--wdl", is_flag=True, help="Prove their win-draw-loss files instead.")
@click.option(
    "--digests", is_flag=True,
    help="Compare their digests with the project's list instead (docs/publish.md).",
)  # fmt: skip
@click.option(
    "--against", type=click.Path(path_type=Path), metavar="FILE",
    help="With --digests, another list: CSV with the columns file, digest, values.",
)  # fmt: skip
@options.json_option
@click.pass_context
def verify(
    ctx: click.Context, choice: MaterialChoice, selection: options.Selection, threads: int,
    plain: bool, memory: int, wdl: bool, closure: bool, jobs: int | None, force: bool,
    certificate: bool, digests: bool, against: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Prove the tables of MATERIAL... from the rules; without any, all tables present.

    Checks every checksum and every position: its value is the best of its moves, each win by
    perpetual check or chase follows from the rules, and no draw hides one. The proof rests on the
    supporting tables, to which captures lead; --closure proves those, too.

    A proof leaves a certificate, a refutation removes it, except with --no-certificate; `ls` and
    `stats` report certificates. With --closure, tables with a valid certificate are read and not
    proven again, except with --force. If a certificate cannot be written, a note says so, and the
    proof stands.

    Of --memory, 300 MiB are reserved for each process; arrays that do not fit into the rest are in
    unnamed files beside the tables. The system's cache of these files is not counted.

    With --wdl, a file is proven if every outcome is the best of its moves, and equal to the table
    that the file names. Without that table it is not proven, and the exit status is 1.

    Exit status: 0 ok, 1 a finding or a missing table, 2 bad input or not enough memory, 3 corrupt
    file. With --closure the largest status of any table; without a supporting table, nothing is
    proven.
    """
    if not closure and (jobs is not None or force):
        raise click.UsageError("--jobs and --force need --closure")
    if against is not None and not digests:
        raise click.UsageError("--against needs --digests")
    if wdl and digests:
        raise click.UsageError("use only one of --wdl and --digests")
    proofs = {
        "--closure": closure, "--plain": plain, "--memory": memory,
        "--no-certificate": not certificate,
    }  # fmt: skip
    for option, given in proofs.items():
        if given and (wdl or digests):
            raise click.UsageError(
                f"{option} cannot be used with {'--wdl' if wdl else '--digests'}"
            )
    with selection.open() as opened:
        wanted = choice.required(selection.present(opened, wdl=wdl), selection.directory)
        require_tables(wanted)
        if digests:
            ctx.exit(_compare_digests(selection, wanted, against, threads, as_json))
        if wdl:
            ctx.exit(_prove_outcomes(selection, wanted, threads, as_json))
        if not closure:
            for material in wanted:
                opened.table(material)  # errors come before long proofs
        names = {opened.table_name(material) for material in wanted}
    _require_kernels_memory(memory)
    import_permanently("tbgen.verify")  # compiled kernels
    # Bottom-up, so that each proof rests on tables already proven.
    ordered = sorted(names, key=lambda name: (name.material.men, str(name)))
    from tbgen.verify.files import TableProver

    prover = TableProver(selection.directory, threads, plain, force, certificate)
    if closure:
        jobs = jobs or usable_cores()
        status, tables = _prove_closure(ordered, prover, memory, jobs, quiet=as_json)
    else:
        status, tables = _prove_each(ordered, prover, memory, quiet=as_json)
    if as_json:
        show_json({"ok": status == failures.OK, "tables": tables})
    elif status == failures.OK and not closure:
        _suggest(wanted)
    ctx.exit(status)


def _require_kernels_memory(asked: int) -> None:
    """Raise an error if compiled kernels cannot be loaded within the memory.

    asked : bytes of `--memory`, 0 if not given
    """
    if usable_memory().memory < KERNELS_BYTES:
        raise MemoryError("compiled kernels need more memory than this process may use")
    if 0 < asked < KERNELS_BYTES:
        least = f"{KERNELS_BYTES >> 20}MiB"
        raise InputError(
            f"compiled kernels alone need {least} of memory, more than --memory allows",
            f"use --memory {least} or more",
        )


def _suggest(proven: list[Material]) -> None:
    """Suggest proving the supporting tables of `proven`, unless `proven` contains them all."""
    below = {m for material in proven for m in material.closure()}
    if not below.issubset(proven):
        names = " ".join(material.name for material in proven)
        show_next((f"tbgen verify --closure {names}", "proves what this rests on, too"))


def _progress_of(material: Material, line: LiveLine) -> Callable[[str, int, int], None]:
    """Return a function that shows a proof's phase on `line`, and the part of it that is done."""
    from tbgen.verify.report import ALL_PATTERNS

    def show(phase: str, done: int, total: int) -> None:
        if phase == ALL_PATTERNS and not done:
            line.print(f"{material} is refuted; for a complete report, all positions are searched")
        line.update(f"{material}: {phase}, {100 * done // total} %")

    return show


def _prove_each(
    names: list[TableName], prover: TableProver, memory: int, *, quiet: bool
) -> tuple[int, list[dict[str, Any]]]:
    """Prove tables one by one; return the exit status and the entries of `--json`.

    memory : bytes, 0 for free memory
    quiet : whether to print nothing on stdout
    """
    from tbgen.compiling.jit import notify_before_compiling
    from tbgen.verify import certify, verify_file

    find, memory = find_in_directory(prover.directory), usable_memory(memory).memory
    entries = []
    with LiveLine() as line, notify_before_compiling(lambda: line.print(COMPILING)):
        for name in names:
            proof = verify_file(
                find, name, threads=prover.threads, progress=_progress_of(name.material, line),
                plain=prover.plain, memory=memory,
            )  # fmt: skip
            notes = certify(proof) if prover.certificates else []
            status = Proofs(find).status(name)
            entries.append(
                proof.report.to_json()
                | {"digest": proof.digest, "proof": status.to_json(), "notes": notes}
            )
            line.clear()
            if not quiet:
                certified = prover.certificates and not notes
                show_report(name, proof.report, status if certified else None)
            show_notes(notes)
    ok = all(entry["ok"] for entry in entries)
    return failures.OK if ok else failures.FINDINGS, entries


def _prove_closure(
    names: list[TableName], prover: TableProver, memory: int, jobs: int, *, quiet: bool
) -> tuple[int, list[dict[str, Any]]]:
    """Prove tables and their supporting tables; return exit status and entries of `--json`.

    jobs : number of tables proven at once
    memory, quiet : as in `_prove_each`
    """
    from tbgen.scheduling.forecast import Forecast
    from tbgen.scheduling.processes import Processes
    from tbgen.scheduling.run import Executor, InProcess, run
    from tbgen.verify.files import plan

    find = find_in_directory(prover.directory)
    planned = plan(find, names, force=prover.force)
    prove = Prover(replace(prover, directory=prover.directory.absolute()))
    memory = usable_memory(memory).memory
    executor: Executor = InProcess(prove, memory) if jobs == 1 else Processes(prove, jobs, memory)
    with LiveLine() as line, executor:
        progress = ClosureProgress(planned, Forecast(planned, jobs, memory), line, quiet=quiet)
        outcome = run(planned, executor, progress, keep_going=True)
        progress.left_out(outcome.left_out)
    if not quiet:
        click.echo(progress.summary())
    proofs = Proofs(find)
    entries = []
    for job in planned:
        entry = progress.entries[job.key]
        if "digest" in entry:
            entry |= {"proof": proofs.status(name_of(job)).to_json()}
        entries.append(entry)
    return progress.worst, entries


def _prove_outcomes(
    selection: options.Selection, materials: list[Material], threads: int, as_json: bool
) -> int:
    """Prove win-draw-loss files, print the results, and return the exit status."""
    from tbgen.verify.wdl import verify_wdl

    reports = []
    proofs = Proofs(find_in_directory(selection.directory))
    with selection.open() as opened, LiveLine() as line:
        for material in materials:
            report = verify_wdl(
                opened, material, threads=threads, progress=_progress_of(material, line)
            )
            line.clear()
            if report is None:
                found = [n for n in opened.available() if n.material == material]
                found = [name for name in found if name.rule_set == opened.rule_set]
                error = MissingTableError(material.name, opened.rule_set, wdl=True)
                if opened.metric is None and len(found) > 1:
                    error.command += f" --metric {found[0].metric}"
                raise error
            reports.append(report)
            if as_json:
                continue
            if report.refuted:
                verdict = "REFUTED"
            elif report.compared:
                source = TableName.parse(report.source)
                assert source is not None, "the table that was compared has a name"
                verdict = f"equal to {source.filename} ({proofs.status(source)})"
            else:
                missing = f"{report.source} is missing or has another digest"
                verdict = f"not proven: consistent, but {missing}"
            click.echo(f"{report.file}: {verdict}, {counted(report.positions, 'position')}")
            if report.inconsistent or report.differing:
                click.echo(
                    f"  {counted(report.inconsistent, 'outcome')} not the best of the moves, "
                    f"{report.differing:,} not as in {report.source}; the first: {report.first}"
                )
            for problem in report.problems:
                click.echo(f"  {problem}")
    ok = all(report.ok for report in reports)
    if as_json:
        show_json({"ok": ok, "files": [report.to_json() for report in reports]})
    return failures.OK if ok else failures.FINDINGS


def _compare_digests(
    selection: options.Selection,
    materials: list[Material],
    against: Path | None,
    threads: int,
    as_json: bool,
) -> int:
    """Compare the digests of tables with a list; return the exit status, 1 if values differ.

    against : CSV file of the list; None for the project's own list
    as_json : whether to print one JSON object, else totals and listed tables with other contents
    """
    from tbgen.building.packing import checked_digest
    from tbgen.publishing.known import KNOWN, Digests, Standing, read_known, standing

    known = read_known(against or KNOWN)
    entries: list[dict[str, Any]] = []
    with selection.open() as opened, LiveLine() as line:
        for number, material in enumerate(materials, 1):
            file = opened.table(material)
            name = file.path.name
            line.update(f"{number} of {len(materials)}: {name}")
            values = checked_digest(file, threads=threads).hex()
            found = Digests(file.header.digest.hex(), values)
            how = standing(name, found, known)
            entries.append({"file": name, **found._asdict(), "standing": str(how)})
            line.clear()
            if how not in (Standing.AGREES, Standing.UNKNOWN) and not as_json:
                click.echo(f"{name}: {_STANDINGS[how]}")
                if how == Standing.DIFFERS:
                    context, table = click.get_current_context(), file.header.spec.name
                    build = command_for("build", material.name, table.rule_set)
                    where = f" --metric {table.metric}{typed_options(context, 'tables')}"
                    click.echo(
                        f"  `tbgen verify {material}{typed_options(context, *WHICH_TABLES)}` "
                        f"proves or refutes it, `{build}{where} --force` replaces it"
                    )
    counts = Counter(entry["standing"] for entry in entries)
    ok = not counts[Standing.DIFFERS]
    if as_json:
        show_json({"ok": ok, "list": str(against) if against else None, "tables": entries})
    else:
        said = ", ".join(f"{counts[how]} {_STANDINGS[how]}" for how in Standing if counts[how])
        click.echo(f"{counted(len(entries), 'table')}: {said}")
    return failures.OK if ok else failures.FINDINGS
