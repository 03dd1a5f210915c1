"""Exchange of tables between machines without a common directory, by an address that all reach.

    this machine    upload finished tables that others need
    a worker        download supporting tables, build in its own folder, upload the table
    this machine    download the built tables

`fsspec` (extra `cluster`) defines the addresses: `s3://bucket/egtb`, `sftp://host/egtb`. A file has
a temporary name until it is complete. Checksums and digests of a downloaded file are checked, but
not its origin.
"""

from __future__ import annotations

import contextlib
import shutil
import stat
import tempfile
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tbgen.building.builder import Built
from tbgen.building.collection import Collection, TableBuilder
from tbgen.building.work import Task
from tbgen.indexing.errors import InputError, excerpt, one_line
from tbgen.indexing.material import Material
from tbgen.scheduling.queue import Start
from tbgen.system.platform import is_own, lock, remove_and_close
from tbgen.tables.build_records import build_record_path
from tbgen.tables.errors import CorruptTableError
from tbgen.tables.files import locked, replacing
from tbgen.tables.names import Metric, TableName
from tbgen.tables.reader import TableFile
from tbgen.tables.rule_sets import RuleSet

_SCRATCH = "tbgen-exchange-"
"""Prefix of the names of the folders that `scratch_folder` creates in the temporary directory."""

_LOCK = ".lock"
"""Name of a file in each scratch folder, locked while a process uses the folder."""


class ExchangeError(OSError):
    """Failure at an exchange address; `strerror` has the address and the message of the cause."""


@dataclass(frozen=True)
class Exchange:
    """A folder at an address that machines use to exchange tables; can be pickled."""

    address: str

    def names(self) -> set[str]:
        """Return the file names at the address, whose folder is created if it is missing.

        Raises `ExchangeError`, and `InputError` if `fsspec` is missing or rejects the address.
        """
        with self._opened() as (system, folder):
            system.makedirs(folder, exist_ok=True)
            try:
                paths = system.ls(folder, detail=False)
            except FileNotFoundError:  # an object store has no empty folders
                return set()
            return {path.rstrip("/").rpartition("/")[2] for path in paths}

    def put(self, path: Path) -> None:
        """Upload a file. Raises the errors of `names`."""
        with self._opened() as (system, folder):
            part = f"{folder}/.{path.name}.{uuid.uuid4().hex}.part"
            system.put_file(str(path), part)
            system.mv(part, f"{folder}/{path.name}")

    def get(self, name: TableName, directory: Path) -> None:
        """Download a table, check it, and put it into a directory, replacing an older file.

        Raises the errors of `names`, `ExchangeError` also if the table is damaged or is not the one
        of that name, `OSError` if the file cannot be written here, and `FormatVersionError`.
        """
        with scratch_folder() as scratch:
            path = scratch / name.filename
            with self._opened() as (system, folder):
                system.get_file(f"{folder}/{name.filename}", str(path))
            try:
                with TableFile(path, name=name) as file:
                    file.check()
            except CorruptTableError as error:
                raise ExchangeError(
                    0, f"{excerpt(self.address)}: {name.filename} is damaged, remove it there"
                ) from error
            with replacing(directory / name.filename) as out, path.open("rb") as found:
                shutil.copyfileobj(found, out)

    def get_finished(
        self, materials: Iterable[Material], directory: Path, rule_set: RuleSet
    ) -> None:
        """Download the tables, of either metric, that only the address has; raises like `get`."""
        there = self.names()
        directory.mkdir(parents=True, exist_ok=True)
        for name in _tables_of(materials, rule_set):
            if name.filename in there and not (directory / name.filename).exists():
                self.get(name, directory)

    def synchronise(self, collection: Collection) -> None:
        """Exchange finished tables with the address, before a build.

        Downloads tables of `collection` that its directory lacks, except those to be rebuilt. Then
        uploads supporting tables of unfinished ones that the address lacks. Raises like `get`.
        """
        directory, rule_set = collection.directory, collection.rule_set
        wanted = [task.material for task in collection.work if not task.rebuild]
        self.get_finished(wanted, directory, rule_set)
        there = self.names()
        below = {m for task in collection.unfinished for m in task.material.supporting()}
        for name in _tables_of(below, rule_set):
            path = directory / name.filename
            if path.exists() and name.filename not in there:
                self.put(path)

    @contextlib.contextmanager
    def _opened(self) -> Iterator[tuple[Any, str]]:
        """Context manager: yields the file system and the folder of the address.

        Errors of connecting, and in the block, become `ExchangeError`.
        """
        try:
            import fsspec
        except ImportError:
            raise InputError(
                "fsspec is not installed here", "pip install 'tbgen[cluster]', on every machine"
            ) from None
        try:
            system, folder = fsspec.core.url_to_fs(self.address)
        except (ImportError, ValueError) as error:
            raise InputError(
                f"{excerpt(self.address)} is no address to exchange tables by: {one_line(error)}",
                "use one like s3://bucket/folder, and install its fsspec package on every machine",
            ) from error
        except Exception as error:  # of a file system that connects at once
            raise ExchangeError(0, f"{excerpt(self.address)}: {one_line(error)}") from error
        system.invalidate_cache()
        try:
            yield system, folder
        except Exception as error:
            raise ExchangeError(0, f"{excerpt(self.address)}: {one_line(error)}") from error


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """Context manager: yields a new temporary folder, locked if possible; removes it at the end.

    Folders that killed processes have left are removed first. Raises `OSError`.
    """
    _remove_scratch_folders()
    with contextlib.ExitStack() as opened:
        while True:
            folder = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix=_SCRATCH)))
            try:
                opened.enter_context(locked(folder / _LOCK))
            except (BlockingIOError, FileNotFoundError):
                # Another process took the folder for a leftover before it was locked.
                continue
            except OSError:
                pass  # Without locks here, no process removes the folders of others.
            break
        yield folder


def _remove_scratch_folders() -> None:
    """Remove this user's folders whose lock files no process has locked; errors are ignored."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_SCRATCH}*"):
        with contextlib.suppress(OSError):
            state = folder.lstat()
            if not stat.S_ISDIR(state.st_mode) or not is_own(state):
                continue
            with (folder / _LOCK).open("r+b") as file:
                lock(file, wait=False)
                shutil.rmtree(folder, ignore_errors=True)
                # On Windows, the lock file is removed only now.
                remove_and_close(file, folder / _LOCK)
            folder.rmdir()


def _tables_of(materials: Iterable[Material], rule_set: RuleSet) -> Iterator[TableName]:
    """Yield the names of the tables that materials may have, of either metric."""
    for material in materials:
        for metric in Metric:
            yield TableName(material, rule_set, metric)


@dataclass(frozen=True)
class RemoteTableBuilder:
    """Function by which workers without a shared directory build a table and exchange files.

    A scratch folder replaces the `directory` of `table`.
    """

    table: TableBuilder
    exchange: Exchange

    def __call__(self, start: Start) -> Built:
        """Download supporting tables, build a table, and upload it with its build record.

        A table that the address has is not built, unless `Task.rebuild` is set. Raises the errors
        of `TableBuilder` and of `Exchange.get`.
        """
        task = start.job.payload
        assert isinstance(task, Task)
        with scratch_folder() as folder:
            rule_set = self.table.rule_set
            wanted = task.material.supporting()
            if not task.rebuild:
                wanted = [task.material, *wanted]
            self.exchange.get_finished(wanted, folder, rule_set)
            built = replace(self.table, directory=folder)(start)
            if built.size is not None:
                path = folder / built.name.filename
                self.exchange.put(build_record_path(path))
                self.exchange.put(path)
            return built
