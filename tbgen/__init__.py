"""Perfect-play endgame tables for xiangqi under the real repetition rules.

    cli            commands
    board          the board in a browser, and the HTTP API
    engine         engine for UCI and UCCI
    finding        searches of tables for positions that meet conditions
    answers        answers about positions, in sentences and as JSON; messages of errors
    play           values and moves, the choice among equal moves, whole lines
    publishing     index of a directory of tables, verified downloads, bundles
    building       plans and builds of tables, with the tables that their captures lead to
    notation       notations of positions and moves
    probing        probes inside compiled code; tables as arrays of columns
    verify         proofs of finished files, from the rules alone
    scheduling     scheduler of dependent jobs, for builds and proofs
    retrograde     the phases that compute a table's values
    rows           sets of positions, ninety at a time, for the phases
    referee        verdicts on repetitions
    rules          legal moves, checks, chases
    compiling      numba settings, compiled kernels and their cache
    tables         table files, and probing                (the folder `tables` beside this one)
    indexing       squares, positions, materials and their index         (the folder `indexing`)
    system         operating system, memory, threads, imports, text: tools for all packages

A package imports only packages below it in this list; tests/house/test_layers.py has the exact
rules. The docstring of each package lists its modules. A build passes data from indexing to rows
and retrograde, and then to tables. An answer uses tables, play and answers, without numba.

Public names are imported from `tbgen` itself: `from tbgen import open_tablebase, Position, Move`
(docs/python.md).
"""

from importlib import import_module as _import
from os import path as _path  # pathlib would take longer to load than the rest
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tbgen.board.drawing.diagram import picture
    from tbgen.finding.query import Query
    from tbgen.finding.search import Found, Search, find
    from tbgen.indexing.errors import InputError, MaterialError, MoveTextError, PositionError
    from tbgen.indexing.material import Material
    from tbgen.indexing.move import Move
    from tbgen.indexing.position import Position
    from tbgen.indexing.rulesets import Rules
    from tbgen.indexing.squares import Side
    from tbgen.play.environment import Environment, Step
    from tbgen.play.mainline import Mainline
    from tbgen.play.preference import RootMove
    from tbgen.play.tablebase import GameTablebase, open_tablebase
    from tbgen.probing.columns import TableColumns, read_chunks, read_table
    from tbgen.probing.dump import map_columns
    from tbgen.referee.verdict import Judgement, Verdict, judge
    from tbgen.rules.positions import in_check, is_legal, is_terminal, legal_moves
    from tbgen.tables.codes import LimitExceededError, Outcome, Value
    from tbgen.tables.errors import (
        CorruptTableError,
        FormatVersionError,
        IllegalPositionError,
        MissingTableError,
        RulesMismatchError,
        TablebaseError,
        UnsupportedMaterialError,
    )
    from tbgen.tables.names import Metric
    from tbgen.tables.reader import ProbeResult
    from tbgen.tables.rule_sets import RuleSet

# In a source checkout the folders `indexing` and `tables` are beside this one. Python imports the
# checkout, and not an installed tbgen, if it is started in the repository root.
_folder = _path.dirname(_path.realpath(__file__))
if not _path.isdir(_path.join(_folder, "indexing")):
    __path__.append(_path.dirname(_folder))

__version__ = "2.3.2"

_HOMES = {
    "board.drawing.diagram": ("picture",),
    "finding.query": ("Query",),
    "finding.search": ("Found", "Search", "find"),
    "indexing.errors": ("InputError", "MaterialError", "MoveTextError", "PositionError"),
    "indexing.material": ("Material",),
    "indexing.move": ("Move",),
    "indexing.position": ("Position",),
    "indexing.rulesets": ("Rules",),
    "indexing.squares": ("Side",),
    "play.environment": ("Environment", "Step"),
    "play.mainline": ("Mainline",),
    "play.preference": ("RootMove",),
    "play.tablebase": ("GameTablebase", "open_tablebase"),
    "probing.columns": ("TableColumns", "read_chunks", "read_table"),
    "probing.dump": ("map_columns",),
    "referee.verdict": ("Judgement", "Verdict", "judge"),
    "rules.positions": ("in_check", "is_legal", "is_terminal", "legal_moves"),
    "tables.codes": ("LimitExceededError", "Outcome", "Value"),
    "tables.errors": (
        "CorruptTableError",
        "FormatVersionError",
        "IllegalPositionError",
        "MissingTableError",
        "RulesMismatchError",
        "TablebaseError",
        "UnsupportedMaterialError",
    ),
    "tables.names": ("Metric",),
    "tables.rule_sets": ("RuleSet",),
    "tables.reader": ("ProbeResult",),
}
"""Public names by module, for loading on first use.

A module is loaded when one of its names is first used. Loading all of them would also load numpy,
and make `import tbgen` slow.
"""

__all__ = [
    "CorruptTableError", "Environment", "FormatVersionError", "Found", "GameTablebase",
    "IllegalPositionError", "InputError", "Judgement", "LimitExceededError", "Mainline",
    "Material", "MaterialError", "Metric", "MissingTableError", "Move", "MoveTextError",
    "Outcome", "Position", "PositionError", "ProbeResult", "Query", "RootMove", "RuleSet", "Rules",
    "RulesMismatchError", "Search", "Side", "Step", "TableColumns", "TablebaseError",
    "UnsupportedMaterialError", "Value", "Verdict", "__version__", "find", "in_check", "is_legal",
    "is_terminal", "judge", "legal_moves", "map_columns", "open_tablebase", "picture",
    "read_chunks", "read_table",
]  # fmt: skip

if not TYPE_CHECKING:  # for type checkers, every name would be an attribute

    def __getattr__(name: str) -> object:
        """Import the object with a public name on its first use, and store it in this module."""
        for module, names in _HOMES.items():
            if name in names:
                found = getattr(_import(f"tbgen.{module}"), name)
                globals()[name] = found
                return found
        raise AttributeError(f"module 'tbgen' has no attribute '{name}'")


def __dir__() -> list[str]:
    """List the public names, imported or not, and the attributes that every module has."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
