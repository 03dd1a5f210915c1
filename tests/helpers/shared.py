"""Files and folders that are made once per test run and used by all its processes."""

from __future__ import annotations

import fcntl
import tempfile
from collections.abc import Callable
from pathlib import Path

_folders: list[tempfile.TemporaryDirectory[str]] = []
_shared: list[Path] = []


def share(folder: Path) -> None:
    """Set the folder of what `once` makes; all processes of a test run should use the same one."""
    _shared.append(folder)


def _folder() -> Path:
    """Return the folder of what `once` makes, and create it if needed.

    Without `share`, it is a temporary folder of this process, removed at exit.
    """
    if not _shared:
        own = tempfile.TemporaryDirectory(prefix="tbgen-shared-")
        _folders.append(own)
        _shared.append(Path(own.name))
    _shared[-1].mkdir(exist_ok=True)
    return _shared[-1]


def once(name: str, make: Callable[[Path], object]) -> Path:
    """Return the path of a file or folder called `name`, which is made once per test run.

    make : function (path) that makes it, called if no process of the run has made it before
    """
    target = _folder() / name
    with open(target.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not target.exists():
            partial = target.with_suffix(".partial")
            make(partial)
            partial.rename(target)
    return target
