"""`tbgen serve`: the board in a browser, and the HTTP API."""

from __future__ import annotations

import shlex
import socket
import webbrowser
from typing import TYPE_CHECKING

import click

from tbgen.cli import options
from tbgen.cli.command import Command, show_json
from tbgen.indexing.errors import InputError

if TYPE_CHECKING:
    from tbgen.board.library import Planner
    from tbgen.indexing import Material
    from tbgen.play.tablebase import GameTablebase

DEMO = ("KRKN", "KRKR", "KRKC", "KNKC", "KNKA", "KCAK", "KRKPA", "KPKA")
"""Endgames of every type that build in seconds; one of them needs the repetition rules."""


@click.command(cls=Command)
@options.table_options
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=8064, show_default=True,
              help="The port; 0 takes a free one.")  # fmt: skip
@click.option("--demo", is_flag=True, help="Build a small set of tables first.")
@click.option("--open/--no-open", "show", default=True, help="Open a browser. Default: yes.")
@click.option(
    "--files", is_flag=True,
    help="Others may fetch the files that index.json lists, from /files (tbgen fetch --from).",
)  # fmt: skip
@click.option("--log", is_flag=True, help="Print every request.")
@options.json_option
def serve(
    selection: options.Selection,
    host: str,
    port: int,
    demo: bool,
    show: bool,
    files: bool,
    log: bool,
    as_json: bool,
) -> None:
    """The board in a browser, and the HTTP API.

    Serves the tables of a directory until it is interrupted. --demo builds a few small tables
    into that directory first; finished ones are kept. Nobody but this machine is answered unless
    --host says otherwise. With --files the directory is a mirror, too: others fetch from /files
    what its index.json lists, and check it by that. With --json, {"url","tables"} is printed once
    the port is open.

    Exit status: 0 ok, 2 bad input or no port, 130 interrupted.
    """
    _require_extra()
    if files:
        _require_index(selection)
    if demo:
        selection = _build_demo(selection)
    from tbgen.board.server import make_server

    with selection.open() as opened:
        present = opened.rule_set  # several present and none chosen: say so now
    # Tables of other rules that are built meanwhile are not to make the choice unclear.
    if present.rules is not None:
        selection = selection.narrowed_to(present)
    with selection.open() as opened:
        count = len(opened.available())
        listener = _listen(host, port)
        server = make_server(
            opened, selection.directory, host, port, log=log, planner=_planner(selection, opened),
            files=files,
        )  # fmt: skip
        name = f"[{host}]" if ":" in host else host
        url = f"http://{name}:{listener.getsockname()[1]}/"
        if as_json:
            show_json({"url": url, "tables": count})
        else:
            click.echo(f"{count} tables of {selection.directory}: {url}", err=True)
            if not count:
                click.echo("no tables yet: build some, or begin with --demo", err=True)
        if show:
            webbrowser.open(url)
        server.run(sockets=[listener])


def _planner(selection: options.Selection, tables: GameTablebase) -> Planner:
    """What the board says a missing table would cost: what `tbgen plan` says."""
    from tbgen.board.library import Cost
    from tbgen.building.plan import plan
    from tbgen.tables import LimitExceededError, Rules

    def cost(material: Material) -> Cost | None:
        rules = tables.rule_set.rules or Rules(options.DEFAULT_RULES)
        present = {name.material for name in tables.available() if name.rules == rules}
        try:
            planned = plan([material], rules, selection.directory)
        except (InputError, LimitExceededError):
            return None
        missing = [table for table in planned if table.material not in present]
        return Cost(
            sum(table.seconds for table in missing),
            max((table.memory_bytes for table in missing), default=0),
            sum(table.disk_bytes for table in missing),
        )

    return cost


def _require_index(selection: options.Selection) -> None:
    """Say how to list what others may fetch."""
    from tbgen.publishing.index import INDEX

    if not (selection.directory / INDEX).exists():
        raise InputError(
            f"{selection.directory} has no {INDEX} for others to fetch by",
            f"run: tbgen index --tables {shlex.quote(str(selection.directory))}",
        )


def _require_extra() -> None:
    """Say how to install what is missing."""
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        raise click.UsageError(
            "the board needs starlette and uvicorn: pip install 'tbgen[web]'"
        ) from None


def _build_demo(selection: options.Selection) -> options.Selection:
    """Build the demo's tables, with progress on stderr; returns the selection of just these."""
    from tbgen.building.builder import Builder
    from tbgen.cli.progress import BuildProgress
    from tbgen.indexing import Material
    from tbgen.tables import Rules, RuleSet

    rules = Rules(selection.rules or options.DEFAULT_RULES)
    rule_set = RuleSet(rules, selection.orders or 0, selection.minor_chases is not False)
    click.echo("Building the demo; the first time includes compiling, about half a minute.",
               err=True)  # fmt: skip
    with BuildProgress() as progress:
        builder = Builder(selection.directory, rule_set, progress)
        builder.build([Material.parse(name) for name in DEMO])
    return selection.narrowed_to(rule_set)


def _listen(host: str, port: int) -> socket.socket:
    """An open port; opened here so that a port in use is an error in one line."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio switches Nagle's algorithm off only where the protocol is named; with it every
    # answer, which is two writes, takes 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(256)
    except OSError as error:
        listener.close()
        raise OSError(
            error.errno, f"cannot listen on {host} port {port}: {error.strerror}"
        ) from None
    return listener
