"""Proving a table file: its bytes, its values, its figures.

    file  ->  every checksum  ->  every position (`prove`)  ->  the statistics recounted
              CorruptTableError    findings                     file problems

A supporting table's blocks are checked as they are read. A table that counts to mate leans on
tables that count to mate; one that counts to conversion on any.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from tbgen.indexing import InputError, Position, Side
from tbgen.indexing.layout import Layout
from tbgen.indexing.material import Material
from tbgen.tables import (
    CodeSpace,
    Metric,
    MissingTableError,
    Tablebase,
    TableFile,
    TableName,
    TableStatistics,
    longest_codes,
)
from tbgen.verify.prove import verify
from tbgen.verify.report import Progress, VerifyReport, no_progress


class FileTable:
    """A table file as `verify` takes it: whole sides, unpacked by several threads."""

    def __init__(self, file: TableFile, threads: int) -> None:
        self.file = file
        self._threads = threads

    @property
    def layout(self) -> Layout:
        """The index of its material."""
        return self.file.layout

    @property
    def code_space(self) -> CodeSpace:
        """How it codes values."""
        return self.file.header.spec.codes

    @property
    def metric(self) -> Metric:
        """What its distances count to."""
        return self.file.header.spec.name.metric

    def plane(self, side: int) -> NDArray[Any]:
        """(slots,) codes; arbitrary where no position is."""
        return self.file.plane(side, threads=self._threads)


def verify_file(
    tablebase: Tablebase, material: Material, *, threads: int, report: Progress = no_progress
) -> VerifyReport:
    """Prove the table that a tablebase has of a material, given its supporting tables.

    Raises `CorruptTableError` for a damaged file, `MissingTableError` where the table or a
    supporting one is not there, and what `Tablebase.table` and `verify` raise.
    """
    file = tablebase.table(material)
    name = file.header.spec.name
    report("checksums", 0, 1)
    file.check(threads=threads)
    opened: list[TableFile] = []

    def supporting(child: Material) -> FileTable:
        own = _supporting_name(tablebase, name, child)
        opened.append(TableFile(tablebase.path(own), name=own))
        return FileTable(opened[-1], threads)

    try:
        proof = verify(
            FileTable(file, threads),
            supporting,
            rule_set=name.rule_set,
            threads=threads,
            report=report,
        )
    finally:
        for table in opened:
            table.close()
    return replace(proof, file_problems=tuple(_check_statistics(file, proof)))


def _supporting_name(tablebase: Tablebase, name: TableName, child: Material) -> TableName:
    """The table of a supporting material that `name` was made from."""
    available = tablebase.available()
    present = [
        found
        for metric in Metric
        if (found := replace(name, material=child, metric=metric)) in available
    ]
    if not present:
        raise MissingTableError(child.name, name.rule_set)
    if name.metric == Metric.DTM and present[0].metric != Metric.DTM:
        raise InputError(
            f"{name} counts to mate, but its supporting table {present[0]} does not",
            f"build {child} with --metric dtm",
        )
    return present[0]


def _check_statistics(file: TableFile, proof: VerifyReport) -> list[str]:
    """What the stored statistics say that the positions do not."""
    spec, stored = file.header.spec, file.statistics
    # Tables written before patterns were counted claim nothing about them.
    recorded = any(order.chase_patterns is not None for order in stored.orders)
    counted = TableStatistics.from_histograms(
        spec.name, spec.codes, file.layout.slots, proof.histograms, {},
        proof.chase_patterns if recorded else None,
    )  # fmt: skip
    problems = [
        f"the stored {field} is {_shorten(ours)}, counted is {_shorten(theirs)}"
        for field, ours in stored.to_json().items()
        if field != "longest" and ours != (theirs := counted.to_json()[field])
    ]
    wanted = {
        (order, side): code
        for side in Side
        for order, code in longest_codes(proof.histograms[side], spec.codes).items()
    }
    for entry in stored.longest:
        side = Side[entry.side.upper()]
        if wanted.pop((entry.order, side), None) != _code_of(file, entry.fen, side):
            problems.append(
                f"{entry.fen} is no longest position of order {entry.order}, {entry.side} to move"
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
