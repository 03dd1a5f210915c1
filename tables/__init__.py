"""Tables on disk: the file format, compression, reading and probing.

    codes       values, and the numbers that stand for them
    names       what a table is of, and its file name
    header, blocks, statistics     the parts of a file (docs/format.md)
    writer, reader, cache          one file
    tablebase   probing directories of files

Knows `tbgen.indexing`, and nothing of how values were computed.
"""

from tbgen.tables.codes import CodeSpace, LimitExceededError, Outcome, Value
from tbgen.tables.errors import (
    CorruptTableError,
    FormatVersionError,
    IllegalPositionError,
    MissingTableError,
    RulesMismatchError,
    TablebaseError,
    UnsupportedMaterialError,
)
from tbgen.tables.header import Header, TableSpec
from tbgen.tables.names import (
    Metric,
    Option,
    Rules,
    RuleSet,
    TableName,
    read_build_record,
    write_build_record,
)
from tbgen.tables.reader import TableFile
from tbgen.tables.statistics import TableStatistics, longest_codes
from tbgen.tables.tablebase import ProbeResult, Tablebase
from tbgen.tables.writer import write_table

__all__ = [
    "CodeSpace",
    "CorruptTableError",
    "FormatVersionError",
    "Header",
    "IllegalPositionError",
    "LimitExceededError",
    "Metric",
    "MissingTableError",
    "Option",
    "Outcome",
    "ProbeResult",
    "RuleSet",
    "Rules",
    "RulesMismatchError",
    "TableFile",
    "TableName",
    "TableSpec",
    "TableStatistics",
    "Tablebase",
    "TablebaseError",
    "UnsupportedMaterialError",
    "Value",
    "longest_codes",
    "read_build_record",
    "write_build_record",
    "write_table",
]
