# mypy: allow-untyped-defs, allow-untyped-calls
"""Sets of squares as two words, and the moves and attacks of pieces on them.

    lo   bits 0..44   ranks 0 to 4         bit = square
    hi   bits 0..44   ranks 5 to 9         bit = square - 45
    lo   bit 63       OFF_BOARD: in place of a square, if the index has no inner piece

The positions of one *row* of the index differ only in the square of one attacker, the *inner
piece*, so a pair of words is also a set of positions of one row. In an index without an inner piece
(`Layout.views` after its capture, or a material without attackers), each row has one position, with
the bit OFF_BOARD. Other bits are *meaningless*; complements (`FULL`, `attack_stands`) set them.

Functions return a set of squares as two words (lo, hi). Those whose docstring says *in one word*
work on either word alone. Parameters: `tbgen.rows`.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from tbgen.compiling.jit import part
from tbgen.indexing.groups import MIRROR as MIRROR
from tbgen.indexing.squares import SQUARES, PieceType, Side, area
from tbgen.rules.board import LEAPS, STEPS

U64 = np.uint64
EMPTY = U64(0)
ONE = U64(1)
FULL = U64(0xFFFF_FFFF_FFFF_FFFF)
WORD_SQUARES = 45
"""Number of squares in one word of a set: each word has one half of the board."""
WORD = U64((1 << WORD_SQUARES) - 1)
OFF_BOARD = U64(1 << 63)
FIRST_RANK = U64((1 << 9) - 1)

ROOK, KNIGHT, CANNON, PAWN = (int(kind) for kind in PieceType if kind.is_attacker)


def _file_mask(*files: int) -> np.uint64:
    """Return all squares of some files, in one word."""
    return U64(sum(1 << (9 * rank + file) for rank in range(5) for file in files))


_NOT_A, _NOT_I = WORD & ~_file_mask(0), WORD & ~_file_mask(8)
_NOT_AB, _NOT_HI = WORD & ~_file_mask(0, 1), WORD & ~_file_mask(7, 8)
_ABCD, _ABFG, _ACFH = _file_mask(0, 1, 2, 3), _file_mask(0, 1, 5, 6), _file_mask(0, 2, 5, 7)
_1, _2, _4, _5, _9, _18, _36 = (U64(n) for n in (1, 2, 4, 5, 9, 18, 36))


def square_set(squares: tuple[int, ...] | list[int]) -> tuple[int, int]:
    """Return the two words of a set of squares, (lo, hi), as Python ints."""
    bits = sum(1 << square for square in squares)
    return bits & int(WORD), bits >> WORD_SQUARES


RAY = np.full((SQUARES, 4, 9), -1, np.int8)
"""int8 (90, 4, 9): for each square, the squares of the four rays from it (up, down, right, left),
the nearest first, -1 after the last.
"""
KNIGHT_TARGETS = np.full((SQUARES, 8), -1, np.int8)
"""int8 (90, 8): the target squares of a knight on each square, -1 off the board."""
KNIGHT_LEGS = np.full((SQUARES, 8), -1, np.int8)
"""int8 (90, 8): the leg, which must be empty, of each jump from a square to its `KNIGHT_TARGETS`;
-1 for a target off the board.
"""
LEG_BETWEEN = np.full((SQUARES, SQUARES), -1, np.int8)
"""int8 (90, 90): the leg of the jump from one square to another, -1 if there is no such jump."""
PAWN_TARGETS = np.full((2, SQUARES, 3), -1, np.int8)
"""int8 (2, 90, 3): the target squares of a pawn of either side, -1 for none."""
PAWN_SOURCES = np.full((2, SQUARES, 3), -1, np.int8)
"""int8 (2, 90, 3): the squares from which a pawn of either side steps to a square, -1 for none."""
PAWN_ATTACKS = np.zeros((2, SQUARES, SQUARES), np.bool_)
"""bool (2, 90, 90): whether a pawn of each side, on the first square, attacks the second."""
BETWEEN = np.zeros((SQUARES, SQUARES, 2), np.uint64)
"""uint64 (90, 90, 2): the set of the squares strictly between two squares of one rank or file;
empty for other pairs.
"""
ALIGNED = np.zeros((SQUARES, SQUARES), np.bool_)
"""bool (90, 90): whether two different squares share a rank or a file."""


def _fill_tables() -> None:
    """Fill the arrays above: `RAY` to `ALIGNED`."""

    def square(rank: int, file: int) -> int:
        return 9 * rank + file if 0 <= rank < 10 and 0 <= file < 9 else -1

    for s in range(SQUARES):
        rank, file = divmod(s, 9)
        for d, (up, right) in enumerate(STEPS):
            passed: list[int] = []
            for k in range(1, 10):
                t = square(rank + k * up, file + k * right)
                if t < 0:
                    break
                RAY[s, d, k - 1] = t
                BETWEEN[s, t] = square_set(passed)
                ALIGNED[s, t] = True
                passed.append(t)
        for j, (up, right, leg_up, leg_right) in enumerate(LEAPS):
            t, leg = square(rank + up, file + right), square(rank + leg_up, file + leg_right)
            if t >= 0:
                KNIGHT_TARGETS[s, j], KNIGHT_LEGS[s, j], LEG_BETWEEN[s, t] = t, leg, leg
        for side, forward in ((Side.RED, 1), (Side.BLACK, -1)):
            PAWN_TARGETS[side, s, 0] = square(rank + forward, file)
            if (rank >= 5) == (side == Side.RED):
                PAWN_TARGETS[side, s, 1:] = square(rank, file - 1), square(rank, file + 1)
            for j, t in enumerate(PAWN_TARGETS[side, s].tolist()):
                if t >= 0:
                    PAWN_ATTACKS[side, s, t] = True
                    PAWN_SOURCES[side, t, j] = s


_fill_tables()
KNIGHT_LEGS_BACK = np.where(
    KNIGHT_TARGETS < 0, -1, LEG_BETWEEN[KNIGHT_TARGETS, np.arange(SQUARES)[:, None]]
).astype(np.int8)
"""int8 (90, 8): the leg, which must be empty, of the jump back to a square from each of its
`KNIGHT_TARGETS`; -1 for a target off the board.
"""
NOWHERE = SQUARES
"""Number in place of a square for "no square": `BIT[NOWHERE]` is the empty set."""
BIT = np.array([*(square_set([s]) for s in range(SQUARES)), (0, 0)], np.uint64)
"""uint64 (91, 2): the set of one square, and the empty set for NOWHERE."""
AREA = np.array([[square_set(area(side, kind)) for kind in PieceType] for side in Side], np.uint64)
"""uint64 (2, 7, 2): the set of squares where each side's pieces of each type may stand."""


