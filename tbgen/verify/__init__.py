"""Proof of finished tables from the rules alone.

Read it in this order; docs/proof.md has the argument.

    values          keys: values on one scale for all tables; ranks and marks: small integers
                    that stand for values in planes
    arrays          a table and its supporting tables as flat arrays
    index           all positions in order, and the slot that a move leads to
    moves           one position and its moves; lists and bit sets of positions
    captures        captures, in slots of their own: the value after each, from supporting tables
    complete        positions: legality, and the slots of mirror images and exchanged pieces
    acceleration    the work on all places of a row at once; `--plain` takes one place at a time
    passes          comparison of every position with its moves, by several threads
    candidates      perpetual checks and chases: find the few candidates, by rows
    checks          perpetual checks: compare the pattern of each order with the claims
    chasers         positions of which all moves chase one piece or lose
    chases          the moves of chasers, the answers to them, and the pieces that answers attack
    chase_patterns  perpetual chases: compare the pattern of each order with the claims
    prove           the driver: one table
    files           table files: checksums, proof, statistics, certificates; closures
    wdl             win-draw-loss files: checksums, every outcome, agreement with the source table
    report          the report of a proof

This package imports the index, the rules and the coding of values, but no rows or phases of the
solver. A proof holds if the supporting tables are right, so these are proven first. Both planes of
the table, and one plane of a supporting table at a time, are in memory or in unnamed files. The
only named files that change are certificates.

Vocabulary
    lead                a placement of the kings, advisors and elephants of both sides
    innermost attacker  the attacker whose square varies fastest in the index; others are *outer*
    slot                number of a position, without its side to move, within its table
    node                number of a position with its side to move: 2 * slot + side
    plane               one number (rank or mark) for each slot, for one side to move
    row                 the slots that differ in the innermost attacker alone
    place               number of a slot within its row
    quiet move          a move that captures nothing
    open position       a draw, or a position decided by the repetition rules
    offender (O)        side that checks or chases for ever; the *winner* (W) would win by this
    pattern             of order k: a set of open positions in which each move of O repeats the
                        offence or loses by this order, and W has answers that stay in the set
    claim               a position that the table stores as a direct win by the repetition rules
    direct loss         a loss of O in which every move that keeps the order leads to a claim
    chaser              a position and a piece, the *victim*, that each move chases or else loses
    clause              a condition that W must be able to meet again and again within a pattern
    hanging piece       a piece that can be chased, and is attacked by a piece that can chase

Parameters of kernels, unless a kernel says otherwise:
    arrays : Arrays, the tables; index : Index, this table's; marks : Marks
    state : BoardState, this thread's
    numbers : uint8 or uint16 (2 * slots + SLACK,), the planes: ranks or marks
    best : uint8 or uint16 (lanes,), inout, the best number of each place of a row so far
    kept : uint8 or uint16 (90,), a buffer for numbers of `best`, by square of the place
    lead_0, lead_1 : int, the first lead, and the end of the range
    plane : int, the start in `numbers` of the plane with the opponent to move
    base : int, the first slot of a lead
    within, image : int, the slot (or the first slot of the row), and that of the mirror image, each
        relative to the first slot of its lead
    slot : int, a slot of this table; place : int, the place of the innermost attacker
    node : int; nodes : int64 (n,), ascending
    side : int, the side to move, 0 for Red
    m : int, an attacker; kind : int, its piece type
    start : int, an index in `numbers`, where a row begins
    at : int, the index in `numbers` where the row begins, less the term of the moving attacker's
        group; adding the term after a move gives the row that the move leads to
    line : int, the line of `Index.term_after` for the moving attacker
    mover, taken : int, the moving and the captured piece, as indices of `Layout.piece_codes`
    source, target, square, king : int, squares; a move goes from source to target
    s : int, a square; first, end, step : int, a line of the squares `range(first, end, step)`
    board : int8 (90,), piece codes
    squares : int64 (pieces,), inout, the square of each piece
    boards : ChaseBoards, this thread's
    before, after : int8 (90,), inout, the boards around a move; unchanged on return
    victim : int, the chased piece, as an index of `Layout.piece_codes`
    order : int, an order of repetition; limit : int, the largest order that counts
    goals : int64 (n,), ascending, the nodes that answers may lead to
    anywhere : bool, whether answers may lead to all open positions
    chasers : int64 (n,), 90 * node + square of the victim of all chasers, ascending
    listed : uint8 (bytes,), a filter (`moves.make_filter`) of the nodes of all chasers
    chases : int64 (chases, CHASE_COLUMNS), of all chasers
    edges : int64 (edges, EDGE_COLUMNS), of all chases
    graph : ChaseGraph, start offsets of the same lists
    victims : Victims, the pieces that the winner chases
    due : bool (chases,), the chases that matter at this order: those that do not lose by it
    failed : bool (chases,), the chases after which the winner cannot meet some clause
    remaining : bool (chasers,), the chasers that may still belong to the pattern
    orders : int64 (n,), out, an order for each of `nodes`
    lists : Lists, inout; which : int, index of a list
    key, child : int, a key, and the opponent's key after a move
    code : int, a stored code
    top, draw, span : int, `CodeSpace.top`, `draw` and `span`
"""

from tbgen.verify.files import FileProof, certify, verify_file
from tbgen.verify.prove import verify
from tbgen.verify.report import Finding, SideTotals, VerifyReport

__all__ = ["FileProof", "Finding", "SideTotals", "VerifyReport", "certify", "verify", "verify_file"]
