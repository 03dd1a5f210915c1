"""Storage of large arrays: mapped pages in memory or, if memory is short, on disk.

in memory    anonymous pages, which return to the system as soon as an array is freed, so that the
             peak memory of a solver is that of its largest phase
on disk      pages of unnamed files, one for each large array; a file vanishes with its array.
             Between two ranges of leads, these pages are *released* if the process occupies
             more than `ceiling` bytes: the system reads a page from the file when it is used again
"""

from __future__ import annotations

import contextlib
import mmap
import tempfile
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from tbgen.system.platform import allocate, anonymous_pages, release_pages, resident_bytes

_HUGE_PAGES = 4 << 20
"""Size in bytes from which an array in memory uses huge pages (usually 2 MiB), where supported."""

_ON_DISK_FROM = 1 << 18
"""Size in bytes from which `DiskStorage` stores an array in a file; smaller ones stay in memory."""


StoredBytes = bytes | tuple[int, int]
"""Result of `Storage.store`: the bytes themselves, or their offset and length in the file."""


class Storage:
    """Storage of one solver: arrays in memory; bytes given to `store`, in memory or in a file."""

    on_disk = False

    def __init__(self, directory: Path | None = None) -> None:
        """Prepare the storage; `store` writes to an unnamed file in `directory`, if given.

        Raises `OSError` if the file cannot be created.
        """
        self._directory = directory
        self._lock = threading.Lock()
        self._file = None if directory is None else self._new_file()
        self._file_size = 0

    def _new_file(self) -> IO[bytes]:
        return tempfile.TemporaryFile(dir=self._directory, buffering=0)

    def zeros(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """Return an array of zeros in pages of its own, which are freed with the array.

        Raises `OSError` if there is too little memory, or too little room on the disk.
        """
        count = int(np.prod(shape))
        size = count * np.dtype(dtype).itemsize
        return np.frombuffer(self._pages(size), dtype, count).reshape(shape)

    def _pages(self, size: int) -> mmap.mmap:
        pages = anonymous_pages(size)
        if size >= _HUGE_PAGES and hasattr(mmap, "MADV_HUGEPAGE"):
            pages.madvise(mmap.MADV_HUGEPAGE)
        return pages

    def release_if_large(self) -> None:
        """Do nothing; `DiskStorage` releases pages here. Called between ranges of leads."""

    def discard(self, array: NDArray[Any]) -> None:
        """Return the pages of an array from `zeros` to the system; do nothing on Windows.

        In memory its elements become 0 (perhaps not on macOS), in a file they are unchanged.
        """
        pages: Any = array
        while isinstance(pages, np.ndarray):
            pages = pages.base
        release_pages(pages.obj)  # .obj: the mmap behind the memoryview

    def store(self, data: bytes) -> StoredBytes:
        """Store some bytes, in the file if there is one; return the key for `fetch`.

        Raises `OSError` if writing fails, as on a full disk.
        """
        if self._file is None:
            return data
        with self._lock, self._naming_directory():
            start, rest = self._file.seek(self._file_size), memoryview(data)
            # A short write gives no reason; the next one raises the error.
            while rest:
                rest = rest[self._file.write(rest) :]
            self._file_size += len(data)
        return start, len(data)

    def fetch(self, stored: StoredBytes) -> bytes:
        """Return the bytes stored under a key of `store`; raises `OSError` if reading fails."""
        if isinstance(stored, bytes):
            return stored
        assert self._file is not None, "only a file gives offsets"
        start, size = stored
        with self._lock:
            self._file.seek(start)
            return self._file.read(size)

    @contextlib.contextmanager
    def _naming_directory(self) -> Iterator[None]:
        """Context manager: sets the file name of an `OSError` to the directory of unnamed files."""
        try:
            yield
        except OSError as error:
            error.filename = str(self._directory)
            raise


class DiskStorage(Storage):
    """Storage with arrays in unnamed files in `directory`; arrays below `_ON_DISK_FROM` in memory.

    `release_if_large` releases the pages in files if the process occupies over `ceiling` bytes.
    """

    on_disk = True

    def __init__(self, directory: Path, ceiling: int) -> None:
        super().__init__(directory)
        self._ceiling = ceiling
        self._mapped: weakref.WeakSet[mmap.mmap] = weakref.WeakSet()

    def _pages(self, size: int) -> mmap.mmap:
        if size < _ON_DISK_FROM:
            return super()._pages(size)
        with self._new_file() as file, self._naming_directory():
            allocate(file.fileno(), size)
            pages = mmap.mmap(file.fileno(), size)
        with self._lock:
            self._mapped.add(pages)
        return pages

    def release_if_large(self) -> None:
        """Release the memory of all arrays in files if the process is larger than the ceiling.

        Does nothing where the size of the process is unknown.
        """
        if resident_bytes() > self._ceiling:
            with self._lock:
                for pages in self._mapped:
                    # Shared pages: the file keeps what was written.
                    release_pages(pages)
