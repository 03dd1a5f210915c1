"""`tbgen build`: build tables and everything they need."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable
from pathlib import Path

import click

from tbgen.answers import failures
from tbgen.building.builder import TWO_COMPILERS_BYTES, Builder, Built
from tbgen.building.collection import Collection, ProcessLimits, jobs_worth, process_limits
from tbgen.building.exchange import Exchange, RemoteTableBuilder
from tbgen.building.packing import pack_closure
from tbgen.building.plan import Totals
from tbgen.building.profile import Profile
from tbgen.building.states import STATE_SECONDS
from tbgen.cli import options
from tbgen.cli.command import Command, show_failure, show_json
from tbgen.cli.lessons import BESIDE_RULES, show_next, typed_options
from tbgen.cli.materials import material_arguments, require_tables
from tbgen.cli.progress import SetProgress
from tbgen.indexing import InputError, Material
from tbgen.scheduling.forecast import Forecast
from tbgen.scheduling.queue import Start
from tbgen.scheduling.run import Executor, InProcess, LostError, Outcome
from tbgen.system.platform import usable_cores
from tbgen.system.units import counted, format_bytes
from tbgen.tables.errors import TablebaseError
from tbgen.tables.names import Metric
from tbgen.tables.rule_sets import RuleSet

_LONG_SECONDS = 24 * 3600
"""Planned seconds above which a build needs `--yes`."""
_TOTALS_SECONDS = 60
"""Planned seconds above which the totals of a build are printed first."""
_MAX_NAMED = 8
"""Maximum number of materials in a suggested command."""


@click.command(cls=Command)
@material_arguments
@options.rule_set_options
@click.option(
    "--metric", type=click.Choice(["auto", "dtm", "dtc"]), default="auto",
    help="Distance to mate, to conversion, or (auto) to mate where that fits one byte.",
)  # fmt: skip
@click.option(
    "--jobs", type=options.jobs, default=1, metavar="N|auto",
    help="Number of tables built at once, each in a process of its own; auto: one per core, if "
    "worthwhile. Default: 1.",
)  # fmt: skip
@click.option(
    "--dask", "cluster", metavar="ADDRESS|local:N",
    help="Build on the workers of a dask cluster (docs/cluster.md); local:N starts one here.",
)  # fmt: skip
@click.option(
    "--via", metavar="URL",
    help="With --dask, the address through which workers without the directory exchange tables, as "
    "s3://bucket/folder.",
)  # fmt: skip
@click.option(
    "--threads", type=click.IntRange(1, options.MAX_THREADS), metavar="N",
    help="Threads for all tables, with --dask for each. Default: all cores, with --dask 1.",
)  # fmt: skip
@options.memory_option
@click.option(
    "--save-state", "state_minutes", type=click.FloatRange(min=0), metavar="MINUTES",
    default=STATE_SECONDS / 60, show_default=True,
    help="Interval at which a long build saves its state, to resume if killed; 0: never.",
)  # fmt: skip
@click.option("--force", is_flag=True, help="Build MATERIAL... again even if finished.")
@click.option("--yes", is_flag=True, help="Build even if more than a day is planned.")
@click.option("--wdl", is_flag=True, help="Also write their win-draw-loss files (tbgen pack).")
@click.option("--profile", is_flag=True, help="Print the cost of each phase of each table.")
@click.option("--keep-going", is_flag=True, help="After a failure, build what does not need it.")
@options.json_option
@click.pass_context
def build(
    ctx: click.Context, wanted: list[Material], tables: Path, rule_set: RuleSet, metric: str,
    jobs: int, cluster: str | None, via: str | None, threads: int | None, memory: int,
    state_minutes: float, force: bool, yes: bool, wdl: bool, profile: bool, keep_going: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """Build the tables of MATERIAL..., and first those that captures lead to.

    Finished tables are kept: an interrupted build resumes. Several builds may share a directory.

    Exit status: 0 ok, 1 a missing table, 2 bad input, no space or not enough memory, 3 corrupt
    file, 130 interrupted. With --keep-going, that of the first table that failed.
    """
    require_tables(wanted)
    if math.isnan(state_minutes):
        raise click.BadParameter("nan is no number of minutes", param_hint="'--save-state'")
    wished = None if metric == "auto" else Metric(metric)
    state_seconds = 60 * state_minutes or math.inf
    collection = Collection(wanted, tables, rule_set, wished, force, state_seconds)
    if cluster is not None and jobs != 1:
        raise click.UsageError("use only one of --dask and --jobs")
    if profile and (cluster is not None or jobs != 1):
        raise click.UsageError("--profile measures this process: leave --dask and --jobs out")
    if via is not None and cluster is None:
        raise click.UsageError("--via needs --dask")
    if memory and cluster is not None and not cluster.startswith("local:"):
        raise click.UsageError("--memory is for this machine: dask workers declare theirs")
    cores = threads or (1 if cluster is not None else usable_cores())
    _check_first(collection, memory, cores, jobs or cores, here=cluster is None, confirmed=yes)
    try:
        if cluster is not None:
            progress, outcome = _on_cluster(collection, cluster, via, cores, memory, keep_going)
        else:
            progress, outcome = _on_this_machine(
                collection, jobs, cores, memory, profile=profile, keep_going=keep_going
            )
    except KeyboardInterrupt:
        kept = "finished tables and saved states are kept; the same command resumes"
        raise KeyboardInterrupt(kept) from None
    failed = dict(outcome.failures)
    for key, error in failed.items():
        if isinstance(error, LostError):
            failed[key] = TablebaseError(f"{key} failed repeatedly: {error}")
    if failed and not keep_going:
        raise next(iter(failed.values()))
    if wdl:
        # Tables that failed, and those that need them, cannot be packed.
        missing = {*failed, *outcome.left_out}
        built = [material for material in wanted if str(material) not in missing]
        pack_closure(tables, built, rule_set, threads=threads or usable_cores())
    option = typed_options(ctx, *BESIDE_RULES)
    described = [(key, failures.expected(error, option)) for key, error in failed.items()]
    for key, failure in described:
        show_failure(failure, f"{key}: ")
    if len(collection.work) > 1 or progress.counts["present"]:
        click.echo(progress.summary(len(outcome.left_out)), err=True)
    if as_json:
        show_json({
            "directory": str(tables),
            "rules": str(rule_set.rules),
            "minor_chases": rule_set.choice,
            "tables": progress.tables,
            "failed": [failure.to_json(key) for key, failure in described],
            "left_out": outcome.left_out,
        })  # fmt: skip
    elif not described:
        _suggest(wanted)
    ctx.exit(described[0][1].status if described else failures.OK)


def _check_first(
    collection: Collection, memory: int, threads: int, jobs: int, *, here: bool, confirmed: bool
) -> None:
    """Raise an error if the unfinished tables should not be built.

    memory : bytes that the build may use, 0 for all free memory
    threads : number of threads of all tables together; with a cluster, of each table
    jobs : number of tables built at once
    here : whether this machine builds, so that its memory and disk must suffice
    confirmed : whether the user accepts a build of any length (`--yes`)

    Prints a note if the disk may become full, and the totals of a long build.
    """
    if not collection.unfinished:
        return
    collection.require_supported()
    if here:
        if len(collection.unfinished) > 1:  # the builder itself checks a single table
            collection.require_memory(memory, threads)
        needed, free = collection.require_disk(memory, threads, jobs)
        if needed > free:
            click.echo(
                f"note: the build may take up to {format_bytes(needed)} of disk, and "
                f"{collection.directory} has {format_bytes(free)} left (docs/build-big.md)",
                err=True,
            )
    totals = Totals.of(collection.planned(threads), jobs, collection.state_seconds)
    if totals.seconds > _LONG_SECONDS and not confirmed:
        raise InputError(
            f"building {counted(totals.tables, 'table')} takes about "
            f"{totals.seconds / 3600:,.0f} hours",
            "confirm with --yes; tbgen plan lists them",
        )
    if totals.seconds > _TOTALS_SECONDS:
        click.echo(f"{counted(totals.tables, 'table')} to build, {totals}", err=True)


def _on_this_machine(
    collection: Collection, jobs: int, cores: int, memory: int, *, profile: bool, keep_going: bool
) -> tuple[SetProgress, Outcome]:
    """Build the tables on this machine: in this process, or several at once in worker processes.

    jobs : number of processes, 0 for `auto`
    cores : number of threads of all tables together
    memory : bytes for all tables together, 0 for free memory
    profile : whether to print the cost of each phase; only for builds in this process
    """
    limits = ProcessLimits(1, 0, 0) if jobs == 1 else process_limits(jobs or cores, memory)
    several = len(collection.unfinished) > 1
    listed = collection.jobs(cores, limits.floor) if several else []
    if not jobs and jobs_worth(listed, limits.jobs) == 1:
        limits = ProcessLimits(1, 0, 0)
    by_workers = limits.jobs > 1 and several
    planned = collection.jobs(cores, limits.floor, by_workers=by_workers or cores == 1)
    forecast = Forecast(planned, limits.jobs, limits.memory or None)
    with SetProgress(len(collection.work), forecast, by_workers=by_workers) as progress:
        executor: Executor
        if by_workers:
            # late: a single table needs no processes
            from tbgen.scheduling.processes import Processes

            executor = Processes(collection.table_builder(cores), limits.jobs, limits.memory)
        else:
            builder = Builder(
                collection.directory, collection.rule_set, progress, threads=cores, memory=memory,
                state_seconds=collection.state_seconds,
            )  # fmt: skip
            if profile:
                builder.progress = Profile(
                    progress, builder.meter, lambda costs: progress.report_costs(costs, cores)
                )
            listed, executor = collection.all_jobs, InProcess(builder.build_job)
        with executor:
            return progress, collection.build(listed, executor, progress, keep_going=keep_going)


def _on_cluster(
    collection: Collection,
    address: str,
    via: str | None,
    threads: int,
    memory: int,
    keep_going: bool,
) -> tuple[SetProgress, Outcome]:
    """Build on the workers of a dask cluster.

    address : address of the scheduler, or `local:N` for a new cluster of N workers on this machine
    via : address through which workers exchange tables; None if they share the directory
    threads : number of threads that build one table
    memory : bytes of a cluster on this machine, 0 for free memory
    """
    from tbgen.scheduling.cluster import Cluster

    function: Callable[[Start], Built] = collection.table_builder(threads)
    folder: Path | None = collection.directory
    exchange = None
    if via is not None:
        # Workers have other working directories.
        local = via.removeprefix("file://").removeprefix("local://")
        folder = None if "://" in local else Path(os.path.abspath(local))
        exchange = Exchange(str(folder or via))
        exchange.synchronise(collection)
        function = RemoteTableBuilder(collection.table_builder(threads), exchange)

    def download(built: Iterable[Built]) -> None:
        if exchange is not None:
            for table in built:
                exchange.get(table.name, collection.directory)

    here = process_limits(1, memory).memory
    floor = TWO_COMPILERS_BYTES
    with Cluster(function, address, memory=here, floor=floor, folder=folder) as executor:
        listed = collection.jobs(threads)
        workers = sum(worker["nthreads"] for worker in executor.workers().values())
        forecast = Forecast(listed, workers)
        with SetProgress(len(collection.work), forecast, by_workers=True) as progress:
            return progress, collection.build(
                listed, executor, progress, keep_going=keep_going, download=download
            )


def _suggest(built: list[Material]) -> None:
    """Suggest commands to run next, with the tables just built as examples."""
    names = " ".join(map(str, built)) if len(built) <= _MAX_NAMED else "MATERIAL..."
    show_next(
        (f"tbgen verify --closure {names}", "proves them from the rules"),
        (f"tbgen stats {built[0]}", "counts, and the longest wins"),
        ("tbgen serve", "the board in a browser"),
    )
