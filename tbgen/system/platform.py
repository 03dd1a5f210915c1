"""Functions of the operating system: files and locks, memory, processes, imports.

Probing, judging and playing work on any system. Building needs the file locks of POSIX, which keep
two processes from building the same table.
"""

from __future__ import annotations

import contextlib
import errno
import gc
import importlib
import mmap
import os
import stat
import sys
import threading
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import BinaryIO

try:
    import fcntl
    import resource
except ImportError:  # not a POSIX system
    fcntl = None  # type: ignore[assignment]
    resource = None  # type: ignore[assignment]

_seeking = threading.Lock()
"""Lock for seek and read, which must not be separated, on systems without `os.pread`."""

_M_MMAP_THRESHOLD = -3
"""Constant of glibc's `mallopt`, which Python does not define."""


def open_flags(*names: str) -> int:
    """Return the combined `os.open` flags of these names, given without `O_`.

    Flags that a system lacks are left out. Adds O_BINARY, without which Windows translates line
    ends.
    """
    flags = 0
    for name in (*names, "BINARY"):
        flags |= getattr(os, f"O_{name}", 0)
    return flags


_WRITE_FLAGS = open_flags("RDWR", "CREAT", "CLOEXEC", "NONBLOCK", "NOFOLLOW")


def require_regular(descriptor: int, path: Path) -> int:
    """Return the descriptor if it is that of a regular file; else close it and raise `OSError`."""
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise OSError(errno.EINVAL, "not a regular file", str(path))


def open_to_write(path: Path, flags: int = 0) -> BinaryIO:
    """Open or create a file of this program, such as a lock file, to read and write.

    `flags` are further flags of `os.open`. Raises `OSError` if `path` is something else than a
    regular file, or a symbolic link (on systems with `O_NOFOLLOW`).
    """
    try:
        descriptor = os.open(path, _WRITE_FLAGS | flags, 0o666)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, "a link, which is not written through", str(path)) from None
        raise
    return os.fdopen(require_regular(descriptor, path), "r+b")


def lock(file: BinaryIO, *, wait: bool) -> None:
    """Lock an open file against other processes, until it is closed.

    Raises `BlockingIOError` if another process holds the lock and `wait` is False, and `OSError` on
    systems without locks.
    """
    if fcntl is None:
        raise OSError(errno.ENOSYS, "this system has no locks for files")
    fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)


def read_at(descriptor: int, length: int, offset: int) -> bytes:
    """Read at most `length` bytes of an open file at `offset`, like `os.pread`."""
    if hasattr(os, "pread"):
        return os.pread(descriptor, length, offset)
    with _seeking:
        os.lseek(descriptor, offset, os.SEEK_SET)
        return os.read(descriptor, length)


def process_memory(root: Path = Path("/")) -> list[int]:
    """Return the seven numbers of this process's `/proc/self/statm`, in bytes.

    Number 0 is the address space, 1 resident memory, 2 the part of 1 that is shared or belongs to
    files, 5 private memory. All are 0 on systems without this file. `root` is the folder that
    contains `proc`.
    """
    try:
        pages = (root / "proc/self/statm").read_text("ascii").split()
    except OSError:
        pages = ["0"] * 7
    return [int(count) * mmap.PAGESIZE for count in pages]


def resource_limit(name: str) -> int:
    """Return the soft limit of a resource such as "RLIMIT_AS"; `sys.maxsize` if there is none."""
    if resource is None:
        return sys.maxsize
    limit = resource.getrlimit(getattr(resource, name))[0]
    return sys.maxsize if limit == resource.RLIM_INFINITY else limit


def memory_left() -> tuple[int, int]:
    """Return the bytes of address space and of private memory that this process may still allocate.

    Only limits of the process count (`ulimit -v`, `ulimit -d`), not free memory. Without a limit,
    the number is `sys.maxsize` or a little less.
    """
    size, _, _, _, _, data, _ = process_memory()
    return max(0, resource_limit("RLIMIT_AS") - size), max(0, resource_limit("RLIMIT_DATA") - data)


def resident_bytes() -> int:
    """Return the memory that the process occupies, in bytes; 0 on systems without `/proc`."""
    return process_memory()[1]


def stack_bytes() -> int:
    """Return the stack size of a new thread in bytes, assuming 8 MiB if there is no limit."""
    limit = resource_limit("RLIMIT_STACK")
    return threading.stack_size() or (8 << 20 if limit == sys.maxsize else limit)


def trim_process() -> None:
    """Return idle memory to the system, where possible; call again after loading kernels.

    The code pages of numba's compiler, 30 MiB and more, are dropped; the system reads them again if
    needed. After the call, each array of a MiB or more that numpy allocates gets pages of its own,
    which return to the system when the array is freed. By default glibc raises this threshold with
    each freed array, up to 32 MiB.
    """
    import ctypes  # late: slow to load, and rarely needed

    libc = ctypes.CDLL(None)
    if hasattr(libc, "mallopt"):
        libc.mallopt(_M_MMAP_THRESHOLD, 1 << 20)
    with contextlib.suppress(OSError), open("/proc/self/maps") as maps:
        for line in maps:
            # Code pages are never written, so dropping them loses nothing.
            if "libllvmlite" in line and " r-xp " in line:
                start, end = (int(word, 16) for word in line.split(maxsplit=1)[0].split("-"))
                code, size = ctypes.c_void_p(start), ctypes.c_size_t(end - start)
                libc.madvise(code, size, mmap.MADV_DONTNEED)


def python_command(*arguments: str) -> list[str]:
    """Return the command that starts this Python, importing nothing from the working directory."""
    return [sys.executable, "-P", *arguments]


@contextlib.contextmanager
def safe_path() -> Iterator[None]:
    """Context manager: Python processes started inside import nothing from the current directory.

    For processes that a library starts; `python_command` does the same for our own.
    """
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        del os.environ["PYTHONSAFEPATH"]
        if before is not None:
            os.environ["PYTHONSAFEPATH"] = before


def usable_cores() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def import_permanently(name: str) -> ModuleType:
    """Import a large module, and exempt all objects that exist then from garbage collection.

    Garbage collection during such an import would take a tenth of the time of starting the program.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        return importlib.import_module(name)
    finally:
        gc.freeze()
        if collecting:
            gc.enable()
