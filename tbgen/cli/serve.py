"""`tbgen serve`: the board in a browser, and the HTTP API."""

from __future__ import annotations

import contextlib
import errno
import os
import shlex
import socket
import tempfile
import webbrowser
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tbgen.cli import options
from tbgen.cli.command import Command, show_json
from tbgen.indexing import InputError
from tbgen.system.platform import WINDOWS
from tbgen.system.units import counted
from tbgen.tables import Metric, RuleChoice, Rules, RuleSet
from tbgen.tables.files import open_to_read

if TYPE_CHECKING:
    from tbgen.play.tablebase import GameTablebase

_LEAST_DESCRIPTORS = 8
"""Least number of file descriptors for serving: port, event loop, a table, a few readers."""

_LISTEN_HINTS = {
    errno.EADDRINUSE: "choose another port with --port; --port 0 takes a free one",
    errno.EADDRNOTAVAIL: "with --host, name an address of this machine",
    errno.EACCES: "choose a port from 1024 on with --port",
}
"""Advice to the user if the server cannot listen on an address, by error number."""


@click.command(cls=Command)
@options.table_options
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=8064, show_default=True,
              help="The port; 0 takes a free one.")  # fmt: skip
@click.option("--demo", is_flag=True, help="Build a small set of tables while serving.")
@click.option(
    "--allow-build", is_flag=True,
    help="Let pages start builds; only if no other machine is answered.",
)  # fmt: skip
@click.option(
    "--build-minutes", type=click.IntRange(1), default=10, show_default=True, metavar="N",
    help="Greatest planned time of such a build.",
)  # fmt: skip
@click.option("--build-memory", type=options.size, default=0, metavar="SIZE",
              help="Its memory, as in 2GiB. Default: half of what is available.")  # fmt: skip
@click.option("--open/--no-open", "show", default=True, help="Open a browser. Default: yes.")
@click.option(
    "--files", is_flag=True,
    help="Serve the files that index.json lists at /files, for tbgen fetch --from.",
)  # fmt: skip
@click.option(
    "--compare", "compared", type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR", help="Tables of other rules, to compare with. Default: those of --tables.",
)  # fmt: skip
@click.option("--log", is_flag=True, help="Print every request to standard error.")
@options.json_option
def serve(
    selection: options.Selection, host: str, port: int, demo: bool, allow_build: bool,
    build_minutes: int, build_memory: int, show: bool, files: bool, compared: Path | None,
    log: bool, as_json: bool,
) -> None:  # fmt: skip
    """Serve the board in a browser, and the HTTP API.

    Only this machine is answered, unless --host differs. --demo builds a few small tables while
    serving, and two without repetition rules in the folder `compared`. --allow-build lets the
    browser that opens the printed address build tables from a page. With --json,
    {"url","entry","tables"} is printed once the port is open.

    Exit status: 0 ended by SIGTERM, 2 bad input or no port, 130 interrupted.
    """
    _require_extra()
    from tbgen.board.knowledge.builds import Limits
    from tbgen.board.knowledge.store import TableStore
    from tbgen.board.web.building import ENTRY
    from tbgen.board.web.middleware import is_loopback
    from tbgen.board.web.routes import create_app
    from tbgen.board.web.server import BoardServer
    from tbgen.cli.opponent import Opponent
    from tbgen.cli.workshop import Workshop
    from tbgen.system.allowance import usable_memory

    if files:
        _require_index(selection.directory)
    if allow_build and not is_loopback(host):
        raise click.UsageError("--allow-build only answers this machine: leave --host out")
    selection = _narrowed(selection, new=demo, needed=allow_build)
    memory = build_memory or usable_memory().memory // 2
    limits = Limits(60.0 * build_minutes, memory) if allow_build else None
    with selection.open() as opened:
        count = len(TableStore(opened).available())
        workshop = Workshop(selection.directory, lambda: _rule_set(opened), limits)
        opponent = Opponent(selection.directory, str(_rule_set(opened).rules))
        _require_descriptors()
        listener = _listen(host, port)
        app = create_app(
            opened, selection.directory, loopback_only=is_loopback(host), workshop=workshop,
            opponent=opponent, files=files,
            compared=compared or (workshop.compared if demo else None),
        )  # fmt: skip
        server = BoardServer(app, host, port, log=log)
        name = f"[{host}]" if ":" in host else host
        url = f"http://{name}:{listener.getsockname()[1]}/"
        if demo:
            workshop.start_demo()
        entry = f"{url.removesuffix('/')}{ENTRY}" if allow_build else None
        if as_json:
            show_json({"url": url, "entry": entry, "tables": count})
        else:
            click.echo(f"{counted(count, 'table')} of {selection.directory}: {url}", err=True)
            if files:
                click.echo(f"files for tbgen fetch --from: {url}files", err=True)
            if entry is not None:
                click.echo(f"to build tables, open {entry}", err=True)
            if not count and not demo:
                click.echo("no tables yet: build some, or use --demo", err=True)
        try:
            with _shown(url, entry) if show else contextlib.nullcontext():
                server.run(sockets=[listener])
        finally:
            workshop.close()
            opponent.close()


