"""Loss of power during builds: unsynced data is lost, and the next build succeeds.

The simulated disk keeps the content of a file at its last sync, and any prefix of a file that was
never synced. Changes of names since the last sync of the directory are kept up to some moment, as
in a file system with a journal.
"""

from __future__ import annotations

import os
import random
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tbgen.building import states
from tbgen.building.builder import Progress
from tbgen.indexing import Material
from tbgen.tables import Rules
from tbgen.tables.rule_sets import RuleSet
from tests.building.test_builder import digests
from tests.helpers.built import Builder, built

File = tuple[int, int]
"""Identity of a file: its inode number, and how many files had this number before."""


class Disk:
    """Model of the disk under a directory: bytes that were synced, and the names at each moment."""

    def __init__(self, directory: Path, chance: random.Random) -> None:
        self.directory, self.chance = directory, chance
        self.synced: dict[File, tuple[bytes, int]] = {}
        """Content of each file at its last sync, and the time of its last change (ns)."""
        self.named: list[dict[str, File]] = [{}]
        """The names after each change, starting with the last synced ones."""
        self._before: dict[int, int] = {}

    def look(self) -> None:
        """Append the present names in the directory to the history, if they have changed."""
        numbers = {entry.name: entry.inode() for entry in os.scandir(self.directory)}
        for number, _ in set(self.named[-1].values()):
            if number not in numbers.values():
                self._before[number] = self._before.get(number, 0) + 1
        names = {name: self._file(number) for name, number in numbers.items()}
        if names != self.named[-1]:
            self.named.append(names)

    def sync(self, descriptor: int) -> None:
        """Record that the file or directory of a descriptor was synced."""
        found = os.fstat(descriptor)
        self.look()
        if stat.S_ISDIR(found.st_mode):
            del self.named[:-1]
        else:
            content = os.pread(descriptor, found.st_size, 0)
            self.synced[self._file(found.st_ino)] = content, found.st_mtime_ns

    def fail(self, target: Path) -> None:
        """Write the files that a loss of power now would leave into the new directory `target`.

        The moment of the last kept change of names, and the length of unsynced files, are random.
        """
        self.look()
        target.mkdir()
        latest = {file: name for name, file in self.named[-1].items()}
        for name, file in self.chance.choice(self.named).items():
            content, changed = self.synced.get(file, (None, 0))
            if content is None:
                whole = (self.directory / latest[file]).read_bytes() if file in latest else b""
                content = whole[: self.chance.randint(0, len(whole))]
            (target / name).write_bytes(content)
            os.utime(target / name, ns=(changed, changed))

    def _file(self, number: int) -> File:
        return number, self._before.get(number, 0)


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.certification) for seed in range(1, 20))]
)
def test_power_may_fail_at_any_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(states, "SAVING_SHARE", np.inf)
    chance = random.Random(seed)
    directory, failures = tmp_path / "tables", tmp_path / "failures"
    directory.mkdir()
    failures.mkdir()
    disk, moments = Disk(directory, chance), 0

    def watched(function: Any, synced: bool = False) -> Any:
        def call(*arguments: Any, **options: Any) -> Any:
            nonlocal moments
            result = function(*arguments, **options)
            if synced:
                disk.sync(arguments[0])
            moments += 1
            if chance.random() < 0.08:
                disk.fail(failures / str(moments))
            return result

        return call

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", watched(os.fsync, synced=True))
        patched.setattr(Path, "replace", watched(Path.replace))
        patched.setattr(Path, "unlink", watched(Path.unlink))
        build(directory, state_seconds=0.0)
    expected = digests(built("KRKN"))
    assert digests(directory) == expected
    assert moments > 60
    found, gone_on = sorted(failures.iterdir(), key=lambda path: int(path.name)), 0
    assert len(found) > 3
    for failure in found:
        kept = {path.name for path in failure.glob("*.xqt")}
        gone_on += "resuming" in build(failure)
        assert digests(failure) == expected, f"{kept} were kept"
        assert not list(failure.glob(".*"))
    assert gone_on


def build(directory: Path, **options: float) -> list[str]:
    """Build KRKN and its supporting tables; return the names of all reported phases in order.

    options : further arguments of `Builder`
    """
    phases: list[str] = []

    class Told(Progress):
        def phase(self, name: str, order: int, plies: int, settled: int) -> None:
            phases.append(name)

    builder = Builder(directory, RuleSet(Rules.CHECK), Told(), threads=1, **options)  # type: ignore[arg-type]
    builder.build([Material.parse("KRKN")])
    return phases
