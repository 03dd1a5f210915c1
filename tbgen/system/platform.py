"""Functions of the operating system: files and locks, memory, processes, signals, imports.

The functions exist on POSIX systems (Linux, macOS) and on Windows; a docstring says where the
systems differ. On Windows, a file cannot be renamed or removed while it is open, signals of other
processes end a process at once, and processes inherit no file descriptors.
"""

from __future__ import annotations

import _thread
import contextlib
import errno
import gc
import importlib
import mmap
import os
import signal
import stat
import sys
import threading
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

try:
    import fcntl
    import resource
except ImportError:
    fcntl = None  # type: ignore[assignment]
    resource = None  # type: ignore[assignment]
    import msvcrt

WINDOWS = fcntl is None
"""True on Windows, False on POSIX systems."""

ROOT = Path("/")
"""Folder that contains `proc` and `sys`."""

_seeking = threading.Lock()
"""Lock that a thread holds from seek to read, on systems without `os.pread`."""

_LOCKED_BYTE = (1 << 31) - 2
"""Offset of the byte that a lock covers on Windows, the largest that `msvcrt.locking` takes. Other
processes cannot read a locked byte, so no content of a file may lie there.
"""

_LOCK_SECONDS = 0.1
"""Seconds between two attempts to get a lock, on Windows."""

_M_MMAP_THRESHOLD = -3
"""Number of glibc's `mallopt` parameter: least size of an allocation with pages of its own."""


def open_flags(*names: str) -> int:
    """Return the combined `os.open` flags of these names, given without `O_`.

    Flags that a system lacks are left out. Adds O_BINARY: else Windows translates line ends.
    """
    flags = 0
    for name in (*names, "BINARY"):
        flags |= getattr(os, f"O_{name}", 0)
    return flags


_WRITE_FLAGS = open_flags("RDWR", "CREAT", "CLOEXEC", "NONBLOCK", "NOFOLLOW")


def require_regular(descriptor: int, path: Path) -> int:
    """Return `descriptor`; if it is not open on a regular file, close it and raise `OSError`."""
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise OSError(errno.EINVAL, "not a regular file", str(path))


def open_to_write(path: Path, flags: int = 0) -> BinaryIO:
    """Open or create a file of this program, such as a lock file, to read and write.

    `flags` are further flags of `os.open`. Raises `OSError`, also for a path that is no regular
    file, and for a symbolic link (on systems with `O_NOFOLLOW`).
    """
    try:
        descriptor = os.open(path, _WRITE_FLAGS | flags, 0o666)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, "a link, which is not written through", str(path)) from None
        raise
    return os.fdopen(require_regular(descriptor, path), "r+b")


def lock(file: BinaryIO, *, wait: bool) -> None:
    """Lock an open file until it is closed, also against other file objects of this process.

    If the file is locked already, waits until it is unlocked, or raises `BlockingIOError` if `wait`
    is False. Raises `OSError` if the file system has no locks.
    """
    if not WINDOWS:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        return
    while not _lock_byte(file.fileno()):
        if not wait:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        time.sleep(_LOCK_SECONDS)


def _lock_byte(descriptor: int) -> bool:
    """Lock the byte at `_LOCKED_BYTE`, on Windows; return False if it is locked already."""
    position = os.lseek(descriptor, 0, os.SEEK_CUR)
    os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
    try:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
    except OSError as error:
        if error.errno not in (errno.EACCES, 0):  # 0 under Wine
            raise
        return False
    finally:
        os.lseek(descriptor, position, os.SEEK_SET)
    return True


def rename_and_close(file: BinaryIO, path: Path, to: Path) -> None:
    """Rename the open file at `path` to `to`, replacing a file there; then close it.

    Closing ends a lock on the file. On Windows the file is closed before it is renamed. Raises
    `OSError`, on Windows also if `to` is open.
    """
    if WINDOWS:
        file.close()
    path.replace(to)
    file.close()


