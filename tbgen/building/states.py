"""Checkpoint (*state*) of a long build of a table, in a file; a killed build resumes from it.

    .KRNKR.wxf.dtm.state     identity   a line of JSON: table, codes, digests of the supporting
                                        tables and of the program; and the time spent, which
                                        need not match
                             parts      data of the solver, each part after its length
                             SHA-256    of all preceding bytes

The file is beside the table until the table is complete. A new state replaces the previous one
after it is written and synced. A state with another identity, of another user, or with a wrong
checksum is not used. `tbgen.retrograde.state` defines the parts.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from tbgen.indexing.errors import InputError
from tbgen.system.platform import is_own
from tbgen.system.units import format_bytes
from tbgen.tables.codes import LimitExceededError
from tbgen.tables.errors import TablebaseError
from tbgen.tables.files import is_full_disk, open_to_read, replacing, sync_directory
from tbgen.tables.header import TableSpec
from tbgen.tables.names import TableName
from tbgen.tables.reader import TableFile

STATE_SECONDS = 300.0
"""Least seconds between two checkpoints; `SAVING_SHARE` may require more."""

SAVING_SHARE = 1 / 40
"""Maximum share of a build's time for saving checkpoints."""

_HASH_BYTES = 32
_LENGTH_BYTES = 8
_MAX_IDENTITY = 1 << 16
_READ_BYTES = 1 << 20


def state_path(directory: Path, name: TableName) -> Path:
    """Return the path of a table's state file."""
    return directory / f".{name}.state"


