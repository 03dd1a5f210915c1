"""Mutation testing of the core: put small faults into the code, and run its tests.

    seed  ->  choose(...)  ->  Mutation: file, place, old and new text
    a clone with a mutation  ->  pytest -x  ->  killed (a test fails), survived, endless (timeout)

A first run tests each mutation with the tests of its own package only. `--again` tests the
survivors with the tests of dependent packages (`DEPENDENTS`), too, at the current commit. A
mutation is `outdated` if its code has changed since the first run. Every result is a row of
DIRECTORY/mutations.csv, so a first run resumes where it stopped; `--again` tests all survivors
anew. The clone and its kernel cache stay in DIRECTORY. Some mutations cannot change a result (a
safety margin, a limit of work), so a person has to read the survivors.

    python scripts/certify/mutation_testing.py DIRECTORY --count 300 --seed 1
    python scripts/certify/mutation_testing.py DIRECTORY --count 100 --packages tables tbgen/verify
    python scripts/certify/mutation_testing.py DIRECTORY --again
"""

from __future__ import annotations

import ast
import csv
import os
import random
import signal
import subprocess
import sys
import time
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]

PACKAGES = ("tbgen/rules", "tbgen/rows", "tbgen/retrograde", "tables", "tbgen/verify")
"""Packages that are mutated: those that the values of a table and their proof depend on."""

DEPENDENTS = {
    "tbgen/rules": ("tbgen/referee", "tbgen/retrograde"),
    "tbgen/rows": ("tbgen/retrograde", "tbgen/verify"),
    "tbgen/retrograde": ("tbgen/verify",),
    "tables": ("tbgen/probing",),
    "tbgen/verify": (),
}
"""For each mutated package, the dependent packages whose tests exercise it, too.

`--again` runs them against the mutations that survived the package's own tests.
"""

TIMEOUT_SECONDS = 900.0
"""Timeout of one test run in seconds, ten times the time to compile all kernels."""

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitOr,
    ast.LShift: ast.RShift, ast.RShift: ast.LShift,
}  # fmt: skip
_UNMUTATED = (ast.AnnAssign, ast.Raise, ast.Import, ast.ImportFrom)
"""Kinds of statements that are not mutated, such as `raise` with its message."""


class Mutation(NamedTuple):
    """Replacement of one expression, or of `break` or `continue`, in a file.

    `path` is relative to the repository. Lines count from 1; columns are byte offsets from 0, and
    `end_column` is exclusive.
    """

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    old: str
    new: str

    def applied(self, source: bytes) -> bytes | None:
        """Return the file's content with the mutation; None if the old text is not at its place.

        source : the file's content without the mutation
        """
        lines = source.splitlines(keepends=True)
        start = sum(map(len, lines[: self.line - 1])) + self.column
        end = sum(map(len, lines[: self.end_line - 1])) + self.end_column
        if source[start:end] != self.old.encode():
            return None
        return source[:start] + self.new.encode() + source[end:]


def _changed(node: ast.AST) -> str | None:
    """Return a syntax node's source with a small fault (`<=` for `<`); None if it gets no fault."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in _COMPARISONS:
        ops = [_COMPARISONS[type(node.ops[0])](), *node.ops[1:]]
        return ast.unparse(ast.Compare(node.left, ops, node.comparators))
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return ast.unparse(ast.BinOp(node.left, _OPERATORS[type(node.op)](), node.right))
    if isinstance(node, ast.BoolOp):
        op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        return ast.unparse(ast.BoolOp(op, node.values))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return ast.unparse(node.operand)
    if isinstance(node, ast.IfExp):
        return ast.unparse(ast.IfExp(node.test, node.orelse, node.body))
    if isinstance(node, ast.Constant) and type(node.value) in (int, bool):
        return repr(not node.value if isinstance(node.value, bool) else node.value + 1)
    if isinstance(node, ast.Continue):
        return "break"
    if isinstance(node, ast.Break):
        return "continue"
    return None


def _mutable(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the syntax nodes below a node, at any depth, in which a fault may be put.

    Left out, with all nodes in them, are return annotations, parameters with their defaults,
    formatted strings, and the statements in `_UNMUTATED`.
    """
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _UNMUTATED) or child is getattr(node, "returns", None):
            continue
        if isinstance(child, ast.arguments | ast.JoinedStr):
            continue
        yield child
        yield from _mutable(child)


def mutations_of(path: str, source: str) -> list[Mutation]:
    """Return every possible mutation of the file `path`, whose text is `source`.

    The list follows the syntax tree, outer expressions before inner ones.
    """
    found = []
    for node in _mutable(ast.parse(source)):
        new = _changed(node)
        if new is not None and isinstance(node, ast.expr | ast.stmt):
            if isinstance(node, ast.expr):
                new = f"({new})"
            assert node.end_lineno is not None
            assert node.end_col_offset is not None
            old = ast.get_source_segment(source, node) or ""
            found.append(Mutation(path, node.lineno, node.col_offset, node.end_lineno,
                                  node.end_col_offset, old, new))  # fmt: skip
    return found


def choose(root: Path, packages: Sequence[str], count: int, seed: int) -> list[Mutation]:
    """Choose `count` of all possible mutations of `packages` at random; all if there are fewer.

    The result is sorted by package, in the order of `PACKAGES`. `root` is the repository.
    """
    places = [
        mutation
        for package in packages
        for file in sorted((root / package).rglob("*.py"))
        for mutation in mutations_of(str(file.relative_to(root)), file.read_text("utf-8"))
    ]
    chosen = random.Random(seed).sample(places, min(count, len(places)))
    return sorted(chosen, key=lambda each: PACKAGES.index(package_of(each)))


