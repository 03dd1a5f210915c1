"""Columns of a table as files: CSV, NumPy's archive, Parquet.

csv       slot,side,red_king,...,outcome,order,plies     text
npz       an uncompressed array for each column: `map_columns` maps them into memory
parquet   compressed columns; needs pyarrow (extra `parquet`)

The last two also contain the table's `description` as JSON: the archive as its comment, Parquet in
the metadata of the schema, under the key `tbgen`.
"""

from __future__ import annotations

import csv
import json
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO, TextIO

import numpy as np
from numpy.typing import NDArray

import tbgen
from tbgen.indexing import InputError
from tbgen.probing.columns import TableColumns, piece_names
from tbgen.tables import TableFile


def write_csv(parts: Iterator[TableColumns], out: TextIO) -> None:
    """Write parts of a table as CSV with one header line; booleans are written as 1 and 0.

    If there are no parts, nothing is written, not even the header.
    """
    writer = csv.writer(out, lineterminator="\n")
    for number, part in enumerate(parts):
        if number == 0:
            writer.writerow(part)
        numbers = [c.view(np.uint8) if c.dtype == np.bool_ else c for c in part.values()]
        writer.writerows(zip(*(column.tolist() for column in numbers), strict=True))


def write_npz(
    parts: Iterator[TableColumns], described: dict[str, Any], out: BinaryIO, folder: Path
) -> None:
    """Write parts of a table as an uncompressed NumPy archive with an array for each column.

    described : result of `description`, with the number of rows of all parts together
    folder : for unnamed temporary files, one per column, since the archive stores them in sequence
    """
    with ExitStack() as opened:
        columns: dict[str, tuple[np.dtype[Any], BinaryIO]] = {}
        for part in parts:
            for name, column in part.items():
                if name not in columns:
                    spool = opened.enter_context(tempfile.TemporaryFile(dir=folder))
                    columns[name] = column.dtype, spool
                columns[name][1].write(np.ascontiguousarray(column).data)
        with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
            archive.comment = json.dumps(described).encode()
            for name, (dtype, spooled) in columns.items():
                # Without a date, so that equal tables make equal files.
                member = zipfile.ZipInfo(f"{name}.npy")
                descr, shape = np.lib.format.dtype_to_descr(dtype), (described["rows"],)
                header = {"descr": descr, "fortran_order": False, "shape": shape}
                with archive.open(member, "w", force_zip64=True) as stream:
                    np.lib.format.write_array_header_1_0(stream, header)
                    spooled.seek(0)
                    shutil.copyfileobj(spooled, stream)


def map_columns(path: Path | str) -> dict[str, NDArray[Any]]:
    """Return the columns of an archive of `tbgen dump` by name, mapped into memory read-only.

    Raises `OSError`, and `InputError` if the file is no such archive.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            return {
                member.filename.removesuffix(".npy"): _mapped(Path(path), archive, member)
                for member in archive.infolist()
            }
    except (ValueError, zipfile.BadZipFile) as error:
        hint = "write one by tbgen dump --format npz"
        raise InputError(f"{path} is no archive of columns: {error}", hint) from None


def _mapped(path: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> NDArray[Any]:
    """Map one column, read-only; raises `ValueError` if it is not stored as by `write_npz`."""
    if member.compress_type != zipfile.ZIP_STORED:
        raise ValueError("compressed columns cannot be mapped")
    with archive.open(member) as file:
        major, _ = np.lib.format.read_magic(file)
        if major != 1:
            raise ValueError("columns of another version")
        shape, _, dtype = np.lib.format.read_array_header_1_0(file)
        if dtype.hasobject:  # bytes of the file would be used as pointers
            raise ValueError("columns of objects cannot be mapped")
        return np.memmap(path, dtype, "r", _data_start(archive, member) + file.tell(), shape)


def _data_start(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> int:
    """Return the offset of an archive member's data in the ZIP file."""
    assert archive.fp is not None
    archive.fp.seek(member.header_offset + 26)  # the lengths of the name and of the extra field
    lengths = archive.fp.read(4)
    name, extra = int.from_bytes(lengths[:2], "little"), int.from_bytes(lengths[2:], "little")
    return member.header_offset + 30 + name + extra


def write_parquet(parts: Iterator[TableColumns], described: dict[str, Any], out: BinaryIO) -> None:
    """Write parts of a table as Parquet; raises `InputError` without pyarrow.

    If there are no parts, nothing is written.

    described : result of `description`, with the number of rows of all parts together
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise InputError(
            "Parquet needs pyarrow", "pip install 'tbgen[parquet]', or --format npz"
        ) from None
    with ExitStack() as opened:
        writer = None
        for part in parts:
            table = pyarrow.table(dict(part))
            table = table.replace_schema_metadata({"tbgen": json.dumps(described)})
            if writer is None:
                writer = opened.enter_context(
                    pyarrow.parquet.ParquetWriter(out, table.schema, compression="zstd")
                )
            writer.write_table(table)


def description(file: TableFile, rows: int) -> dict[str, Any]:
    """Return a JSON object that describes a table, its columns, and the number of dumped rows."""
    return file.header.spec.name.to_json() | {
        "digest": file.header.digest.hex(),
        "version": tbgen.__version__,
        "index_size": file.header.slots,
        "rows": rows,
        "columns": {
            "slot": "index of the position, the same for both sides to move (docs/format.md)",
            "side": "0: the side named first in the material (Red) is to move, 1: Black",
            **dict.fromkeys(piece_names(file.layout), "9 * rank + file of the piece"),
            "outcome": "for the side to move: 1 win, 0 draw, -1 loss",
            "order": "0: by mate or conversion; k >= 1: by the repetition rules",
            "plies": "distance in plies; 0 for a draw",
        },
    }
