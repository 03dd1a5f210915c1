# mypy: allow-untyped-defs, allow-untyped-calls
"""Row kernels: attacks and best moves for all places of the innermost attacker at once.

    mark_row       places where kings are attacked, kings face each other, or a piece hangs
    best_of_row    best number (rank or mark) that a side's moves lead to, for each place

In a row only the innermost attacker varies; each of its squares is a *place*. A move of another
piece leads from every place to the same place of another row, or to the mirrored place if the lead
after a defender's step has the mirror image. So `best` is an element-wise maximum of rows. To
*include* a row in `best` is to take the larger number at each place. Places where the innermost
attacker blocks the move must not change: they are saved in `kept` before, and restored afterwards.

A piece *hangs* if it can be chased, and is attacked by a piece that can chase. `--plain` takes one
place at a time (`complete`, `passes`). The package's docstring describes the parameters.
"""

from __future__ import annotations

from tbgen.compiling.jit import part
from tbgen.indexing.squares import EMPTY, SQUARES, PieceType, piece_kind, piece_side
from tbgen.rules.attacks import attacks, pieces_between
from tbgen.rules.board import LEAPS
from tbgen.rules.chases import may_be_victim
from tbgen.rules.moves import piece_moves
from tbgen.verify.index import (
    EYE,
    FACING,
    FIRST_SLOT,
    LANES,
    MIRRORED,
    NOWHERE,
    RED_CHECKED,
    RED_HANGS,
    ROW_LANES,
    TARGET,
)  # fmt: skip

_ROOK, _KNIGHT, _CANNON = int(PieceType.ROOK), int(PieceType.KNIGHT), int(PieceType.CANNON)
_PAWN = int(PieceType.PAWN)

_STEPS = (1, -1, 9, -9)
_KNIGHT_WAYS = (19, 17, -19, -17, 11, 7, -11, -7)
_OTHER_WAYS = (*_STEPS, 10, 8, -10, -8, 20, 16, -20, -16)
"""Differences of squares: `_STEPS` between neighbours on a line, `_KNIGHT_WAYS` from a knight to
the squares that it may attack, `_OTHER_WAYS` from a pawn, advisor or elephant.
"""


@part
def _end_of_line(square, step):
    """Return the end of the line from a square to the edge of the board.

    The squares of the line are `range(square + step, end, step)`.
    """
    if step == 1 or step == -1:
        return square - square % 9 + (9 if step == 1 else -1)
    return square % 9 + (SQUARES if step == 9 else -9)


@part
def _is_place(s, state, index):
    """Return whether `s` is an empty square on which the innermost attacker may stand.

    s : int, may be off the board
    """
    return 0 <= s < SQUARES and index.place_of_square[s] != NOWHERE and state.board[s] == EMPTY


@part
def _attacks_with(s, source, target, state, index):
    """Return whether the piece on `source` attacks `target` if the innermost attacker is on `s`.

    s : int, an empty square, which may be `source` or `target`
    """
    state.board[s] = index.attackers[index.attackers.size - 1]
    found = attacks(state.board, source, target)
    state.board[s] = EMPTY
    return found


@part
def _mark_inner(other, is_victim, chase_rules, mask, state, index):
    """Mark the places where the innermost attacker attacks `other`, or is attacked from `other`.

    other : int, the square of the other piece
    is_victim : bool, whether the innermost attacker is the piece attacked; if so, only places where
        it can be chased are marked
    chase_rules : int, bits of the rule set; mask : uint8 (places,), inout
    """
    board, inner = state.board, index.attackers[index.attackers.size - 1]
    kind = piece_kind(board[other] if is_victim else inner)
    if kind == _ROOK or kind == _CANNON:
        # Attacks along lines are symmetric: walk away from `other` in both cases.
        needed = 1 if kind == _CANNON else 0
        for step in _STEPS:
            s, end, mounts = other + step, _end_of_line(other, step), 0
            while s != end and mounts <= needed:
                place = index.place_of_square[s]
                if mounts == needed and place != NOWHERE:
                    mask[place] |= not is_victim or may_be_victim(inner, s, chase_rules)
                if board[s] != EMPTY:
                    mounts += 1
                s += step
        return
    for n in range(len(_KNIGHT_WAYS) if kind == _KNIGHT else len(_OTHER_WAYS)):
        s = other + (_KNIGHT_WAYS[n] if kind == _KNIGHT else _OTHER_WAYS[n])
        if _is_place(s, state, index):
            source, target = (other, s) if is_victim else (s, other)
            if _attacks_with(s, source, target, state, index):
                is_judged = not is_victim or may_be_victim(inner, s, chase_rules)
                mask[index.place_of_square[s]] |= is_judged


