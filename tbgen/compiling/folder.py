"""Folder of the cache of compiled kernels.

    $NUMBA_CACHE_DIR                             if it is set
    tbgen/DIGEST in $XDG_CACHE_HOME or ~/.cache  the usual folder
    tbgen-UID/DIGEST in the temporary folder     if the folder above cannot be written, belongs to
                                                 another user, or can be written by other users
    none                                         if neither can be used: every process compiles
                                                 for itself

The digest (`source_digest`) covers the sources: numba detects changes only in the file of a kernel,
and not in functions that the kernel calls. Loading a kernel runs its code, so a folder must belong
to the user, and no other user may write to it. On Windows, owners and permissions are not tested.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import tempfile
import time
from functools import cache
from importlib import metadata
from pathlib import Path

import tbgen.indexing
from tbgen.system.platform import WINDOWS, is_own, open_to_write

CHECK_BOUNDS = os.environ.get("NUMBA_BOUNDSCHECK") == "1"

PACKAGE = Path(__file__).parent.parent
"""Folder of the package `tbgen`."""

_ABANDONED_SECONDS = 3600
"""Age from which an incomplete entry is abandoned; writing an entry takes less than a second."""


def find_kernel_folder() -> Path | None:
    """Create and return the first usable folder of the list in the module docstring, or None."""
    choices = (choose() for choose in (usual_folder, _private_folder))
    return next((folder for folder in choices if folder and _prepare_folder(folder)), None)


def usual_folder() -> Path | None:
    """Return `$NUMBA_CACHE_DIR` or the usual folder; None if the home directory is unknown."""
    if os.environ.get("NUMBA_CACHE_DIR"):
        return Path(os.environ["NUMBA_CACHE_DIR"])
    with contextlib.suppress(RuntimeError):
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        return Path(base) / "tbgen" / source_digest()
    return None


def _private_folder() -> Path | None:
    """Create `tbgen-UID` in the temporary folder; return the path of `tbgen-UID/DIGEST`.

    Returns None if `tbgen-UID` is no private folder or cannot be created, and on Windows.
    """
    with contextlib.suppress(AttributeError, OSError):
        folder = Path(tempfile.gettempdir()) / f"tbgen-{os.getuid()}"
        folder.mkdir(mode=0o700, exist_ok=True)
        if _is_private(folder) and not folder.is_symlink():
            return folder / source_digest()
    return None


def _is_private(folder: Path) -> bool:
    """Return whether a folder belongs to this user, and no other may write; True on Windows."""
    found = folder.stat()
    return WINDOWS or (is_own(found) and not found.st_mode & 0o022)


def _prepare_folder(folder: Path) -> bool:
    """Create a folder if missing; return whether it is private (`_is_private`) and can be written.

    In a private folder, creates the cache's lock file. A private folder named by the digest is
    closed to other users.
    """
    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if _is_private(folder):
            if folder.name == source_digest():  # not $NUMBA_CACHE_DIR
                folder.chmod(0o700)
            with open_to_write(folder / "lock"), tempfile.TemporaryFile(dir=folder):
                return True
    return False


def clear_stale_files(folder: Path) -> None:
    """Remove entries abandoned while they were written; the caller holds the cache's lock."""
    for unfinished in folder.glob("*/*.tmp.*"):
        with contextlib.suppress(OSError):
            if time.time() - unfinished.stat().st_mtime > _ABANDONED_SECONDS:
                unfinished.unlink()


@cache
def source_digest() -> str:
    """Return a digest, 16 hex digits, of the sources and data files of packages with kernels.

    The digest also depends on the versions of numba and Python, on `CHECK_BOUNDS`, and on the
    location of `tbgen`, since numba stores kernels by path.
    """
    version = ""
    with contextlib.suppress(metadata.PackageNotFoundError):
        version = metadata.version("numba")
    digest = hashlib.sha256(f"{version} {sys.version} {CHECK_BOUNDS} {PACKAGE}".encode())
    # Each package with kernels or parts imports one of these modules.
    marks = b"tbgen.compiling", b"tbgen.system.scalar"
    root = Path(tbgen.indexing.__file__).parents[1]
    for folder in sorted({root / "indexing", root / "tables", *PACKAGE.iterdir()}):
        files = [path for path in folder.rglob("*") if path.suffix in (".py", ".csv", ".json")]
        texts = [path.read_bytes() for path in sorted(files)]
        # Kernels contain constants of `tables`, which itself has no kernels.
        if folder.name == "tables" or any(mark in text for text in texts for mark in marks):
            for text in texts:
                digest.update(text)
    return digest.hexdigest()[:16]
