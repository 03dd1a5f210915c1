"""Proving finished tables from the rules alone.

    keys             values as comparable numbers, the same for every table
    material_arrays  a table and its supporting tables as flat arrays
    move_kernels     the legal moves of a position, and what the tables say of each child
    prove_kernels    every position against its children
    pattern_kernels  the edges between positions that may form patterns
    patterns         perpetual checks: what should be a pattern is one, and nothing else is
    chase_kernels    who may have to chase one piece for ever, and the answers to it
    answer_kernels   whom those answers chase themselves
    chase_game       the game of the chase pattern, on numbers alone
    chases           perpetual chases, as `patterns`
    prove            the driver
    files            table files: checksums, the proof, the stored figures
    report           what was found

Nothing that the builder computed is believed, and nothing of it is imported: this package knows
the index, the rules and the coding of values. What it proves of a table holds if the supporting
tables are right, so a closure is proven bottom-up.
"""

from tbgen.verify.files import verify_file
from tbgen.verify.prove import verify
from tbgen.verify.report import Finding, SideTotals, VerifyReport

__all__ = ["Finding", "SideTotals", "VerifyReport", "verify", "verify_file"]
