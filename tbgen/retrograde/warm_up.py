"""Compiling the kernels once per machine, under a lock, before the first real table.

Two tiny materials reach every kernel: a rook against a knight (mid groups, an inner piece, both
captured), and a rook against an advisor (a defender captured).
"""

from functools import cache

from tbgen.indexing.layout import Layout
from tbgen.indexing.material import Material
from tbgen.jit import compile_lock
from tbgen.retrograde.solve import DrawnTable, solve
from tbgen.retrograde.supporting import SupportingTable
from tbgen.tables.codes import CodeSpace
from tbgen.tables.names import Rules


@cache
def warm_up(width: int, rules: Rules) -> None:
    """Compile, or load, the kernels for codes of `width` bytes and for a rule set."""

    def supporting(material: Material) -> SupportingTable:
        return DrawnTable(Layout.of(material))

    with compile_lock():
        for name in ("KRKN", "KRKA"):
            solve(
                Material.parse(name),
                supporting,
                rules=rules,
                code_space=CodeSpace(width),
                threads=1,
            )