def package_of(mutation: Mutation) -> str:
    """Return the member of `PACKAGES` that has the mutated file."""
    return next(each for each in PACKAGES if mutation.path.startswith(f"{each}/"))


class Clone:
    """A clone of the repository, at `root`, with its own virtual environment and kernel cache.

    The first use of a folder creates the clone; a later use discards a mutation left in it.
    """

    def __init__(self, folder: Path) -> None:
        self.root = folder / "clone"
        self._environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache")}
        self._python = self.root / ".venv" / "bin" / "python"
        if not self._python.exists():
            subprocess.run(["git", "clone", "--quiet", str(ROOT), str(self.root)], check=True)
            subprocess.run([sys.executable, "-m", "venv", str(self.root / ".venv")], check=True)
            subprocess.run([str(self._python), "-m", "pip", "install", "--quiet", "--editable",
                            ".[dev]"], cwd=self.root, check=True)  # fmt: skip
        subprocess.run(["git", "checkout", "--quiet", "-f", "."], cwd=self.root, check=True)

    def update(self) -> None:
        """Check out in the clone the commit that the original repository has checked out."""
        subprocess.run(["git", "fetch", "--quiet", str(ROOT), "HEAD"], cwd=self.root, check=True)
        command = ["git", "checkout", "--quiet", "-f", "FETCH_HEAD"]
        subprocess.run(command, cwd=self.root, check=True)

    def test(self, packages: tuple[str, ...]) -> tuple[str, str]:
        """Run the tests of packages; return the state, and the first test that failed.

        The state is `killed` (a test fails), `survived` (all pass) or `endless` (timeout). The test
        is empty unless killed; if pytest names none, its exit status is returned instead.
        """
        folders = [f"tests/{Path(package).name}" for package in packages]
        process = subprocess.Popen(
            [str(self._python), "-m", "pytest", "-x", "-n", "0", *folders],
            cwd=self.root, env=self._environment, start_new_session=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)  # fmt: skip
        try:
            output, _ = process.communicate(timeout=TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            return "endless", ""
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
        if process.returncode == 0:
            return "survived", ""
        failed = [line.split(" ")[1] for line in output.splitlines()
                  if line.startswith(("FAILED ", "ERROR "))]  # fmt: skip
        return "killed", failed[0] if failed else f"exit status {process.returncode}"


def try_out(clone: Clone, mutation: Mutation, packages: tuple[str, ...]) -> tuple[str, str, float]:
    """Run the tests of packages against a mutation in the clone, then undo the mutation.

    Returns the state and the failed test, as `Clone.test`, and the wall seconds. The state is
    `outdated` if the mutation's old text is not at its place; then no test runs.
    """
    file = clone.root / mutation.path
    source = file.read_bytes()
    begun = time.monotonic()
    mutated = mutation.applied(source)
    if mutated is None:
        return "outdated", "", 0.0
    file.write_bytes(mutated)
    try:
        state, test = clone.test(packages)
    finally:
        file.write_bytes(source)
    return state, test, time.monotonic() - begun


def main() -> None:
    """Test the chosen mutations without a row in mutations.csv, or with `--again` the survivors."""
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path, help="for the clone and mutations.csv")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--packages", nargs="+", choices=PACKAGES, default=PACKAGES,
                        metavar="PACKAGE")  # fmt: skip
    parser.add_argument("--again", action="store_true", help="only survivors, more tests")
    arguments = parser.parse_args()
    arguments.directory.mkdir(parents=True, exist_ok=True)
    clone = Clone(arguments.directory.resolve())
    rows = _read(arguments.directory / "mutations.csv")
    if arguments.again:
        clone.update()
        wanted = [each for each, row in rows.items() if row[0] == "survived"]
    else:
        chosen = choose(clone.root, arguments.packages, arguments.count, arguments.seed)
        wanted = [each for each in chosen if each not in rows]
    packages_of = {
        package: (*DEPENDENTS[package], package) if arguments.again else (package,)
        for package in map(package_of, wanted)
    }
    for packages in packages_of.values():
        state, test = clone.test(packages)
        if state != "survived":
            raise SystemExit(f"tests fail without a mutation ({state} {test}): fix them first")
    for mutation in wanted:
        packages = packages_of[package_of(mutation)]
        rows[mutation] = state, test, seconds = try_out(clone, mutation, packages)
        _write(arguments.directory / "mutations.csv", rows)
        print(f"{state:8} {seconds:5.0f} s  {mutation.path}:{mutation.line}  {mutation.old!r}"
              f" -> {mutation.new!r}  {test}", flush=True)  # fmt: skip
    for state in ("killed", "endless", "survived", "outdated"):
        print(f"{state} {sum(row[0] == state for row in rows.values())}")


_Rows = dict[Mutation, tuple[str, str, float]]
"""State, failed test and wall seconds of each mutation, as `try_out` returns them."""


def _read(path: Path) -> _Rows:
    """Read the rows of mutations.csv by mutation; empty if there is no such file."""
    if not path.exists():
        return {}
    with path.open(newline="", encoding="utf-8") as file:
        return {
            Mutation(name, *map(int, place), old, new): (state, test, float(seconds))
            for name, *place, old, new, state, test, seconds in list(csv.reader(file))[1:]
        }


def _write(path: Path, rows: _Rows) -> None:
    """Write all rows to mutations.csv, atomically."""
    part = path.with_suffix(".part")
    with part.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([*Mutation._fields, "state", "test", "seconds"])
        writer.writerows([*mutation, state, test, f"{seconds:.0f}"]
                         for mutation, (state, test, seconds) in rows.items())  # fmt: skip
    part.replace(path)


if __name__ == "__main__":
    main()
