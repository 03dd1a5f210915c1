"""`tbgen doctor`: properties of the environment that matter to tables.

Versions are read from package metadata, since importing numba would take long.
"""

from __future__ import annotations

import os
import platform
import shutil
from importlib import metadata
from pathlib import Path
from typing import Any

import click

from tbgen import __version__
from tbgen.answers import failures
from tbgen.cli import options
from tbgen.cli.command import Command, show_json
from tbgen.compiling.folder import find_kernel_folder, usual_folder
from tbgen.system.allowance import usable_memory
from tbgen.system.platform import total_memory, usable_cores
from tbgen.system.units import counted

_PACKAGES = ("numpy", "numba", "llvmlite", "zstandard", "click", "tqdm")


@click.command(cls=Command)
@options.tables_option
@click.option(
    "--numba", "ask_numba", is_flag=True, help="Also import numba, and compile a function."
)
@options.json_option
@click.pass_context
def doctor(context: click.Context, tables: Path, ask_numba: bool, as_json: bool) -> None:
    """Report on the environment.

    Versions, processors, memory, the cache of compiled kernels, the tables directory and the
    space left there.

    Exit status: 0 ok, 1 a problem: something is missing, not writable, or switched off.
    """
    allowance, total = usable_memory(), total_memory()
    answer: dict[str, Any] = {
        "tbgen": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {name: _version(name) for name in _PACKAGES},
        "cores": usable_cores(),
        "memory": {"total": total, "available": allowance.memory, "limit": allowance.limit},
        "kernel_cache": _kernel_cache(),
        "tables": _tables(tables),
    }
    if ask_numba:
        answer["numba"] = _try_numba()
    answer["problems"] = _problems(answer)
    if as_json:
        show_json(answer)
    else:
        _show(answer)
    context.exit(failures.FINDINGS if answer["problems"] else failures.OK)


def _version(package: str) -> str | None:
    """Return the version of an installed package; None if it is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _kernel_cache() -> dict[str, Any]:
    """Describe as JSON the folder in which kernels are stored, with the fields of `_directory`.

    If there is none, it is the usual folder, or the root, and `writable` is False. `usual` is the
    path of the usual folder, or None (`usual_folder`).
    """
    found, usual = find_kernel_folder(), usual_folder()
    answer = _directory(found or usual or Path(os.sep))
    answer["usual"] = None if usual is None else str(usual)
    return {**answer, "writable": found is not None}


def _directory(path: Path) -> dict[str, Any]:
    """Describe a directory as JSON: path, existence, writability and free bytes.

    If nothing has this path, the last two are those of the nearest parent that exists.
    """
    existing = path
    # Unlike `Path.exists`, `os.path.exists` raises no error in an unreadable folder.
    while not os.path.exists(existing) and existing != existing.parent:
        existing = existing.parent
    return {
        "path": str(path.absolute() if _working_directory() else path),
        "exists": os.path.isdir(path),
        "writable": os.path.isdir(existing) and os.access(existing, os.W_OK | os.X_OK),
        "free_bytes": shutil.disk_usage(existing).free,
    }


def _working_directory() -> Path | None:
    """Return the working directory; None if it has been removed."""
    try:
        return Path.cwd()
    except OSError:
        return None


def _tables(path: Path) -> dict[str, Any]:
    """Describe the tables directory as JSON: `_directory`, number and bytes of its tables."""
    from tbgen.tables import TableName

    answer = _directory(path)
    readable = answer["exists"] and os.access(path, os.R_OK | os.X_OK)
    files = path.iterdir() if readable else ()
    present = [file for file in files if TableName.parse(file.name) is not None]
    # A file removed meanwhile, or a broken link, is skipped.
    sizes = [file.stat().st_size for file in present if file.exists()]
    return {**answer, "tables": len(sizes), "bytes_on_disk": sum(sizes)}


def _try_numba() -> dict[str, Any]:
    """Import numba, compile and run a function; return JSON for the answer's member `numba`."""
    import numba

    from tbgen.compiling.jit import CACHE_FOLDER

    twice = numba.njit(lambda number: 2 * number)
    return {"cache_folder": str(CACHE_FOLDER), "compiles": twice(21) == 42}


def _problems(answer: dict[str, Any]) -> list[str]:
    """Return the obstacles to building or probing, one line each."""
    missing = [name for name, version in answer["packages"].items() if version is None]
    problems = [f"{name} is not installed" for name in missing]
    for name, what in (("kernel_cache", "compiled kernels"), ("tables", "tables")):
        if not answer[name]["writable"]:
            problems.append(f"{answer[name]['path']} cannot be written: no place for {what}")
    if _working_directory() is None:
        problems.append("the working directory has been removed")
    if "numba" in answer and not answer["numba"]["compiles"]:
        problems.append("numba gives wrong results: install another version of it")
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        problems.append("NUMBA_DISABLE_JIT is set: kernels cannot run without being compiled")
    return problems


def _show(answer: dict[str, Any]) -> None:
    versions = ", ".join(f"{name} {version}" for name, version in answer["packages"].items())
    memory = answer["memory"]
    allowed = f"{memory['available']:,} ({memory['limit']})"
    rows = [
        ("tbgen", f"{answer['tbgen']}, Python {answer['python']}, {answer['platform']}"),
        ("packages", versions),
        ("processors", str(answer["cores"])),
        ("memory", f"{memory['total']:,} bytes, a build may use {allowed}"),
    ]
    for name, key in (("kernel cache", "kernel_cache"), ("tables", "tables")):
        where = answer[key]
        state = "writable" if where["writable"] else "not writable"
        if not where["exists"]:
            state += ", not there yet"
        rows.append((name, f"{where['path']} ({state}, {where['free_bytes']:,} bytes free)"))
        if where["writable"] and where.get("usual", where["path"]) != where["path"]:
            usual = where["usual"] or "the folder of a user without a home"
            reason = "cannot be written or is open to other users"
            rows.append(("", f"in place of {usual}, which {reason}"))
    found = answer["tables"]
    rows.append(("", f"{counted(found['tables'], 'table')}, {found['bytes_on_disk']:,} bytes"))
    if "numba" in answer:
        works = "compiles" if answer["numba"]["compiles"] else "gives wrong results"
        rows.append(("numba", f"{works}; kernels in {answer['numba']['cache_folder']}"))
    for name, text in rows:
        click.echo(f"{name:14}{text}")
    for problem in answer["problems"]:
        click.echo(f"problem: {problem}", err=True)
