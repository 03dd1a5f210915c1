"""Compiling the kernels once per machine, under a lock, before the first real table.

Two tiny materials reach nearly every kernel: a rook against a knight (mid groups, an inner piece,
both captured, captures that wait), and a rook against an advisor (a defender captured).
"""

from functools import cache

from tbgen.indexing.material import Material
from tbgen.jit import compile_lock
from tbgen.retrograde.solve import Solution, solve
from tbgen.tables.codes import CodeSpace
from tbgen.tables.names import Rules


@cache
def warm_up(width: int, rules: Rules) -> None:
    """Compile, or load, the kernels for codes of `width` bytes and for a rule set."""
    solved: dict[str, Solution] = {}
    with compile_lock():
        for name in ("KRK", "KNK", "KRKN", "KRKA"):
            solved[name] = solve(
                Material.parse(name),
                lambda material: solved[material.name],
                rules=rules,
                code_space=CodeSpace(width),
                threads=1,
            )
