"""Index of a directory of tables: the files, with sizes and hashes.

    {"format": 1, "files": [{"file": "KRK.wxf.dtm.xqt", "bytes": 946, "sha256": "...",
                             "digest": "...", "values": "..."}, ...]}

`digest` and `values` are digests of a table (`Entry`); for a certificate both are null. The index
is `index.json` in the directory of the tables. It lists only exact names of tables and
certificates, without a folder, so that no name can refer to a file outside the directory.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

from tbgen.indexing.errors import InputError
from tbgen.indexing.material import Material
from tbgen.tables import checked_json
from tbgen.tables.certificates import PROOF_SUFFIX
from tbgen.tables.files import locked, open_to_read, replacing
from tbgen.tables.names import SUFFIX, TableName
from tbgen.tables.reader import TableFile
from tbgen.tables.writer import is_dense, pack_densely

INDEX = "index.json"

MAX_INDEX = 1 << 23
"""Maximum bytes of an index; all tables and certificates of up to eight men need a third of it."""

FORMAT = 1


_HINT = "name a folder of tables with an index that tbgen index has written"


class BadIndexError(InputError):
    """Error of a text that is no index, or of an index that is too large or lists wrong files."""

    def __init__(self, message: str, hint: str = _HINT) -> None:
        super().__init__(message, hint)


def table_of(file: str) -> TableName | None:
    """Return the name of the table in a file, or of a certificate's table; None for other files."""
    if file.endswith(PROOF_SUFFIX):
        return TableName.parse(file.removesuffix(PROOF_SUFFIX) + SUFFIX)
    return TableName.parse(file)


@dataclass(frozen=True, slots=True)
class Entry:
    """A file listed in an index: its name, size, SHA-256 and digests."""

    file: Annotated[str, checked_json.string(table_of, "a name that no table has")]
    bytes: Annotated[int, checked_json.integer(1)]
    sha256: Annotated[str, checked_json.text("[0-9a-f]{64}", "SHA-256")]
    digest: Annotated[str | None, checked_json.optional(checked_json.DIGEST)] = None
    """Digest of a table's values, arrangement and statistics; None for a certificate."""
    values: Annotated[str | None, checked_json.optional(checked_json.DIGEST)] = None
    """Digest of the table's values alone; None for a certificate, or if it was not computed."""

    @property
    def table(self) -> TableName:
        """Name of the table that the file contains, or that the certificate is about."""
        found = table_of(self.file)
        assert found is not None, "the names of an index are those of tables"
        return found


def index_of(
    directory: Path,
    report: Callable[[str], object] = lambda name: None,
    digest_of_values: Callable[[TableFile], bytes] | None = None,
    *,
    threads: int = 1,
    only: Container[Material] | None = None,
) -> list[Entry]:
    """Return the entries of the tables and certificates in a directory, sorted by name.

    Reads every byte of the files, and verifies every checksum of the tables.

    report : called with the name of each file before it is read
    digest_of_values : computes the digest of each table's values; without it, `values` are None
    only : materials to list; None for all

    Raises `OSError`, and the errors of `TableFile` for a damaged table.
    """
    entries = []
    for path, name in files_of(directory, only):
        report(path.name)
        digest = values = None
        size, sha256 = hash_of(path)
        if path.name.endswith(SUFFIX):
            with TableFile(path, name=name) as file:
                file.check(threads=threads)
                digest = file.header.digest.hex()
                if digest_of_values is not None:
                    values = digest_of_values(file).hex()
        entries.append(Entry(path.name, size, sha256, digest, values))
    return entries


def pack_all_densely(
    directory: Path,
    report: Callable[[str], object] = lambda name: None,
    *,
    threads: int = 1,
    only: Container[Material] | None = None,
) -> None:
    """Recompress the tables of a directory as densely as possible, except symbolic links.

    Tables that are dense already are kept. The index of the directory, whose hashes will be wrong,
    is removed before the first other table.

    report : called with the name of each table and its progress, such as `KRK.wxf.dtm.xqt: 40%`
    only : materials whose tables are packed; None for all

    A packed table has another modification time than its certificate, so a query of its proof
    status reads it whole. Raises `OSError`, `InputError` if a build or download has locked a table,
    and the errors of `TableFile` for a damaged table.
    """
    for path, name in files_of(directory, only):
        if path.is_symlink() or not path.name.endswith(SUFFIX):
            continue

        def tell(done: int, total: int, file: str = path.name) -> None:
            report(f"{file}: {done / total:.0%}")

        try:
            with locked(directory / name.lock), TableFile(path, name=name) as file:
                if not is_dense(file):
                    (directory / INDEX).unlink(missing_ok=True)
                    pack_densely(file, threads=threads, report=tell)
        except BlockingIOError as error:
            raise InputError(
                f"{path.name} is {error.strerror}", "run it again when that has ended"
            ) from None


def files_of(
    directory: Path, only: Container[Material] | None = None
) -> Iterator[tuple[Path, TableName]]:
    """Yield (path, name of the table) for each table and certificate, sorted by path.

    A certificate without its table is left out.

    only : materials to include; None for all
    """
    for path in sorted(directory.iterdir()):
        name = table_of(path.name)
        if name is None or not (only is None or name.material in only):
            continue
        if path.is_file() and (directory / name.filename).is_file():
            yield path, name


def hash_of(path: Path) -> tuple[int, str]:
    """Return the size and SHA-256 of a file; raises `OSError`."""
    with os.fdopen(open_to_read(path), "rb") as file:
        found = hashlib.file_digest(file, "sha256")
        return file.tell(), found.hexdigest()


def write_index(directory: Path, entries: Iterable[Entry]) -> Path:
    """Write an index into the directory of its tables, and return its path; raises `OSError`."""
    path = directory / INDEX
    lines = ",\n".join(json.dumps(asdict(entry)) for entry in entries)
    with replacing(path) as file:
        file.write(f'{{"format": {FORMAT}, "files": [\n{lines}\n]}}\n'.encode())
    return path


def read_index(data: bytes, source: object) -> list[Entry]:
    """Return the entries of an index, given as untrusted bytes; raises `BadIndexError`.

    source : named in the error for more than `MAX_INDEX` bytes

    Bytes that are invalid in UTF-8 are replaced.
    """
    if len(data) > MAX_INDEX:
        raise BadIndexError(f"the index of {source} has more than {MAX_INDEX >> 20} MiB")
    listed = {"files": checked_json.record(Entry)}
    try:
        found = checked_json.parse_object(data.decode("utf-8", "replace"), listed)
        entries: tuple[Entry, ...] = found["files"]
        if found["format"] != FORMAT:
            raise checked_json.SchemaError(f"its format is not {FORMAT}")
    except KeyError as error:
        raise BadIndexError(f"this is no index of tables: it has no {error}") from None
    except checked_json.SchemaError as error:
        raise BadIndexError(f"this is no index of tables: {error}") from None
    if len({entry.file for entry in entries}) != len(entries):
        raise BadIndexError("this is no index of tables: a file is listed twice")
    return list(entries)
