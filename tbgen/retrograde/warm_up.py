"""Compiling the kernels once per machine, under a lock, before the first real table.

    this process      all kernels of plain propagation and of perpetual checks
    a second process  meanwhile, those of perpetual chases: half of the work; it ends with this one

Two tiny materials reach every kernel: a rook against a knight (mid groups, an inner piece,
both captured, captures that wait), and a rook against an advisor (a defender captured).
"""

from __future__ import annotations

import atexit
import contextlib
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

from tbgen.compiling.folder import PACKAGE
from tbgen.compiling.internals import HAS_DIGESTS
from tbgen.compiling.jit import CACHE_FOLDER, compile_lock
from tbgen.indexing.material import Material
from tbgen.indexing.squares import Side
from tbgen.retrograde.encoding import encode
from tbgen.retrograde.solution import Solution
from tbgen.retrograde.solve import solve
from tbgen.rows.sets import Sets
from tbgen.tables.codes import CodeSpace
from tbgen.tables.names import Rules, RuleSet

CHASES_COMPILED = "chases-compiled"
"""An empty file in the cache, there once the kernels of chases are."""


def is_compiled(width: int, rules: Rules, *, ordered: bool) -> bool:
    """Whether `warm_up` has run to its end on this machine: then it loads, and compiles nothing."""
    return CACHE_FOLDER is not None and (CACHE_FOLDER / _mark(width, rules, ordered)).exists()


def _mark(width: int, rules: Rules, ordered: bool) -> str:
    """The empty file in the cache that says so."""
    return f"{rules if ordered else Rules.NONE}-{width}-compiled"


@cache
def warm_up(width: int, rules: Rules, *, ordered: bool, alone: bool = False) -> None:
    """Compile, or load, the kernels for codes of `width` bytes.

    They are loaded here even if all are in the cache: the compiler, which it takes to load them,
    leaves memory before the real table is solved (`tbgen.rows.storage`).

    rules : the rule set of the whole build
    ordered : whether kernels for rule-decided orders are wanted now
    alone : whether this process compiles everything, as there is no memory for two
    """
    with compile_lock():
        # numba's own cache is unsafe while two processes write it (numba issue 4807).
        two = rules == Rules.WXF and not alone and HAS_DIGESTS
        folder = CACHE_FOLDER if two else None
        if folder is not None and not (folder / CHASES_COMPILED).exists():
            compiler = _second_compiler(folder)
            if ordered and compiler is not None:
                _solve_all(width, Rules.CHECK)
                compiler.wait()
        _solve_all(width, rules if ordered else Rules.NONE)
        if CACHE_FOLDER is not None:
            with contextlib.suppress(OSError):
                (CACHE_FOLDER / _mark(width, rules, ordered)).touch()


def _solve_all(width: int, rules: Rules) -> None:
    """Solve the tiny materials, and encode a block: what calls all kernels that a build needs."""
    solved: dict[str, Solution] = {}
    for name in ("KRK", "KNK", "KRKN", "KRKA"):
        solved[name] = solve(
            Material.parse(name),
            lambda material: solved[material.name],
            rule_set=RuleSet(rules),
            code_space=CodeSpace(width),
            threads=1,
        )
    encode(solved["KRKN"].plane(Side.RED)[:1], 1)
    if rules != Rules.NONE:
        _operate_on_nothing(solved["KRKN"])


def _operate_on_nothing(solution: Solution) -> None:
    """Call the operations on sets for which no pattern of the tiny materials is rich enough."""
    sets = Sets(solution.frame, solution.workers)
    front = sets.empty_frontier()
    sets.join(front, front)
    sets.put_common(front.rows, front.rows, front)
    sets.count(front.rows)


@cache
def _second_compiler(cache_folder: Path) -> SecondCompiler | None:
    """None where there is neither room nor a process for it; then this one compiles everything."""
    try:
        return SecondCompiler(cache_folder)
    except OSError:
        return None


_COMPILE_CHASES = """
import os, threading
threading.Thread(target=lambda: os._exit(len(os.read(0, 1)) or 1), daemon=True).start()
from tbgen.retrograde.chase.search import compile_chases
compile_chases()
"""
"""What the second process runs. Its standard input is a pipe that nobody writes to: it is at its
end when the first process is, however that ended, and then the second one ends, too."""


class SecondCompiler:
    """A process that compiles the kernels of chases into the cache, beside this one."""

    def __init__(self, cache_folder: Path) -> None:
        self._cache = cache_folder
        sources = str(PACKAGE.parent)
        # In a group of its own, Ctrl-C reaches this process only; and what goes wrong there shows
        # as kernels that are still to be compiled here.
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-c", _COMPILE_CHASES],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            process_group=0,
            env={**os.environ, "NUMBA_CACHE_DIR": str(cache_folder), "PYTHONPATH": os.pathsep.join(
                filter(None, [sources, os.environ.get("PYTHONPATH")]))},
        )  # fmt: skip
        atexit.register(self.end)

    def wait(self) -> None:
        """Wait until it has ended, and note that the kernels are there if that is so."""
        if self.process.wait() == 0:
            with contextlib.suppress(OSError):  # a full disk: kernels are compiled again
                (self._cache / CHASES_COMPILED).touch()
        self.end()

    def end(self) -> None:
        """End the process."""
        atexit.unregister(self.end)
        self.process.kill()
        self.process.wait()
