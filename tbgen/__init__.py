"""Perfect-play endgame tables for xiangqi under the real repetition rules.

    cli, board     commands; the board in a browser and the HTTP API, side by side
    answers        what is said of a position: reasons, JSON, failures
    building       closures of materials: plans, and builds that survive interruption
    play           values and moves, the choice among equals, whole lines
    notation       positions and moves as people and other programs write them
    probing        probes inside compiled code; tables as rows
    verify         proofs of finished files, from the rules alone
    retrograde     the phases that compute a table's values, one file each
    rows           sets of positions, ninety at a time, on which the phases work
    referee        verdicts of repetitions
    rules          what may move, what is a check, a chase
    compiling      numba, in one place
    tables         bytes on disk, and probing              (the folder `tables` beside this one)
    indexing       where may pieces stand, and which number is that      (the folder `indexing`)

A package knows some of those below it and none above; which, is the table in
tests/house/test_layers.py. What a package holds, and what it does not, is in its docstring. A
build goes indexing -> rows and retrograde -> tables; a reader goes tables -> play -> answers.
Nothing on a reader's way imports numba.
"""

from os import path as _path  # and not pathlib, which takes longer to load than the rest
from typing import Any as _Any

# In a source checkout the folders `indexing` and `tables` lie beside this one, which shadows an
# installed tbgen when Python starts in the repository root.
_folder = _path.dirname(_path.realpath(__file__))
if not _path.isdir(_path.join(_folder, "indexing")):
    __path__.append(_path.dirname(_folder))

__version__ = "1.0.0"


def __getattr__(name: str) -> _Any:
    """Load `open_tablebase` when it is first asked for: it needs numpy, `import tbgen` does not."""
    if name == "open_tablebase":
        from tbgen.play.tablebase import open_tablebase

        return open_tablebase
    raise AttributeError(f"module 'tbgen' has no attribute '{name}'")
