"""Proving finished tables from the rules alone.

    keys       values as comparable numbers, the same for every table
    planes     the codes of tables, unpacked, as places in palettes
    ranks      values as small numbers, of which rows are maxima
    arrays     a table and its supporting tables as flat arrays
    captures   which tables captures lead to, and in which slots
    views      several proofs of a byte a slot, where one does not tell all values apart
    loading    how the arrays come about
    forward    every position against its children, by rows
    moves      the legal moves of a position, and what the tables say of each child
    checks     perpetual checks: what should be a pattern is one, and nothing else is
    chase      perpetual chases, as `checks`
    positions  the scalar witness: single positions against their children
    sample     whom he is asked about
    prove      the driver
    warm_up    compiling the kernels, once on a machine
    wdl        win-draw-loss files: checksums, every outcome, the table that one came from
    files      table files: checksums, the proof, the stored figures
    certify    certificates beside proven tables
    closure    many tables, bottom-up, each once
    report     what was found

Nothing that the builder computed is believed, and nothing of it is imported: this package knows
the index, the rules and the coding of values, and neither rows nor phases. What it proves of a
table holds if the supporting tables are right, so a closure is proven bottom-up. What is read of
a table is in memory once, both sides, or in a file without a name; nothing is left behind but
certificates.

Parameters of kernels, unless a kernel says otherwise:
    arrays : Arrays, the tables; written to by the first pass alone
    men : Men, this table's pieces
    desk : Desk, the thread's own; the functions leave the position on it as it was
    row_0, row_1 : int, the first row, and the one after the last
    slot : int, a canonical slot of this table
    image : int, the slot of the mirror image where the lead is its own image, else -1
    node : int, 2 * slot + side to move
    side : int, who moves, 0 for Red
    mover, taken : int, which of the pieces moves, and which is taken
    source, target, square : int, squares; a move goes from source to target
    board : int8 (90,), inout, piece codes; left as it was
    squares : int64 (pieces,), inout, the square of each piece; left as it was
    key, child : int, a key, and that of the opponent after a move
    code : int, a stored code
    top, draw, span : int, `CodeSpace.top`, `draw` and `span`
"""

from tbgen.verify.certify import certify
from tbgen.verify.files import FileProof, verify_file
from tbgen.verify.prove import verify
from tbgen.verify.report import Finding, SideTotals, VerifyReport

__all__ = [
    "FileProof",
    "Finding",
    "SideTotals",
    "VerifyReport",
    "certify",
    "verify",
    "verify_file",
]
