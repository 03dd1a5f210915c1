# mypy: allow-untyped-defs, allow-untyped-calls
"""The index as a sum: every position of a table in turn, and the slot that a move leads to.

    slot = first slot of the lead + one term for each group of attackers

A *lead* is a placement of the *defenders* (kings, advisors, elephants) of both sides. A *group* has
one or several identical attackers; the last group is the innermost attacker. The *term* of a group
is the number of its placement times the group's stride. A *row* is all placements of the innermost
attacker with everything else fixed.

A move of an attacker changes one term. A line of `Index.term_after` has the new term for each
target square; the placement of the other pieces of the group selects the line. A step of a defender
leads to another lead, which may hold the mirror image of the position. So the slot of the mirror
image is computed, too.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from tbgen.compiling.jit import by_pointer, part
from tbgen.indexing.layout import Layout
from tbgen.indexing.rulesets import ABLE_TO_CHASE
from tbgen.indexing.slots import lead_of_ranks
from tbgen.indexing.squares import EMPTY, SQUARES, PieceType, Side, piece_kind, piece_side
from tbgen.rules.board import MAX_MOVES
from tbgen.rules.moves import piece_moves

NOWHERE = -1
"""Number where there is no square, place, term, group, lead, slot or index; it also ends lists."""

SOURCE, TARGET, EYE, PLACEMENT, STEP_WORDS = range(5)
"""Words of a defender's step: source and target square, the eye of an elephant (else NOWHERE), and
the placement of the side's defenders after the step.
"""
FIRST_SLOT, MIRRORED = PLACEMENT, STEP_WORDS
"""Last two words of a step in `BoardState.steps`, after SOURCE, TARGET and EYE.

FIRST_SLOT : the first slot of the lead (placement of all defenders) after the step
MIRRORED : whether that lead has the mirror image of the position
"""

_MOST_STEPS = 5 * 4
"""Largest number of moves of a side's defenders: five pieces with at most four each."""

RED_CHECKED, BLACK_CHECKED, FACING, RED_HANGS, BLACK_HANGS, MASKS = range(6)
"""Indices of `BoardState.masks`, and their number. A mask has a flag for each place of a row: the
red or the black king is attacked, the kings face each other, a red or a black piece hangs.
"""

LANES = 32
"""Number of places that vectorised loops process together; rows are padded to multiples of it."""

ROW_LANES = 96
"""Padded length of a row of ninety places."""


@by_pointer
class Index(NamedTuple):
    """Lookup tables of a layout, to visit all positions and to find the slots after their moves.

    Shapes: M attackers, G groups, L leads; `most pieces`, the largest number in a group; `most
    placements`, `most defenders`, the larger number of the two sides. Placements of attackers are
    numbered through all groups, one group after the other, those of defenders for each side from 0.
    """

    slots: int
    """Number of slots of the table, for each side to move."""
    lead_slots: int
    """Number of slots of a lead."""
    row_slots: int
    """Number of slots of a row; `places` in shapes."""
    twin: int
    """Index of the group of the other attackers of the innermost attacker's side and kind; NOWHERE
    if there are none.
    """
    pieces: NDArray[np.int64]
    """int64 (pieces,): piece codes in the order of `Layout.piece_codes`: Red's defenders, Black's
    defenders, then attackers.
    """
    attackers: NDArray[np.int64]
    """int64 (M,): the piece code of each attacker, a view of the end of `pieces`."""
    group_of: NDArray[np.int64]
    """int64 (M,): the group of each attacker."""
    number_in_group: NDArray[np.int64]
    """int64 (M,): the number of each attacker within its group."""
    attackers_of: NDArray[np.int64]
    """int64 (2, M + 1): the attackers of each side, then NOWHERE."""
    first_placement: NDArray[np.int64]
    """int64 (G,): the first placement of each group."""
    group_sizes: NDArray[np.int64]
    """int64 (G,): the number of placements of each group."""
    strides: NDArray[np.int64]
    """int64 (G,): the slot difference between neighbouring placements."""
    placement_squares: NDArray[np.int64]
    """int64 (placements, most pieces): the squares of the pieces of a placement, then NOWHERE."""
    lines: NDArray[np.int64]
    """int64 (placements, most pieces): the line of `term_after` for moves of each piece of a
    placement.
    """
    mirrored: NDArray[np.int64]
    """int64 (placements,): the term of the mirror image of each placement."""
    term_after: NDArray[np.int64]
    """int64 (lines, 90): the term of a group after one of its pieces moves to a square; NOWHERE if
    it may not stand there.
    """
    lead_ranks: NDArray[np.int64]
    """int64 (2, L): the placement of Red's and of Black's defenders in each lead."""
    self_mirrored: NDArray[np.bool_]
    """bool (L,): whether each lead is its own mirror image."""
    defender_squares: NDArray[np.int64]
    """int64 (2, most placements, most defenders): the squares of each side's defenders, the king
    first, then NOWHERE.
    """
    step_start: NDArray[np.int64]
    """int64 (2, most placements + 1): for each side, the index in `steps` of the first step of each
    placement, then the end of the last one.
    """
    steps: NDArray[np.int64]
    """int64 (steps, STEP_WORDS): steps of defenders of all placements."""
    able_to_chase: NDArray[np.int64]
    """int64 (pieces, pieces + 1): for each piece, the opponent's pieces that may chase it under
    some rules (`ABLE_TO_CHASE`), as indices of `pieces`, then NOWHERE; none may chase a king.
    """
    square_of_place: NDArray[np.int64]
    """int64 (places,): the square of each place in a row."""
    place_of_square: NDArray[np.int64]
    """int64 (90,): the place of a square in a row, or NOWHERE."""
    mirrored_place: NDArray[np.int64]
    """int64 (places,): the place of the mirror image of each place."""
    beside: NDArray[np.uint8]
    """uint8 (5, ROW_LANES): at index n + 2, for n from -2 to 2: whether each square has a square n
    files further on its rank.
    """
    descriptor: NDArray[np.int64]
    """int64 (words,): the layout as numbers, for the scalar functions of `tbgen.indexing.slots`."""


