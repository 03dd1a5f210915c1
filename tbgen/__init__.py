"""Perfect-play endgame tables for xiangqi under the real repetition rules.

    indexing  ->  rules  ->  retrograde  ->  tables  ->  verify, command line

`tbgen.indexing` numbers positions, `tbgen.rules` says what may move, `tbgen.retrograde` computes
the values, `tbgen.tables` keeps them on disk and answers for them, `tbgen.build` plans and runs
whole closures, and `tbgen.verify` proves finished files from the rules alone.
"""

from pathlib import Path as _Path
from typing import Any as _Any

# In a source checkout the folders `indexing` and `tables` lie beside this one, which shadows an
# installed tbgen when Python starts in the repository root.
_folder = _Path(__file__).resolve().parent
if not (_folder / "indexing").is_dir():
    __path__.append(str(_folder.parent))

__version__ = "0.1.0"


def __getattr__(name: str) -> _Any:
    """Load `open_tablebase` when it is first asked for: it needs numpy, `import tbgen` does not."""
    if name == "open_tablebase":
        from tbgen.tablebase import open_tablebase

        return open_tablebase
    raise AttributeError(f"module 'tbgen' has no attribute '{name}'")
