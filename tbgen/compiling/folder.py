"""The folder of compiled kernels: the user's cache, or one in its place.

    $NUMBA_CACHE_DIR                             where numba is told to keep everything
    tbgen/DIGEST in $XDG_CACHE_HOME or ~/.cache  the usual place
    tbgen-UID/DIGEST in the temporary folder     where the usual place cannot be written, as without
                                                 a home, or in another user's
    none                                         every command compiles for itself

The digest is that of the sources, because numba notices a change only in the file that holds a
kernel, and not in the functions it calls. To load a kernel is to run it: a folder counts only if it
is the user's own and nobody else can write there, and it is closed to others, whatever the umask.
Nothing here imports numba.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import sys
import tempfile
import time
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import BinaryIO, NamedTuple

import tbgen.indexing
from tbgen.indexing.systems import open_own

CHECK_BOUNDS = os.environ.get("NUMBA_BOUNDSCHECK") == "1"

PACKAGE = Path(__file__).parent.parent
"""Where `tbgen` lies."""


class KernelFolder(NamedTuple):
    """Folder of the compiled kernels of exactly these sources."""

    path: Path | None
    """None where nothing can be kept."""
    usual: Path | None
    """Where they belong; None for a user without a home."""


def find_kernel_folder() -> KernelFolder:
    """The first folder that can be written; it is made if need be."""
    usual = _usual_folder()
    if usual is not None and _is_writable(usual):
        return KernelFolder(usual, usual)
    instead = _private_folder()
    if instead is not None and _is_writable(instead / source_digest()):
        return KernelFolder(instead / source_digest(), usual)
    return KernelFolder(None, usual)


def _usual_folder() -> Path | None:
    if os.environ.get("NUMBA_CACHE_DIR"):
        return Path(os.environ["NUMBA_CACHE_DIR"])
    try:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    except RuntimeError:  # the user has no home directory
        return None
    return Path(base) / "tbgen" / source_digest()


def _private_folder() -> Path | None:
    """The user's own folder among temporary files; None where somebody else has made one.

    None as well on a system without user ids, where temporary files are a user's own anyway.
    """
    if not hasattr(os, "getuid"):
        return None
    try:
        folder = Path(tempfile.gettempdir()) / f"tbgen-{os.getuid()}"
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder if _is_own(folder) and not folder.is_symlink() else None
    except OSError:
        return None


def _is_own(folder: Path) -> bool:
    """Return whether a folder is this user's and no other user can write there.

    Always true on a system without user ids. Raises `OSError` where there is nothing.
    """
    if not hasattr(os, "getuid"):
        return True
    found = folder.stat()
    own = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
    return own and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _is_writable(folder: Path) -> bool:
    """Create the folder; return whether it is this user's own and files can be written there."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _is_own(folder):
            return False
        if folder.name == source_digest():  # and not one that the user has named
            folder.chmod(0o700)
        with open_lock(folder), tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def open_lock(folder: Path) -> BinaryIO:
    """The lock file of a folder of kernels, to be closed by the caller; made if need be.

    Raises `OSError` where something else has its name: nothing is made or touched through a link.
    """
    return open_own(folder / "lock")


_SOURCES = (".py", ".csv", ".json")
"""Code, and numbers that become part of compiled code."""

_ABANDONED_SECONDS = 3600
"""The age from which a half-written entry is nobody's: to write one takes no second."""


def clear_stale_files(folder: Path) -> None:
    """Remove entries that ended processes left half-written; the cache's lock is held."""
    for unfinished in folder.glob("*/*.tmp.*"):
        with contextlib.suppress(OSError):
            if time.time() - unfinished.stat().st_mtime > _ABANDONED_SECONDS:
                unfinished.unlink()


@cache
def source_digest() -> str:
    """A digest of every file that kernels are compiled from, and of the compiler's version.

    And of where they lie: numba keeps the kernels of every path apart, and what is known to be
    compiled (`tbgen.compiling.second`) shall be true of these.
    """
    indexing = Path(tbgen.indexing.__file__).parent
    version = ""
    with contextlib.suppress(metadata.PackageNotFoundError):
        version = metadata.version("numba")
    digest = hashlib.sha256(f"{version} {sys.version} {CHECK_BOUNDS} {PACKAGE}".encode())
    for folder in (indexing, *_folders_with_kernels()):
        for path in sorted(folder.rglob("*")):
            if path.suffix in _SOURCES:
                digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _folders_with_kernels() -> list[Path]:
    """The packages beside this one, and this one, that kernels or their parts may come from.

    Found by what their sources import, so that a kernel that moves cannot escape the digest.
    """
    marks = b"tbgen.compiling", b"tbgen.indexing.scalar"
    return [
        folder
        for folder in sorted(PACKAGE.iterdir())
        if any(mark in path.read_bytes() for path in folder.rglob("*.py") for mark in marks)
    ]