@intrinsic
def lowest_bit(typingctx, word):
    """Return the index of the lowest set bit of a nonzero uint64, as int64 (LLVM `cttz`)."""

    def generate(context, builder, signature, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), generate


@intrinsic
def count_bits(typingctx, word):
    """Return the number of set bits of a uint64, as int64 (LLVM `ctpop`)."""

    def generate(context, builder, signature, args):
        return builder.ctpop(args[0])

    return types.int64(types.uint64), generate


@part
def first_square(lo, hi):
    """Return the lowest square of a nonempty set."""
    if lo:
        return lowest_bit(lo)
    return WORD_SQUARES + lowest_bit(hi)


@part
def without_first(lo, hi):
    """Return a nonempty set without its lowest square."""
    if lo:
        return lo & (lo - ONE), hi
    return lo, hi & (hi - ONE)


@part
def has(lo, hi, square):
    """Return whether a set contains a square; False for `NOWHERE` (no square)."""
    return ((lo & BIT[square, 0]) | (hi & BIT[square, 1])) != EMPTY


@part
def up(lo, hi):
    """Return a set moved one rank up, away from Red; squares beyond the board are dropped."""
    return (lo << _9) & WORD, ((hi << _9) & WORD) | (lo >> _36)


@part
def down(lo, hi):
    """Return a set moved one rank down, towards Red; squares beyond the board are dropped."""
    return (lo >> _9) | ((hi & FIRST_RANK) << _36), hi >> _9


@part
def _sideways(word):
    """Return the left and right neighbours of the squares of one word, in one word."""
    return ((word << _1) & _NOT_A) | ((word >> _1) & _NOT_I)


@part
def _mirror_word(w):
    """Return the mirror image of one word of a set, in one word; the bit OFF_BOARD is kept.

    Three exchanges reverse each rank: the four files on both sides of the middle file change
    places, then the pairs in each four, then the files in each pair.
    """
    x = (w ^ (w >> _5)) & _ABCD
    w ^= x | (x << _5)
    x = (w ^ (w >> _2)) & _ABFG
    w ^= x | (x << _2)
    x = (w ^ (w >> _1)) & _ACFH
    return w ^ (x | (x << _1))