class StateFile:
    """File that holds the checkpoint of a build; implements `tbgen.retrograde.state.Checkpoint`.

    every : least seconds between two checkpoints, `math.inf` for none
    note : called with a line of text if a state is not used, or not saved
    """

    def __init__(
        self, directory: Path, spec: TableSpec, supporting: Iterable[TableFile], every: float,
        note: Callable[[str], object] = lambda text: None,
    ) -> None:  # fmt: skip
        """Compute the identity that a usable checkpoint of this table must have."""
        from tbgen.compiling.folder import source_digest

        self.path = state_path(directory, spec.name)
        self._identity: dict[str, Any] = {
            "state": 1,
            "table": str(spec.name),
            "width": spec.codes.width,
            "span": spec.codes.span,
            "supporting": {
                str(file.header.spec.name): file.header.digest.hex() for file in supporting
            },
            "program": source_digest(),
        }
        self._every, self._note = every, note
        self._begun = time.monotonic(), time.process_time()
        self.spent = 0.0, 0.0
        """Wall and CPU seconds that interrupted builds had spent when the state was saved."""
        self._is_loaded = False
        self._next = self._begun[0] + every

    def is_usable(self) -> bool:
        """Return whether this build can resume from a checkpoint; raises `OSError`."""
        with self._opened() or contextlib.nullcontext() as file:
            return file is not None

    def load(self) -> Iterator[bytes] | None:
        """Return the parts of the saved state, and set `spent`; None without a usable state.

        Reports an unusable file by `note`. Reading all parts closes the file. Raises `OSError`.
        """
        file = self._opened()
        self._is_loaded = file is not None
        if file is None and self.path.exists():
            self._note(f"{self.path.name} is damaged, or of another version, and is not used")
        return None if file is None else _parts(file)

    @contextlib.contextmanager
    def errors_of_state(self) -> Iterator[None]:
        """Context manager for loading a state and solving: converts errors that the state causes.

        Once a state is loaded, unexpected errors (not of memory, disk, limits, tables or input)
        become an `InputError` that names the state's file.
        """
        try:
            yield
        except (InputError, LimitExceededError, MemoryError, OSError, TablebaseError):
            raise
        except Exception as error:
            if not self._is_loaded:
                raise
            raise InputError(
                f"{self.path.name} is no usable state of this table",
                f"remove {self.path}, and build again",
            ) from error

    def _opened(self) -> BinaryIO | None:
        """Return the file of a usable state, open at its first part, and set `spent`; else None."""
        try:
            file = os.fdopen(open_to_read(self.path), "rb")
        except FileNotFoundError:
            return None
        spent = self._spent_in(file) if is_own(os.fstat(file.fileno())) else None
        if spent is None:
            file.close()
            return None
        self.spent = spent
        return file

    def _spent_in(self, file: BinaryIO) -> tuple[float, float] | None:
        """Verify an open state file up to its first part; return `spent`, None if not usable."""
        size = os.fstat(file.fileno()).st_size - _HASH_BYTES
        digest, rest = hashlib.sha256(), size
        while rest > 0 and (chunk := file.read(min(_READ_BYTES, rest))):
            digest.update(chunk)
            rest -= len(chunk)
        if rest != 0 or file.read() != digest.digest():
            return None
        file.seek(0)
        try:
            found = json.loads(file.readline(_MAX_IDENTITY))
            wall, cpu = map(float, found.pop("spent"))
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
            return None
        return (wall, cpu) if found == self._identity else None

    def is_due(self) -> bool:
        """Return whether the time for the next checkpoint has come."""
        return time.monotonic() >= self._next

    def save(self, parts: Iterable[bytes]) -> None:
        """Replace the saved state; `parts` are the solver's data.

        If writing fails, keeps the old state; raises `OSError`, but reports a full disk by `note`.
        """
        began = time.monotonic()
        try:
            self._write(parts, began)
        except OSError as error:
            if not is_full_disk(error):
                raise
            why = error.strerror
            self._note(f"its state is not saved: {why} (--save-state 0 saves none)")
        now = time.monotonic()
        self._next = now + max(self._every, (now - began) / SAVING_SHARE)

    def _write(self, parts: Iterable[bytes], began: float) -> None:
        """Write the state file; `began` is the start of saving, by `time.monotonic`."""
        wall, cpu = self.spent
        spent = (wall + began - self._begun[0], cpu + time.process_time() - self._begun[1])
        digest = hashlib.sha256()
        with replacing(self.path) as file:

            def write(data: bytes) -> None:
                digest.update(data)
                file.write(data)

            write(json.dumps(self._identity | {"spent": spent}).encode() + b"\n")
            for part in parts:
                write(len(part).to_bytes(_LENGTH_BYTES, "little"))
                write(part)
            file.write(digest.digest())


def _parts(file: BinaryIO) -> Iterator[bytes]:
    """Yield the parts of a verified state, then close the file.

    Raises `ValueError` for a part that does not end before the SHA-256.
    """
    with file:
        end = os.fstat(file.fileno()).st_size - _HASH_BYTES
        while (at := file.tell()) < end:
            size = int.from_bytes(file.read(_LENGTH_BYTES), "little")
            if at + _LENGTH_BYTES + size > end:
                raise ValueError("a part exceeds the state")
            yield file.read(size)


def remove_state(directory: Path, name: TableName) -> None:
    """Remove the state of a finished table, if any, after syncing the table's name to the disk."""
    path = state_path(directory, name)
    if path.exists():
        # Without this, a power failure might lose both the table's name and its state.
        sync_directory(directory)
        path.unlink(missing_ok=True)


def remove_older_state(directory: Path, name: TableName, note: Callable[[str], object]) -> None:
    """Remove the state of a finished table if the state is not newer than the table.

    A newer state, which may be of an interrupted rebuild, is kept and named by `note`. Raises
    `OSError`.
    """
    path = state_path(directory, name)
    with contextlib.suppress(FileNotFoundError):
        state = path.stat()
        if state.st_mtime_ns <= (directory / name.filename).stat().st_mtime_ns:
            remove_state(directory, name)
        else:
            size = format_bytes(state.st_size)
            note(f"{path.name} ({size}) is newer: --force resumes a rebuild, or remove the file")
