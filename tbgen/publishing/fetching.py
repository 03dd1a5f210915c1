"""Download of a file from one of several sources: resumed, verified, then named.

    index  ->  an entry  ->  .NAME.part, as many bytes as the index says  ->  SHA-256  ->  NAME

An interrupted download leaves the partial file `.NAME.part`, from which the next download resumes.
If the completed file has a wrong hash, the fault is in the bytes of earlier downloads (the *earlier
bytes*) or in those of the current source. So the source's own first bytes are read in their place,
only to be hashed with the rest. If this hash is right, the whole file is downloaded from this
source. Otherwise the earlier bytes are kept for other sources. The table is locked during a
download, as during a build.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import BinaryIO, TypeVar

from tbgen.indexing.errors import InputError
from tbgen.publishing.index import (
    INDEX,
    MAX_INDEX,
    BadIndexError,
    Entry,
    hash_of,
    read_index,
)
from tbgen.publishing.sources import Source, SourceError
from tbgen.system.units import format_bytes
from tbgen.tables.certificates import (
    MAX_CERTIFICATE,
    PROOF_SUFFIX,
    Certificate,
    read_certificate,
    set_certificate_time,
)
from tbgen.tables.errors import TablebaseError
from tbgen.tables.files import continuing, locked
from tbgen.tables.reader import TableFile

CHUNK = 1 << 20
"""Largest number of bytes that are read and written at a time."""

INDEX_SECONDS = 300.0
"""Time limit for downloading an index."""

TRIES = 10
"""Maximum number of times that all sources are tried for one file."""

RETRY_BYTES = 1 << 19
"""Minimum number of bytes that a try of all sources must add to the file for another try: more than
a slow server sends before its connection is shut down (`sources`).
"""

PAUSE_SECONDS = 1.0

_OTHER_HINT = "move the table away, or choose another directory with --tables"

Answer = TypeVar("Answer")

Report = Callable[[int], object]
"""Progress callback of a download, called with the number of bytes of the file so far."""


class FetchError(SourceError):
    """Error of `fetch_index` and `fetch`: no valid index, no such file, or another table exists.

    `strerror` has the reason, for each source; `hint` suggests a remedy.
    """

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(0, message)
        self.hint = hint


def fetch_index(sources: Sequence[Source]) -> list[Entry]:
    """Return the entries of the index of the first source that has a valid index.

    Raises `FetchError` with the reasons of all sources if none has one.
    """

    def read(source: Source) -> list[Entry]:
        found = bytearray()
        with source.reading(INDEX, 0, INDEX_SECONDS) as (stream, _):
            while len(found) <= MAX_INDEX and (chunk := stream.read(CHUNK)):
                found += chunk
        try:
            return read_index(bytes(found), source)
        except BadIndexError as error:
            raise SourceError(0, f"{source}/{INDEX}: {error.message}") from None

    hint = f"name a folder that has an {INDEX}, as tbgen index writes it, with --from"
    return _first_success(sources, read, hint)


def _first_success(sources: Sequence[Source], ask: Callable[[Source], Answer], hint: str) -> Answer:
    """Return `ask(source)` for the first source that does not raise `SourceError`.

    If all do, raises `FetchError` with their reasons and with `hint`.
    """
    reasons = []
    for source in sources:
        try:
            return ask(source)
        except SourceError as error:
            reasons.append(str(error.strerror))
    raise FetchError("; ".join(reasons), hint)


def fetch(
    entry: Entry, sources: Sequence[Source], directory: Path, report: Report = lambda count: None
) -> bool:
    """Download the file of an index entry, unless it exists; return whether it was downloaded.

    An existing table is kept if it has the same contents, however they are compressed. An existing
    certificate is kept if it is about the table beside it, else replaced by one that is.

    Raises `OSError`; `FetchError` if a table of that name is damaged or has other contents, if a
    certificate's table is missing or has other contents, or if no source provides the file;
    `BlockingIOError` if a build or download has locked the table.
    """
    path = directory / entry.file
    table = entry.table
    is_table = not path.name.endswith(PROOF_SUFFIX)
    beside = directory / table.filename

    def is_present() -> bool:
        return path.exists() if is_table else _is_certified(beside)

    if not is_table and not beside.exists():
        raise FetchError("its table is missing", "name another source with --from")
    fetched = False
    if not is_present():  # a complete table needs no lock, which a read-only directory refuses
        with locked(directory / table.lock):
            if not is_present():  # a build or another download may just have ended
                with continuing(path) as part:
                    _fetch_part(part, entry, sources, report)
                    if not is_table and not _is_certificate_of(part, beside):
                        _truncate(part, 0)
                        raise FetchError("it is no certificate of the table here", _OTHER_HINT)
                fetched = True
    if is_table and not fetched and not _has_contents(path, entry):
        raise FetchError(f"{path} exists, and differs from the file in the index", _OTHER_HINT)
    return fetched


def date_certificate(table: Path) -> None:
    """Give the certificate about a table, if there is one, the table's time of modification.

    This records that the table's bytes were checked (`tbgen.tables.proofs`). Raises `OSError` if
    the table or certificate cannot be read.
    """
    if _is_certified(table):
        with contextlib.suppress(OSError):  # of another user: a reader then reads the table whole
            set_certificate_time(table, table.stat().st_mtime_ns)


def require_room(entries: Iterable[Entry], directory: Path) -> None:
    """Raise `InputError` if a directory has less free space than the entries' missing bytes.

    Bytes of existing and partial files are not missing. Raises `OSError` without such a directory.
    """
    missing = 0
    for entry in entries:
        parts = (directory / entry.file, directory / f".{entry.file}.part")
        present = next((path.stat().st_size for path in parts if path.exists()), 0)
        missing += max(0, entry.bytes - present)
    free = shutil.disk_usage(directory).free
    if missing > free:
        raise InputError(
            f"{format_bytes(missing)} are to be fetched, and {directory} has "
            f"{format_bytes(free)} left",
            "fetch fewer materials, or name another directory with --tables",
        )


def _is_certified(table: Path) -> bool:
    """Return whether a table's certificate has the digest that the table's header has."""
    try:
        certificate = read_certificate(table)
        return certificate is not None and _is_about(certificate, table)
    except (FileNotFoundError, TablebaseError):
        return False


def _is_certificate_of(part: BinaryIO, table: Path) -> bool:
    """Return whether a file is a certificate with the digest that a table's header has."""
    part.seek(0)
    try:
        text = part.read(MAX_CERTIFICATE + 1).decode("utf-8")
        return _is_about(Certificate.from_text(text), table)
    except (TablebaseError, ValueError):  # SchemaError is a ValueError
        return False


