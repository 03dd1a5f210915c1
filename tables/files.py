"""Files: safe opening of untrusted files; writing that leaves no incomplete file under its name.

Another user with write access to a directory of tables can create a link or a pipe with the name of
a table. So only regular files are read, also through a link. Writing follows no link, on systems
with O_NOFOLLOW (not on Windows), except for outputs that the user names (`writing`).
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import sys
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import BinaryIO

from tbgen.system.platform import (
    is_own,
    lock,
    open_flags,
    open_to_write,
    read_at,
    remove_and_close,
    rename_and_close,
    require_regular,
)

_READ_FLAGS = open_flags("RDONLY", "CLOEXEC", "NONBLOCK", "NOCTTY")
"""Flags to read. Without O_NONBLOCK, opening a pipe would wait for a writer."""

_NO_LINK = open_flags("NOFOLLOW")

_TEMPORARY = re.compile(r"\.(.+)\.[0-9a-f]+\.tmp", re.DOTALL)

_HOLDER = re.compile(rb"([0-9]+) ([0-9A-Za-z_.-]+)\n")
"""Pattern of a lock file's contents: process id and name of the machine."""

_MAX_HOLDER = 400
"""Maximum bytes of a lock file's contents; names of machines have at most 255 bytes."""

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Values of `errno` for a full disk, an exceeded quota, a too large file: errors of writing."""


def open_to_read(path: Path, *, links: bool = True) -> int:
    """Open a regular file, or with `links` a symbolic link to one, and return its file descriptor.

    Raises `OSError`, also for a pipe, a device or a directory, without waiting. A system without
    O_NOFOLLOW follows links in any case.
    """
    return require_regular(os.open(path, _READ_FLAGS if links else _READ_FLAGS | _NO_LINK), path)


def is_full_disk(error: OSError) -> bool:
    """Return whether an error means a full disk, an exceeded quota or a too large file."""
    return error.errno in _NO_ROOM


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock on the file `path`, against other processes, and remove the file afterwards.

    The file contains the process id and the machine of the holder. The lock file of a killed
    process is taken over. Raises `OSError`, also if the file system has no locks, and
    `BlockingIOError`, with a `strerror` such as `locked by process 42 on node7`, if the lock is
    held, even by this process; both errors name `path`.
    """
    while True:
        file = open_to_write(path)
        try:
            lock(file, wait=False)
        except BaseException as error:
            # The file stays: another process may hold the lock.
            if isinstance(error, BlockingIOError):
                error.strerror = f"locked by {_holder(file)}"
            file.close()
            if isinstance(error, OSError):
                error.filename = str(path)
            raise
        # If the previous holder has removed the file, this lock protects nothing: try again.
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(path.lstat(), os.fstat(file.fileno())):
                break
        file.close()
    try:
        _write_holder(file)
        yield
    finally:
        remove_and_close(file, path)


def _write_holder(file: BinaryIO) -> None:
    """Write the id of this process and the machine's name to a lock file, which may fail."""
    import socket  # late: slow to load, and rarely needed

    with contextlib.suppress(OSError):
        os.ftruncate(file.fileno(), 0)
        text = f"{os.getpid()} {socket.gethostname()}\n"
        os.write(file.fileno(), text.encode("ascii", "replace"))


