"""Directories that cannot be written, that vanish, or that several builders share.

    together     three or four builders of the same tables at once, each in an order of its own
    vanishing    while a command runs, the directory is removed, emptied, moved or replaced by a
                 file, or its tables are cut
    forbidden    directories without permission to write, list or enter
    foreign      another user's directory, and another user's kernel cache; root only

Each command must do its work or end with one clear line. No table may be wrong. Builders together,
and the next build in a removed or emptied directory, must give the right digests and no other
files.

    python -m tests.faults.directories --count 100
"""

from __future__ import annotations

import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.faults.campaign import (
    CORRUPT,
    FINDINGS,
    OK,
    REFUSED,
    Budget,
    Started,
    Tally,
    complaint,
    contents,
    main,
    run,
    tables_of,
    tbgen,
    unknown_files,
)
from tests.helpers.commands import AS_NOBODY, UNPRIVILEGED

KRK = "3k5/9/9/9/9/9/9/9/9/R3K4 w"
MATERIALS = ("KRKN", "KRK", "KNKP", "KPK")


def build(directory: Path, *names: str) -> list[str | bytes]:
    """Return the command that builds tables of materials, under rules that need every kernel."""
    return tbgen("build", *names, "--rules", "wxf", "--tables", directory)


class Site:
    """A directory of `finished` tables, the `seconds` of their build, their `expected` digests."""

    def __init__(self, folder: Path) -> None:
        self.finished = folder / "finished"
        for _ in range(2):  # the first time, kernels may be compiled
            shutil.rmtree(self.finished, ignore_errors=True)
            ended = run(build(self.finished, *MATERIALS))
        if ended.status != OK:
            sys.exit(f"it fails undisturbed: {ended.stderr}")
        self.seconds = ended.seconds
        self.expected = tables_of(self.finished)

    def check(self, tally: Tally, directory: Path, what: str, *, whole: bool) -> None:
        """Check that a directory has no wrong table, and no files besides tables and records.

        what : name of the try, for findings
        whole : check also that no table is missing
        """
        now = tables_of(directory)
        tally.expect(now.items() <= self.expected.items(), f"{what}: a table is wrong")
        tally.expect(not whole or now == self.expected, f"{what}: a table is missing")
        left = unknown_files(directory) if directory.is_dir() else []
        tally.expect(not left, f"{what}: {left} stay")


def together(tally: Tally, budget: Budget, seed: int) -> None:
    """Run three or four builders at once in one directory, each with the tables in random order."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="tbgen-directories-") as name:
        site = Site(Path(name))
        while budget.take():
            directory = Path(name) / "shared"
            orders = [rng.sample(MATERIALS, len(MATERIALS)) for _ in range(rng.choice((3, 4)))]
            builders = [Started(build(directory, *names)) for names in orders]
            for builder in builders:
                wrong = complaint(builder.wait(), [OK])
                tally.expect(wrong is None, f"{len(builders)} builders: {wrong}")
            tally.count("rounds")
            tally.count("builders", len(builders))
            site.check(tally, directory, f"{len(builders)} builders", whole=True)
            shutil.rmtree(directory)


def _remove(directory: Path) -> None:
    shutil.rmtree(directory, ignore_errors=True)


def _empty(directory: Path) -> None:
    for path in directory.glob("*"):
        path.unlink(missing_ok=True)


def _put_elsewhere(directory: Path) -> None:
    directory.rename(directory.with_name("elsewhere"))


def _file_instead(directory: Path) -> None:
    _put_elsewhere(directory)
    directory.write_text("in the way")


def _cut(directory: Path) -> None:
    for path in directory.glob("*.xqt"):
        os.truncate(path, path.stat().st_size // 2)


EVENTS: dict[str, Callable[[Path], None]] = {
    "removed": _remove, "emptied": _empty, "put elsewhere": _put_elsewhere,
    "a file instead": _file_instead, "tables cut": _cut,
}  # fmt: skip


def vanishing(tally: Tally, budget: Budget, seed: int) -> None:
    """Remove, move or damage a directory or its content while a command runs there."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="tbgen-directories-") as name:
        site = Site(Path(name))
        while budget.take():
            directory = Path(name) / "tables"
            shutil.copytree(site.finished, directory)
            commands = {
                "build": build(directory, "KRKN", "--force"),
                "verify": tbgen("verify", "KRKN", "--rules", "wxf", "--tables", directory),
                "dump": tbgen("dump", "KRKN", "--rules", "wxf", "--tables", directory),
                "ls": tbgen("ls", "--tables", directory),
            }
            command, event = rng.choice(list(commands)), rng.choice(list(EVENTS))
            process = Started(commands[command])
            time.sleep(rng.uniform(0, site.seconds))
            try:
                EVENTS[event](directory)
            except OSError:  # a table was written meanwhile
                _remove(directory)
            wrong = complaint(process.wait(), [OK, FINDINGS, REFUSED, CORRUPT])
            what = f"{command}, {event}"
            tally.count("events")
            tally.count(what)
            tally.expect(wrong is None, f"{what}: {wrong}")
            if event in ("removed", "emptied"):
                wrong = complaint(run(build(directory, *MATERIALS)), [OK])
                tally.expect(wrong is None, f"{what}, the next build: {wrong}")
                site.check(tally, directory, f"{what}, the next build", whole=True)
            for left in (directory, directory.with_name("elsewhere")):
                shutil.rmtree(left) if left.is_dir() else left.unlink(missing_ok=True)


