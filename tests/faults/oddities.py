"""Odd environments: in each of them every command works, or gives the reason in one line.

    places      locales, homes, terminals, numbers of threads, interpreter flags, paths, links
    streams     closed, full or odd standard streams
    damage      a kernel cache with entries that are cut, emptied, zeroed or replaced

Output must not depend on the environment: `places` compares it with a plain run.

    python -m tests.faults.oddities --count 300
"""

from __future__ import annotations

import itertools
import os
import random
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from tbgen.compiling.folder import find_kernel_folder
from tests.faults.campaign import (
    FINDINGS,
    OK,
    REFUSED,
    Budget,
    Ended,
    Tally,
    complaint,
    main,
    run,
    tables_of,
    tbgen,
)

KRK = "3k5/9/9/9/9/9/9/9/9/R3K4 w"


class Place(NamedTuple):
    """An odd environment in which commands run; `environment` has additional variables."""

    name: str
    environment: Mapping[str, str] = MappingProxyType({})
    flags: tuple[str, ...] = ()
    """Flags of the interpreter."""
    folder: str = "tables"
    """Name of the directory of tables."""
    link: bool = False
    """True if the directory is a symbolic link."""


PLACES = (
    Place("the C locale", {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}),
    Place("no locale", {"LANG": "", "LC_ALL": "xx_XX.nonsense"}),
    Place("latin-1", {"PYTHONIOENCODING": "latin-1"}),
    Place("gbk", {"PYTHONIOENCODING": "gbk"}),
    Place("no environment", {"HOME": "", "PATH": "", "USER": "", "TMPDIR": ""}),
    Place("a file for a home", {"HOME": "/dev/null", "XDG_CACHE_HOME": ""}),
    Place("no folder for temporary files", {"TMPDIR": "/nonexistent"}),
    Place("a tiny terminal", {"COLUMNS": "1", "LINES": "1", "TERM": "dumb"}),
    Place("a nonsense terminal", {"COLUMNS": "nonsense", "TERM": "\x1b"}),
    Place("many threads", {"NUMBA_NUM_THREADS": "64", "OMP_NUM_THREADS": "64"}),
    Place("threads of no number", {"OPENBLAS_NUM_THREADS": "x", "OMP_NUM_THREADS": "x"}),
    Place("no assertions", flags=("-O",)),
    Place("no docstrings", flags=("-OO",)),
    Place("development mode", flags=("-X", "dev")),
    Place("warnings are errors", flags=("-W", "error")),
    Place("no bytecode", {"PYTHONDONTWRITEBYTECODE": "1"}),
    Place("a blank in a path", folder="two words"),
    Place("a line break in a path", folder="two\nlines"),
    Place("Chinese in a path", folder="\u8f66\u9a6c\u70ae"),
    Place("a path that is no UTF-8", folder=os.fsdecode(b"caf\xe9")),
    Place("a path that steers terminals", folder="\x1b[2J"),
    Place("a path like an option", folder="--help"),
    Place("a long path", folder="/".join(["x" * 200] * 10)),
    Place("a link", link=True),
)

COMMANDS = {
    "build": ("build", "KRK", "KNK", "--rules", "check"),
    "ls": ("ls",),
    "probe": ("probe", KRK, "--rules", "check", "--json"),
    "line": ("line", KRK, "--rules", "check", "--json"),
    "stats": ("stats", "KRK", "--rules", "check"),
    "verify": ("verify", "KRK", "--rules", "check", "--json"),
    "dump": ("dump", "KRK", "--rules", "check", "--sample", "3"),
    "pack": ("pack", "KRK", "--rules", "check", "--force"),
    "index": ("index", "--no-values"),
    "diagram": ("diagram", KRK),
    "judge": ("judge", KRK, "a0a1", "--json"),
    "help": ("probe", "--help"),
}
_WITHOUT_TABLES = ("diagram", "judge")
_SAY_WHERE = ("build", "verify", "index", "help")
"""Commands whose output is not compared between places.

It contains times or paths, or depends on the terminal and on docstrings.
"""


