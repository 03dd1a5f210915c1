"""Files: opening untrusted ones, and writing so that no file is ever half written.

    open_to_read   a regular file to read; anything else is refused at once
    replacing      a file that gets its name when it is complete, and has a temporary one before
    continuing     the same for a file that is filled in several attempts
    locked         a lock file, present while it is held

Names in a directory of tables can be guessed, and other users who may write there can put a link or
a pipe under any of them. A table may be a link. Writing never follows one: neither a lock nor a
temporary file touches the target of a link. This module is independent of tables.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import BinaryIO

from tbgen.indexing.systems import lock, open_flags, open_own, require_regular

_READ = open_flags("RDONLY", "CLOEXEC", "NONBLOCK", "NOCTTY")
"""Without O_NONBLOCK, to open a pipe waits until somebody writes to it: as a rule, for ever."""

_NO_LINK = open_flags("NOFOLLOW")

_TEMPORARY = re.compile(r"\.(.+)\.[0-9]+\.tmp", re.DOTALL)

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Errors that only writing has, so that they are about the file that is written."""


def open_to_read(path: Path, *, links: bool = True) -> int:
    """The descriptor, for the caller to close, of a file or of the one that a link leads to.

    links : whether links are followed; else `OSError` is raised for one

    Raises `OSError`, and does so at once, also for a pipe, a device or a directory.
    """
    return require_regular(os.open(path, _READ if links else _READ | _NO_LINK), path)


@contextlib.contextmanager
def locked(path: Path, *, wait: bool = True) -> Iterator[None]:
    """Hold a lock file across processes, and remove it afterwards; waits for who holds it.

    The lock file of a killed process is taken over. Raises `OSError`, and
    `BlockingIOError` if somebody holds it and nobody is to wait.
    """
    while True:
        file = open_own(path)
        try:
            lock(file, wait=wait)
        except BaseException as error:
            # The file stays: somebody else may hold it, or locks may have run out for us.
            file.close()
            if isinstance(error, OSError):
                error.filename = str(path)
            raise
        # Whoever held the lock before has removed the file: then this lock guards nothing.
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(path.lstat(), os.fstat(file.fileno())):
                break
        file.close()
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        file.close()


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A new file that takes the place of `path`, or of a link there, once it is written and synced.

    Whatever goes wrong, nothing is left behind, and a file that was there stays as it was; what a
    killed process has left of the same file is removed. Raises `OSError`, which names `path` if
    there is no room or no such folder, and passes on what is raised meanwhile.
    """
    with _begun(path) as (file, temporary):
        yield file
        _sync(file, path)
        temporary.replace(path)


@contextlib.contextmanager
def _begun(path: Path) -> Iterator[tuple[BinaryIO, Path]]:
    """A temporary file in the folder of `path`, to be renamed; removed if that does not happen."""
    remove_leftovers(path.parent, (path.name,))
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    # What has the name of this very process now cannot be of one that is alive.
    temporary.unlink(missing_ok=True)
    try:
        with open_own(temporary, os.O_EXCL) as file:
            # Tells others that this file is being written; not every system has locks.
            with contextlib.suppress(OSError):
                lock(file, wait=False)
            yield file, temporary
    except BaseException as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError) and (
            error.filename == str(temporary) or (error.errno in _NO_ROOM and error.filename is None)
        ):
            error.filename = str(path)
        raise


def sync_directory(directory: Path) -> None:
    """Make renaming in a directory last through a power cut, where its file system can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _sync(file: BinaryIO, path: Path) -> None:
    """Have all that was written on the disk; raises `OSError`, which names `path`."""
    try:
        file.flush()
        os.fsync(file.fileno())
    except OSError as error:
        error.filename = str(path)
        raise


@contextlib.contextmanager
def continuing(path: Path) -> Iterator[BinaryIO]:
    """A file to be filled, from where an earlier attempt ended: it gets the name `path` when whole.

    Whatever goes wrong, what was written stays, as `.NAME.part`, for the next attempt, and nothing
    stays where nothing was written. A part of another user, or with another name, is not gone on
    with: its name is given to a new one. Who calls this holds a lock: two that fill the same file
    are not kept apart here. Raises `OSError`, which names `path` if there is no room, and passes on
    what is raised meanwhile.
    """
    part = path.with_name(f".{path.name}.part")
    with contextlib.suppress(FileNotFoundError):
        state = part.lstat()
        if stat.S_ISREG(state.st_mode) and not _is_private(state):
            part.unlink()
    file = open_own(part)
    try:
        if not _is_private(os.fstat(file.fileno())):
            raise OSError(errno.EPERM, "a file of another user, or with another name", str(part))
        yield file
        _sync(file, path)
        part.replace(path)
    except BaseException as error:
        if isinstance(error, OSError) and error.errno in _NO_ROOM and error.filename is None:
            error.filename = str(path)
        with contextlib.suppress(OSError):
            file.flush()
        if not os.fstat(file.fileno()).st_size:
            part.unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # it tries once more to write what has no room
            file.close()
        raise
    file.close()


def _is_private(state: os.stat_result) -> bool:
    """Return whether a file is this user's, and has no other name that somebody may know it by."""
    return state.st_uid == os.geteuid() and state.st_nlink == 1


def remove_leftovers(directory: Path, names: Collection[str]) -> None:
    """Remove temporary files of the files `names` whose writers have ended: no one locks them."""
    try:
        found = os.listdir(directory)
    except OSError:
        return  # a directory that may be written to and not read
    for entry in found:
        match = _TEMPORARY.fullmatch(entry)
        if match is None or match[1] not in names:
            continue
        with contextlib.suppress(OSError), open_own(directory / entry) as file:
            lock(file, wait=False)
            (directory / entry).unlink()
