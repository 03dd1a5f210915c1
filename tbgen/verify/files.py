"""Proving a table file: its bytes, its values, its figures; and the certificate that says so.

    file  ->  every block read and checked, once  ->  every position  ->  the statistics recounted
              CorruptTableError                       findings            file problems
          ->  FileProof    proven    the certificate beside the table (`tbgen.tables.certificates`)
                           refuted   none, and one that says otherwise of these contents goes

The supporting tables are taken as they are, but their digests are computed from the bytes that are
read, so that a proof can say what it rests on. A table that counts to mate leans on tables that
count to mate; one that counts to conversion on any. `certify` alone writes. A directory that cannot
be written to is no reason to fail: a proof is a proof, and what was not written is said.

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
from dataclasses import dataclass, replace
from pathlib import Path

from tbgen import __version__
from tbgen.indexing import InputError, Position, Side
from tbgen.scheduling.queue import Job, Start
from tbgen.tables import (
    Metric,
    MissingTableError,
    TablebaseError,
    TableFile,
    TableName,
    TableStatistics,
    longest_codes,
)
from tbgen.tables.blocks import Codes, NumbersOf
from tbgen.tables.certificates import (
    Certificate,
    CertificateError,
    Premise,
    certificate_path,
    metric_suffices,
    read_certificate,
    renew_certificate,
    write_certificate,
)
from tbgen.tables.proofs import Find, in_directory
from tbgen.verify.prove import verify
from tbgen.verify.report import METHOD, Progress, VerifyReport, no_progress


class FileTable(TableFile):
    """A table file as `verify` takes it: its digest is that of the very bytes that are proven."""

    def __init__(self, path: Path, *, name: TableName) -> None:
        """Open it; nothing is checked but the header."""
        self.modified = path.stat().st_mtime_ns
        super().__init__(path, name=name)
        self._digests = [b""] * sum(self.header.blocks)
        self._is_checked = False

    def tile(
        self,
        side: int,
        number: int,
        numbers_of: NumbersOf | None = None,
        digests: list[bytes] | None = None,
    ) -> list[tuple[int, Codes]]:
        """Return what stands for the codes of one tile; arbitrary where no position is.

        Raises `CorruptTableError`, for a wrong digest as soon as all tiles have been read.
        """
        runs = super().tile(side, number, numbers_of, digests or self._digests)
        if not self._is_checked and all(self._digests):
            self.check_digest(self._digests)
            self._is_checked = True
        return runs

    def check_rest(self) -> None:
        """Read and check what no tile was asked of: a side that no capture leads to."""
        if not self._is_checked:
            self.check_blocks(self._digests)
            self._is_checked = True


@dataclass(frozen=True, slots=True)
class FileProof:
    """Findings of the proof of a table file, of which contents, and given which.

    `digest` is that of the contents, hex, computed from the bytes of the file; so are those of the
    supporting tables. `modified` is the file's time of modification before they were read, ns.
    """

    path: Path
    name: TableName
    digest: str
    modified: int
    supporting: tuple[Premise, ...]
    report: VerifyReport


def verify_file(
    find: Find,
    name: TableName,
    *,
    threads: int,
    report: Progress = no_progress,
    plain: bool = False,
    memory: int | None = None,
) -> FileProof:
    """Prove a table, given its supporting tables; `find` says where the files are.

    plain : whether positions are looked at one by one
    memory : bytes; planes for which there is none left are kept in files without names beside the
        table

    Raises `CorruptTableError` for a damaged file, `MissingTableError` where the table or a
    supporting one is not there, and what `TableFile` and `verify` raise.
    """
    with contextlib.ExitStack() as files:
        file = files.enter_context(open_table(find, name))
        supporting = {
            below.material.name: files.enter_context(open_table(find, below))
            for below in supporting_names(find, name)
        }
        found = verify(
            file,
            lambda child: supporting[child.name],
            rule_set=name.rule_set,
            threads=threads,
            report=report,
            plain=plain,
            memory=memory,
            folder=file.path.parent,
        )
        for each in supporting.values():
            each.check_rest()
        found = replace(found, file_problems=tuple(_check_statistics(file, found)))
        premises = tuple(
            Premise(each.header.spec.name, each.header.digest.hex()) for each in supporting.values()
        )
        return FileProof(file.path, name, file.header.digest.hex(), file.modified, premises, found)


def open_table(find: Find, name: TableName) -> FileTable:
    """The file of a table; raises `MissingTableError` where it is not there."""
    path = find(name)
    if path is None:
        raise MissingTableError(name.material.name, name.rule_set)
    return FileTable(path, name=name)


def supporting_names(find: Find, name: TableName) -> list[TableName]:
    """The tables that a table was made from, by name of material; of two metrics, to mate.

    Raises `MissingTableError`, and `InputError` where the table that is there counts to conversion
    and this one does not.
    """
    needed = {child.name: child for child in name.material.captures().values() if child.needs_table}
    names = []
    for child in (needed[each] for each in sorted(needed)):
        candidates = [replace(name, material=child, metric=metric) for metric in Metric]
        present = [candidate for candidate in candidates if find(candidate) is not None]
        if not present:
            raise MissingTableError(child.name, name.rule_set)
        if not metric_suffices(name.metric, present[0].metric):
            raise InputError(
                f"{name} counts to mate, but its supporting table {present[0]} does not",
                f"build {child} with --metric dtm",
            )
        names.append(present[0])
    return names


def _check_statistics(file: TableFile, proof: VerifyReport) -> list[str]:
    """Return what the stored statistics say that the positions do not."""
    spec, stored = file.header.spec, file.statistics
    # Tables written before patterns were counted claim nothing about them.
    recorded = any(order.chase_patterns is not None for order in stored.orders)
    counted = TableStatistics.from_histograms(
        spec.name, spec.codes, file.layout.slots, proof.histograms, {},
        proof.chase_patterns if recorded else None,
    )  # fmt: skip
    recount = counted.to_json()
    problems = [
        f"the stored {field} is {_shorten(ours)}, counted is {_shorten(recount[field])}"
        for field, ours in stored.to_json().items()
        if field != "longest" and ours != recount[field]
    ]
    wanted = {
        (order, side): code
        for side in Side
        for order, code in longest_codes(proof.histograms[side], spec.codes).items()
    }
    for entry in stored.longest:
        side = entry.side
        if wanted.pop((entry.order, side), None) != _code_of(file, entry.fen, side):
            problems.append(
                f"{entry.fen} is no longest position of order {entry.order}, "
                f"{side.name.lower()} to move"
            )
    problems += [f"no longest position of order {order} is stored" for order, _ in wanted]
    return problems


def _code_of(file: TableFile, fen: str, side: Side) -> int | None:
    """The code of a position, None where the FEN names none of this table with `side` to move."""
    try:
        position = Position.from_fen(fen)
    except InputError:
        return None
    if position.side != side or position.armies != file.layout.armies:
        return None
    return file.code(side, file.layout.slot(position))


def _shorten(figure: object) -> str:
    """A figure for a message."""
    text = str(figure)
    return text if len(text) <= 60 else text[:57] + "..."


def certify(proof: FileProof) -> list[str]:
    """Let the certificate beside a table say what a proof found; what is to be noted, as lines."""
    path = certificate_path(proof.path)
    try:
        if proof.report.ok:
            write_certificate(proof.path, certificate_of(proof), proof.modified)
        elif _claims(proof):
            path.unlink(missing_ok=True)
            return [f"{path.name} claimed a proof of these contents, and has been removed"]
    except OSError as error:
        if proof.report.ok:
            return [f"{path.name} could not be written: {error.strerror}"]
        return [f"{path.name} claims a proof, and could not be removed: {error.strerror}"]
    return []


def certificate_of(proof: FileProof) -> Certificate:
    """The certificate of a proof without findings."""
    return Certificate(
        table=proof.name,
        digest=proof.digest,
        supporting=proof.supporting,
        method=METHOD,
        tbgen=__version__,
        seconds=round(proof.report.seconds, 3),
    )


def _claims(proof: FileProof) -> bool:
    """Return whether the certificate beside the table is one of these contents."""
    try:
        found = read_certificate(proof.path)
    except CertificateError:
        return False
    return found is not None and found.digest == proof.digest


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
