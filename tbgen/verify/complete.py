# mypy: allow-untyped-defs, allow-untyped-calls
"""Completion of the planes: the rank of a value in every slot that a move may lead to.

A *plane* has a rank for each slot, with one side to move; 0 is no position (`values`). A loaded
plane has meaningful ranks only in canonical slots of legal positions.

    canonical slots  --rules-->  0 for illegal positions, the kinds of draws; positions are counted
                     --index-->  the same rank in the slots of mirror images and of positions with
                                 exchanged identical pieces

Captures lead to slots of their own, which `captures` has filled before. The package's docstring
describes the parameters of kernels.
"""

from __future__ import annotations

from tbgen.compiling.jit import borrowing_kernel, part
from tbgen.indexing.slots import attacker_slot
from tbgen.indexing.squares import EMPTY, piece_side
from tbgen.rules.attacks import attacks, pieces_between
from tbgen.rules.chases import may_be_victim
from tbgen.verify.acceleration import mark_row
from tbgen.verify.captures import is_king_attacked, wins_by_capture
from tbgen.verify.index import FACING, NOWHERE, RED_CHECKED, RED_HANGS, open_row
from tbgen.verify.moves import has_bit, has_unique_slots, set_bit
from tbgen.verify.values import CHECKED, DECIDED_BY_RULES, FREE, HANGING, NEVER


@part
def hangs(side, chase_rules, state, index):
    """Return whether a piece of a side can be chased, and a piece that can chase attacks it.

    chase_rules : int, bits of the rule set
    """
    board, squares = state.board, state.piece_squares
    for v in range(squares.size):
        square, n = squares[v], 0
        if piece_side(board[square]) != side or not may_be_victim(
            board[square], square, chase_rules
        ):
            continue
        while index.able_to_chase[v, n] != NOWHERE:
            if attacks(board, squares[index.able_to_chase[v, n]], square):
                return True
            n += 1
    return False


@part
def find_canonical(lead, within, image, state, index):
    """Return the canonical slot of the position in `state.piece_squares`.

    lead : int, the lead of any slot of the position
    within, image : int, that slot and the slot of the mirror image, as returned by `moves.set_up`
    """
    base, symmetric = lead * index.lead_slots, index.self_mirrored[lead]
    if index.twin == NOWHERE:
        return base + (min(within, image) if symmetric else within)
    first = state.piece_squares.size - index.attackers.size
    best = attacker_slot(state.piece_squares, first, False, index.descriptor)
    if symmetric:
        best = min(best, attacker_slot(state.piece_squares, first, True, index.descriptor))
    return base + best


@part
def _mark_places(state, index, arrays):
    """Fill the masks of a row (`mark_row`), examining one place after the other.

    Places on which another piece stands are left unchanged.
    """
    board, masks, last = state.board, state.masks, index.attackers.size - 1
    for place in range(index.row_slots):
        square = index.square_of_place[place]
        if board[square] != EMPTY:
            continue
        board[square] = index.attackers[last]
        state.attacker_squares[last] = square
        masks[FACING, place] = pieces_between(board, state.kings[0], state.kings[1]) == 0
        for side in range(2):
            masks[RED_CHECKED + side, place] = is_king_attacked(side, NOWHERE, state, index)
            masks[RED_HANGS + side, place] = arrays.judges_chases and hangs(
                side, arrays.chase_rules, state, index
            )
        board[square] = EMPTY