def _holder(file: BinaryIO) -> str:
    """Return the holder that a lock file states: `process 42 on node7`, or `another process`."""
    try:
        match = _HOLDER.fullmatch(read_at(file.fileno(), _MAX_HOLDER, 0))
    except OSError:
        match = None
    if match is None:
        return "another process"
    return f"process {match[1].decode()} on {match[2].decode()}"


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Yield a new file, which replaces `path` when the `with` block ends, complete and synced.

    A link at `path` is replaced, too. On any error the new file is removed, and an existing file
    stays unchanged. Leftovers of killed processes for `path` are removed. Raises errors of the
    `with` block, and `OSError`, which names `path` if the disk is full or the folder is missing.
    """
    remove_leftovers(path.parent, (path.name,))
    file, temporary = _locked_temporary(path)
    try:
        with file:
            yield file
            _sync(file, path)
            rename_and_close(file, temporary, path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        _name_file(error, path, temporary)
        raise


@contextlib.contextmanager
def writing(path: Path) -> Iterator[BinaryIO]:
    """Yield a file for an output that the user names; it may be a stream that cannot seek.

    A pipe, a device, and the file of the standard output are written to, also through a link. Any
    other file is replaced at the end (`replacing`). Raises `OSError`, and what the block raises.
    """
    with _open_stream(path) or replacing(path) as file:
        yield file


def _open_stream(path: Path) -> BinaryIO | None:
    """Open a pipe, a device, or the file of the standard output to write; None for other files."""
    try:
        state = path.stat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(state.st_mode):
        return path.open("wb")
    if sys.__stdout__ is not None and os.path.samestat(state, os.fstat(1)):
        return os.fdopen(os.dup(1), "wb")
    return None


def _locked_temporary(path: Path) -> tuple[BinaryIO, Path]:
    """Create a temporary file for `path`; return the open file and its path.

    A lock marks it as being written, unless the file system has none. Errors name `path`.
    """
    while True:
        temporary = path.with_name(f".{path.name}.{os.urandom(8).hex()}.tmp")
        try:
            file = open_to_write(temporary, os.O_EXCL)
        except OSError as error:
            _name_file(error, path, temporary)
            raise
        # Until it is locked, another process may take it for a leftover, and remove it.
        try:
            lock(file, wait=False)
            is_own_file = temporary.exists()
        except BlockingIOError:
            is_own_file = False
        except OSError:  # no locks here
            is_own_file = True
        if is_own_file:
            return file, temporary
        file.close()


def is_gone(path: Path) -> bool:
    """Return whether a file is missing; False if the system does not tell (EACCES, EIO)."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        pass
    return False


def sync_directory(directory: Path) -> None:
    """Flush renames in a directory to disk, if the file system supports it."""
    with contextlib.suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _name_file(error: BaseException, path: Path, temporary: Path | None = None) -> None:
    """Make an `OSError` name `path` if it names `temporary`, or no file and means a full disk."""
    if isinstance(error, OSError) and (
        error.filename == str(temporary) or (error.errno in _NO_ROOM and error.filename is None)
    ):
        error.filename = str(path)


def _sync(file: BinaryIO, path: Path) -> None:
    """Flush a file to disk; raises `OSError`, which names `path`."""
    try:
        file.flush()
        os.fsync(file.fileno())
    except OSError as error:
        error.filename = str(path)
        raise


@contextlib.contextmanager
def continuing(path: Path) -> Iterator[BinaryIO]:
    """Yield a new file, or the partial file of a failed attempt; rename it to `path` at the end.

    The file is open to read and write, at its beginning. On any error it stays as `.NAME.part` for
    the next attempt, unless it is empty. A `.part` file of another user, or with a second
    hard link, is replaced by a new one. The caller holds a lock (`locked`) against other writers.
    Raises like `replacing`.
    """
    part = _part_of(path)
    with contextlib.suppress(FileNotFoundError):
        state = part.lstat()
        if stat.S_ISREG(state.st_mode) and not _is_private(state):
            part.unlink()
    file = open_to_write(part)
    try:
        if not _is_private(os.fstat(file.fileno())):
            raise OSError(errno.EPERM, "a file of another user, or with another name", str(part))
        yield file
        _sync(file, path)
        rename_and_close(file, part, path)
    except BaseException as error:
        _name_file(error, path)
        with contextlib.suppress(OSError):  # `close` flushes, which fails on a full disk
            file.close()
        with contextlib.suppress(OSError):
            if not part.stat().st_size:
                part.unlink()
        raise


def remove_part(path: Path) -> None:
    """Remove the `.part` file of a failed `continuing(path)`; the caller holds the same lock."""
    with contextlib.suppress(OSError):
        _part_of(path).unlink()


def _part_of(path: Path) -> Path:
    """Return the path of the file that `continuing` writes."""
    return path.with_name(f".{path.name}.part")


def _is_private(state: os.stat_result) -> bool:
    """Return whether a file belongs to this user and has no second name (hard link)."""
    return is_own(state) and state.st_nlink == 1


def remove_leftovers(directory: Path, names: Collection[str]) -> None:
    """Remove temporary files for `names` that no writer has locked: their writers have ended.

    Errors are ignored. Nothing is removed where the file system has no locks.
    """
    try:
        found = os.listdir(directory)
    except OSError:
        return  # a missing directory, or one that may be written but not read
    for entry in found:
        match = _TEMPORARY.fullmatch(entry)
        if match is None or match[1] not in names:
            continue
        with contextlib.suppress(OSError), open_to_write(directory / entry) as file:
            lock(file, wait=False)
            remove_and_close(file, directory / entry)
