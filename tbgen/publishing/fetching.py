"""Download of a file from one of several sources: resumed, verified, then named.

    index  ->  an entry  ->  .NAME.part, as many bytes as the index says  ->  SHA-256  ->  NAME

An interrupted download leaves the part, from which the next one resumes. A part with a wrong hash
is emptied. If it had bytes of an earlier download, the same source is tried once more; else the
next source. The table is locked during a download, as during a build.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO, TypeVar

from tbgen.publishing.index import INDEX, MAX_INDEX, Entry, decoded, hash_of, read_index
from tbgen.publishing.sources import Source, SourceError
from tbgen.tables.files import continuing, locked
from tbgen.tables.names import Metric, TableName

CHUNK = 1 << 20
"""Largest number of bytes that are read and written at a time."""

INDEX_SECONDS = 300.0
"""Time limit for downloading an index."""

Answer = TypeVar("Answer")

Report = Callable[[int], object]
"""Progress callback of a download, called with the number of bytes of the file so far."""


class FetchError(SourceError):
    """Raised if no source has the file as listed, or if another file has its name here.

    `strerror` has the reason, for each source; `hint` suggests a remedy.
    """

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(0, message)
        self.hint = hint


def fetch_index(sources: Sequence[Source]) -> list[Entry]:
    """Return the entries of the index of the first source that has an index.

    Raises `FetchError` if no source has one, and `BadIndexError`.
    """

    def read(source: Source) -> tuple[bytes, Source]:
        found = bytearray()
        with source.reading(INDEX, 0, INDEX_SECONDS) as (stream, _):
            while len(found) <= MAX_INDEX and (chunk := stream.read(CHUNK)):
                found += chunk
        return bytes(found), source

    hint = f"name a folder that has an {INDEX}, as tbgen index writes it, with --from"
    return read_index(decoded(*_first_success(sources, read, hint)))


def _first_success(sources: Sequence[Source], ask: Callable[[Source], Answer], hint: str) -> Answer:
    """Return the result of `ask(source)` for the first source that does not raise `SourceError`.

    Raises `FetchError` with the reasons of all sources if all fail.
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

    Raises `FetchError` if a file of that name has another hash, or if no source provides it;
    `BlockingIOError` if a build or another download has locked the table; and `OSError`.
    """
    path = directory / entry.file
    table = entry.table
    lock = TableName(table.material, table.rule_set, Metric.DTM)
    with locked(directory / f".{lock}.lock"):
        if path.exists():
            if hash_of(path) != (entry.bytes, entry.sha256):
                raise FetchError(
                    f"{path} exists, and differs from the file in the index",
                    "move it away, or choose another directory with --tables",
                )
            return False
        hint = "name another source with --from; the same command resumes the download"
        with continuing(path) as part:
            _first_success(sources, lambda source: _continue(part, entry, source, report), hint)
        return True


def _continue(part: BinaryIO, entry: Entry, source: Source, report: Report) -> None:
    """Download the missing end of a partial file from one source, and verify the file's hash.

    A wrong hash may be due to bytes of earlier downloads, even from other sources. Then the whole
    file is downloaded once more. Raises `SourceError` if its hash is wrong again.
    """
    have = part.seek(0, os.SEEK_END)
    if have > entry.bytes:
        have = _truncate(part)
    others = have
    if have < entry.bytes:
        with source.reading(entry.file, have) as (stream, begin):
            if begin != have:
                have = others = _truncate(part)
            while chunk := stream.read(min(CHUNK, entry.bytes - have + 1)):
                if have + len(chunk) > entry.bytes:
                    _truncate(part)
                    raise SourceError(0, f"{source}: {entry.file} is longer than the index says")
                part.write(chunk)
                have += len(chunk)
                report(have)
        if have < entry.bytes:
            raise SourceError(
                0, f"{source}: {entry.file} ended after {have:,} of {entry.bytes:,} bytes"
            )
    part.seek(0)
    if hashlib.file_digest(part, "sha256").hexdigest() != entry.sha256:  # type: ignore[arg-type]
        _truncate(part)
        if others:
            _continue(part, entry, source, report)
            return
        raise SourceError(0, f"{source}: {entry.file} has another hash than the index says")


def _truncate(part: BinaryIO) -> int:
    """Truncate a partial file to 0 bytes, and return 0."""
    part.seek(0)
    part.truncate()
    return 0
