# mypy: allow-untyped-defs, allow-untyped-calls
"""Predecessors by quiet moves for a whole lead: row algebra along lines of the board.

A lead is a placement of the defenders; its rows are numbered by *mid*, the placement of the *men*,
all attackers except the inner piece. One scan with a running union finds all slides one way along a
line of the board. Scans pay if many rows of a lead are on the frontier; if few are, `moves.py` is
used.

The gather functions add the predecessors that they find to `reached`. Some may be illegal, or have
two pieces on one square; the sweep removes them (`within`). `taken_lo`, `taken_hi` are the squares
of the lead's defenders. Other parameters: `tbgen.rows`.

Most loops read rows as flat arrays of words, two for each row: the compiler does not vectorise
loops over arrays with a second dimension.
"""

from __future__ import annotations

import numpy as np

from tbgen.compiling.jit import part
from tbgen.indexing.squares import FILES, SQUARES
from tbgen.rows.bitsets import (
    BIT,
    CANNON,
    EMPTY,
    KNIGHT,
    KNIGHT_LEGS,
    KNIGHT_TARGETS,
    NOWHERE,
    PAWN,
    PAWN_TARGETS,
    ROOK,
    has,
    jumps_into,
    mirrored,
    pawn_steps_into,
    slides_along_files,
    slides_along_ranks,
)
from tbgen.rows.frame import COMPANIONS, EYE, FIRST_EXTEND, GROUP_STRIDE, KIND, MIRRORED, SIDE, SIZE

