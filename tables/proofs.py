"""Proof status of tables: a table is proven if all certificates of its closure hold.

A certificate has the digest of the proven table, and of each supporting table (after a capture).

    proven           its certificate is for these contents, and every supporting table that it
                     names is present with the named contents, and is proven itself
    proven but for   its certificate is for these contents, but the listed supporting tables,
                     direct or indirect, are unproven, changed, damaged or missing
    unproven         no certificate, one of other contents, or an invalid one

Contents are compared by the digest in the header. A file whose time of modification differs from
its certificate's may have been written since, and is read completely. Other files are only opened.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from tbgen.tables.certificates import (
    Certificate,
    CertificateError,
    Premise,
    certificate_path,
    is_unmodified,
    read_certificate,
)
from tbgen.tables.errors import TablebaseError
from tbgen.tables.names import TableName
from tbgen.tables.reader import TableFile

Find = Callable[[TableName], Path | None]
"""Function that returns the path of a table, or None if the table is missing."""


class ProofState(StrEnum):
    """State of a table's proof, as defined in the module's docstring."""

    PROVEN = "proven"
    BUT_FOR = "proven but for"
    UNPROVEN = "unproven"


class Fault(StrEnum):
    """Reason why a proof cannot use a supporting table."""

    UNPROVEN = "unproven"
    CHANGED = "changed"
    DAMAGED = "damaged"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Gap:
    """A supporting table, direct or indirect, that a proof cannot use, and its fault."""

    table: TableName
    fault: Fault

    def __str__(self) -> str:
        """Return `KRK`, or `KRK (changed)`."""
        material = str(self.table.material)
        return material if self.fault == Fault.UNPROVEN else f"{material} ({self.fault})"


@dataclass(frozen=True, slots=True)
class ProofStatus:
    """State of a table's proof.

    `certificate` is None unless the table has one that is valid for its contents. `gaps` are sorted
    by number of pieces and name. `reason` tells why an existing certificate is invalid, or is None.
    """

    certificate: Certificate | None
    gaps: tuple[Gap, ...] = ()
    reason: str | None = None

    @property
    def state(self) -> ProofState:
        """State of the proof, which follows from `certificate` and `gaps`."""
        if self.certificate is None:
            return ProofState.UNPROVEN
        return ProofState.BUT_FOR if self.gaps else ProofState.PROVEN

    def to_json(self) -> dict[str, Any]:
        """Return the member `proof` of the JSON of `ls`, `stats`, `verify` and the board."""
        return {
            "status": str(self.state),
            "but_for": [
                {"table": str(gap.table), "fault": str(gap.fault)} for gap in self.gaps
            ],
            "reason": self.reason,
        }  # fmt: skip

    def __str__(self) -> str:
        """Return one line, such as `proven but for KRK (changed), KNK` or `unproven: REASON`."""
        if self.gaps:
            return f"{self.state} {', '.join(map(str, self.gaps))}"
        return f"{self.state}: {self.reason}" if self.reason else str(self.state)


class Proofs:
    """Proof statuses of tables, kept once found: create a new object after files have changed."""

    def __init__(self, find: Find) -> None:
        self._find = find
        self._own: dict[TableName, tuple[str, ProofStatus] | TablebaseError | OSError] = {}
        self._gaps: dict[TableName, frozenset[Gap]] = {}

    def status(self, name: TableName) -> ProofStatus:
        """Return the status of a table's proof.

        Raises `CorruptTableError`, `FormatVersionError` and `OSError` if the file cannot be read,
        `FileNotFoundError` if it is missing. Like a status, the error is kept.
        """
        own = self._digest_and_status(name)
        if isinstance(own, Exception):
            raise own
        if own[1].certificate is None:
            return own[1]
        gaps = sorted(self._gaps_of(name), key=lambda gap: (gap.table.material.men, str(gap.table)))
        return replace(own[1], gaps=tuple(gaps))

    def status_so_far(self, name: TableName) -> ProofStatus | None:
        """Return or raise like `status` if that certainly reads no whole file; else return None."""
        return self.status(name) if self._is_known(name) else None

    def _is_known(self, name: TableName) -> bool:
        """Return whether `status` certainly reads no whole file; if so, the gaps are stored."""
        if name in self._gaps:
            return True
        path = None if name in self._own else self._find(name)
        if path is not None and certificate_path(path).exists() and not is_unmodified(path):
            return False
        known = all(self._is_known(premise.table) for premise in self._premises(name))
        if known:
            self._gaps_of(name)
        return known

    def _premises(self, name: TableName) -> tuple[Premise, ...]:
        """Return the supporting tables that a table's valid certificate names."""
        own = self._digest_and_status(name)
        if isinstance(own, Exception) or own[1].certificate is None:
            return ()
        return own[1].certificate.supporting

    def _gaps_of(self, name: TableName) -> frozenset[Gap]:
        """Return the gaps below a table, direct and indirect; captures form no cycles."""
        if name not in self._gaps:
            gaps: set[Gap] = set()
            for premise in self._premises(name):
                below = self._digest_and_status(premise.table)
                if isinstance(below, FileNotFoundError):
                    gaps.add(Gap(premise.table, Fault.MISSING))
                elif isinstance(below, Exception):
                    gaps.add(Gap(premise.table, Fault.DAMAGED))
                elif below[0] != premise.digest:
                    gaps.add(Gap(premise.table, Fault.CHANGED))
                elif below[1].certificate is None:
                    gaps.add(Gap(premise.table, Fault.UNPROVEN))
                else:
                    gaps |= self._gaps_of(premise.table)
            self._gaps[name] = frozenset(gaps)
        return self._gaps[name]

    def _digest_and_status(
        self, name: TableName
    ) -> tuple[str, ProofStatus] | TablebaseError | OSError:
        """Return a table's digest in hex and its status with empty `gaps`, or the reading error."""
        if name not in self._own:
            try:
                self._own[name] = self._read(name)
            except (TablebaseError, OSError) as error:
                self._own[name] = error
        return self._own[name]

    def _read(self, name: TableName) -> tuple[str, ProofStatus]:
        """Read a table's digest in hex and its status, with empty `gaps`, from its files."""
        path = self._find(name)
        if path is None:
            raise FileNotFoundError(f"there is no {name.filename}")
        with TableFile(path, name=name) as file:
            digest, certificate, reason = file.header.digest.hex(), None, None
            try:
                certificate = read_certificate(path)
            except CertificateError as error:
                reason = str(error)
            if certificate is not None and certificate.table != name:
                reason = f"its certificate is one of {certificate.table}"
            elif certificate is not None and certificate.digest != digest:
                reason = "it has changed since it was proven"
            elif certificate is not None and not is_unmodified(path):
                file.check()
            return digest, ProofStatus(None if reason else certificate, reason=reason)


def find_in_directory(directory: Path) -> Find:
    """Return a function that finds tables in one directory."""

    def find(name: TableName) -> Path | None:
        path = directory / name.filename
        return path if path.exists() else None

    return find
