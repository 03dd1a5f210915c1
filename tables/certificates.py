"""Certificates: files that `tbgen verify` writes beside tables that it has proven.

    KRNKR.wxf.dtm.xqt          a table
    KRNKR.wxf.dtm.proof.json   its certificate: a proof that the table is right, if the supporting
                               tables named in it are

A certificate identifies contents by digests and tables by names, not paths, so it also holds in a
copy of the directory. Its file gets the modification time of the table: equal times are a cheap
sign that the table has not been written since. Certificates are unsigned, so they can be forged.
"""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tbgen.tables import checked_json
from tbgen.tables.errors import TablebaseError
from tbgen.tables.files import open_to_read, replacing
from tbgen.tables.names import SUFFIX, Metric, TableName

FORM = 1
"""Version of the format of certificates; readers reject any other version."""

PROOF_SUFFIX = ".proof.json"

MAX_CERTIFICATE = 1 << 14
"""Most characters of a certificate; one with twelve supporting tables takes less than 2000."""


class CertificateError(TablebaseError):
    """An invalid certificate file; attributes are `file` and `reason`."""

    def __init__(self, file: Path, reason: str) -> None:
        self.file = file
        self.reason = reason
        super().__init__(f"{file.name} is no certificate: {reason}")


def _table(value: object) -> TableName:
    """Convert the name of a table, such as `KRNKR.wxf.dtm`; raises `SchemaError` for others."""
    if isinstance(value, str):
        name = TableName.parse(value + SUFFIX)
        if name is not None:
            return name
    raise checked_json.SchemaError("no name of a table")


@dataclass(frozen=True, slots=True)
class Premise:
    """A supporting table on which a proof rests: its name, and its digest in hex."""

    table: Annotated[TableName, _table]
    digest: Annotated[str, checked_json.DIGEST]


@dataclass(frozen=True, slots=True)
class Certificate:
    """Statement that a table's contents follow from the rules and its supporting tables.

    `digest` identifies the contents, in hex. `supporting` has one premise, in the order of names,
    for each material that a capture leads to and that needs a table. The other fields are
    informative: method of proof, version of the program, wall time in seconds.
    """

    table: Annotated[TableName, _table]
    digest: Annotated[str, checked_json.DIGEST]
    supporting: tuple[Premise, ...]
    method: Annotated[str, checked_json.text(r"[a-z0-9 -]{1,40}", "method")]
    tbgen: Annotated[str, checked_json.text(r"[0-9A-Za-z.+!_-]{1,40}", "version")]
    seconds: Annotated[float, checked_json.non_negative]

    def to_text(self) -> str:
        """Return the JSON text of the certificate."""
        fields = {"certificate": FORM} | {name: getattr(self, name) for name in self.__slots__}
        fields["supporting"] = [
            {"table": premise.table, "digest": premise.digest} for premise in self.supporting
        ]
        return json.dumps(fields, indent=2, default=str) + "\n"

    @classmethod
    def from_text(cls, text: str) -> Certificate:
        """Parse the JSON text of a certificate; unknown members are ignored.

        Raises `SchemaError` for a text that is too long, for another `FORM`, for missing or invalid
        values, and unless `supporting` has one table, with the rule set of `table` and with a
        metric that suffices, for each material that a capture leads to.
        """
        if len(text) > MAX_CERTIFICATE:
            raise checked_json.SchemaError(f"longer than {MAX_CERTIFICATE} characters")
        certificate = checked_json.parse_record(text, cls, certificate=FORM)
        name, below = certificate.table, [premise.table for premise in certificate.supporting]
        needed = sorted(child.name for child in name.material.supporting())
        if needed != sorted(table.material.name for table in below) or not all(
            table.rule_set == name.rule_set and metric_suffices(name.metric, table.metric)
            for table in below
        ):
            raise checked_json.SchemaError("other supporting tables than captures lead to")
        return certificate


def certificate_path(table: Path) -> Path:
    """Return the path of the certificate of a table file."""
    return table.with_name(table.name.removesuffix(SUFFIX) + PROOF_SUFFIX)


def read_certificate(table: Path) -> Certificate | None:
    """Return the certificate of a table file, None without one; raises `CertificateError`."""
    path = certificate_path(table)
    try:
        with os.fdopen(open_to_read(path), "r", encoding="utf-8") as file:
            return Certificate.from_text(file.read(MAX_CERTIFICATE + 1))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CertificateError(path, error.strerror or "unreadable") from None
    except checked_json.SchemaError as error:
        raise CertificateError(path, str(error)) from None
    except UnicodeDecodeError:
        raise CertificateError(path, "no text") from None


def write_certificate(table: Path, certificate: Certificate, modified: int) -> None:
    """Write the certificate of a table file, whole or not at all; raises `OSError`.

    modified : as in `set_certificate_time`
    """
    with replacing(certificate_path(table)) as file:
        file.write(certificate.to_text().encode("ascii"))
    set_certificate_time(table, modified)


def is_unmodified(table: Path) -> bool:
    """Return whether a table file has the modification time of its certificate.

    Equal times are a sign that the file has not been written since its bytes were checked. False if
    one of the files is missing.
    """
    with contextlib.suppress(OSError):
        return table.stat().st_mtime_ns == certificate_path(table).stat().st_mtime_ns
    return False


def set_certificate_time(table: Path, modified: int) -> None:
    """Set the modification time of a table's certificate; raises `OSError`.

    modified : the table's time of modification in ns, read before its bytes were checked
    """
    os.utime(certificate_path(table), ns=(modified, modified))


def metric_suffices(above: Metric, below: Metric) -> bool:
    """Return whether the proof of a table may rest on a supporting table, by their metrics.

    above : metric of the proven table
    below : metric of the supporting table

    A DTM table needs DTM tables. A DTC table counts no further than a capture, so it may use
    either.
    """
    return above == Metric.DTC or below == Metric.DTM
