"""Certificates: what `tbgen verify` leaves beside a table that it has proven.

    KRNKR.wxf.dtm.xqt          a table
    KRNKR.wxf.dtm.proof.json   its certificate: these contents are right, if those below are

A certificate identifies contents by digests and tables by names, not paths: it also holds in a copy
of the directory. It has the time of modification of its table, a cheap sign that the file has not
been written to since. This module reads, writes and checks one certificate (docs/format.md,
"Certificates"); `proofs` follows chains of them, and `tbgen.verify` proves tables. A certificate is
no signature: who can change a table can forge one.
"""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tbgen.tables import schema
from tbgen.tables.errors import TablebaseError
from tbgen.tables.files import open_to_read, replacing
from tbgen.tables.names import SUFFIX, Metric, TableName

FORM = 1
"""The form that certificates have; readers refuse others."""

PROOF_SUFFIX = ".proof.json"
"""How the name of a certificate ends."""

MAX_CERTIFICATE = 1 << 14
"""Characters of a certificate that are read; twelve supporting tables take less than 2000."""


class CertificateError(TablebaseError):
    """A file that should be a certificate and is none; `file` and `reason` as attributes."""

    def __init__(self, file: Path, reason: str) -> None:
        self.file = file
        self.reason = reason
        super().__init__(f"{file.name} is no certificate: {reason}")


@dataclass(frozen=True, slots=True)
class Premise:
    """A supporting table that a proof relied on: its name, and the digest of its contents, hex."""

    table: TableName
    digest: str


@dataclass(frozen=True, slots=True)
class Certificate:
    """Certificate that a table's contents follow from the rules and from its supporting tables.

    `digest` is that of the contents, hex. `supporting` has a premise for each material that a
    capture leads to and that needs a table, by name. `method` is how it was proven, `tbgen` the
    version that did, `seconds` the wall time it took: a word about the proof, on which nothing
    rests.
    """

    table: TableName
    digest: str
    supporting: tuple[Premise, ...]
    method: str
    tbgen: str
    seconds: float

    def to_text(self) -> str:
        """The JSON text that a file has."""
        fields: dict[str, Any] = {name: getattr(self, name) for name in self.__slots__}
        fields |= {
            "table": str(self.table),
            "supporting": [
                {"table": str(premise.table), "digest": premise.digest}
                for premise in self.supporting
            ],
        }
        return json.dumps({"certificate": FORM, **fields}, indent=2) + "\n"

    @classmethod
    def from_text(cls, text: str) -> Certificate:
        """The certificate whose `to_text` is a text; members of other names are passed over.

        Raises `schema.SchemaError` for values of another type or range, and for premises that are
        not those which captures ask for.
        """
        if len(text) > MAX_CERTIFICATE:
            raise schema.SchemaError(f"longer than {MAX_CERTIFICATE} characters")
        found = schema.members(text, {"supporting": _PREMISE})
        if found.get("certificate") != FORM:
            raise schema.SchemaError(f"not of the form {FORM}")
        certificate: Certificate = _CERTIFICATE(
            {name: value for name, value in found.items() if name in cls.__slots__}
        )
        if not _leans_on(certificate.table, certificate.supporting):
            raise schema.SchemaError("other supporting tables than captures lead to")
        return certificate


def certificate_path(table: Path) -> Path:
    """Return the path of a table file's certificate."""
    return table.with_name(table.name.removesuffix(SUFFIX) + PROOF_SUFFIX)


def read_certificate(table: Path) -> Certificate | None:
    """The certificate beside a table file, None if there is none.

    Raises `CertificateError`, also for a pipe or a directory of that name.
    """
    path = certificate_path(table)
    try:
        with os.fdopen(open_to_read(path), "r", encoding="utf-8") as file:
            return Certificate.from_text(file.read(MAX_CERTIFICATE + 1))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CertificateError(path, error.strerror or "unreadable") from None
    except ValueError as error:  # SchemaError, or what is no UTF-8
        reason = str(error) if isinstance(error, schema.SchemaError) else "no text"
        raise CertificateError(path, reason) from None


def write_certificate(table: Path, certificate: Certificate, modified: int) -> None:
    """Put a certificate beside a table file, whole or not at all; raises `OSError`.

    modified : the table's time of modification, ns, from before its bytes were checked
    """
    with replacing(certificate_path(table)) as file:
        file.write(certificate.to_text().encode("ascii"))
        file.flush()  # before the time is set, which writing would change
        os.utime(file.fileno(), ns=(modified, modified))


def is_untouched(table: Path) -> bool:
    """Return whether a table file has the time of modification that its certificate vouches for.

    Then it has been neither written nor replaced since its bytes were checked, unless somebody has
    set its time, or the disk has lost some.
    """
    with contextlib.suppress(OSError):
        return table.stat().st_mtime_ns == certificate_path(table).stat().st_mtime_ns
    return False


def renew_certificate(table: Path, modified: int) -> None:
    """Set the time of a certificate to that of a file checked again; raises `OSError`.

    modified : as for `write_certificate`
    """
    os.utime(certificate_path(table), ns=(modified, modified))


def leans_on_metric(above: Metric, below: Metric) -> bool:
    """Return whether a table may rest on one below it: DTM needs DTM."""
    return above == Metric.DTC or below == Metric.DTM


def _leans_on(name: TableName, premises: tuple[Premise, ...]) -> bool:
    """Return whether premises are tables that the values follow from, one of each material."""
    needed = {child.name for child in name.material.supporting()}
    return {premise.table.material.name for premise in premises} == needed and all(
        premise.table.rule_set == name.rule_set
        and leans_on_metric(name.metric, premise.table.metric)
        for premise in premises
    ) and len(premises) == len(needed)  # fmt: skip


# -- what a file may say -----------------------------------------------------------------------


def _table(value: object) -> TableName:
    if isinstance(value, str):
        name = TableName.parse(value + SUFFIX)
        if name is not None:
            return name
    raise schema.SchemaError("no name of a table")


_PREMISE = schema.record(Premise, {"table": _table, "digest": schema.DIGEST})
_CERTIFICATE = schema.record(
    Certificate,
    {
        "table": _table,
        "digest": schema.DIGEST,
        "supporting": schema.entries,
        "method": schema.text(r"[a-z0-9 -]{1,40}", "method"),
        "tbgen": schema.text(r"[0-9A-Za-z.+!_-]{1,40}", "version"),
        "seconds": schema.measure,
    },
)
"""The types and ranges of everything that is stored."""