STEP, RANK = 2, 22
"""Distances in words on a *board of rows*: a row (two words) for each square of the moving man.
STEP is the distance to the next square of a rank, RANK to the next square of a file. After the nine
squares of each rank there is a margin of two squares, in which steps over either edge end.
"""
FIRST, LAST, _WORDS = 2 * RANK, 12 * RANK, 14 * RANK
"""Start and end of a board's ten ranks, and length with two more ranks at each end, in words."""
WORD_OF_SQUARE = np.array(
    [FIRST + RANK * (square // FILES) + STEP * (square % FILES) for square in range(SQUARES)]
)
"""int64 (90,): the offset of each square's first word on a board of rows."""
_LINES = np.array(
    [
        *((file, 9, 9) for file in range(9)),
        *((file + 81, -9, 9) for file in range(9)),
        *((rank * 9, 1, 8) for rank in range(10)),
        *((rank * 9 + 8, -1, 8) for rank in range(10)),
    ]
)
"""int64 (38, 3): first square, step and number of steps along each file and rank, both ways."""
FREE, OUT, UP, DOWN = _WORDS, 2 * _WORDS, 3 * _WORDS, 4 * _WORDS
"""Offsets in words of four boards in a buffer, after the board of the frontier's rows. FREE: by
square of the moving man, the free squares of the inner piece; none if another piece is on the man's
square. OUT: the predecessors found. UP, DOWN: the running unions up and down the files.
"""
BOARD_WORDS = 5 * _WORDS
"""Number of words in a buffer of five boards: zeros at first; all margins but OUT's stay zero."""


@part
def gather_dense(lead, side, front, reached, scratch, frame):
    """Add to `reached` the positions of one lead with a quiet move of `side` into `front`.

    `front` needs no lists of rows, but leads whose count is 0 are skipped.
    """
    mids = frame.mids
    taken, inner_free = frame.mid_taken.reshape(-1), scratch.inner_free.reshape(-1)
    taken_lo, taken_hi = frame.lead_taken[lead, 0], frame.lead_taken[lead, 1]
    for m in range(frame.move_start[side, lead], frame.move_start[side, lead + 1]):
        target = np.int64(frame.lead_after[m])
        if front.counts[target] == 0:
            continue
        _gather_lead(m, target, front, reached, scratch, frame)
    if front.counts[lead] == 0:
        return
    first = lead * mids
    for i in range(0, 2 * mids, 2):
        overlap = (taken[i] & taken_lo) | (taken[i + 1] & taken_hi)
        inner_free[i] = EMPTY if overlap else ~taken[i]
        inner_free[i + 1] = EMPTY if overlap else ~taken[i + 1]
    if frame.inner_side == side:
        _gather_inner(first, taken_lo, taken_hi, side, front, reached, frame)
    for g in range(frame.groups.shape[0]):
        if frame.groups[g, SIDE] == side:
            _gather_group(g, first, taken_lo, taken_hi, side, front, reached, scratch, frame)


@part
def _gather_lead(move, target, front, reached, scratch, frame):
    """Add predecessors by a king, advisor or elephant move, for all rows of one lead.

    move : int64, index of the move in `Frame.lead_after`
    target : int64, the lead after the move
    """
    mids, eye = frame.mids, np.int64(frame.lead_moves[move, EYE])
    words, behind = reached.reshape(-1), front.rows.reshape(-1)[2 * mids * target :]
    if frame.lead_moves[move, MIRRORED]:
        # Two passes: loading scattered rows cannot be vectorised, mirroring them can.
        images = scratch.line.reshape(-1)
        for mid in range(mids):
            at = 2 * np.int64(frame.mid_mirror[mid])
            images[2 * mid] = behind[at]
            images[2 * mid + 1] = behind[at + 1]
        for i in range(0, 2 * mids, 2):
            images[i], images[i + 1] = mirrored(images[i], images[i + 1])
        behind = images
    if eye == NOWHERE:
        for i in range(2 * mids):
            words[i] |= behind[i]
        return
    taken = frame.mid_taken.reshape(-1)
    eye_lo, eye_hi = BIT[eye, 0], BIT[eye, 1]
    for i in range(0, 2 * mids, 2):
        blocked = (taken[i] & eye_lo) | (taken[i + 1] & eye_hi)
        words[i] |= EMPTY if blocked else behind[i] & ~eye_lo
        words[i + 1] |= EMPTY if blocked else behind[i + 1] & ~eye_hi


@part
def _gather_inner(first, taken_lo, taken_hi, side, front, reached, frame):
    """Add predecessors by moves of the inner piece, for all rows of one lead."""
    mids, kind = frame.mids, frame.inner_kind
    free_lo, free_hi = frame.inner_area[0] & ~taken_lo, frame.inner_area[1] & ~taken_hi
    rows, taken = front.rows.reshape(-1)[2 * first :], frame.mid_taken.reshape(-1)
    words = reached.reshape(-1)
    # A loop for each kind of piece: without a branch inside, loops become vector instructions.
    if kind == KNIGHT:
        for i in range(0, 2 * mids, 2):
            lo, hi = jumps_into(rows[i], rows[i + 1], free_lo & ~taken[i], free_hi & ~taken[i + 1])
            words[i] |= lo
            words[i + 1] |= hi
    elif kind == PAWN:
        for i in range(0, 2 * mids, 2):
            lo, hi = pawn_steps_into(
                rows[i], rows[i + 1], free_lo & ~taken[i], free_hi & ~taken[i + 1], side
            )
            words[i] |= lo
            words[i + 1] |= hi
    else:
        for i in range(0, 2 * mids, 2):
            lo, hi = free_lo & ~taken[i], free_hi & ~taken[i + 1]
            x, y = slides_along_files(rows[i], rows[i + 1], lo, hi)
            words[i] |= x | slides_along_ranks(rows[i], lo)
            words[i + 1] |= y | slides_along_ranks(rows[i + 1], hi)


@part
def _gather_group(g, first, taken_lo, taken_hi, side, front, reached, scratch, frame):
    """Add predecessors by moves of a group of identical men, for all rows of one lead.

    One man moves. The loops run over the placements of the groups of larger stride and of the other
    men of its group. For each pair of placements, `scratch.mid_of` maps the square of the moving
    man to the first of `stride` adjacent mids, which differ in the groups of smaller stride.

    g : int64, number of the group in `Frame.groups`
    """
    mids = frame.mids
    kind, stride = frame.groups[g, KIND], frame.groups[g, GROUP_STRIDE]
    size, first_extend = frame.groups[g, SIZE], frame.groups[g, FIRST_EXTEND]
    mid_of, on_front, rows = scratch.mid_of, scratch.on_front, front.rows
    for outer in range(mids // (stride * size)):
        for c in range(frame.groups[g, COMPANIONS]):
            if stride == 1:
                _gather_single(
                    kind, outer * size, first_extend + c, first, side, front, reached, scratch,
                    frame,
                )  # fmt: skip
                continue
            any_on_front = False
            for square in range(SQUARES):
                rank = np.int64(frame.extend[first_extend + c, square])
                on_front[square] = False
                if rank < 0:
                    mid_of[square] = -1
                    continue
                mid = (outer * size + rank) * stride
                mid_of[square] = mid
                union = EMPTY
                for i in range(first + mid, first + mid + stride):
                    union |= rows[i, 0] | rows[i, 1]
                if union:
                    on_front[square] = True
                    any_on_front = True
            if not any_on_front:
                continue
            if kind == ROOK or kind == CANNON:
                _gather_lines(first, stride, front, reached, scratch)
            else:
                _gather_steps(
                    kind, first, stride, taken_lo, taken_hi, side, front, reached, scratch, frame
                )


@part
def _gather_lines(first, stride, front, reached, scratch):
    """Add predecessors by moves of a rook or cannon of a group with stride above 1.

    Scans each line with a running union: the frontier positions with the man on a square passed so
    far. A position leaves the union at the first square that another piece occupies.
    `scratch.mid_of` and `scratch.on_front` must be filled for this man.
    """
    mid_of, on_front = scratch.mid_of, scratch.on_front
    line, inner_free = scratch.line.reshape(-1), scratch.inner_free.reshape(-1)
    rows, words = front.rows.reshape(-1)[2 * first :], reached.reshape(-1)
    for number in range(_LINES.shape[0]):
        square, step, running = _LINES[number, 0], _LINES[number, 1], False
        for _ in range(_LINES[number, 2]):
            passed = square
            square += step
            target, source = mid_of[passed], mid_of[square]
            if target < 0 or source < 0:
                running = False
                continue
            if not running:
                if not on_front[passed]:
                    continue
                running = True
                for i in range(2 * stride):
                    line[i] = EMPTY
            behind, way, before = rows[2 * target :], inner_free[2 * target :], words[2 * source :]
            for i in range(2 * stride):
                line[i] = (line[i] | behind[i]) & way[i]
                before[i] |= line[i]


@part
def _gather_single(kind, base, companions, first, side, front, reached, scratch, frame):
    """Add predecessors by moves of a man of a group with stride 1; its companions stay.

    The rows for all squares of the man are copied into a board of rows (`STEP`). Every step is then
    a constant offset, and a step off the board finds nothing, so the loops need no branch.

    base : int64, the mid with the group's placement of rank 0, the men of other groups in place
    companions : int64, row of `Frame.extend` for the other men of the group
    """
    mid_of, board = scratch.mid_of, scratch.board
    inner_free = scratch.inner_free.reshape(-1)
    rows, words = front.rows.reshape(-1)[2 * first :], reached.reshape(-1)
    union = EMPTY
    for square in range(SQUARES):
        at, rank = np.int64(WORD_OF_SQUARE[square]), np.int64(frame.extend[companions, square])
        lo, hi, way_lo, way_hi = EMPTY, EMPTY, EMPTY, EMPTY
        mid_of[square] = -1
        if rank >= 0:
            mid = base + rank
            mid_of[square] = mid
            lo, hi = rows[2 * mid], rows[2 * mid + 1]
            way_lo, way_hi = inner_free[2 * mid], inner_free[2 * mid + 1]
            union |= lo | hi
        board[at] = lo
        board[at + 1] = hi
        board[FREE + at] = way_lo
        board[FREE + at + 1] = way_hi
    if not union:
        return
    if kind == ROOK or kind == CANNON:
        _slide_on_board(board)
    elif kind == KNIGHT:
        _jump_on_board(board)
    else:
        _step_on_board(side, board)
    for square in range(SQUARES):
        at, mid = OUT + np.int64(WORD_OF_SQUARE[square]), mid_of[square]
        if mid >= 0:
            words[2 * mid] |= board[at]
            words[2 * mid + 1] |= board[at + 1]


@part
def _slide_on_board(buffer):
    """Write to board OUT the predecessors, by slides, of the rows on the first board."""
    lo, hi = EMPTY, EMPTY
    for i in range(FIRST, LAST, STEP):
        lo = (lo | buffer[i]) & buffer[FREE + i]
        hi = (hi | buffer[i + 1]) & buffer[FREE + i + 1]
        buffer[OUT + i + STEP] = lo
        buffer[OUT + i + STEP + 1] = hi
    buffer[OUT + FIRST] = EMPTY
    buffer[OUT + FIRST + 1] = EMPTY
    lo, hi = EMPTY, EMPTY
    for i in range(LAST - STEP, FIRST, -STEP):
        lo = (lo | buffer[i]) & buffer[FREE + i]
        hi = (hi | buffer[i + 1]) & buffer[FREE + i + 1]
        buffer[OUT + i - STEP] |= lo
        buffer[OUT + i - STEP + 1] |= hi
    # No running union enters the first rank of UP or the last of DOWN: these ranks stay zero.
    for i in range(FIRST, LAST - RANK):
        buffer[UP + i + RANK] = (buffer[UP + i] | buffer[i]) & buffer[FREE + i]
    for rank in range(LAST - RANK, FIRST, -RANK):
        for i in range(rank, rank + RANK):
            buffer[DOWN + i - RANK] = (buffer[DOWN + i] | buffer[i]) & buffer[FREE + i]
    for i in range(FIRST, LAST):
        buffer[OUT + i] |= buffer[UP + i] | buffer[DOWN + i]


@part
def _jump_on_board(buffer):
    """Write to board OUT the predecessors, by knight jumps, of the rows on the first board."""
    # FREE on the leg's square: the positions in which no other piece is on the leg.
    for i in range(FIRST, LAST):
        buffer[OUT + i] = (
            (buffer[i + 2 * RANK - STEP] | buffer[i + 2 * RANK + STEP]) & buffer[FREE + i + RANK]
            | (buffer[i - 2 * RANK - STEP] | buffer[i - 2 * RANK + STEP]) & buffer[FREE + i - RANK]
            | (buffer[i + RANK + 2 * STEP] | buffer[i - RANK + 2 * STEP]) & buffer[FREE + i + STEP]
            | (buffer[i + RANK - 2 * STEP] | buffer[i - RANK - 2 * STEP]) & buffer[FREE + i - STEP]
        )


@part
def _step_on_board(side, buffer):
    """Write to board OUT the predecessors, by pawn steps, of the rows on the first board."""
    forwards = RANK if side == 0 else -RANK
    river = (FIRST + LAST) // 2
    for i in range(FIRST, LAST):
        buffer[OUT + i] = buffer[i + forwards]
    for i in range(river if side == 0 else FIRST, LAST if side == 0 else river):
        buffer[OUT + i] |= buffer[i + STEP] | buffer[i - STEP]


@part
def _gather_steps(kind, first, stride, taken_lo, taken_hi, side, front, reached, scratch, frame):
    """Add predecessors by knight jumps or pawn steps of a man of a group with stride above 1.

    `scratch.mid_of` and `scratch.on_front` must be filled for this man.
    """
    mid_of, on_front, taken = scratch.mid_of, scratch.on_front, frame.mid_taken.reshape(-1)
    rows, words = front.rows.reshape(-1)[2 * first :], reached.reshape(-1)
    for square in range(SQUARES):
        if mid_of[square] < 0:
            continue
        source = 2 * mid_of[square]
        for k in range(8 if kind == KNIGHT else 3):
            if kind == KNIGHT:
                target_square = np.int64(KNIGHT_TARGETS[square, k])
            else:
                target_square = np.int64(PAWN_TARGETS[side, square, k])
            if target_square < 0 or not on_front[target_square]:
                continue
            target = 2 * mid_of[target_square]
            if kind == KNIGHT:
                leg = np.int64(KNIGHT_LEGS[square, k])
                if has(taken_lo, taken_hi, leg):
                    continue
                not_lo, not_hi = ~BIT[leg, 0], ~BIT[leg, 1]
                for i in range(0, 2 * stride, 2):
                    if not has(taken[source + i], taken[source + i + 1], leg):
                        words[source + i] |= rows[target + i] & not_lo
                        words[source + i + 1] |= rows[target + i + 1] & not_hi
            else:
                for i in range(2 * stride):
                    words[source + i] |= rows[target + i]
