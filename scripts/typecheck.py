"""Run mypy on the package in its installed form, and on an example of its use.

    python scripts/typecheck.py

In the installed form the folders `indexing` and `tables` are inside `tbgen`.
"""

import subprocess
import sys
import tempfile
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "tests" / "data" / "typed_example.py"


def main() -> int:
    """Link the three folders into a temporary package, check it, and return mypy's exit status."""
    ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / "tbgen"
        package.mkdir()
        for source in (ROOT / "tbgen").iterdir():
            (package / source.name).symlink_to(source)
        for name in ("indexing", "tables"):
            (package / name).symlink_to(ROOT / name)
        (Path(folder) / EXAMPLE.name).symlink_to(EXAMPLE)
        command = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml")]
        # Entries of a cache name files in the temporary folder of an earlier run.
        cache = ["--cache-dir", str(Path(folder) / "cache")]
        return subprocess.run(
            [*command, *cache, "-p", "tbgen", "-m", EXAMPLE.stem], cwd=folder
        ).returncode


if __name__ == "__main__":
    sys.exit(main())