def _is_about(certificate: Certificate, table: Path) -> bool:
    """Return whether a certificate has the digest in a table's header; raises like `TableFile`."""
    with TableFile(table, name=certificate.table) as file:
        return file.header.digest.hex() == certificate.digest


def _has_contents(path: Path, entry: Entry) -> bool:
    """Return whether an existing table has the contents of an index entry; raises `OSError`."""
    if hash_of(path) == (entry.bytes, entry.sha256):
        return True
    try:
        with TableFile(path, name=entry.table) as file:
            file.check()
            return file.header.digest.hex() == entry.digest
    except TablebaseError:
        return False


class _WrongContentError(SourceError):
    """Error of a source whose file is not the one that the index describes."""


def _fetch_part(part: BinaryIO, entry: Entry, sources: Sequence[Source], report: Report) -> None:
    """Complete a partial file from the sources, in at most `TRIES` tries.

    A further try is made only if the last one has added `RETRY_BYTES`.
    """
    wrong: dict[Source, _WrongContentError] = {}

    def ask(source: Source) -> None:
        if source in wrong:
            raise wrong[source]
        try:
            _continue(part, entry, source, report)
        except _WrongContentError as error:
            wrong[source] = error
            raise

    for tries in range(1, TRIES + 1):
        before = part.seek(0, os.SEEK_END)
        try:
            _first_success(sources, ask, "")
            return
        except FetchError as error:
            now = part.seek(0, os.SEEK_END)
            if now < before + RETRY_BYTES or tries == TRIES:
                resumes = "; the same command resumes the download" if now else ""
                error.hint = f"name another source with --from{resumes}"
                raise
        time.sleep(PAUSE_SECONDS)


def _continue(part: BinaryIO, entry: Entry, source: Source, report: Report) -> None:
    """Download the missing end of a partial file from one source, and verify the file's hash.

    If the hash shows that the earlier bytes are wrong, the whole file is downloaded. A
    `_WrongContentError` leaves only the earlier bytes in `part`, none if they are wrong.
    """
    earlier = part.seek(0, os.SEEK_END)
    if earlier == entry.bytes and _is_complete(part, entry):
        return
    if earlier >= entry.bytes:
        earlier = _truncate(part, 0)
    have = earlier
    with source.reading(entry.file, have) as (stream, begin):
        # A server without ranges sends the whole file: pass over what is here.
        while begin < have and (chunk := stream.read(min(CHUNK, have - begin))):
            begin += len(chunk)
        while chunk := stream.read(min(CHUNK, entry.bytes - have + 1)):
            if have + len(chunk) > entry.bytes:
                _truncate(part, earlier)
                raise _WrongContentError(0, f"{source}: {entry.file} is longer than the index says")
            part.write(chunk)
            have += len(chunk)
            report(have)
    if have < entry.bytes:
        raise SourceError(
            0, f"{source}: {entry.file} ended after {have:,} of {entry.bytes:,} bytes"
        )
    if _is_complete(part, entry):
        return
    try:
        is_right = earlier > 0 and _begins_right(part, entry, source, earlier)
    finally:
        _truncate(part, earlier)
    if not is_right:
        raise _WrongContentError(0, f"{source}: {entry.file} has another hash than the index says")
    _truncate(part, 0)
    _continue(part, entry, source, report)


def _is_complete(part: BinaryIO, entry: Entry) -> bool:
    part.seek(0)
    return hashlib.file_digest(part, "sha256").hexdigest() == entry.sha256  # type: ignore[arg-type]


def _begins_right(part: BinaryIO, entry: Entry, source: Source, earlier: int) -> bool:
    """Return whether a source's file has the right hash; if so, the beginning of `part` is wrong.

    `part` is a complete file. Its first `earlier` bytes are of earlier downloads, the others of
    this source. So only the former are read from the source.
    """
    digest, left = hashlib.sha256(), earlier
    with source.reading(entry.file, 0) as (stream, _):
        while left and (chunk := stream.read(min(CHUNK, left))):
            digest.update(chunk)
            left -= len(chunk)
    part.seek(earlier)
    while chunk := part.read(CHUNK):
        digest.update(chunk)
    return digest.hexdigest() == entry.sha256


def _truncate(part: BinaryIO, size: int) -> int:
    """Truncate a partial file to `size` bytes, move to its end, and return `size`."""
    part.seek(size)
    part.truncate()
    return size
