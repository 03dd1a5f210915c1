"""Write the C reader as two files for an engine's source: xqprobe.c and xqprobe.h.

    python contrib/amalgamate.py DIR

They compile as C99 or, under the name xqprobe.cpp, as C++17, and need zstd, but no other file of
this directory. docs/engines.md describes how to use a copy of zstd's decoder instead of its
library.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

HERE = Path(__file__).parent
PARTS = ("xqinternal.h", "xqprobe.c", "xqgame.c")
OWN_INCLUDE = re.compile(r'^#include "xq(probe|internal)\.h"\n', re.MULTILINE)
SYSTEM_CHOICE = re.compile(
    r"^#if (?:(?!^#endif).)*_POSIX_C_SOURCE.*?^#endif\n", re.MULTILINE | re.DOTALL
)
"""Regular expression for the `#if` block that defines _POSIX_C_SOURCE; nested lines are indented.

The macro selects the system's interface, so the block must precede the first header.
"""


def amalgamated() -> str:
    """Return all parts as one source; the block that defines _POSIX_C_SOURCE comes first."""
    source = "".join((HERE / part).read_text(encoding="ascii") for part in PARTS)
    choice = SYSTEM_CHOICE.search(source)
    if choice is None:
        raise SystemExit(f"{HERE / 'xqprobe.c'}: no #if block that defines _POSIX_C_SOURCE")
    rest = OWN_INCLUDE.sub("", source.replace(choice[0], ""))
    return f'{choice[0]}\n#include "xqprobe.h"\n\n{rest}'


def main() -> None:
    """Write both files into the directory that the command line names."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("directory", type=Path, metavar="DIR")
    directory = parser.parse_args().directory
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "xqprobe.h").write_bytes((HERE / "xqprobe.h").read_bytes())
    (directory / "xqprobe.c").write_text(amalgamated(), encoding="ascii")


if __name__ == "__main__":
    main()
