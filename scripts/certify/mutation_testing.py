"""Mutation testing of the core: small faults are put into the code, and tests must find them.

    seed  ->  choose(...)  ->  Mutation: file, place, old and new text
    a clone with a mutation  ->  pytest -x  ->  killed, survived, endless: a row of a file

A mutation survives if the tests of its own package pass. `--again` tries survivors on those and on
the tests of what rests on the package (`RESTING`), at today's commit; `outdated` are those whose
code is another by then. Rows that are there are kept, so that the command goes on where it stopped.
The clone and its cache of kernels stay in DIRECTORY. Some mutations change nothing that can be seen
(a margin, a bound of work); survivors are read by people.

    python scripts/certify/mutation_testing.py DIRECTORY --count 300 --seed 1
    python scripts/certify/mutation_testing.py DIRECTORY --again
"""

from __future__ import annotations

import argparse
import ast
import csv
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]

PACKAGES = ("tbgen/rules", "tbgen/rows", "tbgen/retrograde", "tables", "tbgen/verify")
"""Packages that are mutated: all that a table's values and its proof rest on."""

RESTING = {
    "tbgen/rules": ("tbgen/referee", "tbgen/retrograde"),
    "tbgen/rows": ("tbgen/retrograde", "tbgen/verify"),
    "tbgen/retrograde": ("tbgen/verify",),
    "tables": ("tbgen/probing",),
    "tbgen/verify": (),
}
"""Packages whose tests look through others at what a package does."""

PATIENCE = 900.0
"""Seconds after which tests count as endless: compiling everything anew takes a tenth of that."""

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
"""Statements whose words are for readers: annotations without a value, messages of errors."""


class Mutation(NamedTuple):
    """A replacement of one expression or word; columns are bytes, lines count from 1."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    old: str
    new: str

    def applied(self, source: bytes) -> bytes | None:
        """Return the file with the replacement made; None where the old text does not stand."""
        lines = source.splitlines(keepends=True)
        if len(lines) < self.end_line:
            return None
        head, tail = lines[: self.line - 1], lines[self.end_line :]
        first, last = lines[self.line - 1], lines[self.end_line - 1]
        middle = first[: self.column] + self.new.encode() + last[self.end_column :]
        changed = b"".join([*head, middle, *tail])
        before = len(b"".join(head)) + self.column
        size = len(source) - len(changed) + len(self.new.encode())
        return changed if source[before : before + size] == self.old.encode() else None


def _changed(node: ast.AST) -> str | None:
    """Return the text of a node with one small fault; None where nothing is changed."""
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
    """Yield the nodes of a tree that may be changed, without annotations and messages."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _UNMUTATED) or child is getattr(node, "returns", None):
            continue
        if isinstance(child, ast.arguments | ast.JoinedStr):
            continue
        yield child
        yield from _mutable(child)


def mutations_of(path: str, source: str) -> list[Mutation]:
    """Return every mutation of a file, in the order of its lines."""
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


def choose(root: Path, count: int, seed: int) -> list[Mutation]:
    """Return `count` mutations, every place as likely as another, by packages."""
    places = [
        mutation
        for package in PACKAGES
        for file in sorted((root / package).rglob("*.py"))
        for mutation in mutations_of(str(file.relative_to(root)), file.read_text("utf-8"))
    ]
    chosen = random.Random(seed).sample(places, min(count, len(places)))
    return sorted(chosen, key=lambda each: PACKAGES.index(package_of(each)))


def package_of(mutation: Mutation) -> str:
    """Return the package that a mutation is in."""
    return next(each for each in PACKAGES if mutation.path.startswith(f"{each}/"))


class Clone:
    """A clone of the repository with an environment and a cache of kernels of its own."""

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
        """Check out the commit of this repository, without any mutation."""
        commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, check=True,
                                capture_output=True, text=True).stdout.strip()  # fmt: skip
        for words in (
            ["fetch", "--quiet", str(ROOT), commit],
            ["checkout", "--quiet", "-f", commit],
        ):
            subprocess.run(["git", *words], cwd=self.root, check=True)

    def test(self, packages: tuple[str, ...]) -> tuple[str, str]:
        """Run tests of packages: `killed`, `survived` or `endless`, and the test that failed."""
        folders = [f"tests/{Path(package).name}" for package in packages]
        process = subprocess.Popen(
            [str(self._python), "-m", "pytest", "-x", "-n", "0", *folders],
            cwd=self.root, env=self._environment, start_new_session=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)  # fmt: skip
        try:
            output, _ = process.communicate(timeout=PATIENCE)
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
    """Return the end of a mutation under tests of packages, the test that failed, wall seconds."""
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
    """Try mutations that have no row yet, or the survivors among the rows again."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("directory", type=Path, help="for the clone and mutations.csv")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--again", action="store_true", help="only survivors, more tests")
    arguments = parser.parse_args()
    arguments.directory.mkdir(parents=True, exist_ok=True)
    clone = Clone(arguments.directory.resolve())
    rows = _read(arguments.directory / "mutations.csv")
    if arguments.again:
        clone.update()
        wanted = [each for each, row in rows.items() if row[0] == "survived"]
    else:
        wanted = [each for each in choose(clone.root, arguments.count, arguments.seed)
                  if each not in rows]  # fmt: skip
    packages_of = {
        package: (*RESTING[package], package) if arguments.again else (package,)
        for package in map(package_of, wanted)
    }
    for packages in packages_of.values():
        state, test = clone.test(packages)
        if state != "survived":
            raise SystemExit(f"tests fail without a mutation ({state} {test}): mend them first")
    for mutation in wanted:
        packages = packages_of[package_of(mutation)]
        rows[mutation] = state, test, seconds = try_out(clone, mutation, packages)
        _write(arguments.directory / "mutations.csv", rows)
        print(f"{state:8} {seconds:5.0f} s  {mutation.path}:{mutation.line}  {mutation.old!r}"
              f" -> {mutation.new!r}  {test}", flush=True)  # fmt: skip
    for state in ("killed", "endless", "survived", "outdated"):
        print(f"{state} {sum(row[0] == state for row in rows.values())}")


_Rows = dict[Mutation, tuple[str, str, float]]


def _read(path: Path) -> _Rows:
    """Return the rows that a former run has left."""
    if not path.exists():
        return {}
    with path.open(newline="", encoding="utf-8") as file:
        return {
            Mutation(row["path"], *map(int, (row["line"], row["column"], row["end_line"],
                                             row["end_column"])), row["old"], row["new"]):
            (row["state"], row["test"], float(row["seconds"]))
            for row in csv.DictReader(file)
        }  # fmt: skip


def _write(path: Path, rows: _Rows) -> None:
    """Write all rows; a stop leaves the old file or the new one."""
    part = path.with_suffix(".part")
    with part.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([*Mutation._fields, "state", "test", "seconds"])
        writer.writerows([*mutation, state, test, f"{seconds:.0f}"]
                         for mutation, (state, test, seconds) in rows.items())  # fmt: skip
    part.replace(path)


if __name__ == "__main__":
    main()