@part
def _fill_row(side, slot, counts, state, arrays, index):
    """Correct the ranks of a row by the rules, for one side to move, and count its positions.

    Illegal positions, and slots that are not canonical, get 0. If the rules judge checks, draws get
    the rank of their kind. Ranks after captures, at places on which another piece stands, do not
    change. Fills `arrays.hanging` for the row. Reads the row's `state.masks` and `state.canonical`.

    slot : int, the first one of the row
    counts : int64 (2, ranks), inout, positions by side and rank, draws as FREE; ignore rank 0
    """
    masks, canonical, last = state.masks, state.canonical, state.piece_squares.size - 1
    hit, hit_other, facing = masks[RED_CHECKED + side], masks[RED_CHECKED + 1 - side], masks[FACING]
    hanging, keys, draw = masks[RED_HANGS + side], arrays.values.keys[side], arrays.draws[side]
    line = counts[side]
    first = side * index.slots + slot
    row = arrays.ranks[first : first + index.row_slots]
    for place in range(row.size):
        is_kept = (canonical[place] == slot + place) & (hit_other[place] | facing[place] == 0)
        row[place] = row[place] if is_kept else 0
    for place in range(row.size):
        rank = row[place]
        line[rank] += 1
        key = keys[rank]
        square = index.square_of_place[place]
        if 0 < key <= DECIDED_BY_RULES and not hit[place] and state.board[square] == EMPTY:
            state.piece_squares[last], state.board[square] = square, index.pieces[last]
            if hanging[place] or wins_by_capture(side, NEVER, state, arrays, index):
                set_bit(arrays.hanging[side], slot + place)
            state.board[square] = EMPTY
    for p in range(last):
        place = index.place_of_square[state.piece_squares[p]]
        if place != NOWHERE:
            line[row[place]] -= 1
    if arrays.judges_checks:
        for place in range(row.size):
            kind = CHECKED if hit[place] else FREE - (FREE - HANGING) * hanging[place]
            row[place] = row[place] - (FREE - kind) if row[place] == draw else row[place]


@part
def _find_canonical_row(lead, at, image, state, index):
    """Fill `state.canonical` with the canonical slot of each position of a row.

    Places on which another piece stands get their own slot.

    lead : int
    at, image : int, the first slot of the row, and that of its mirror image, relative to the lead
    """
    canonical, last = state.canonical, state.piece_squares.size - 1
    for place in range(index.row_slots):
        canonical[place] = lead * index.lead_slots + at + place
    if not has_unique_slots(lead, index):
        for place in range(index.row_slots):
            square = index.square_of_place[place]
            if state.board[square] == EMPTY:
                state.piece_squares[last] = square
                canonical[place] = find_canonical(
                    lead, at + place, image + index.mirrored_place[place], state, index
                )


@borrowing_kernel
def k_complete(lead_0, lead_1, plain, counts, state, index, arrays):
    """Fill the slots of a range of leads with the ranks of their positions; fill `arrays.hanging`.

    Slots of captures must hold their ranks already, in all leads: a capture may change the lead.

    plain : bool, whether to examine positions one by one
    counts : int64 (2, ranks), inout, positions by side and rank, draws as FREE; ignore rank 0
    """
    planes, slots = arrays.ranks, index.slots
    for lead in range(lead_0, lead_1):
        for row in range(index.lead_slots // index.row_slots):
            at, image, overlaps, _, _ = open_row(lead, row, state, index)
            first = lead * index.lead_slots + at
            if overlaps:
                continue
            if plain:
                _mark_places(state, index, arrays)
            else:
                mark_row(state, index, arrays)
            for p in range(state.piece_squares.size - 1):
                place = index.place_of_square[state.piece_squares[p]]
                if place != NOWHERE:
                    # Without flags, ranks after captures are kept; draws have the kind FREE.
                    state.masks[:, place] = 0
            _find_canonical_row(lead, at, image, state, index)
            for side in range(2):
                _fill_row(side, first, counts, state, arrays, index)
            if has_unique_slots(lead, index):
                continue
            for place in range(index.row_slots):
                slot, canonical = first + place, state.canonical[place]
                if canonical != slot:
                    for side in range(2):
                        planes[side * slots + slot] = planes[side * slots + canonical]
                        if has_bit(arrays.hanging[side], canonical):
                            set_bit(arrays.hanging[side], slot)
