"""Digest of the values of a finished table, independent of the file's layout.

The compiled kernels are loaded when the first digest is computed.
"""

from __future__ import annotations

from tbgen.tables.reader import TableFile


def digest_of_values(file: TableFile, *, threads: int = 1) -> bytes:
    """Return the digest of a table's values (docs/format.md), from all its blocks; 16 bytes.

    Raises the errors of reading.
    """
    from tbgen.retrograde.value_digest import value_digest

    return value_digest(file, file.header.spec.name, threads=threads)


def checked_digest(file: TableFile, *, threads: int = 1) -> bytes:
    """Verify all checksums of a table's file, and return the digest of its values (16 bytes).

    Raises `CorruptTableError`, also if the stored digest does not match the contents.
    """
    file.check(threads=threads)
    return digest_of_values(file, threads=threads)
