"""Proving closures: each table once, bottom-up, many at once; what is certified is only read.

    names  ->  plan   ->  Job, Job, ...  ->  tbgen.scheduling  ->  Settling, in some process
                          supporting tables first                  Settled, RefutedError

A table whose certificate holds is not proven again: its bytes are read, its digest computed, and
the digests of its supporting tables compared, whose own bytes were read when their turn came. What
rests on a table that is refuted, damaged or missing is left alone: nothing could be said of it.
Each proof leaves its certificate at once, so that whatever stops a run, the next one goes on from
there.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tbgen.scheduling.queue import Job, Start
from tbgen.tables import MissingTableError, TablebaseError, TableFile, TableName
from tbgen.tables.certificates import (
    Certificate,
    CertificateError,
    read_certificate,
    renew_certificate,
)
from tbgen.tables.proofs import Find, in_directory
from tbgen.verify.files import certify, open_table, supporting_names, verify_file
from tbgen.verify.report import VerifyReport

_PROCESS = 300 << 20
"""Bytes that a process takes before it has read a table, its compiled kernels included."""

_SLOTS_PER_SECOND = 1e6
"""About as many are proven; only ratios matter, to choose what is begun first."""


@dataclass(frozen=True, slots=True)
class Settled:
    """The way a table was settled: by a proof (`report`), or by the certificate that it has.

    `digest` is that of its contents, hex, computed from its bytes; `notes` are lines to tell.
    """

    name: TableName
    digest: str
    report: VerifyReport | None
    certificate: Certificate | None
    notes: tuple[str, ...] = ()


class RefutedError(TablebaseError):
    """A table is not what the rules make it; `settled` has the report."""

    def __init__(self, settled: Settled) -> None:
        self.settled = settled
        super().__init__(f"{settled.name} is refuted")


@dataclass(frozen=True, slots=True)
class Settling:
    """A call that settles tables, in any process: where they are, and how.

    threads : those of all processes together
    plain : whether positions are looked at one by one
    force : whether what is certified is proven again
    certificates : whether certificates are written
    """

    directory: Path
    threads: int
    plain: bool
    force: bool
    certificates: bool

    def __call__(self, start: Start) -> Settled:
        """Settle the table of a job.

        Raises `RefutedError`, and what `verify_file` raises.
        """
        name, find = start.job.payload, in_directory(self.directory)
        assert isinstance(name, TableName)
        threads = max(1, self.threads // start.beside)
        covered = None if self.force else self._by_certificate(find, name, threads)
        if covered is not None:
            return covered
        proof = verify_file(
            find,
            name,
            threads=threads,
            plain=self.plain,
            memory=max(0, start.memory - _PROCESS),
        )
        notes = tuple(certify(proof)) if self.certificates else ()
        settled = Settled(name, proof.digest, proof.report, None, notes)
        if not proof.report.ok:
            raise RefutedError(settled)
        return settled

    def _by_certificate(self, find: Find, name: TableName, threads: int) -> Settled | None:
        """The table as its certificate settles it; None where that does not."""
        with open_table(find, name) as file:
            try:
                certificate = read_certificate(file.path)
            except CertificateError:
                return None
            if certificate is None or certificate.table != name:
                return None
            premises = {premise.table: premise.digest for premise in certificate.supporting}
            if premises != {below: _digest(find, below) for below in supporting_names(find, name)}:
                return None
            file.check(threads=threads)
            digest = file.header.digest.hex()
        if certificate.digest != digest:
            return None
        if self.certificates:
            with contextlib.suppress(OSError):  # then its bytes are read again the next time
                renew_certificate(file.path, file.modified)
        return Settled(name, digest, None, certificate)


def plan(find: Find, names: Iterable[TableName]) -> list[Job]:
    """The tables of some closures as jobs, each once, bottom-up; the payload is the name.

    Raises `MissingTableError` where one is not there, and what `supporting_names` raises.
    """
    below: dict[TableName, list[TableName]] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in below:
            if find(name) is None:
                raise MissingTableError(name.material.name, name.rule_set)
            below[name] = supporting_names(find, name)
            waiting += below[name]
    sizes = {name: _plane_bytes(find, name) for name in below}
    return [
        Job(
            key=str(name),
            needs=tuple(map(str, below[name])),
            memory=_memory(sizes[name], sum(sizes[other] for other in below[name])),
            seconds=sizes[name] / _SLOTS_PER_SECOND,
            payload=name,
        )
        for name in sorted(below, key=lambda name: (name.material.men, str(name)))
    ]


def _memory(own: int, supporting: int) -> int:
    """Bytes of a proof, from those of the planes: its own twice, with what is noted of them."""
    return _PROCESS + 2 * own + supporting


def _plane_bytes(find: Find, name: TableName) -> int:
    """Bytes of both sides of a table; of one that cannot be read, whose job will say so, none."""
    try:
        with TableFile(find(name) or name.filename, name=name) as file:
            return 2 * file.header.slots * file.code_space.width
    except (TablebaseError, OSError):
        return 0


def _digest(find: Find, name: TableName) -> str:
    """Return what the header of a table says."""
    with open_table(find, name) as file:
        return file.header.digest.hex()
