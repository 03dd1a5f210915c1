"""Arrays in memory and on disk have the same interface."""

import errno
import os
import resource
from pathlib import Path

import numpy as np
import pytest

import tbgen.rows.storage as storage_module
from tbgen.rows.storage import DiskStorage, Storage
from tbgen.system.platform import resident_bytes

SIZE = 1 << 23


def storages(directory: Path) -> list[Storage]:
    """Return three storages: all in memory, with stored bytes in a file, and all on disk.

    The last one has a memory ceiling of 0, so pages of its arrays are released at once.
    """
    return [Storage(), Storage(directory), DiskStorage(directory, 0)]


def test_arrays_start_as_zeros_and_keep_what_is_written(tmp_path: Path) -> None:
    for storage in storages(tmp_path):
        array = storage.zeros((1000, 2), np.uint64)
        assert array.shape == (1000, 2)
        assert not array.any()
        large = storage.zeros(SIZE, np.uint8)
        large[::4096] = 7
        storage.release_if_large()
        large[1::4096] = 8
        storage.release_if_large()
        assert (large[::4096] == 7).all()
        assert (large[1::4096] == 8).all()


def test_stored_bytes_are_read_back(tmp_path: Path) -> None:
    for storage in storages(tmp_path):
        kept = [storage.store(bytes([n]) * n) for n in range(1, 100)]
        assert [storage.fetch(one) for one in kept] == [bytes([n]) * n for n in range(1, 100)]


def test_discarded_arrays_leave_memory_and_can_be_written() -> None:
    array = Storage().zeros((SIZE // 8, 2), np.uint32)
    array[:] = 1
    full = resident_bytes()
    Storage().discard(array)
    assert resident_bytes() <= full - SIZE // 2
    assert not array.any()
    array[:] = 2
    assert (array == 2).all()


def test_files_on_disk_have_no_names(tmp_path: Path) -> None:
    for storage in storages(tmp_path):
        array = storage.zeros(SIZE, np.uint8)
        storage.store(b"x" * 1000)
        assert list(tmp_path.iterdir()) == []
        del array


def test_pages_on_disk_are_released_only_above_the_ceiling(tmp_path: Path) -> None:
    storage = DiskStorage(tmp_path, resident_bytes() + 2 * SIZE)
    array = storage.zeros(4 * SIZE, np.uint8)
    array[:SIZE] = 1
    before = resident_bytes()
    storage.release_if_large()
    assert resident_bytes() >= before
    array[:] = 1
    full = resident_bytes()
    storage.release_if_large()
    assert resident_bytes() <= full - 3 * SIZE
    assert (array[::1000] == 1).all()


def test_arrays_are_stored_on_disk_without_what_only_linux_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "posix_fallocate")
    monkeypatch.setattr(storage_module, "resident_bytes", lambda: 0)
    storage = DiskStorage(tmp_path, 0)
    array = storage.zeros(SIZE, np.uint8)
    array[::1000] = 1
    storage.release_if_large()
    assert array.sum() == len(array[::1000])


def test_a_full_disk_is_an_error_that_names_the_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int, offset: int, size: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full)
    storage = DiskStorage(tmp_path, 0)
    with pytest.raises(OSError, match="No space left") as caught:
        storage.zeros(SIZE, np.uint8)
    assert caught.value.filename == str(tmp_path)


def test_a_write_that_stops_early_tells_the_reason(tmp_path: Path) -> None:
    """A limit on the size of files (`ulimit -f`) is no full disk."""
    storage, before = Storage(tmp_path), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, before[1]))
    try:
        with pytest.raises(OSError, match="File too large") as caught:
            storage.store(b"x" * 11_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert (caught.value.errno, caught.value.filename) == (errno.EFBIG, str(tmp_path))
