"""Proof of table files, their certificates, and plans for closures.

    file  ->  every block read and checked, once  ->  every position  ->  statistics recounted
              CorruptTableError                       findings            file problems
          ->  FileProof    proven    certificate beside the table (`tbgen.tables.certificates`)
                           refuted   no certificate; an existing one of these contents is removed

    names  ->  plan  ->  jobs, supporting tables first  ->  tbgen.scheduling  ->  TableProver

Supporting tables are trusted. Their digests, computed from the bytes read, are the premises of a
proof. A table with a valid certificate is not proven again, unless `force` is set. Only `certify`
writes or removes certificates. A `TableProver` with `certificates` calls it after each proof, so an
interrupted run keeps the certificates of finished proofs.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from tbgen import __version__
from tbgen.indexing import InputError, Material, Position, Side
from tbgen.rules.positions import check_legal
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
    set_certificate_time,
    write_certificate,
)
from tbgen.tables.proofs import Find, find_in_directory
from tbgen.verify.prove import verify
from tbgen.verify.report import METHOD, Progress, VerifyReport, no_progress


class FileTable(TableFile):
    """Table file as a `Table` for `verify`; its digest is computed from the bytes proven."""

    def __init__(self, path: Path, *, name: TableName) -> None:
        """Open the file, and check header and block table; raises the errors of `TableFile`."""
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
        """Return a tile as `Table.tile`, and write the digests of its blocks to `digests`.

        `digests` is by default the object's own list. Once this list has all digests, reading the
        last tile of a side also checks the file's digest. Raises `CorruptTableError` and `OSError`.
        """
        kept = self._digests if digests is None else digests
        runs = super().tile(side, number, numbers_of, kept)
        is_last = number == self.tiles(side) - 1
        if is_last and not self._is_checked and all(self._digests):
            self.check_digest(self._digests)
            self._is_checked = True
        return runs

    def check_rest(self) -> None:
        """Check the blocks that have not been read, and the digest of the file.

        Raises `CorruptTableError` and `OSError`.
        """
        if not self._is_checked:
            self.check_blocks(self._digests)
            self._is_checked = True


@dataclass(frozen=True, slots=True)
class FileProof:
    """Result of the proof of a table file, with the digests of this file and of supporting tables.

    Digests are in hex, computed from the bytes of the files. `modified` is the file's modification
    time before it was read, in ns.
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
    progress: Progress = no_progress,
    plain: bool = False,
    memory: int | None = None,
) -> FileProof:
    """Prove a table file, given its supporting tables; `find` returns a table's path or None.

    plain : as for `verify`
    memory : bytes for the process, None for no limit; planes that do not fit are kept in unnamed
        files beside the table

    Raises `CorruptTableError` for a damaged file, `MissingTableError` if the table or a supporting
    one is missing, and the errors of `supporting_names`, `TableFile` and `verify`.
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
            progress=progress,
            plain=plain,
            memory=None if memory is None else max(0, memory - _PROCESS),
            folder=file.path.parent,
        )
        for each in (file, *supporting.values()):
            each.check_rest()
        found = replace(found, file_problems=tuple(_check_statistics(file, found)))
        premises = tuple(
            Premise(each.header.spec.name, each.header.digest.hex()) for each in supporting.values()
        )
        return FileProof(file.path, name, file.header.digest.hex(), file.modified, premises, found)


def open_table(find: Find, name: TableName) -> FileTable:
    """Open the file of a table; raises `MissingTableError`, and the errors of `TableFile`."""
    path = find(name)
    if path is None:
        raise MissingTableError(name.material.name, name.rule_set)
    return FileTable(path, name=name)


def supporting_names(
    find: Find, name: TableName, absent: set[Material] | None = None
) -> list[TableName]:
    """Return the names of the supporting tables of a table, sorted by material.

    If a material has a DTM and a DTC table, the DTM table is taken. A material without a table is
    added to `absent`; if that is None, `MissingTableError` names all such materials. Raises
    `InputError` if a DTM table needs a material that has only a DTC table.
    """
    names = []
    missing = []
    for child in sorted(name.material.supporting(), key=lambda child: child.name):
        candidates = [replace(name, material=child, metric=metric) for metric in Metric]
        present = [candidate for candidate in candidates if find(candidate) is not None]
        if not present:
            missing.append(child)
        elif not metric_suffices(name.metric, present[0].metric):
            raise InputError(
                f"{name} counts to mate, but its supporting table {present[0]} does not",
                f"build {child} with --metric dtm",
            )
        names += present[:1]
    if absent is not None:
        absent.update(missing)
    elif missing:
        raise MissingTableError(" ".join(child.name for child in missing), name.rule_set)
    return names


def _check_statistics(file: TableFile, proof: VerifyReport) -> list[str]:
    """Return the faults of the stored statistics, as lines of text.

    Faults are differences from a recount, "longest positions" whose value is not the longest of
    their order, and orders without a longest position.
    """
    spec, stored = file.header.spec, file.statistics
    # Tables of older versions do not record the number of chase patterns.
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
        code = wanted.pop((entry.order, side), None)
        value = None if code is None else spec.codes.decode(code).number
        if code != _code_of(file, entry.fen, side) or value != entry.value:
            problems.append(
                f"{entry.fen} of value {entry.value} is no longest position of order "
                f"{entry.order}, {side.name.lower()} to move"
            )
    problems += [f"no longest position of order {order} is stored" for order, _ in wanted]
    return problems


def _code_of(file: TableFile, fen: str, side: Side) -> int | None:
    """Return the code that a table stores for the position of a FEN.

    None if the position is invalid or illegal, has another side to move than `side`, or another
    material.
    """
    try:
        position = Position.from_fen(fen)
        check_legal(position)
    except InputError:
        return None
    if position.side != side or position.armies != file.layout.armies:
        return None
    return file.code(side, file.layout.slot(position))


def _shorten(figure: object) -> str:
    """Return a value of the statistics as text for a message, cut to 60 characters."""
    text = str(figure)
    return text if len(text) <= 60 else text[:57] + "..."


def certify(proof: FileProof) -> list[str]:
    """Write the certificate of a proven table, or remove that of a refuted table.

    An existing certificate that differs only in version and seconds is kept, so that published
    copies stay equal; only its modification time is set. Beside a refuted table, a certificate that
    is invalid or of other contents is kept. Returns lines for the user about a removed certificate,
    or about one that could not be written or removed.
    """
    path = certificate_path(proof.path)
    try:
        if proof.report.ok:
            certificate = Certificate(
                table=proof.name,
                digest=proof.digest,
                supporting=proof.supporting,
                method=METHOD,
                tbgen=__version__,
                seconds=round(proof.report.seconds, 3),
            )
            found = _certificate_of(proof.path, proof.digest)
            if found and found == replace(certificate, tbgen=found.tbgen, seconds=found.seconds):
                set_certificate_time(proof.path, proof.modified)
            else:
                write_certificate(proof.path, certificate, proof.modified)
        elif _certificate_of(proof.path, proof.digest) is not None:
            path.unlink(missing_ok=True)
            return [f"{path.name} claimed a proof of these contents, and has been removed"]
    except OSError as error:
        if proof.report.ok:
            return [f"{path.name} could not be written: {error.strerror}"]
        return [f"{path.name} claims a proof, and could not be removed: {error.strerror}"]
    return []


def _certificate_of(path: Path, digest: str) -> Certificate | None:
    """Return the certificate beside a table; None if missing, invalid or of other contents.

    digest : that of the table, in hex
    """
    try:
        found = read_certificate(path)
    except CertificateError:
        return None
    return found if found is not None and found.digest == digest else None


_PROCESS = 300 << 20
"""Memory of a process in bytes before it reads a table, compiled kernels included."""

_PROVEN_PER_SECOND, _READ_PER_SECOND = 1e7, 1e8
"""Estimated speeds of a proof, and of checking a certificate, in bytes of codes per second."""


@dataclass(frozen=True, slots=True)
class ProvenTable:
    """Table with the report of its proof, or with the valid certificate that replaces a proof.

    Also the refuted table of a `RefutedError`, with its report. `digest` is in hex, computed from
    the table's bytes; `notes` are lines for the user.
    """

    name: TableName
    digest: str
    report: VerifyReport | None
    certificate: Certificate | None
    notes: tuple[str, ...] = ()

    @property
    def seconds(self) -> float:
        """Seconds that the proof took; 0 for a certificate."""
        return self.report.seconds if self.report else 0.0


class RefutedError(TablebaseError):
    """Raised if a proof refutes a table; `settled` is its `ProvenTable`, with the report."""

    def __init__(self, settled: ProvenTable) -> None:
        self.settled = settled
        super().__init__(f"{settled.name} is refuted")


@dataclass(frozen=True, slots=True)
class TableProver:
    """Picklable function that proves the table of a job, or checks its certificate.

    directory : the directory of the table and its supporting tables
    threads : number of threads of all processes together
    plain : as for `verify`
    force : whether to prove certified tables again
    certificates : whether to write, update and remove certificates
    """

    directory: Path
    threads: int
    plain: bool
    force: bool
    certificates: bool

    def __call__(self, start: Start) -> ProvenTable:
        """Prove the table of a job, or accept its valid certificate.

        Raises `RefutedError`, and the errors of `verify_file`.
        """
        name, find = start.job.payload, find_in_directory(self.directory)
        assert isinstance(name, TableName)
        threads = max(1, self.threads // start.jobs_at_once)
        covered = None if self.force else self._by_certificate(find, name, threads)
        if covered is not None:
            return covered
        proof = verify_file(find, name, threads=threads, plain=self.plain, memory=start.memory)
        notes = tuple(certify(proof)) if self.certificates else ()
        settled = ProvenTable(name, proof.digest, proof.report, None, notes)
        if not proof.report.ok:
            raise RefutedError(settled)
        return settled

    def _by_certificate(self, find: Find, name: TableName, threads: int) -> ProvenTable | None:
        """Return the table without a new proof if its certificate is valid; else None.

        The certificate must name this table and its digest, which is checked by reading the whole
        file, and the digests in the headers of the supporting tables. With `certificates`, a valid
        certificate gets the table's modification time. Raises the errors of `open_table` and
        `supporting_names`, and `CorruptTableError` for a damaged file.
        """
        with open_table(find, name) as file:
            digest = file.header.digest.hex()
            certificate = _certificate_of(file.path, digest)
            if certificate is None or certificate.table != name:
                return None
            premises = {premise.table: premise.digest for premise in certificate.supporting}
            if premises != {below: _digest(find, below) for below in supporting_names(find, name)}:
                return None
            file.check(threads=threads)
        if self.certificates:
            with contextlib.suppress(OSError):  # if times differ, `Proofs` reads the table
                set_certificate_time(file.path, file.modified)
        return ProvenTable(name, digest, None, certificate)


def plan(find: Find, names: Iterable[TableName], *, force: bool = False) -> list[Job]:
    """Return jobs for some tables and their closures, supporting tables first.

    The payload of a job is the `TableName`.

    find : returns the path of a table, or None
    force : whether certified tables will be proven again; changes only the estimated times

    Raises `MissingTableError` that names all missing tables, and the errors of `supporting_names`.
    """
    below: dict[TableName, list[TableName]] = {}
    absent: set[Material] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in below:
            continue
        if find(name) is None:
            absent.add(name.material)
        below[name] = supporting_names(find, name, absent)
        waiting += below[name]
    if absent:
        ordered = sorted(absent, key=lambda material: (material.men, material.name))
        raise MissingTableError(" ".join(map(str, ordered)), next(iter(below)).rule_set)

    def speed(name: TableName) -> float:
        path = find(name)
        is_certified = not force and path is not None and certificate_path(path).exists()
        return _READ_PER_SECOND if is_certified else _PROVEN_PER_SECOND

    sizes = {name: _plane_bytes(find, name) for name in below}
    return [
        Job(
            key=str(name),
            needs=tuple(map(str, below[name])),
            # Ranks take up to twice the bytes of codes, and candidates half as many as codes.
            memory=_PROCESS + sizes[name] * 5 // 2 + sum(sizes[other] for other in below[name]),
            seconds=sizes[name] / speed(name),
            payload=name,
        )
        for name in sorted(below, key=lambda name: (name.material.men, str(name)))
    ]


def _plane_bytes(find: Find, name: TableName) -> int:
    """Return the bytes of a table's codes, both sides to move; 0 if the file is unreadable."""
    try:
        with TableFile(find(name) or name.filename, name=name) as file:
            return 2 * file.header.slots * file.code_space.width
    except (TablebaseError, OSError):
        return 0


def _digest(find: Find, name: TableName) -> str:
    """Return the digest in the header of a table, in hex."""
    with open_table(find, name) as file:
        return file.header.digest.hex()