@part
def _mark_outer(source, target, mask, buffer, state, index):
    """Mark the places of the innermost attacker at which the piece on `source` attacks `target`.

    Both are other pieces; the innermost attacker may block the attack, or be the cannon's mount.

    mask : uint8 (places,), inout; buffer : uint8 (places,), scratch
    """
    kind = piece_kind(state.board[source])
    low, high = min(source // 9, target // 9), max(source // 9, target // 9)
    left, right = min(source % 9, target % 9), max(source % 9, target % 9)
    is_line = kind == _ROOK or kind == _CANNON
    if (low != high and left != right) if is_line else max(high - low, right - left) > 2:
        return
    buffer[:] = attacks(state.board, source, target)
    # Places between the two, such as a leg or an eye, may change the result: test each.
    for rank in range(low, high + 1):
        for s in range(9 * rank + left, 9 * rank + right + 1):
            if _is_place(s, state, index):
                buffer[index.place_of_square[s]] = _attacks_with(s, source, target, state, index)
    for place in range(mask.size):
        mask[place] |= buffer[place]


@part
def _mark_facing(mask, state, index):
    """Mark the places of the innermost attacker at which the kings face each other.

    mask : uint8 (places,), inout
    """
    red, black = state.kings[0], state.kings[1]
    if red % 9 == black % 9 and pieces_between(state.board, red, black) == 0:
        mask[:] = 1
        for s in range(red + 9, black, 9):
            if index.place_of_square[s] != NOWHERE:
                mask[index.place_of_square[s]] = 0


@part
def mark_row(state, index, arrays):
    """Fill `state.masks` for a row: kings attacked or facing each other, hanging pieces.

    The innermost attacker must not be on the board. Places on which another piece stands get
    arbitrary flags. Nothing hangs if the rules do not judge chases.
    """
    chase_rules = arrays.chase_rules
    squares, last = state.piece_squares, state.piece_squares.size - 1
    masks, buffer = state.masks, state.buffer
    masks[:] = 0
    _mark_facing(masks[FACING], state, index)
    for side in range(2):
        king, hit, k = state.kings[side], masks[RED_CHECKED + side], 0
        while index.attackers_of[1 - side, k] != NOWHERE:
            m = index.attackers_of[1 - side, k]
            if m == index.attackers.size - 1:
                _mark_inner(king, False, chase_rules, hit, state, index)
            else:
                _mark_outer(state.attacker_squares[m], king, hit, buffer, state, index)
            k += 1
    for v in range(squares.size if arrays.judges_chases else 0):
        square, n = squares[v], 0
        code = index.pieces[v]
        if v != last and not may_be_victim(code, square, chase_rules):
            continue
        mask = masks[RED_HANGS + piece_side(code)]
        while index.able_to_chase[v, n] != NOWHERE:
            attacker = index.able_to_chase[v, n]
            if v == last:
                _mark_inner(squares[attacker], True, chase_rules, mask, state, index)
            elif attacker == last:
                _mark_inner(square, False, chase_rules, mask, state, index)
            else:
                _mark_outer(squares[attacker], square, mask, buffer, state, index)
            n += 1


@part
def _include_row(best, numbers, start):
    """Include in `best` the row that begins at `start`."""
    lanes = best.size // LANES * LANES
    row, other = best[:lanes], numbers[start : start + lanes]
    for lane in range(lanes):
        row[lane] = max(row[lane], other[lane])


@part
def _keep(first, end, step, best, kept, index):
    """Save in `kept` the best numbers of the places on the squares `range(first, end, step)`."""
    for s in range(first, end, step):
        if index.place_of_square[s] != NOWHERE:
            kept[s] = best[index.place_of_square[s]]


@part
def _restore(first, end, step, best, kept, index):
    """Restore the best numbers that `_keep` has saved."""
    for s in range(first, end, step):
        if index.place_of_square[s] != NOWHERE:
            best[index.place_of_square[s]] = kept[s]


@part
def _include_except(first, end, step, start, best, kept, numbers, index):
    """Include a row in `best`, except at places on the squares `range(first, end, step)`."""
    _keep(first, end, step, best, kept, index)
    _include_row(best, numbers, start)
    _restore(first, end, step, best, kept, index)


@part
def _include_place(square, start, best, numbers, index):
    """Include a row in `best` at the place on `square` alone; do nothing if it is no place."""
    place = index.place_of_square[square]
    if place != NOWHERE:
        best[place] = max(best[place], numbers[start + place])


@part
def _include_steps(side, plane, within, image, best, numbers, state, index):
    """Include in `best` the rows that moves of a side's king, advisors and elephants lead to.

    For an elephant, the place on its eye is left out: there the innermost attacker blocks the step.
    """
    board, steps = state.board, state.steps
    for n in range(state.step_counts[side]):
        code, eye = board[steps[side, n, TARGET]], steps[side, n, EYE]
        if (code != EMPTY and piece_side(code) == side) or (eye != NOWHERE and board[eye] != EMPTY):
            continue
        first = plane + steps[side, n, FIRST_SLOT]
        place = NOWHERE if eye == NOWHERE else index.place_of_square[eye]
        blocked = best[max(place, 0)]
        if steps[side, n, MIRRORED]:
            for c in range(index.row_slots):
                best[c] = max(best[c], numbers[first + image + index.mirrored_place[c]])
        else:
            _include_row(best, numbers, first + within)
        if place != NOWHERE:
            best[place] = blocked


@part
def _include_line(side, kind, first, end, step, at, line, best, kept, numbers, state, index):
    """Include in `best` the rows that moves of an outer rook or cannon in one direction lead to.

    The squares are `range(first, end, step)`. If the innermost attacker stands on one of them, it
    may block the piece, be captured, or be a cannon's mount.
    """
    board, s = state.board, first
    while s != end and board[s] == EMPTY:
        # A rook captures the innermost attacker on `s`, a cannon does not.
        if kind == _CANNON:
            _keep(s, s + step, step, best, kept, index)
        _include_row(best, numbers, at + index.term_after[line, s])
        if kind == _ROOK:
            _keep(s, s + step, step, best, kept, index)
        s += step
    is_capture = s != end and piece_side(board[s]) != side
    if kind == _ROOK and is_capture:
        _include_row(best, numbers, at + index.term_after[line, s])
    _restore(first, s, step, best, kept, index)
    if kind == _ROOK or s == end:
        return
    if is_capture:
        for mount in range(first, s, step):
            _include_place(mount, at + index.term_after[line, s], best, numbers, index)
    s += step
    while s != end and board[s] == EMPTY:
        _include_place(s, at + index.term_after[line, s], best, numbers, index)
        s += step
    if s != end and piece_side(board[s]) != side:
        _include_except(first, s, step, at + index.term_after[line, s], best, kept, numbers, index)


@part
def _include_attacker(m, side, at, best, kept, numbers, state, index):
    """Include in `best` the rows that moves of the outer attacker `m` lead to."""
    kind, square, line = piece_kind(index.attackers[m]), state.attacker_squares[m], state.line[m]
    if kind == _ROOK or kind == _CANNON:
        for step in _STEPS:
            _include_line(side, kind, square + step, _end_of_line(square, step), step, at, line,
                         best, kept, numbers, state, index)  # fmt: skip
        return
    for n in range(piece_moves(state.board, square, state.targets, 0)):
        target = state.targets[n]
        ranks, files = target // 9 - square // 9, target % 9 - square % 9
        leg = square  # a pawn has no leg: on its square the innermost attacker cannot stand
        if abs(ranks) == 2:
            leg += 9 * (ranks // 2)
        elif abs(files) == 2:
            leg += files // 2
        _include_except(leg, leg + 1, 1, at + index.term_after[line, target], best, kept, numbers,
                      index)  # fmt: skip


@part
def _include_inner_line(first, end, step, kind, row, best, board):
    """Include in `best` the moves of the innermost rook or cannon in one direction along a line.

    The moves lead towards `first`, from each of the squares `range(first, end, step)`. A rook or
    cannon may stand on all ninety squares, so places are squares here. A cannon on `s` reaches the
    empty squares since the last piece (`passed`), and the piece before the last one (`before`).

    row : uint8 or uint16 (90,), the numbers of this row with the opponent to move
    """
    passed = last = before = row[0] * 0
    if kind == _ROOK:
        for s in range(first, end, step):
            best[s] = max(best[s], passed)
            passed = max(passed, row[s]) if board[s] == EMPTY else row[s]
        return
    for s in range(first, end, step):
        best[s] = max(best[s], passed, before)
        if board[s] == EMPTY:
            passed = max(passed, row[s])
        else:
            before, last, passed = last, row[s], row[0] * 0


@part
def _include_inner_leaps(row, best, state, index):
    """Include in `best` the moves of the innermost knight; its places are squares.

    Leaps over the first or last rank read zeros around `state.row`; `beside` excludes those over a
    side edge.

    row : uint8 or uint16 (90,), the numbers of this row with the opponent to move
    """
    for s in range(SQUARES):
        state.row[LANES + s], state.occupied[LANES + s] = row[s], state.board[s] != EMPTY
    for ranks, files, leg_rank, leg_file in LEAPS:
        target = state.row[LANES + 9 * ranks + files :]
        leg = state.occupied[LANES + 9 * leg_rank + leg_file :]
        beside = index.beside[2 + files]
        for s in range(ROW_LANES):
            best[s] = max(best[s], target[s]) if beside[s] > leg[s] else best[s]


@part
def best_of_row(side, own, plane, base, within, image, numbers, state, index):
    """Write to `state.best` the largest number that a side's moves lead to, for each place.

    The number is 0 without legal moves. The innermost attacker must not be on the board. Places on
    which another piece stands, or with 0 in `own`, get arbitrary numbers.

    own : uint8 or uint16 (places,), the stored numbers of the row, with `side` to move
    """
    last, best, kept, board = index.attackers.size - 1, state.best, state.kept, state.board
    for place in range(best.size // LANES * LANES):
        best[place] = 0
    _include_steps(side, plane, within, image, best, numbers, state, index)
    k = 0
    while index.attackers_of[side, k] != NOWHERE:
        m = index.attackers_of[side, k]
        at, kind = plane + base + state.other_terms[m], piece_kind(index.attackers[m])
        k += 1
        if m != last:
            _include_attacker(m, side, at, best, kept, numbers, state, index)
        elif kind == _PAWN:
            for place in range(index.row_slots):
                square = index.square_of_place[place]
                if own[place] == 0 or board[square] != EMPTY:
                    continue
                board[square] = index.attackers[m]
                for n in range(piece_moves(board, square, state.targets, 0)):
                    child = at + index.place_of_square[state.targets[n]]
                    best[place] = max(best[place], numbers[child])
                board[square] = EMPTY
        elif kind == _KNIGHT:
            _include_inner_leaps(numbers[at : at + SQUARES], best, state, index)
        else:
            row = numbers[at : at + SQUARES]
            for s in range(0, SQUARES, 9):
                _include_inner_line(s, s + 9, 1, kind, row, best, board)
                _include_inner_line(s + 8, s - 1, -1, kind, row, best, board)
            for s in range(9):
                _include_inner_line(s, s + SQUARES, 9, kind, row, best, board)
                _include_inner_line(s + 81, s - 9, -9, kind, row, best, board)
