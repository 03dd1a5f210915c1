"""Windows, simulated on a POSIX system: import this first, in a process of its own.

The process loses what only POSIX has: modules, functions, signals and constants. It gets what only
Windows has, as far as tbgen uses it. As on Windows, a file that is open cannot be renamed or
removed, and processes inherit neither file descriptors nor process groups.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import multiprocessing.connection
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from types import ModuleType
from typing import Any

MODULES = "fcntl", "resource", "pwd", "grp", "termios"
NAMES = {
    os: ("fork", "forkpty", "pread", "preadv", "getuid", "geteuid", "posix_fallocate", "sysconf",
         "sched_getaffinity", "nice", "O_CLOEXEC", "O_NONBLOCK", "O_NOCTTY", "O_NOFOLLOW"),
    signal: ("SIGHUP", "SIGALRM", "setitimer", "pthread_kill", "pthread_sigmask"),
    mmap: ("MAP_ANONYMOUS", "MAP_PRIVATE", "MAP_SHARED", "MADV_DONTNEED", "MADV_HUGEPAGE"),
}  # fmt: skip
"""Names of modules that only POSIX has."""

TOTAL, AVAILABLE = 24 << 30, 16 << 30
"""Bytes of memory of the simulated machine."""


class Msvcrt(ModuleType):
    """Module `msvcrt`: locks of a byte, here of the whole file."""

    LK_NBLCK = 2

    @staticmethod
    def locking(descriptor: int, mode: int, count: int) -> None:
        """Lock a file, or raise `PermissionError` if another process holds the lock."""
        assert (mode, count) == (Msvcrt.LK_NBLCK, 1)
        assert os.lseek(descriptor, 0, os.SEEK_CUR) > os.fstat(descriptor).st_size
        try:
            flock(descriptor, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            raise PermissionError(errno.EACCES, "locked") from None


class Kernel32:
    """Library `kernel32`: the memory of the machine."""

    @staticmethod
    def GlobalMemoryStatusEx(status: Any) -> int:
        """Fill in the total and the available memory."""
        status._obj.total, status._obj.available = TOTAL, AVAILABLE
        return 1


class StartupInfo:
    """Class `subprocess.STARTUPINFO`: handles that a new process inherits."""

    def __init__(self, *, lpAttributeList: dict[str, list[int]]) -> None:
        self.handles = lpAttributeList["handle_list"]


def is_open(path: Any) -> bool:
    """Return whether this process has opened the file at `path`."""
    target = os.path.realpath(path)
    return any(os.path.realpath(each) == target for each in Path("/proc/self/fd").iterdir())


def refusing(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of `os` that renames or removes files, but refuses open ones."""

    def refuse(*paths: Any, **options: Any) -> Any:
        for path in paths:
            if is_open(path):
                raise PermissionError(errno.EACCES, "The file is open", str(path))
        return function(*paths, **options)

    return refuse


def only_paths(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of `os` that refuses file descriptors."""

    def refuse(path: Any, *arguments: Any, **options: Any) -> Any:
        if isinstance(path, int):
            raise TypeError("path should be string, bytes or os.PathLike, not int")
        return function(path, *arguments, **options)

    return refuse


class Popen(subprocess.Popen):  # type: ignore[type-arg]
    """Class `subprocess.Popen`, with the options of Windows only."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        assert not {"pass_fds", "process_group", "start_new_session"} & options.keys()
        options.pop("creationflags", None)
        startup = options.pop("startupinfo", None)
        super().__init__(*arguments, pass_fds=startup.handles if startup else (), **options)


class Library(ctypes.CDLL):
    """Class `ctypes.CDLL`, which has no name for the program itself."""

    def __init__(self, name: str | None, *arguments: Any, **options: Any) -> None:
        if name is None:
            raise TypeError("bad argument type for built-in operation")
        super().__init__(name, *arguments, **options)


sys.modules.update(dict.fromkeys(MODULES))  # type: ignore[arg-type]
sys.modules["msvcrt"] = Msvcrt("msvcrt")
for module, names in NAMES.items():
    for name in names:
        if hasattr(module, name):
            delattr(module, name)
for function in ("replace", "rename", "unlink", "remove"):
    setattr(os, function, refusing(getattr(os, function)))
os.utime = only_paths(os.utime)
os.set_handle_inheritable = lambda handle, inheritable: None  # type: ignore[attr-defined]
ctypes.CDLL = Library  # type: ignore[misc]
ctypes.windll = type("Libraries", (), {"kernel32": Kernel32})  # type: ignore[attr-defined]
subprocess.Popen = Popen  # type: ignore[misc]
subprocess.STARTUPINFO = StartupInfo  # type: ignore[attr-defined]
multiprocessing.connection.PipeConnection = (  # type: ignore[attr-defined]
    multiprocessing.connection.Connection
)
