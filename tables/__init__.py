"""Tables on disk: the file format, compression, reading and probing.

    codes       values, and the numbers that stand for them
    names       what a table is of: material, rule set, metric; and its file name
    palettes    numbers for the codes that occur, while a table is solved and written
    header, blocks, statistics     the parts of a file (docs/format.md)
    outcomes    blocks of win-draw-loss files
    files       opening and replacing files, whatever they hold
    schema      types and ranges of what files say as JSON
    choosing    the arrangement of slots in which a side is smallest
    writer, cache, blockfile       one file; `reader` of distances, `wdl` of outcomes
    compression, repacking         how blocks are packed; a finished table in a smaller file
    tablebase   probing directories of files; `batches` of boards; a `result`, or why there is none
    certificates, proofs           what was proven of a file, and of those below it
    errors      what can go wrong between a position and its value

Knows `tbgen.indexing`, and nothing of how pieces move or how values were computed: whether a
position is legal, and what its moves are worth, is for `tbgen.play` to say. Never imports numba.
"""

from tbgen.indexing.rulesets import Rules
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
from tbgen.tables.header import Header, TableSpec, WdlSpec
from tbgen.tables.names import (
    Metric,
    Option,
    RuleChoice,
    RuleSet,
    TableName,
    WdlName,
    read_build_record,
    write_build_record,
)
from tbgen.tables.reader import TableFile
from tbgen.tables.result import ProbeResult
from tbgen.tables.statistics import TableStatistics, longest_codes
from tbgen.tables.tablebase import Tablebase
from tbgen.tables.wdl import WdlFacts, WdlFile
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
    "RuleChoice",
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
    "WdlFacts",
    "WdlFile",
    "WdlName",
    "WdlSpec",
    "longest_codes",
    "read_build_record",
    "write_build_record",
    "write_table",
]
