"""Compile the kernels once per machine, under a lock, before the first real table.

    this process      kernels of propagation, called with made-up captures; for chases those of the
                      sieve and of the game
    a second process  meanwhile, those of captures and of the graph of chases: half of the work
    this process      solve tiny materials: load all kernels, compile those still missing

Kernels for numbers of two bytes are compiled only when a table needs them (`warm_up_wide`).
"""

from __future__ import annotations

import subprocess
from functools import cache

from tbgen.compiling import jit
from tbgen.indexing.layout import Layout
from tbgen.indexing.material import Material
from tbgen.indexing.rulesets import Rules
from tbgen.indexing.squares import Side
from tbgen.retrograde.captures import MANY_VALUES, compile_captures
from tbgen.retrograde.chase.game import compile_game
from tbgen.retrograde.chase.search import compile_graph, compile_sieve
from tbgen.retrograde.encoding import encode
from tbgen.retrograde.initialisation import sort_by_captures
from tbgen.retrograde.legality import find_legal
from tbgen.retrograde.propagation import Propagation
from tbgen.retrograde.solution import CountedPlanes, Solution
from tbgen.retrograde.solve import solve
from tbgen.retrograde.supporting import Plane
from tbgen.rows.frame import make_frame
from tbgen.rows.sets import Rows, Sets
from tbgen.rows.workers import Workers
from tbgen.tables.codes import CodeSpace, Outcome, Value
from tbgen.tables.names import Metric
from tbgen.tables.palettes import Palette
from tbgen.tables.rule_sets import RuleSet


def is_compiled(rules: Rules, *, ordered: bool) -> bool:
    """Return whether a `warm_up` with these arguments has recorded its kernels as compiled."""
    return jit.is_compiled(_kernels_of(rules if ordered else Rules.NONE))


def _kernels_of(rules: Rules) -> str:
    """Return the name of a rule set's kernels, which rule sets with the same `offences` share."""
    return f"offences-{rules.offences}"


@cache
def warm_up(rules: Rules, *, ordered: bool, alone: bool = False) -> None:
    """Compile or load the kernels for planes of one byte, once in a process for equal arguments.

    rules : the rule set of the whole build
    ordered : include the kernels of orders above 0 (the repetition rules)
    alone : compile everything in this process, since there is no memory for a second one

    Raises the errors of `compile_lock`.
    """
    with jit.compile_lock():
        solved_rules = rules if ordered else Rules.NONE
        if not alone and not jit.is_compiled(_kernels_of(solved_rules)):
            process = _start_second_process(rules)
            if process is not None:
                _propagate_made_up()
                if ordered and rules.judges_chases:
                    compile_sieve()
                    compile_game()
                process.wait()
        _solve_all(solved_rules)
        jit.note_compiled(_kernels_of(solved_rules))


@cache
def warm_up_wide() -> None:
    """Compile or load the kernels that work on planes, for planes of two bytes per number."""
    with jit.compile_lock():
        compile_captures(wide=True)
        _propagate_made_up(wide=True)


def _propagate_made_up(*, wide: bool = False) -> None:
    """Call all kernels of order 0 except those of captures, by solving with made-up captures.

    wide : add so many values that planes have two bytes per number
    """
    layout, code_space = Layout.of(Material.parse("KRKN")), CodeSpace(2)
    many = list(map(code_space.encode, MANY_VALUES)) if wide else []
    win = Value(Outcome.WIN, 0, 3)  # the best capture of every second position, which waits
    palette = Palette.of(code_space, [code_space.encode(win), *many])

    def find(lead_0: int, lead_1: int, legal: Rows, numbers: Plane) -> None:
        del lead_0, lead_1, legal
        numbers.fill(len(palette.codes) - 1)
        numbers[::2] = 0

    with Workers(1) as workers:
        sets = Sets(make_frame(layout), workers)
        positions = [sort_by_captures(sets, side, palette, find) for side in Side]
        unknown = find_legal(sets.frame, 0, workers), find_legal(sets.frame, 1, workers)
        propagation = Propagation(sets, unknown, positions, code_space)
        propagation.start()
        for _ in propagation.steps(0):
            pass
        propagation.journals[Side.RED].codes.update(many)
        propagation.settle_draws()
        _encode(Solution(
            layout, code_space, Metric.DTM, sets.frame, workers, sets.chunks, propagation.journals,
            {},
        ))  # fmt: skip


def _encode(solution: Solution) -> None:
    """Compute a plane of a solution and encode its first slot, to compile the kernels of both."""
    encode(CountedPlanes(solution).numbers_from(Side.RED, 0, 1), 1)


def _solve_all(rules: Rules) -> None:
    """Call all kernels of a build, for planes of one byte per number, by solving tiny materials.

    KRKN needs the kernels for mid groups, for captures of an inner piece and for captures that
    wait. KRKA needs those for captures of a defender.
    """
    solved: dict[str, Solution] = {}
    for name in ("KRK", "KNK", "KRKN", "KRKA"):
        solved[name] = solve(
            Material.parse(name),
            lambda material: solved[material.name],
            rule_set=RuleSet(rules),
            code_space=CodeSpace(2),
            threads=1,
        )
    _encode(solved["KRKN"])
    if rules != Rules.NONE:
        # Set operations that the tiny materials do not reach.
        sets = Sets(solved["KRKN"].frame, solved["KRKN"].workers)
        front = sets.empty_frontier()
        sets.join(front, front)
        sets.put_common(front.rows, front.rows, front)
        sets.count(front.rows)


@cache
def _start_second_process(rules: Rules) -> subprocess.Popen[bytes] | None:
    """Start the second process, once for each rule set; return it, or None if it cannot start."""
    return jit.start_beside(_compile_second_half if rules.judges_chases else compile_captures)


def _compile_second_half() -> None:
    """Compile the kernels of the second process: captures and graphs of chases."""
    compile_captures()
    compile_graph()
