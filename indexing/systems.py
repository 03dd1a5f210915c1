"""Differences between operating systems: flags for opening files, locks, positional reads.

    open_flags   the flags of `os.open` that this system has
    open_own     a file of this program's own, to be written, never through a link
    lock         a lock on an open file, until it is closed
    read_at      bytes of a file at an offset, whatever other threads read
    room_left    what the limits of the process leave it, of addresses and of memory; a thread
                 takes `stack_bytes` of them
    usable_cores how many processors this process may use
    trim_process idle memory goes back to the system: the compiler's code, what numpy has freed
    own_python   the command that starts this Python anew, safe from the current directory
    safe_path    likewise, while a library starts processes

Who probes, judges or plays needs nothing that only POSIX has. Building needs locks: without them
two processes that build the same table would not know of each other.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

try:
    import fcntl
    import resource
except ImportError:  # not a POSIX system
    fcntl = None  # type: ignore[assignment]
    resource = None  # type: ignore[assignment]

_seeking = threading.Lock()
"""Held between a seek and the read that it is for, where a system cannot do both at once."""

_M_MMAP_THRESHOLD, _MADV_DONTNEED = -3, 4
"""Numbers of glibc's `mallopt` and of Linux's `madvise`, which Python has no names for."""

_MAPPED_FROM = 1 << 20
"""Bytes from which numpy's arrays shall have pages of their own."""


def open_flags(*names: str) -> int:
    """The flags of `os.open` with these names, `O_` left out; those a system lacks are nothing.

    Bytes stay what they are: Windows is told not to translate the ends of lines.
    """
    flags = 0
    for name in (*names, "BINARY"):
        flags |= getattr(os, f"O_{name}", 0)
    return flags


_OWN = open_flags("RDWR", "CREAT", "CLOEXEC", "NONBLOCK", "NOFOLLOW")


def require_regular(descriptor: int, path: Path) -> int:
    """The descriptor again if it is of a regular file; else it is closed, and `OSError` raised."""
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise OSError(errno.EINVAL, "not a regular file", str(path))


def open_own(path: Path, flags: int = 0) -> BinaryIO:
    """A file of this program's own, to be written; raises `OSError` where a link has its name."""
    try:
        descriptor = os.open(path, _OWN | flags, 0o666)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, "a link, which is not written through", str(path)) from None
        raise
    return os.fdopen(require_regular(descriptor, path), "r+b")


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


class Room(NamedTuple):
    """Bytes that a process may have beside what it has; `sys.maxsize` without a limit."""

    addresses: int
    """Of RLIMIT_AS (`ulimit -v`)."""
    memory: int
    """Of RLIMIT_DATA (`ulimit -d`)."""


def room_left() -> Room:
    """Return the room left under the system's limits, where it has any and reports usage."""
    if resource is None:
        return Room(sys.maxsize, sys.maxsize)
    try:
        pages = Path("/proc/self/statm").read_text("ascii").split()
    except OSError:
        return Room(sys.maxsize, sys.maxsize)
    taken = ((resource.RLIMIT_AS, pages[0]), (resource.RLIMIT_DATA, pages[5]))
    return Room(*(_left(which, int(count) * resource.getpagesize()) for which, count in taken))


def _left(which: int, taken: int) -> int:
    limit = resource.getrlimit(which)[0]
    return sys.maxsize if limit == resource.RLIM_INFINITY else max(0, limit - taken)


def stack_bytes() -> int:
    """Return the stack size of a new thread."""
    usual = 8 << 20
    if resource is None:
        return threading.stack_size() or usual
    limit = resource.getrlimit(resource.RLIMIT_STACK)[0]
    return threading.stack_size() or (usual if limit == resource.RLIM_INFINITY else limit)


def trim_process() -> None:
    """Give back what is idle, where the system allows it: more whenever kernels have been loaded.

    The compiler's code, 30 MiB and more, is read again if need be. And numpy's temporary arrays
    get pages of their own from here on, where glibc would raise the size from which they do with
    every one that is freed, up to 32 MiB.
    """
    import ctypes  # takes longer to load than the rest, and few need it

    libc = ctypes.CDLL(None)
    if hasattr(libc, "mallopt"):
        libc.mallopt(_M_MMAP_THRESHOLD, _MAPPED_FROM)
    with contextlib.suppress(OSError), open("/proc/self/maps") as maps:
        for line in maps:
            # Code pages are never written to, so that nothing is lost with them.
            if "libllvmlite" in line and " r-xp " in line:
                start, end = (int(word, 16) for word in line.split(maxsplit=1)[0].split("-"))
                libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), _MADV_DONTNEED)


def own_python(*arguments: str) -> list[str]:
    """The command that starts this Python again, importing nothing from the working directory."""
    return [sys.executable, "-P", *arguments]


@contextlib.contextmanager
def safe_path() -> Iterator[None]:
    """Let processes that a library starts run no file of the current directory as a module."""
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONSAFEPATH"]
        else:
            os.environ["PYTHONSAFEPATH"] = before


def usable_cores() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