def forbidden(tally: Tally, budget: Budget, seed: int) -> None:
    """Run commands in a directory without some permissions; root runs them unprivileged."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="tbgen-directories-") as name:
        site = Site(Path(name))
        before = contents(site.finished)
        where = ("--rules", "wxf", "--tables", site.finished)
        commands = {
            "build": tbgen("build", "KRKP", *where),
            "build again": tbgen("build", "KRKN", "--force", *where),
            "build what is there": tbgen("build", "KRKN", *where),
            "verify": tbgen("verify", "KRK", *where),
            "dump": tbgen("dump", "KRK", *where, "--out", site.finished / "rows.csv"),
            "probe": tbgen("probe", KRK, *where),
            "ls": tbgen("ls", *where),
        }
        while budget.take():
            command, mode = rng.choice(list(commands)), rng.choice((0o555, 0o311, 0o111, 0o000))
            site.finished.chmod(mode)
            ended = run([*UNPRIVILEGED, *commands[command]])
            site.finished.chmod(0o755)
            tally.count("commands")
            tally.count("refused", ended.status == REFUSED)
            wrong = complaint(ended, [OK, FINDINGS, REFUSED])
            tally.expect(wrong is None, f"{command}, mode {mode:o}: {wrong}")
            now = contents(site.finished)
            if mode & 0o200:  # writable, though it cannot be listed
                tally.expect(tables_of(site.finished).keys() >= site.expected.keys(),
                             f"{command}, mode {mode:o}: a table is lost")  # fmt: skip
            else:
                tally.expect(now == before, f"{command}, mode {mode:o}: the directory has changed")
            before = now


def foreign(tally: Tally, budget: Budget, seed: int) -> None:
    """Run commands as another user, who can read the tables but must change nothing; root only."""
    if os.getuid() != 0:
        sys.exit("only root can be another user")
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="tbgen-directories-") as name:
        Path(name).chmod(0o755)
        site, own = Site(Path(name)), Path(name) / "temporary"
        own.mkdir()
        own.chmod(0o777)
        where = ("--rules", "wxf", "--tables", site.finished)
        reading = {
            "ls": tbgen("ls", *where),
            "probe": tbgen("probe", KRK, *where),
            "stats": tbgen("stats", "KRKN", *where),
            "dump": tbgen("dump", "KRK", *where),
        }
        writing = {
            "build": tbgen("build", "KRKP", *where),
            "build again": tbgen("build", "KRK", "--force", *where),
            "pack": tbgen("pack", "KRK", *where),
            "index": tbgen("index", "--tables", site.finished),
        }
        said = {command: run(words).stdout for command, words in reading.items()}
        before = contents(site.finished)
        while budget.take():
            command = rng.choice([*reading, *writing])
            words = (reading | writing)[command]
            ended = run([*AS_NOBODY, *words], environment={"TMPDIR": str(own)})
            tally.count("commands")
            tally.count("refused", ended.status == REFUSED)
            wrong = complaint(ended, [OK if command in reading else REFUSED])
            tally.expect(wrong is None, f"{command}, by another user: {wrong}")
            same = command in writing or ended.stdout == said[command]
            tally.expect(same, f"{command}, by another user: {ended.stdout[:80]!r}")
            tally.expect(contents(site.finished) == before, f"{command}: the directory has changed")


PARTS = {
    "together": together, "vanishing": vanishing, "forbidden": forbidden, "foreign": foreign,
}  # fmt: skip

if __name__ == "__main__":
    main("directories", __doc__, PARTS, 100)
