"""What operating systems do not share: flags for opening files, locks, reading at a place.

    open_flags   the flags of `os.open` that this system has
    lock         a lock on an open file, until it is closed
    read_at      bytes of a file at an offset, whatever other threads read

Who probes, judges or plays needs nothing that only POSIX has. Building needs locks: without them
two processes that build the same table would not know of each other.
"""

from __future__ import annotations

import errno
import os
import threading
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # not a POSIX system
    fcntl = None  # type: ignore[assignment]

_seeking = threading.Lock()
"""Held between a seek and the read that it is for, where a system cannot do both at once."""


def open_flags(*names: str) -> int:
    """The flags of `os.open` with these names, `O_` left out; those a system lacks are nothing.

    Bytes stay what they are: Windows is told not to translate the ends of lines.
    """
    flags = 0
    for name in (*names, "BINARY"):
        flags |= getattr(os, f"O_{name}", 0)
    return flags


def lock(file: BinaryIO, *, wait: bool) -> None:
    """Lock an open file against other processes, until it is closed.

    Raises `BlockingIOError` if another has it and nobody is to wait, and `OSError` where there are
    no locks.
    """
    if fcntl is None:
        raise OSError(errno.ENOSYS, "this system has no locks for files")
    fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)


def read_at(descriptor: int, length: int, offset: int) -> bytes:
    """At most so many bytes from an offset on, as `os.pread` reads them."""
    if hasattr(os, "pread"):
        return os.pread(descriptor, length, offset)
    with _seeking:
        os.lseek(descriptor, offset, os.SEEK_SET)
        return os.read(descriptor, length)
