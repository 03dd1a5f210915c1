"""Reading a table file: a file of blocks whose codes are values, with its statistics.

`blockfile.py` finds, checks and unpacks blocks.
"""

from __future__ import annotations

from functools import cached_property

from tbgen.tables.blockfile import BlockFile
from tbgen.tables.codes import CodeSpace, LimitExceededError
from tbgen.tables.errors import CorruptTableError
from tbgen.tables.header import TableSpec
from tbgen.tables.names import Metric
from tbgen.tables.statistics import TableStatistics


class TableFile(BlockFile[TableSpec]):
    """An open table file; safe to use from several threads (`BlockFile`)."""

    _kind = TableSpec

    @property
    def code_space(self) -> CodeSpace:
        """Encoding of values that the file's codes have."""
        return self.header.spec.codes

    @property
    def metric(self) -> Metric:
        """Metric of distances."""
        return self.header.spec.name.metric

    @cached_property
    def statistics(self) -> TableStatistics:
        """Statistics stored with the table."""
        return self._read_statistics(TableStatistics)

    def occurring_codes(self, side: int) -> set[int]:
        """Return all codes that occur with one side to move, taken from the stored statistics.

        Raises `CorruptTableError` if the statistics contain values without a code.
        """
        try:
            return {
                self.code_space.encode(line.exact)
                for line in self.statistics.histogram
                if line.side == side
            }
        except (ValueError, LimitExceededError):
            raise CorruptTableError(self.path, "the statistics have a value without code") from None

    def check(self, *, threads: int = 1) -> None:
        """Read the whole file, and verify every checksum, block, digest and the statistics."""
        super().check(threads=threads)
        _ = self.statistics