@contextlib.contextmanager
def _shown(url: str, entry: str | None) -> Iterator[None]:
    """Context manager: opens a browser at the board; the server runs inside the context.

    entry : secret address that lets the browser build tables, opened instead of `url`, or None

    Other users can read command lines. So instead of `entry` the browser gets the name of a file
    that redirects to it, in a private folder.
    """
    if entry is None:
        webbrowser.open(url)
        yield
        return
    with tempfile.TemporaryDirectory(prefix="tbgen-") as folder:
        page = Path(folder, "board.html")
        page.write_text(f'<!DOCTYPE html><meta http-equiv="refresh" content="0; url={entry}">\n')
        webbrowser.open(page.as_uri())
        yield


def _narrowed(selection: options.Selection, *, new: bool, needed: bool) -> options.Selection:
    """Return the selection restricted to one rule set, so that tables built later fit it.

    If tables will be built (`new`), the rule set is the requested one or `DEFAULT_RULES`; else that
    of the tables present. Without tables, `needed` (some may be built) has the effect of `new`,
    else the selection is not restricted. If no metric is requested, DTM is preferred.
    """
    selection = replace(selection, metric=selection.metric or Metric.DTM)
    choice = selection.choice
    chosen = replace(choice, rules=choice.rules or Rules(options.DEFAULT_RULES)).rule_set
    if not new:
        with selection.open() as opened:
            present = opened.rule_set
        if present.rules is not None:
            chosen = present
        elif not needed:
            return selection
    choice = RuleChoice(chosen.rules, chosen.orders or 0, chosen.minor_chases)
    return replace(selection, choice=choice)


def _rule_set(tables: GameTablebase) -> RuleSet:
    """Return the rule set of the open tables; the default one while it is unknown."""
    found = tables.rule_set
    return found if found.rules is not None else RuleSet(Rules(options.DEFAULT_RULES))


def _require_extra() -> None:
    """Raise `click.UsageError` if the packages of the extra `web` are missing."""
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        raise click.UsageError(
            "the board needs starlette and uvicorn: pip install 'tbgen[web]'"
        ) from None


def _require_index(directory: Path) -> None:
    """Raise `InputError` or `OSError` unless a directory has a valid index, as `--files` needs."""
    from tbgen.publishing.index import INDEX, MAX_INDEX, BadIndexError, read_index

    path, hint = directory / INDEX, f"run: tbgen index --tables {shlex.quote(str(directory))}"
    try:
        with os.fdopen(open_to_read(path, links=False), "rb") as file:
            read_index(file.read(MAX_INDEX + 1), directory)
    except FileNotFoundError:
        raise InputError(f"{directory} has no {INDEX}, which --files needs", hint) from None
    except BadIndexError as error:
        raise InputError(f"{path}: {error.message}", hint) from None


def _require_descriptors() -> None:
    """Raise `OSError` if too few file descriptors are left: the event loop would fail."""
    with contextlib.ExitStack() as held:
        for _ in range(_LEAST_DESCRIPTORS):
            held.enter_context(socket.socket())


def _listen(host: str, port: int) -> socket.socket:
    """Return a listening socket; raises `InputError` if the port or address is unusable."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Only if the protocol is named, asyncio switches Nagle's algorithm off, which would delay every
    # answer (two writes) by 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    if not WINDOWS:  # there, the option would let two servers listen on one port
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(256)
    except OSError as error:
        listener.close()
        message = f"cannot listen on {host} port {port}: {error.strerror}"
        raise InputError(message, _LISTEN_HINTS.get(error.errno or 0, "")) from None
    return listener
