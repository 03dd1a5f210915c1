"""Compiling the kernels once per machine, under a lock, before the first real table.

    this process      all kernels of plain propagation and of perpetual checks
    a second process  meanwhile, those of perpetual chases: half of the work

Two tiny materials reach every kernel: a rook against a knight (mid groups, an inner piece,
both captured, captures that wait), and a rook against an advisor (a defender captured).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import tbgen
from tbgen.indexing.material import Material
from tbgen.indexing.squares import Side
from tbgen.jit import CACHE_FOLDER, compile_lock
from tbgen.retrograde.encoding import encode
from tbgen.retrograde.solve import Solution, solve
from tbgen.tables.codes import CodeSpace
from tbgen.tables.names import Rules

CHASES_COMPILED = CACHE_FOLDER / "chases-compiled"
"""An empty file, there once the kernels of chases are in the cache."""


@cache
def warm_up(width: int, rules: Rules, *, ordered: bool) -> None:
    """Compile, or load, the kernels for codes of `width` bytes.

    They are loaded here even if all are in the cache: the compiler, which it takes to load them,
    leaves memory before the real table is solved (`tbgen.retrograde.storage`).

    rules : the rule set of the whole build
    ordered : whether kernels for rule-decided orders are wanted now
    """
    with compile_lock():
        if rules == Rules.WXF and not CHASES_COMPILED.exists():
            compiler = _second_compiler()
            if ordered:
                _solve_all(width, Rules.CHECK)
                compiler.hand_over()
        _solve_all(width, rules if ordered else Rules.NONE)


def _solve_all(width: int, rules: Rules) -> None:
    """Solve the tiny materials, and encode a block: what calls all kernels that a build needs."""
    solved: dict[str, Solution] = {}
    for name in ("KRK", "KNK", "KRKN", "KRKA"):
        solved[name] = solve(
            Material.parse(name),
            lambda material: solved[material.name],
            rules=rules,
            code_space=CodeSpace(width),
            threads=1,
        )
    encode(solved["KRKN"].plane(Side.RED)[:1], 1)


@cache
def _second_compiler() -> _SecondCompiler:
    return _SecondCompiler()


class _SecondCompiler:
    """A process that compiles the kernels of chases into a cache of its own.

    Of its own, because numba's cache is unsafe while two processes write it; at the end what this
    process does not have itself is moved over.
    """

    def __init__(self) -> None:
        CACHE_FOLDER.mkdir(parents=True, exist_ok=True)
        self._folder = tempfile.TemporaryDirectory(dir=CACHE_FOLDER)
        sources = str(Path(tbgen.__file__).parent.parent)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c",
             "from tbgen.retrograde.chase_pattern import compile_chases; compile_chases()"],
            env={**os.environ, "NUMBA_CACHE_DIR": self._folder.name, "PYTHONPATH": os.pathsep.join(
                filter(None, [sources, os.environ.get("PYTHONPATH")]))},
        )  # fmt: skip

    def hand_over(self) -> None:
        """Wait, and add to the cache what it lacks. If the process failed, it lacks everything."""
        self._process.wait()
        apart = Path(self._folder.name)
        for index in apart.rglob("*.nbi"):
            target = CACHE_FOLDER / index.relative_to(apart)
            if not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                # The index comes last: without it the code is not looked at.
                for code in index.parent.glob(f"{index.stem}.*.nbc"):
                    shutil.move(code, target.with_name(code.name))
                shutil.move(index, target)
        self._folder.cleanup()
        CHASES_COMPILED.touch()
