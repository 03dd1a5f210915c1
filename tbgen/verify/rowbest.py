# mypy: allow-untyped-defs, allow-untyped-calls
"""The best moves of a whole row: for all places of the innermost attacker together.

A move of another piece leads from every place to the same place of another row, so that the best is
a maximum of rows. Where the innermost attacker stands in the way of a piece, on its lines or on a
knight's leg, the moves of that piece are looked at one by one. Along lines the innermost
attacker's own moves are a running maximum.
"""

from __future__ import annotations

from tbgen.compiling.jit import inlined_part, part
from tbgen.indexing.squares import EMPTY, SQUARES, PieceType, piece_kind, piece_side
from tbgen.verify.index import EYE, FIRST_SLOT, MIRRORED, NOWHERE, TARGET

_KNIGHT, _PAWN, _CANNON = int(PieceType.KNIGHT), int(PieceType.PAWN), int(PieceType.CANNON)

LANES = 32
"""The number of places that are looked at together: loops of so many become vectors."""


@inlined_part
def _along(side, kind, s, end, step, at, line, numbers, best, state, index):
    """The best of the moves of a rook or cannon one way.

    best : int, what was the best before
    """
    while s != end:
        code = state.board[s]
        if code != EMPTY:
            if kind == _CANNON:
                s += step
                while s != end and state.board[s] == EMPTY:
                    s += step
                if s == end:
                    break
                code = state.board[s]
            if piece_side(code) != side:
                best = max(best, numbers[at + index.extend[line, s]])
            break
        best = max(best, numbers[at + index.extend[line, s]])
        s += step
    return best


@part
def _best_of_man(m, side, at, best, numbers, state, index):
    """The best of the moves of an attacker, or what was the best before.

    best : int, what was the best before
    """
    kind, square, line = piece_kind(index.men[m]), state.squares[m], state.line[m]
    board = state.board
    if kind == _KNIGHT:
        n = 0
        while index.leaps[square, n, 0] != NOWHERE:
            if board[index.leaps[square, n, 0]] == EMPTY:
                s = index.leaps[square, n, 1]
                if board[s] == EMPTY or piece_side(board[s]) != side:
                    best = max(best, numbers[at + index.extend[line, s]])
            n += 1
    elif kind == _PAWN:
        n = 0
        while index.pawn[side, square, n] != NOWHERE:
            s = index.pawn[side, square, n]
            if board[s] == EMPTY or piece_side(board[s]) != side:
                best = max(best, numbers[at + index.extend[line, s]])
            n += 1
    else:
        file = square % 9
        best = _along(side, kind, square + 1, square - file + 9, 1, at, line, numbers, best,
                      state, index)  # fmt: skip
        best = _along(side, kind, square - 1, square - file - 1, -1, at, line, numbers, best,
                      state, index)  # fmt: skip
        best = _along(side, kind, square + 9, file + SQUARES, 9, at, line, numbers, best,
                      state, index)  # fmt: skip
        best = _along(side, kind, square - 9, file - 9, -9, at, line, numbers, best,
                      state, index)  # fmt: skip
    return best


@part
def _raise(best, numbers, at):
    """Let a row be no less than another one.

    at : int, where the other one begins
    """
    lanes = best.size // LANES * LANES
    row, other = best[:lanes], numbers[at : at + lanes]
    for lane in range(lanes):
        row[lane] = max(row[lane], other[lane])


@part
def _raise_by_steps(side, plane, within, image, best, numbers, state, index):
    """Raise a row by the steps of a side's king, advisors and elephants."""
    board, steps = state.board, state.steps
    for n in range(state.counts[side]):
        code = board[steps[side, n, TARGET]]
        if code != EMPTY and piece_side(code) == side:
            continue
        eye = steps[side, n, EYE]
        cell, kept = NOWHERE, best[0]
        if eye != NOWHERE:
            if board[eye] != EMPTY:
                continue
            cell = index.cells[eye]
            if cell != NOWHERE:
                kept = best[cell]
        first = plane + steps[side, n, FIRST_SLOT]
        if steps[side, n, MIRRORED]:
            for c in range(index.row_slots):
                best[c] = max(best[c], numbers[first + image + index.mirror_cell[c]])
        else:
            _raise(best, numbers, first + within)
        if cell != NOWHERE:
            best[cell] = kept


@part
def _raise_cell(square, at, best, numbers, index):
    """Raise the place of the innermost attacker on one square, where it has a place there."""
    cell = index.cells[square]
    if cell != NOWHERE:
        best[cell] = max(best[cell], numbers[at + cell])


@part
def _keep(s, end, step, kept, best, index):
    """Put back what the places of a line of squares held."""
    n = 0
    while s != end:
        if index.cells[s] != NOWHERE:
            best[index.cells[s]] = kept[n]
        n += 1
        s += step