def remove_and_close(file: BinaryIO, path: Path) -> None:
    """Remove the open file at `path`; then close it, which ends a lock on it.

    On Windows the file is closed before it is removed, and stays if it is open elsewhere.
    """
    if WINDOWS:
        file.close()
        with contextlib.suppress(PermissionError):
            path.unlink(missing_ok=True)
        return
    path.unlink(missing_ok=True)
    file.close()


def is_own(status: os.stat_result) -> bool:
    """Return whether a file belongs to this user; always true on Windows."""
    return WINDOWS or status.st_uid == os.geteuid()


def read_at(descriptor: int, length: int, offset: int) -> bytes:
    """Read at most `length` bytes of an open file at `offset`, like `os.pread`.

    Without `os.pread` (Windows), this moves the position of the file.
    """
    if hasattr(os, "pread"):
        return os.pread(descriptor, length, offset)
    with _seeking:
        os.lseek(descriptor, offset, os.SEEK_SET)
        return os.read(descriptor, length)


def process_memory() -> list[int]:
    """Return the seven numbers of `/proc/self/statm`, in bytes; seven zeros without this file.

    Number 0 is the address space of this process, 1 its resident memory, 2 the part of 1 that is
    shared or belongs to files, 5 the part of 0 that is private and writable (with the stack),
    resident or not.
    """
    try:
        pages = (ROOT / "proc/self/statm").read_text("ascii").split()
    except OSError:
        pages = ["0"] * 7
    return [int(count) * mmap.PAGESIZE for count in pages]


def total_memory() -> int:
    """Return the bytes of memory of this machine; `sys.maxsize` if unknown."""
    if WINDOWS:
        return _memory_status()[0]
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def available_memory() -> int:
    """Return the bytes of memory available without swapping; if unknown, all of `total_memory`."""
    if WINDOWS:
        return _memory_status()[1]
    with contextlib.suppress(OSError):
        for line in (ROOT / "proc/meminfo").read_text("ascii", "replace").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return total_memory()


def _memory_status() -> tuple[int, int]:
    """Return the bytes of total and of available memory, on Windows; `sys.maxsize` if unknown."""
    import ctypes  # late: slow to load, and rarely needed

    class MemoryStatus(ctypes.Structure):
        """MEMORYSTATUSEX of the Windows API."""

        _fields_ = (("length", ctypes.c_uint32), ("load", ctypes.c_uint32),
                    ("total", ctypes.c_uint64), ("available", ctypes.c_uint64),
                    ("others", ctypes.c_uint64 * 5))  # fmt: skip

    status = MemoryStatus(length=ctypes.sizeof(MemoryStatus))
    kernel = ctypes.windll.kernel32  # type: ignore[attr-defined,unused-ignore]
    if not kernel.GlobalMemoryStatusEx(ctypes.byref(status)):
        return sys.maxsize, sys.maxsize
    return status.total, status.available


def anonymous_pages(size: int) -> mmap.mmap:
    """Return a new memory mapping of `size` zero bytes, or of one byte if `size` is 0.

    Raises `OSError` if there is too little memory.
    """
    if WINDOWS:
        return mmap.mmap(-1, max(1, size))
    return mmap.mmap(-1, max(1, size), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)


def allocate(descriptor: int, size: int) -> None:
    """Give an empty file its size, and reserve its room on the disk where the system can.

    Raises `OSError` if the disk is full. Where the system reserves no room (macOS), a later write
    to mapped pages of the file ends the process if the disk is full.
    """
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(descriptor, 0, size)
    else:  # macOS, Windows
        os.ftruncate(descriptor, size)


def release_pages(pages: mmap.mmap) -> None:
    """Return mapped pages to the system; does nothing on Windows.

    Pages of a file keep their contents. Anonymous pages become 0 on Linux, perhaps not on macOS.
    """
    if not WINDOWS:
        pages.madvise(mmap.MADV_DONTNEED)


def resource_limit(name: str) -> int:
    """Return the soft limit of a resource such as "RLIMIT_AS"; `sys.maxsize` if there is none."""
    if resource is None:
        return sys.maxsize
    limit = resource.getrlimit(getattr(resource, name))[0]
    return sys.maxsize if limit == resource.RLIM_INFINITY else limit


