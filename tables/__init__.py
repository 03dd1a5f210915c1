"""Tables on disk: the file format, compression, reading and probing.

    codes       values, and the integer codes that encode them
    rule_sets   repetition rules with a limit on orders, and chases by minor pieces
    names       name of a table: material, rule set, metric; and its file name
    palettes    compact numbers for the codes that occur, while a table is solved and written
    header, blocks, statistics     parts of a file (docs/format.md)
    outcomes    blocks of win-draw-loss files
    files       safe opening and atomic replacing of files; independent of tables
    checked_json                   types and ranges of JSON in files
    choosing    choice of the order of slots with which a table compresses best
    writer      writing a file, and recompressing it
    blockfile   reading a file, with a `cache` of blocks: `reader` of tables and results of probes,
                `wdl` of outcomes
    tablebase   probing directories of files; `catalogue` of their names, `batches` of boards
    certificates, proofs           certificate of a proven table; proof status of tables
    build_records                  time that a table took to build, in a file beside it
    errors      errors of tables and probing

Vocabulary
    table        file of distances; a *win-draw-loss file* has outcomes only
    slot         number of a position in the index
    side         codes of all slots with Red (0) or Black (1) to move; a side is cut into *tiles*,
                 and a tile into *blocks* (`tbgen.indexing.arrangement`); a side of one code has no
                 blocks
    code         integer that encodes a value; 0 for a slot without a position (files replace it)
    number       index of a code in a list of the codes that occur (`palettes`)
    lead         placement of the kings, advisors and elephants; its slots are consecutive
    arrangement  order of the slots of a side in a file
    content      the bytes of a block before compression
    digest       hash of a file's contents before compression
    supporting   supporting tables of a table: those that one capture leads to
    closure      a material and all that captures lead to

The package imports `tbgen.indexing` and `tbgen.system` only, and never numba. Rules of movement,
legality and the values of moves are in `tbgen.play`.
"""

from tbgen.indexing.rulesets import Rules
from tbgen.tables.build_records import read_build_record
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
from tbgen.tables.names import Metric, TableName, WdlName
from tbgen.tables.reader import ProbeResult, TableFile
from tbgen.tables.rule_sets import RuleChoice, RuleSet
from tbgen.tables.statistics import TableStatistics, longest_codes
from tbgen.tables.tablebase import Tablebase
from tbgen.tables.wdl import WdlFile

__all__ = [
    "CodeSpace",
    "CorruptTableError",
    "FormatVersionError",
    "IllegalPositionError",
    "LimitExceededError",
    "Metric",
    "MissingTableError",
    "Outcome",
    "ProbeResult",
    "RuleChoice",
    "RuleSet",
    "Rules",
    "RulesMismatchError",
    "TableFile",
    "TableName",
    "TableStatistics",
    "Tablebase",
    "TablebaseError",
    "UnsupportedMaterialError",
    "Value",
    "WdlFile",
    "WdlName",
    "longest_codes",
    "read_build_record",
]