@by_pointer
class BoardState(NamedTuple):
    """Position and buffers of one thread.

    Shapes: M, G as in `Index`; places, the `row_slots` of `Index`; lanes, places rounded up to a
    multiple of `LANES`; steps, `_MOST_STEPS`.
    """

    board: NDArray[np.int8]
    """int8 (90,): piece codes."""
    attacker_squares: NDArray[np.int64]
    """int64 (M,): the square of each attacker, a view of the end of `piece_squares`."""
    line: NDArray[np.int64]
    """int64 (M,): the line of `Index.term_after` for each attacker's moves."""
    other_terms: NDArray[np.int64]
    """int64 (M,): for each attacker, the first slot of the row, relative to the lead, without the
    term of the attacker's group.
    """
    placements: NDArray[np.int64]
    """int64 (G,): the placement of each group, minus `Index.first_placement`; that of the innermost
    attacker is not set.
    """
    steps: NDArray[np.int64]
    """int64 (2, steps, STEP_WORDS + 1): the moves of each side's defenders in the lead."""
    step_counts: NDArray[np.int64]
    """int64 (2,): the number of each side's entries of `steps`."""
    kings: NDArray[np.int64]
    """int64 (2,): squares of the kings."""
    lead: NDArray[np.int64]
    """int64 (1,): the lead whose steps are in `steps`, or NOWHERE."""
    sources: NDArray[np.int64]
    """int64 (MAX_MOVES,): source squares, written by `list_moves`."""
    targets: NDArray[np.int64]
    """int64 (MAX_MOVES,): target squares, written by `list_moves`."""
    children: NDArray[np.int64]
    """int64 (MAX_MOVES,): the slots after the moves, written by `list_moves`."""
    piece_squares: NDArray[np.int64]
    """int64 (pieces,): the square of each piece of `Index.pieces`."""
    piece_on: NDArray[np.int64]
    """int64 (90,): index in `piece_squares` of the piece on an occupied square (`moves.set_up`)."""
    other_squares: NDArray[np.int64]
    """int64 (pieces,): buffer for the squares of another position."""
    masks: NDArray[np.uint8]
    """uint8 (MASKS, places): the masks of a row."""
    canonical: NDArray[np.int64]
    """int64 (places,): the canonical slot of the position at each place of a row. A place on which
    another piece stands has its own slot (`complete`).
    """
    buffer: NDArray[np.uint8]
    """uint8 (places,): a buffer for the mask of a row."""
    best: NDArray[Any]
    """uint8 or uint16 (lanes,): the best number that moves lead to, for each place of a row."""
    row: NDArray[Any]
    """uint8 or uint16 (LANES + ROW_LANES + LANES,): a copy of the numbers of a row, from index
    LANES on, between zeros.
    """
    occupied: NDArray[np.uint8]
    """uint8 (LANES + ROW_LANES + LANES,): whether each square is occupied, laid out like `row`."""
    kept: NDArray[Any]
    """uint8 or uint16 (90,): a buffer for best numbers that are restored later."""

    @classmethod
    def make(cls, index: Index, dtype: DTypeLike = np.uint8) -> BoardState:
        """Return an empty state for planes of type `dtype`."""
        men, groups, places = len(index.attackers), len(index.first_placement), index.row_slots
        lanes = -(-places // LANES) * LANES
        piece_squares = np.zeros_like(index.pieces)
        return cls(
            board=np.zeros(SQUARES, np.int8), attacker_squares=piece_squares[-men:],
            line=np.zeros(men, np.int64), other_terms=np.zeros(men, np.int64),
            placements=np.zeros(groups, np.int64),
            steps=np.zeros((2, _MOST_STEPS, STEP_WORDS + 1), np.int64),
            step_counts=np.zeros(2, np.int64), kings=np.zeros(2, np.int64),
            lead=np.full(1, NOWHERE), sources=np.zeros(MAX_MOVES, np.int64),
            targets=np.zeros(MAX_MOVES, np.int64), children=np.zeros(MAX_MOVES, np.int64),
            piece_squares=piece_squares, piece_on=np.zeros(SQUARES, np.int64),
            other_squares=np.zeros_like(piece_squares), masks=np.zeros((MASKS, places), np.uint8),
            canonical=np.zeros(places, np.int64), buffer=np.zeros(places, np.uint8),
            best=np.zeros(lanes, dtype), row=np.zeros(ROW_LANES + 2 * LANES, dtype),
            occupied=np.zeros(ROW_LANES + 2 * LANES, np.uint8), kept=np.zeros(SQUARES, dtype),
        )  # fmt: skip


def make_index(layout: Layout) -> Index:
    """Return the `Index` of a layout."""
    groups = [*layout.groups]
    strides = [stride * layout.inner_size for stride in layout.strides]
    assert layout.inner is not None, "a table has an attacker"
    groups.append(layout.inner)
    strides.append(1)
    most = max(group.count for group in groups)
    sizes = [group.size for group in groups]
    first = np.concatenate([[0], np.cumsum(sizes)])[:-1]
    squares = np.full((sum(sizes), most), NOWHERE, np.int64)
    lines, mirrored, extend = np.zeros_like(squares), np.zeros(sum(sizes), np.int64), []
    line = 0
    for group, stride, start in zip(groups, strides, first.tolist(), strict=True):
        end = start + group.size
        squares[start:end, : group.count] = group.squares
        lines[start:end, : group.count] = line + group.companions
        mirrored[start:end] = group.mirror * stride
        extend.append(np.where(group.extend < 0, NOWHERE, group.extend.astype(np.int64) * stride))
        line += len(group.extend)
    pieces, men = np.array(layout.piece_codes), sum(group.count for group in groups)
    own = np.full((2, men + 1), NOWHERE, np.int64)
    for side in Side:
        mine = [m for m, code in enumerate(layout.piece_codes[-men:]) if piece_side(code) == side]
        own[side, : len(mine)] = mine
    defenders = layout.defenders
    shape = 2, max(each.size for each in defenders), max(each.pieces for each in defenders)
    defender_squares = np.full(shape, NOWHERE)
    for side, each in zip(Side, defenders, strict=True):
        defender_squares[side, : each.size, : each.pieces] = each.squares
    step_start, steps = _list_steps(layout)
    files = np.arange(-2, 3)[:, None] + np.arange(ROW_LANES) % 9
    return Index(
        slots=layout.slots, lead_slots=layout.mids * layout.inner_size,
        row_slots=layout.inner_size, twin=layout.twin, pieces=pieces, attackers=pieces[-men:],
        group_of=np.repeat(np.arange(len(groups)), [group.count for group in groups]),
        number_in_group=np.concatenate([np.arange(group.count) for group in groups]),
        attackers_of=own, first_placement=first, group_sizes=np.array(sizes),
        strides=np.array(strides), placement_squares=squares, lines=lines, mirrored=mirrored,
        term_after=np.concatenate(extend), lead_ranks=np.array(layout.lead_ranks, np.int64),
        self_mirrored=layout.self_mirrored, defender_squares=defender_squares,
        step_start=step_start, steps=steps, able_to_chase=_list_able_to_chase(layout.piece_codes),
        square_of_place=squares[first[-1] :, 0].copy(), place_of_square=extend[-1][0],
        mirrored_place=mirrored[first[-1] :],
        beside=((files >= 0) & (files < 9)).astype(np.uint8), descriptor=layout.descriptor,
    )  # fmt: skip


def _list_steps(layout: Layout) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return `Index.step_start` and `Index.steps`; steps onto own defenders are left out."""
    most = max(each.size for each in layout.defenders)
    starts = np.zeros((2, most + 1), np.int64)
    steps: list[tuple[int, int, int, int]] = []
    targets = [0] * MAX_MOVES
    for side, each in enumerate(layout.defenders):
        for placement, squares in enumerate(each.squares.tolist()):
            starts[side, placement] = len(steps)
            for p, (code, square) in enumerate(zip(each.codes, squares, strict=True)):
                board, is_elephant = bytearray(SQUARES), piece_kind(code) == PieceType.ELEPHANT
                board[square] = code
                for target in targets[: piece_moves(board, square, targets, 0)]:
                    if target not in squares:
                        eye = (square + target) // 2 if is_elephant else NOWHERE
                        moved = np.array([[*squares[:p], target, *squares[p + 1 :]]])
                        steps.append((square, target, eye, int(each.rank(moved)[0])))
        starts[side, each.size :] = len(steps)
    return starts, np.array(steps, np.int64)


def _list_able_to_chase(codes: tuple[int, ...]) -> NDArray[np.int64]:
    """Return `Index.able_to_chase`."""
    chasers = np.full((len(codes), len(codes) + 1), NOWHERE, np.int64)
    for line, victim in zip(chasers, codes, strict=True):
        opponent = [q for q, code in enumerate(codes) if piece_side(code) != piece_side(victim)]
        if piece_kind(victim) != PieceType.KING:
            listed = [q for q in opponent if piece_kind(codes[q]) in ABLE_TO_CHASE]
            line[: len(listed)] = listed
    return chasers


@part
def set_lead(lead, state, index):
    """Put the defenders of a lead on the empty board in `state`. lead : int.

    Sets `lead`, `kings`, the defenders' `piece_squares` and, if the lead has changed, `steps` and
    `step_counts`.
    """
    is_new, piece = state.lead[0] != lead, 0
    state.lead[0] = lead
    for side in range(2):
        rank = index.lead_ranks[side, lead]
        state.kings[side] = index.defender_squares[side, rank, 0]
        for p in range(index.defender_squares.shape[2]):
            square = index.defender_squares[side, rank, p]
            if square != NOWHERE:
                state.board[square] = index.pieces[piece]
                state.piece_squares[piece] = square
                piece += 1
        if not is_new:
            continue
        count = 0
        for n in range(index.step_start[side, rank], index.step_start[side, rank + 1]):
            step = state.steps[side, count]
            for word in range(PLACEMENT):
                step[word] = index.steps[n, word]
            after = index.steps[n, PLACEMENT]
            red = after if side == 0 else index.lead_ranks[0, lead]
            black = after if side == 1 else index.lead_ranks[1, lead]
            lead_after, image, _ = lead_of_ranks(red, black, index.descriptor)
            step[FIRST_SLOT] = lead_after * index.lead_slots
            step[MIRRORED] = image
            count += 1
        state.step_counts[side] = count


@part
def open_row(lead, row, state, index):
    """Put the pieces of a row on the board in `state`, except the innermost attacker.

    Also sets what moves of the row need in `state`: `piece_squares` (except that of the innermost
    attacker), `line`, `other_terms`, `placements`, and what `set_lead` sets.

    Returns (at, image, overlaps, x, y):
        at, image: the first slot of the row, and that of its mirror image, each relative to the
            first slot of its lead
        overlaps: 0 if no two pieces share a square; 1 if exactly two do, and are of different
            sides; else a larger number
        x, y: if `overlaps` is 1, the two pieces, as indices of `Index.pieces`

    lead : int; row : int, the number of the row within its lead
    """
    board = state.board[:SQUARES]
    for s in range(SQUARES):
        board[s] = EMPTY
    set_lead(lead, state, index)
    groups, last, first = (
        index.first_placement.size,
        index.attackers.size - 1,
        state.piece_squares.size - index.attackers.size,
    )
    at = row * index.row_slots
    image, overlaps, x, y = np.int64(0), 0, 0, 0
    for g in range(groups - 1):
        state.placements[g] = at // index.strides[g] % index.group_sizes[g]
        image += index.mirrored[index.first_placement[g] + state.placements[g]]
    state.other_terms[last] = at
    state.line[last] = index.lines[index.first_placement[groups - 1], 0]
    for m in range(last):
        g = index.group_of[m]
        placement = index.first_placement[g] + state.placements[g]
        square = index.placement_squares[placement, index.number_in_group[m]]
        state.line[m] = index.lines[placement, index.number_in_group[m]]
        state.other_terms[m] = at - state.placements[g] * index.strides[g]
        state.piece_squares[first + m] = square
        if board[square] == EMPTY:
            board[square] = index.attackers[m]
            continue
        x, y = first + m, 0
        while state.piece_squares[y] != square:
            y += 1
        overlaps += 2 if piece_side(board[square]) == piece_side(index.attackers[m]) else 1
    return at, image, overlaps, x, y
