"""Compare the code of two commits without docstrings and comments.

    python scripts/reproduce/same_code.py BASE [HEAD]

HEAD defaults to the files of the checkout. Prints each Python file of product, scripts and tests
whose syntax tree without docstrings differs, and their number; exit status 1 if there are any. So a
change of words alone prints only the last line.
"""

import ast
import subprocess
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("tbgen", "indexing", "tables", "scripts", "tests")


def git(*arguments: str) -> str:
    """Run git in this repository, and return its output."""
    return subprocess.run(
        ["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=True
    ).stdout


class Undocumented(ast.NodeTransformer):
    """Transformer of syntax trees that removes docstrings, also those of attributes."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        """Remove a statement that is only a string; called for each expression statement."""
        value = node.value
        is_text = isinstance(value, ast.Constant) and isinstance(value.value, str)
        return None if is_text else node


def code_of(source: str) -> str:
    """Return the syntax tree of a module as text, without docstrings and line numbers."""
    return ast.dump(Undocumented().visit(ast.parse(source)))


def sources(commit: str | None) -> dict[str, str]:
    """Return the Python sources in `FOLDERS` by path, from a commit; None for the checkout."""
    if commit is None:
        paths = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
        return {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in paths}
    listed = git("ls-tree", "-r", "--name-only", commit, "--", *FOLDERS).splitlines()
    return {path: git("show", f"{commit}:{path}") for path in listed if path.endswith(".py")}


def main() -> int:
    """Compare the files, print those that differ, and return the exit status."""
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("base", help="commit to compare with")
    parser.add_argument("head", nargs="?", help="commit to compare; default: the checkout")
    options = parser.parse_args()
    before, after = sources(options.base), sources(options.head)
    paths = sorted(before.keys() | after.keys())
    differing = [
        path
        for path in paths
        if path not in before
        or path not in after
        or (before[path] != after[path] and code_of(before[path]) != code_of(after[path]))
    ]
    for path in differing:
        print(path)
    print(f"{len(paths)} files: {len(differing)} differ in code")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