def memory_left() -> tuple[int, int]:
    """Return the bytes of address space and of private memory that this process may still allocate.

    Only limits of this process matter (`ulimit -v`, `ulimit -d`), not free memory. Without a limit,
    the number is `sys.maxsize` less the bytes in use.
    """
    size, _, _, _, _, data, _ = process_memory()
    return max(0, resource_limit("RLIMIT_AS") - size), max(0, resource_limit("RLIMIT_DATA") - data)


def resident_bytes() -> int:
    """Return the memory that this process occupies, in bytes; 0 on systems without `/proc`."""
    return process_memory()[1]


def stack_bytes() -> int:
    """Return the stack bytes of a new thread: set in `threading`, else RLIMIT_STACK, else 8 MiB."""
    limit = resource_limit("RLIMIT_STACK")
    return threading.stack_size() or (8 << 20 if limit == sys.maxsize else limit)


def trim_process() -> None:
    """Return idle memory to the system, where possible; does nothing on Windows.

    Drops the code pages of numba's compiler, 30 MiB and more, which are read again if needed: call
    this after loading kernels. With glibc, each array of a MiB or more that numpy allocates from
    now on gets pages of its own, which return to the system with the array. By default, each freed
    array may raise this minimum size, up to 32 MiB.
    """
    if WINDOWS:
        return
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


_CREATE_NEW_PROCESS_GROUP = 0x200
"""`subprocess.CREATE_NEW_PROCESS_GROUP`, which only Windows has."""

OWN_GROUP: dict[str, Any] = (
    {"creationflags": _CREATE_NEW_PROCESS_GROUP} if WINDOWS else {"process_group": 0}
)
"""Options of `subprocess.Popen` for a process that Ctrl-C in the terminal does not reach."""


def inherit(connection: Connection) -> dict[str, Any]:
    """Return options of `subprocess.Popen` for a process that opens `connection` by `inherited`.

    On Windows, makes the handle of the connection inheritable.
    """
    if not WINDOWS:
        return {"pass_fds": (connection.fileno(),)}
    import subprocess  # late: needed only to start a process

    handles = [connection.fileno()]
    os.set_handle_inheritable(handles[0], True)  # type: ignore[attr-defined,unused-ignore]
    startup = subprocess.STARTUPINFO(  # type: ignore[attr-defined,unused-ignore]
        lpAttributeList={"handle_list": handles}
    )
    return {"startupinfo": startup}


def inherited(number: int) -> Connection:
    """Return the connection whose `fileno` was `number` in the process that started this one.

    That process must have used `inherit`.
    """
    from multiprocessing import connection  # late: slow to load, and rarely needed

    if WINDOWS:
        return connection.PipeConnection(number)  # type: ignore[attr-defined,unused-ignore]
    return connection.Connection(number)


def interrupt_self(number: signal.Signals) -> None:
    """Raise a signal in the main thread, from another thread.

    On Windows, the handler runs once the main thread executes Python code again.
    """
    if WINDOWS:
        _thread.interrupt_main(number)
        return
    main = threading.main_thread().ident
    assert main is not None, "the main thread has started"
    signal.pthread_kill(main, number)


def lower_priority(niceness: int) -> None:
    """Add to the niceness of this process; does nothing on Windows."""
    if not WINDOWS:
        os.nice(niceness)


@contextlib.contextmanager
def safe_path() -> Iterator[None]:
    """Context manager: Python processes started inside import nothing from the current directory.

    It is for processes that a library starts; others use `python_command`. Sets the environment
    variable `PYTHONSAFEPATH`, and restores it at the end.
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
    """Return the number of processors that this process may use; if unknown, the machine's."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def import_permanently(name: str) -> ModuleType:
    """Import a large module, and exempt all objects that exist then from garbage collection.

    Garbage collection is off during the import: it would take a tenth of the time of starting the
    program. A second call with the same name only returns the module.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        return importlib.import_module(name)
    finally:
        gc.freeze()
        if collecting:
            gc.enable()
