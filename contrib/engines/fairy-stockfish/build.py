"""Build a Fairy-Stockfish that uses endgame tables of xiangqi, from the package index.

    python contrib/engines/fairy-stockfish/build.py DIR [--source SRC] [--jobs N] [NAME=VALUE]...

Downloads the source distribution of pyffish, which contains the whole source of Fairy-Stockfish, or
copies the unpacked one of `--source` (its folder src). insert.py adds the calls to the copy, and
make compiles it: DIR/fairy-stockfish. Needs pip, make, a C++17 compiler, and zstd with its header.
Variables for make follow, such as CXXFLAGS=-O2. Fairy-Stockfish is under the GPL, and so is the
result.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1])]

from distributions import fetch  # noqa: E402
from insert import insert  # noqa: E402


def build(directory: Path, source: Path | None, jobs: int, variables: list[str]) -> Path:
    """Compile the engine into a directory, and return the program's path.

    `source` is the folder src, None to download it; `jobs` the number of compilers at once;
    `variables` are those of make, `NAME=VALUE`. Raises `SystemExit` if a step fails.
    """
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "changed"
        if source is None:
            source = fetch("pyffish", "src", Path(folder), "name an unpacked source by --source")
        shutil.copytree(source, copy)
        insert(copy)
        make = ["make", "-s", f"-j{jobs}", "-C", str(HERE)]
        command = [*make, f"SRC={copy}", f"OUT={directory.resolve()}", *variables]
        if subprocess.run(command).returncode:
            raise SystemExit("the engine does not compile: the lines above say why")
    return directory / "fairy-stockfish"


def main() -> None:
    """Build the engine as the command line requests, and print the program's path."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("directory", type=Path, metavar="DIR")
    parser.add_argument("--source", type=Path, help="the folder src of an unpacked source")
    parser.add_argument("--jobs", type=int, default=2, help="compilers at once; 2")
    parser.add_argument("variables", nargs="*", metavar="NAME=VALUE", help="for make")
    options = parser.parse_args()
    print(build(options.directory, options.source, options.jobs, options.variables))


if __name__ == "__main__":
    main()
