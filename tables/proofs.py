"""Proof state of tables by certificates: a table is proven if the chain below it is whole.

    proven           its certificate is for these very contents, and every table that it names is
                     there with the contents that it names, and is proven itself
    proven but for   its own certificate holds; some tables below it are unproven, changed, damaged
                     or missing: they are named, and the table is right if they are
    unproven         no certificate, one of other contents, or an invalid one

The digest in the header identifies contents, as reliably as the checksums of blocks. A file whose
time of modification is not that of its certificate may have been written to: it is read as a whole,
and its digest computed. So the status of untouched files costs no more than opening them. Nothing
here proves or writes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from tbgen.tables.certificates import (
    Certificate,
    CertificateError,
    is_untouched,
    read_certificate,
)
from tbgen.tables.errors import TablebaseError
from tbgen.tables.names import TableName
from tbgen.tables.reader import TableFile

Find = Callable[[TableName], Path | None]
"""The file of a table, None if there is none."""


class ProofState(StrEnum):
    """State of a table's proof; the module's docstring defines the states."""

    PROVEN = "proven"
    BUT_FOR = "proven but for"
    UNPROVEN = "unproven"


class Fault(StrEnum):
    """Fault of a table that others rest on."""

    UNPROVEN = "unproven"
    CHANGED = "changed"
    DAMAGED = "damaged"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Gap:
    """A supporting table on which a proof cannot rest, and why."""

    table: TableName
    fault: Fault

    def __str__(self) -> str:
        """`KRK`, or `KRK (changed)`."""
        material = str(self.table.material)
        return material if self.fault == Fault.UNPROVEN else f"{material} ({self.fault})"


@dataclass(frozen=True, slots=True)
class ProofStatus:
    """State of a table's proof, with its faults.

    `gaps` are the tables that it is not proven without, by men and name; `reason` says why a
    certificate that is there proves nothing; `certificate` is the one that holds.
    """

    certificate: Certificate | None
    gaps: tuple[Gap, ...] = ()
    reason: str | None = None

    @property
    def state(self) -> ProofState:
        """In two words."""
        if self.certificate is None:
            return ProofState.UNPROVEN
        return ProofState.BUT_FOR if self.gaps else ProofState.PROVEN

    def to_json(self) -> dict[str, Any]:
        """The object that `ls`, `stats` and `verify` print with `--json`."""
        return {
            "status": str(self.state),
            "but_for": [
                {"table": str(gap.table), "fault": str(gap.fault)} for gap in self.gaps
            ],
            "reason": self.reason,
        }  # fmt: skip

    def __str__(self) -> str:
        """One line: `proven but for KRK (changed), KNK`."""
        if self.gaps:
            return f"{self.state} {', '.join(map(str, self.gaps))}"
        return f"{self.state}: {self.reason}" if self.reason else str(self.state)


@dataclass(frozen=True, slots=True)
class _Own:
    """Digest of a table, and its certificate if that holds."""

    digest: str
    certificate: Certificate | None
    reason: str | None = None


class Proofs:
    """The statuses of tables, each file looked at once; make a new one when files have changed."""

    def __init__(self, find: Find) -> None:
        self._find = find
        self._own: dict[TableName, _Own | TablebaseError | OSError] = {}
        self._gaps: dict[TableName, frozenset[Gap]] = {}

    def status(self, name: TableName) -> ProofStatus:
        """Return the state of a table's proof.

        Raises `CorruptTableError`, `FormatVersionError` and `OSError` if the file of the table
        itself cannot be read, `FileNotFoundError` if there is none.
        """
        own = self._look(name)
        if isinstance(own, Exception):
            raise own
        if own.certificate is None:
            return ProofStatus(None, reason=own.reason)
        gaps = sorted(self._below(name), key=lambda gap: (gap.table.material.men, str(gap.table)))
        return ProofStatus(own.certificate, tuple(gaps))

    def _below(self, name: TableName) -> frozenset[Gap]:
        """The gaps below a table whose own certificate holds; captures make no circles."""
        if name not in self._gaps:
            own = self._look(name)
            assert isinstance(own, _Own)
            assert own.certificate is not None
            gaps: set[Gap] = set()
            for premise in own.certificate.supporting:
                below = self._look(premise.table)
                if isinstance(below, FileNotFoundError):
                    gaps.add(Gap(premise.table, Fault.MISSING))
                elif isinstance(below, Exception):
                    gaps.add(Gap(premise.table, Fault.DAMAGED))
                elif below.digest != premise.digest:
                    gaps.add(Gap(premise.table, Fault.CHANGED))
                elif below.certificate is None:
                    gaps.add(Gap(premise.table, Fault.UNPROVEN))
                else:
                    gaps |= self._below(premise.table)
            self._gaps[name] = frozenset(gaps)
        return self._gaps[name]

    def _look(self, name: TableName) -> _Own | TablebaseError | OSError:
        """A table by itself, or what keeps it from being read."""
        if name not in self._own:
            try:
                self._own[name] = self._open(name)
            except (TablebaseError, OSError) as error:
                self._own[name] = error
        return self._own[name]

    def _open(self, name: TableName) -> _Own:
        path = self._find(name)
        if path is None:
            raise FileNotFoundError(f"there is no {name.filename}")
        with TableFile(path, name=name) as file:
            digest = file.header.digest.hex()
            try:
                certificate = read_certificate(path)
            except CertificateError as error:
                return _Own(digest, None, str(error))
            if certificate is None:
                return _Own(digest, None)
            if certificate.table != name:
                return _Own(digest, None, f"its certificate is one of {certificate.table}")
            if certificate.digest != digest:
                return _Own(digest, None, "it has changed since it was proven")
            if not is_untouched(path):
                file.check()
            return _Own(digest, certificate)


def in_directory(directory: Path) -> Find:
    """The tables of one directory."""

    def find(name: TableName) -> Path | None:
        path = directory / name.filename
        return path if path.exists() else None

    return find