def places(tally: Tally, budget: Budget, seed: int) -> None:
    """Run commands in odd environments, and compare their output and tables with a plain run."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="tbgen-oddities-") as name:
        plain = Path(name) / "plain"
        wrong = complaint(run(tbgen(*COMMANDS["build"], "--tables", plain)),
                          [OK])  # fmt: skip
        if wrong is not None:
            sys.exit(f"it fails undisturbed: {wrong}")
        said, made = {}, {}
        for command in COMMANDS:
            folder = Path(name) / command
            shutil.copytree(plain, folder)
            said[command] = _in(Place("plain"), command, folder).stdout
            made[command] = tables_of(folder)
        while budget.take():
            place = rng.choice(PLACES)
            command = rng.choice(list(COMMANDS))
            folder = Path(name) / "odd" / place.folder
            folder.parent.mkdir(parents=True, exist_ok=True)
            if place.link:
                shutil.copytree(plain, Path(name) / "odd" / "behind")
                folder.symlink_to("behind")
            elif command != "build":
                shutil.copytree(plain, folder)
            ended = _in(place, command, folder)
            tally.count("commands")
            what = f"{command}, {place.name}"
            wrong = complaint(ended, [OK])
            tally.expect(wrong is None, f"{what}: {wrong}")
            same = command in _SAY_WHERE or ended.stdout == said[command]
            tally.expect(same, f"{what}: it says {ended.stdout[:80]!r}")
            tally.expect(tables_of(folder) == made[command], f"{what}: other tables")
            shutil.rmtree(Path(name) / "odd")


def _in(place: Place, command: str, folder: Path) -> Ended:
    """Run the command of `COMMANDS` with this name in an environment, on tables in a folder."""
    where = () if command in _WITHOUT_TABLES else (f"--tables={folder}",)
    words = tbgen(*COMMANDS[command], *where)
    kept = find_kernel_folder()
    cache = {} if kept is None else {"NUMBA_CACHE_DIR": str(kept)}
    return run([words[0], *place.flags, *words[1:]], environment={**cache, **place.environment})


REDIRECTIONS = (
    "<&-", ">&-", "2>&-", "<&- >&-", "<&- >&- 2>&-", "> /dev/full", "2> /dev/full",
    "> /dev/full 2>&1", "< /dev/null", "< /dev/zero > /dev/null", "| true", "2>&1 | true",
    "< fifo", "> fifo",
)  # fmt: skip
_STREAMED = (
    "engine", f"diagram '{KRK}'", "index", "pack --men 3", "fetch KRK --from .",
    "probe -", "judge -", "convert -", f"convert '{KRK}'", f"convert '{KRK}' --json", "ls",
    f"probe '{KRK}'", "--help", "--version", "doctor", "plan KRK", "nonsense", "probe --nonsense",
)  # fmt: skip


def streams(tally: Tally, budget: Budget, seed: int) -> None:
    """Run commands with standard streams that are closed, full, or otherwise odd."""
    rng = random.Random(seed)
    # Commands that would read an endless line are left out.
    pairs = [
        (command, redirection)
        for command, redirection in itertools.product(_STREAMED, REDIRECTIONS)
        if "zero" not in redirection or command.startswith(("plan", "convert '", "--"))
    ]
    shell = f'tbgen() {{ {sys.executable} -P -m tbgen "$@"; }}; '
    with tempfile.TemporaryDirectory(prefix="tbgen-oddities-") as name:
        folder = Path(name)
        while budget.take():
            command, redirection = rng.choice(pairs)
            (folder / "fifo").unlink(missing_ok=True)
            os.mkfifo(folder / "fifo")
            peer = {"< fifo": "true > fifo & ", "> fifo": "true < fifo & "}.get(redirection, "")
            line = f"{shell}{peer}tbgen {command} {redirection}"
            ended = run(["sh", "-c", line], cwd=folder, patience=120)
            tally.count("commands")
            # 141 is the status after writing to a closed pipe, FINDINGS that of `doctor`.
            wrong = complaint(ended._replace(stderr=ended.stderr or "error: unsaid"),
                              [OK, FINDINGS, REFUSED, 141])  # fmt: skip
            if wrong is not None and "lines say what is wrong" not in wrong:
                tally.finding(f"{command} {redirection}: {wrong}")


def damage(tally: Tally, budget: Budget, seed: int) -> None:
    """Build with a kernel cache in which entries are damaged; the tables must be right."""
    rng = random.Random(seed)
    filled = find_kernel_folder()
    if filled is None:
        sys.exit("there is no cache of kernels that could be damaged")
    with tempfile.TemporaryDirectory(prefix="tbgen-oddities-") as name:
        plain, cache = Path(name) / "plain", Path(name) / "kernels"
        run(tbgen(*COMMANDS["build"], "--tables", plain))
        while budget.take():
            shutil.copytree(filled, cache)
            entries = sorted(cache.rglob("*.nb[ic]"))
            for entry in rng.sample(entries, min(len(entries), rng.choice((1, 2, 5)))):
                _damage(entry, rng)
            tables = Path(name) / "tables"
            environment = {"NUMBA_CACHE_DIR": str(cache)}
            ended = run(tbgen(*COMMANDS["build"], "--tables", tables), environment=environment)
            tally.count("damaged caches")
            wrong = complaint(ended, [OK])
            tally.expect(wrong is None, f"a damaged cache: {wrong}")
            tally.expect(tables_of(tables) == tables_of(plain), "a damaged cache: other tables")
            shutil.rmtree(tables)
            shutil.rmtree(cache)


def _damage(entry: Path, rng: random.Random) -> None:
    """Replace a file of the kernel cache by a damaged one, an empty one, or a folder."""
    data = bytearray(entry.read_bytes())
    at = rng.randrange(len(data))
    chosen = rng.choice(
        (data[:at], b"", bytes(len(data)), data[:at] + rng.randbytes(9) + data[at + 9 :],
         data[:at] + bytes(200) + data[at + 200 :], None)
    )  # fmt: skip
    entry.unlink()
    if chosen is None:
        entry.mkdir()
    else:
        entry.write_bytes(chosen)


PARTS = {"places": places, "streams": streams, "damage": damage}

if __name__ == "__main__":
    main("oddities", __doc__, PARTS, 100)
