"""Add endgame tables to a source of Fairy-Stockfish: files beside its own, and calls to them.

    python contrib/engines/fairy-stockfish/insert.py SRC

SRC is the folder with search.cpp. A short pattern finds the place of each call, so that versions
from 11.1 to those of 2026 work. If the place is not found, or is ambiguous, that is an error, and
no file is written. A source that already has the calls is refused.
"""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
CONTRIB = HERE.parents[1]
sys.path.insert(0, str(CONTRIB))

from amalgamate import amalgamated  # noqa: E402

COPIED = (
    HERE / "xiangqi_tables.h",
    HERE / "xiangqi_tables.cpp",
    CONTRIB / "adapter.h",
    CONTRIB / "adapter.cpp",
    CONTRIB / "xqprobe.h",
)
INCLUDE = '#include "xiangqi_tables.h"\n'


@dataclass(frozen=True, slots=True)
class Insertion:
    """Lines to insert after a line of a file that matches `pattern`, or before it (`before`).

    The line is the first match below the first match of `below`. If `below` is empty, the line must
    be the only match in the file. `pattern` and `below` are regular expressions.
    """

    file: str
    pattern: str
    lines: str
    below: str = ""
    before: bool = False

    def into(self, text: str) -> str:
        """Return a file's text with the lines inserted; `SystemExit` if the place is not found."""
        scope = re.search(self.below, text) if self.below else None
        if self.below and scope is None:
            raise SystemExit(f"{self.file}: nothing is like /{self.below}/")
        first = scope.end() if scope else 0
        found = list(re.finditer(rf"^.*(?:{self.pattern}).*\n", text[first:], re.MULTILINE))
        if not found or (len(found) > 1 and not self.below):
            raise SystemExit(
                f"{self.file}: {len(found)} lines are like /{self.pattern}/, where one is expected"
            )
        at = first + (found[0].start() if self.before else found[0].end())
        return text[:at] + self.lines + text[at:]


INSERTIONS = (
    *(Insertion(file, r'"uci\.h"', INCLUDE) for file in ("search.cpp", "uci.cpp", "ucioption.cpp")),
    Insertion("ucioption.cpp", '"SyzygyProbeLimit"', "  XiangqiTables::add_options(o);\n"),
    Insertion(
        "uci.cpp",
        r"\bpos\.set\(",
        "    XiangqiTables::begin_game(pos);\n",
        below=r"\bvoid position\(",
    ),
    Insertion(
        "uci.cpp",
        r"\bdo_move\(",
        "        XiangqiTables::record_move(pos, m);\n",
        below=r"\bvoid position\(",
    ),
    Insertion(
        "search.cpp",
        r"^void Tablebases::rank_root_moves\(",
        "    RootInTB = XiangqiTables::rank_root_moves(pos, rootMoves);\n"
        "    if (RootInTB)\n"
        "        return;\n",
    ),
    Insertion(
        "search.cpp",
        "Step 5. Tablebases",
        "    if (!rootNode && !excludedMove && XiangqiTables::probe(pos, depth, ss->ply, value))\n"
        "    {\n"
        "        ++thisThread->tbHits;\n"
        "        return value;\n"
        "    }\n",
        before=True,
    ),
)


def changed(source: Path) -> dict[str, str]:
    """Return the new text of each file that gets calls, by its name in the folder `source`."""
    texts: dict[str, str] = {}
    for insertion in INSERTIONS:
        path = source / insertion.file
        if insertion.file not in texts:
            texts[insertion.file] = path.read_text(encoding="utf-8")
            if INCLUDE in texts[insertion.file]:
                raise SystemExit(f"{path}: has the calls already; unpack the source again")
        texts[insertion.file] = insertion.into(texts[insertion.file])
    return texts


def insert(source: Path) -> None:
    """Insert the calls into the folder `source`, and copy the files that they need into it."""
    if not (source / "search.cpp").is_file():
        raise SystemExit(f"{source} has no search.cpp: name the folder src of an unpacked source")
    texts = changed(source)
    for name, text in texts.items():
        (source / name).write_text(text, encoding="utf-8")
    for path in COPIED:
        (source / path.name).write_bytes(path.read_bytes())
    # Makefiles of engines optimise only C++.
    (source / "xqprobe.cpp").write_text(amalgamated(), encoding="ascii")


def main() -> None:
    """Insert the tables into the source that the command line names."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("source", type=Path, metavar="SRC")
    insert(parser.parse_args().source)


if __name__ == "__main__":
    main()