@part
def mirrored(lo, hi):
    """Return the mirror image of a set (file a becomes file i); the bit OFF_BOARD is kept."""
    return _mirror_word(lo), _mirror_word(hi)


@part
def slides_along_ranks(start, free):
    """Return the squares of `free` that rooks on `start` reach along their ranks, in one word.

    Steps of 1, 2, 4 and again 1 square in each direction cover the other eight squares of a rank.
    """
    reach, path = start, free & _NOT_A
    reach |= path & (reach << _1)
    path &= path << _1
    reach |= path & (reach << _2)
    path &= path << _2
    reach |= path & (reach << _4)
    right = (reach << _1) & free & _NOT_A
    reach, path = start, free & _NOT_I
    reach |= path & (reach >> _1)
    path &= path >> _1
    reach |= path & (reach >> _2)
    path &= path >> _2
    reach |= path & (reach >> _4)
    return right | ((reach >> _1) & free & _NOT_I)


@part
def _fill_up(start, free):
    """Return `start` and the squares of `free` that rooks on `start` reach up, in one word."""
    reach = start | (free & (start << _9))
    path = free & (free << _9)
    reach |= path & (reach << _18)
    return (reach | (free & (reach << _9))) & WORD


@part
def _fill_down(start, free):
    """Return `start` and the squares of `free` that rooks on `start` reach down, in one word."""
    reach = start | (free & (start >> _9))
    path = free & (free >> _9)
    reach |= path & (reach >> _18)
    return reach | (free & (reach >> _9))


@part
def slides_along_files(lo, hi, free_lo, free_hi):
    """Return the free squares that rooks on the squares (lo, hi) reach along their files."""
    low = _fill_up(lo, free_lo)
    high = _fill_up(hi | ((low >> _36) & free_hi), free_hi)
    out_lo = (low << _9) & free_lo
    out_hi = ((high << _9) | (low >> _36)) & free_hi
    high = _fill_down(hi, free_hi)
    low = _fill_down(lo | (((high & FIRST_RANK) << _36) & free_lo), free_lo)
    out_hi |= (high >> _9) & free_hi
    out_lo |= ((low >> _9) | ((high & FIRST_RANK) << _36)) & free_lo
    return out_lo, out_hi


@part
def slides(lo, hi, free_lo, free_hi):
    """Return the free squares from which a rook or cannon makes a quiet move into a set.

    Quiet moves from the set reach the same squares.
    """
    out_lo, out_hi = slides_along_files(lo, hi, free_lo, free_hi)
    return out_lo | slides_along_ranks(lo, free_lo), out_hi | slides_along_ranks(hi, free_hi)


@part
def jumps_into(lo, hi, free_lo, free_hi):
    """Return the free squares from which a knight jumps into a set; legs must be free, too."""
    # Jumps of two ranks and one file; the leg is on the rank between, on the file of the start.
    side_lo, side_hi = _sideways(lo), _sideways(hi)
    a_lo, a_hi = down(side_lo, side_hi)
    a_lo, a_hi = down(a_lo, a_hi)
    leg_lo, leg_hi = down(free_lo, free_hi)
    out_lo, out_hi = a_lo & leg_lo, a_hi & leg_hi
    a_lo, a_hi = up(side_lo, side_hi)
    a_lo, a_hi = up(a_lo, a_hi)
    leg_lo, leg_hi = up(free_lo, free_hi)
    out_lo |= a_lo & leg_lo
    out_hi |= a_hi & leg_hi
    # Jumps of one rank and two files; the leg is on the file between, on the rank of the start.
    a_lo, a_hi = up(lo, hi)
    b_lo, b_hi = down(lo, hi)
    a_lo |= b_lo
    a_hi |= b_hi
    out_lo |= ((a_lo >> _2) & _NOT_HI) & ((free_lo >> _1) & _NOT_I)
    out_hi |= ((a_hi >> _2) & _NOT_HI) & ((free_hi >> _1) & _NOT_I)
    out_lo |= ((a_lo << _2) & _NOT_AB) & ((free_lo << _1) & _NOT_A)
    out_hi |= ((a_hi << _2) & _NOT_AB) & ((free_hi << _1) & _NOT_A)
    return out_lo & free_lo, out_hi & free_hi


