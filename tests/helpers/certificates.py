"""Certificates (records that a table was proved) of small tables, for the tests of certificates.

A certificate names the supporting tables on which the proof depends, its premises, by digest.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tbgen.tables import TableFile, TableName
from tbgen.tables.certificates import Certificate, Premise, write_certificate
from tests.helpers.random_tables import random_planes, spec_of, write


def small_table(directory: Path, material: str, seed: int = 0) -> TableName:
    """Write a table of random values under its standard name, and return the name.

    The seed determines the values, and so the digest.
    """
    spec = spec_of(material)
    write(directory, spec, random_planes(spec, seed, distinct=4))
    return spec.name


def name_of(text: str) -> TableName:
    """Parse a table name without suffix, such as `KRK.none.dtm`."""
    name = TableName.parse(f"{text}.xqt")
    assert name is not None
    return name


def digest_of(directory: Path, name: TableName) -> str:
    """Return the digest in the header of a table file, in hex."""
    with TableFile(directory / name.filename) as file:
        return file.header.digest.hex()


def certificate(name: TableName, digest: str, premises: Iterable[Premise]) -> Certificate:
    """Return a certificate of a table with this digest in hex.

    Its method, version and seconds are invented.
    """
    return Certificate(name, digest, tuple(premises), "rows", "0.1.0", 1.5)


def supporting(name: TableName) -> list[TableName]:
    """List the names of a table's supporting tables, in the metric of the table itself."""
    children = {child.name: child for child in name.material.captures().values()}
    return [
        TableName(children[child], name.rule_set, name.metric)
        for child in sorted(children)
        if children[child].needs_table
    ]


def certify(directory: Path, name: TableName) -> Certificate:
    """Write a valid certificate beside a table file, and return it.

    Its premises are the supporting tables, which must be in the same directory, and their digests.
    """
    path = directory / name.filename
    premises = [Premise(below, digest_of(directory, below)) for below in supporting(name)]
    written = certificate(name, digest_of(directory, name), premises)
    write_certificate(path, written, path.stat().st_mtime_ns)
    return written
