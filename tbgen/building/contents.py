"""Digest of the values of a finished table, independent of the file's layout.

The kernels are loaded with the first digest.
"""

from __future__ import annotations

from tbgen.tables.reader import TableFile


def values_of(file: TableFile, *, threads: int = 1) -> bytes:
    """The digest of a table's values (docs/format.md), from all its blocks; 16 bytes.

    Raises what reading does.
    """
    from tbgen.retrograde.value_digest import value_digest

    return value_digest(file, file.header.spec.name, threads=threads)


def checked_values(file: TableFile, *, threads: int = 1) -> bytes:
    """Read a whole file and verify all that it states; the digest of its values, 16 bytes.

    Raises `CorruptTableError`, also for a digest that is not that of the contents.
    """
    file.check(threads=threads)
    return values_of(file, threads=threads)
