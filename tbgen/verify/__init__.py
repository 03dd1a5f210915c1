"""Proving finished tables from the rules alone.

Read it in this order; docs/proof.md has the argument.

    values     keys, the same for every table; ranks, whose maximum is the best; marks
    arrays     a table and those that captures lead to, as flat arrays
    index      every position in turn, and the slot that a move leads to
    moves      one position, and all its moves; lists and sets of positions
    complete   whole planes: legality, images, captures
    acceleration   whole rows at once, where `--plain` takes place by place
    passes     every position against its moves, by several threads
    settle     perpetual checks, by rows
    checks     perpetual checks: what should be a pattern is one, and nothing else is
    chasers    who may have to chase one piece for ever, and what a move attacks anew
    chases     his chases, the answers to them, and whom those chase themselves
    chase_patterns  perpetual chases, as `checks`: a game on numbers alone
    prove      the driver
    files      table files: checksums, the proof, the stored figures, certificates; closures
    wdl        win-draw-loss files: checksums, every outcome, the table that one came from
    report     what was found

Nothing that the builder computed is believed, and nothing of it is imported: this package knows
the index, the rules and the coding of values, and neither rows nor phases. What it proves of a
table holds if the supporting tables are right, so a closure is proven bottom-up. What is read of
a table is in memory once, both sides, or in a file without a name; nothing is left behind but
certificates.

Parameters of kernels, unless a kernel says otherwise:
    arrays : Arrays, the tables; index : Index, this table's; marks : Marks
    state : BoardState, the thread's own
    numbers : uint8 or uint16 (2 * slots,), the planes: ranks or marks
    best : uint8 or uint16 (lanes,), inout, the best number of each place of a row so far
    kept : uint8 or uint16 (lanes,), a buffer
    lead_0, lead_1 : int, the first lead, and the one after the last
    plane : int, where in `numbers` the children begin
    within, image : int, the slot or row, and that of the mirror image, without the lead
    slot : int, a canonical slot of this table; cell : int, the place of the innermost attacker
    node : int, 2 * slot + side to move
    side : int, who moves, 0 for Red
    m : int, which of the attackers; kind : int, of which type
    at : int, where in `numbers` the slot is, without the term of the man's group
    line : int, that of his term in `Index.extend`
    mover, taken : int, which of the pieces moves, and which is taken
    source, target, square, king : int, squares; a move goes from source to target
    s, first, end, step : int, squares: of a line the first, the one beyond the last, and from one
        to the next
    board : int8 (90,), inout, piece codes; left as it was
    squares : int64 (pieces,), inout, the square of each piece; left as it was
    nodes : int64 (n,), ascending
    boards : ChaseBoards, the thread's own; the functions leave the position on them as it was
    before, after : int8 (90,), inout, the boards around a move; left as they were
    victim : int, which of the pieces is chased
    order, limit : int, orders of repetition
    chasers : int64 (n,), all chasers, ascending
    chases : int64 (chases, CHASE_COLUMNS), of all chasers
    edges : int64 (edges, EDGE_COLUMNS), of all chases
    graph : ChaseGraph, the same as starts
    victims : Victims, whom the winner-to-be chases
    due : bool (chases,), the chases that matter
    dead : bool (chases,), the chases that cannot be answered
    alive : bool (chasers,), the chasers that may belong to the pattern
    orders : int64 (n,), out; lists : Lists, inout; which : int, which of them
    key, child : int, a key, and that of the opponent after a move
    code : int, a stored code
    top, draw, span : int, `CodeSpace.top`, `draw` and `span`
"""

from tbgen.verify.files import FileProof, certify, verify_file
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