@part
def _raise_along(side, kind, first, end, step, at, line, best, kept, numbers, state, index):
    """Raise a row by the moves of a rook or cannon one way; as `_along`.

    The innermost attacker may stand on a square of the way: it may be taken there, or is the mount,
    and what is beyond is not reached.
    """
    board, s, n = state.board, first, 0
    while s != end and board[s] == EMPTY:
        cell = index.cells[s]
        if kind == _CANNON and cell != NOWHERE:
            kept[n] = best[cell]
        _raise(best, numbers, at + index.extend[line, s])
        if kind != _CANNON and cell != NOWHERE:
            kept[n] = best[cell]
        n += 1
        s += step
    if s == end:
        _keep(first, s, step, kept, best, index)
        return
    if kind != _CANNON:
        if piece_side(board[s]) != side:
            _raise(best, numbers, at + index.extend[line, s])
        _keep(first, s, step, kept, best, index)
        return
    _keep(first, s, step, kept, best, index)
    if piece_side(board[s]) != side:
        mount = first
        while mount != s:
            _raise_cell(mount, at + index.extend[line, s], best, numbers, index)
            mount += step
    # Beyond the mount, and where the innermost attacker stands before it not at all.
    taken = s + step
    while taken != end and board[taken] == EMPTY:
        _raise_cell(taken, at + index.extend[line, taken], best, numbers, index)
        taken += step
    if taken != end and piece_side(board[taken]) != side:
        m, n = first, 0
        while m != taken:
            if index.cells[m] != NOWHERE:
                kept[n] = best[index.cells[m]]
            n += 1
            m += step
        _raise(best, numbers, at + index.extend[line, taken])
        _keep(first, taken, step, kept, best, index)


@part
def _look_closer(m, side, at, square, kept, best, numbers, state, index):
    """The best in one place of a row, where the innermost attacker may stand in a piece's way.

    kept : int, the best without that piece
    """
    cell = index.cells[square]
    if cell != NOWHERE and state.board[square] == EMPTY:
        state.board[square] = index.men[index.men.size - 1]
        best[cell] = _best_of_man(m, side, at + cell, kept, numbers, state, index)
        state.board[square] = EMPTY


@part
def _raise_by_man(m, side, at, best, kept, numbers, state, index):
    """Raise a row by the moves of an outer attacker."""
    kind, square, line = piece_kind(index.men[m]), state.squares[m], state.line[m]
    board, file = state.board, square % 9
    if kind == _KNIGHT:
        for n in range(4):
            leg = index.legs[square, n]
            if leg != NOWHERE and index.cells[leg] != NOWHERE:
                kept[n] = best[index.cells[leg]]
        n = 0
        while index.leaps[square, n, 0] != NOWHERE:
            s = index.leaps[square, n, 1]
            if board[index.leaps[square, n, 0]] == EMPTY and (
                board[s] == EMPTY or piece_side(board[s]) != side
            ):
                _raise(best, numbers, at + index.extend[line, s])
            n += 1
        for n in range(4):
            leg = index.legs[square, n]
            if leg != NOWHERE and index.cells[leg] != NOWHERE:
                _look_closer(m, side, at, leg, kept[n], best, numbers, state, index)
    elif kind == _PAWN:
        n = 0
        while index.pawn[side, square, n] != NOWHERE:
            s = index.pawn[side, square, n]
            if board[s] == EMPTY or piece_side(board[s]) != side:
                _raise(best, numbers, at + index.extend[line, s])
            n += 1
    else:
        _raise_along(side, kind, square + 1, square - file + 9, 1, at, line, best, kept, numbers,
                     state, index)  # fmt: skip
        _raise_along(side, kind, square - 1, square - file - 1, -1, at, line, best, kept, numbers,
                     state, index)  # fmt: skip
        _raise_along(side, kind, square + 9, file + SQUARES, 9, at, line, best, kept, numbers,
                     state, index)  # fmt: skip
        _raise_along(side, kind, square - 9, file - 9, -9, at, line, best, kept, numbers,
                     state, index)  # fmt: skip


@part
def _sweep(first, step, count, kind, at, best, numbers, state):
    """Raise a line of squares by the moves of the innermost rook or cannon one way along it.

    count : int, how many squares; at : int, where the row begins
    """
    board = state.board
    passed = last = before = numbers[0] * 0
    s = first
    for _ in range(count):
        best[s] = max(best[s], passed)
        if kind == _CANNON:
            best[s] = max(best[s], before)
        number = numbers[at + s]
        if board[s] == EMPTY:
            passed = max(passed, number)
        elif kind == _CANNON:
            before, last, passed = last, number, numbers[0] * 0
        else:
            passed = number
        s += step


@part
def best_of_row(side, own, plane, lead, within, image, best, kept, numbers, state, index):
    """The largest number that a move of a side leads to, for each place of the row.

    The innermost attacker is not on the board. Places that are taken get anything.

    own : uint8 or uint16 (cells,), what is stored: where there is no position, anything is returned
    lead : int, the first slot of the lead
    """
    last = index.men.size - 1
    for cell in range(best.size // LANES * LANES):
        best[cell] = 0
    _raise_by_steps(side, plane, within, image, best, numbers, state, index)
    k = 0
    while index.own[side, k] != NOWHERE:
        m = index.own[side, k]
        at = plane + lead + state.rest[m]
        if m != last:
            _raise_by_man(m, side, at, best, kept, numbers, state, index)
        else:
            kind = piece_kind(index.men[m])
            if kind == _KNIGHT or kind == _PAWN:
                for cell in range(index.row_slots):
                    square = index.places[cell]
                    if own[cell] != 0 and state.board[square] == EMPTY:
                        state.squares[m] = square
                        best[cell] = _best_of_man(m, side, at, best[cell], numbers, state, index)
            else:
                for s in range(0, SQUARES, 9):
                    _sweep(s, 1, 9, kind, at, best, numbers, state)
                    _sweep(s + 8, -1, 9, kind, at, best, numbers, state)
                for s in range(9):
                    _sweep(s, 9, 10, kind, at, best, numbers, state)
                    _sweep(s + 81, -9, 10, kind, at, best, numbers, state)
        k += 1