@part
def pawn_steps_into(lo, hi, free_lo, free_hi, side):
    """Return the free squares from which a pawn of `side` steps into a set."""
    if side == 0:
        a_lo, a_hi = down(lo, hi)
        a_hi |= _sideways(hi)
    else:
        a_lo, a_hi = up(lo, hi)
        a_lo |= _sideways(lo)
    return a_lo & free_lo, a_hi & free_hi


@part
def inner_sources(kind, side, lo, hi, free_lo, free_hi):
    """Return the free squares from which the inner piece makes a quiet move into a set."""
    if kind == KNIGHT:
        return jumps_into(lo, hi, free_lo, free_hi)
    if kind == PAWN:
        return pawn_steps_into(lo, hi, free_lo, free_hi, side)
    return slides(lo, hi, free_lo, free_hi)


@part
def attack_stands(kind, side, source, target, occ_lo, occ_hi):
    """Return the squares of the inner piece for which another piece on `source` attacks `target`.

    The inner piece may block the attack, or be the screen of a cannon. The set may contain occupied
    squares and meaningless bits. It has the bit OFF_BOARD if the attack needs no inner piece.
    """
    if kind == ROOK or kind == CANNON:
        if not ALIGNED[source, target]:
            return EMPTY, EMPTY
        lo, hi = BETWEEN[source, target, 0], BETWEEN[source, target, 1]
        screens = count_bits(lo & occ_lo) + count_bits(hi & occ_hi)
        if kind == CANNON:
            if screens == 0:
                return lo, hi
            screens -= 1
        if screens == 0:
            return ~lo, ~hi
        return EMPTY, EMPTY
    if kind == KNIGHT:
        leg = np.int64(LEG_BETWEEN[source, target])
        if leg < 0 or has(occ_lo, occ_hi, leg):
            return EMPTY, EMPTY
        return ~BIT[leg, 0], ~BIT[leg, 1]
    if PAWN_ATTACKS[side, source, target]:
        return FULL, FULL
    return EMPTY, EMPTY


@part
def line_attacks(kind, source, occ_lo, occ_hi):
    """Return the empty squares on which a rook or cannon on `source` would attack a piece.

    From the same squares, a piece of this kind would attack `source`.
    """
    lo, hi = EMPTY, EMPTY
    for direction in range(4):
        screens = 0
        for k in range(9):
            s = np.int64(RAY[source, direction, k])
            if s < 0:
                break
            if has(occ_lo, occ_hi, s):
                screens += 1
                if kind == ROOK or screens == 2:
                    break
            elif kind == ROOK or screens == 1:
                lo |= BIT[s, 0]
                hi |= BIT[s, 1]
    return lo, hi


@part
def _attacks(kind, side, square, occ_lo, occ_hi, legs, pawns):
    """Return the empty squares attacked from `square`, or those from which `square` is attacked.

    The piece has type `kind` and side `side`. For a rook or cannon both sets are the same.

    legs : int8 (90, 8), in; `KNIGHT_LEGS` for attacks from `square`, `KNIGHT_LEGS_BACK` for attacks
        on `square`
    pawns : int8 (2, 90, 3), in; `PAWN_TARGETS` for attacks from `square`, `PAWN_SOURCES` for
        attacks on `square`
    """
    if kind == ROOK or kind == CANNON:
        return line_attacks(kind, square, occ_lo, occ_hi)
    lo, hi = EMPTY, EMPTY
    for k in range(8 if kind == KNIGHT else 3):
        if kind == KNIGHT:
            s, leg = np.int64(KNIGHT_TARGETS[square, k]), np.int64(legs[square, k])
        else:
            s, leg = np.int64(pawns[side, square, k]), np.int64(NOWHERE)
        if s >= 0 and not has(occ_lo, occ_hi, leg):
            lo |= BIT[s, 0]
            hi |= BIT[s, 1]
    return lo & ~occ_lo, hi & ~occ_hi


@part
def attacks_on_inner(kind, side, source, occ_lo, occ_hi):
    """Return the empty squares on which a piece on `source` would attack the inner piece."""
    return _attacks(kind, side, source, occ_lo, occ_hi, KNIGHT_LEGS, PAWN_TARGETS)


@part
def inner_attackers(kind, side, target, occ_lo, occ_hi):
    """Return the empty squares from which the inner piece would attack `target`."""
    return _attacks(kind, side, target, occ_lo, occ_hi, KNIGHT_LEGS_BACK, PAWN_SOURCES)
