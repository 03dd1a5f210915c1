# mypy: allow-untyped-defs, allow-untyped-calls
"""Common victims of a loss candidate: pieces chased by every move that does not lose.

A *loss candidate* is a position with the offender to move that may belong to a perpetual chase. It
is kept if it has a common victim, as few candidates have. To chase is to attack *anew*: the attack
did not exist before the move. The referee's predicates (`tbgen.rules.chases`) test this on whole
boards. Parameters of kernels: `tbgen.retrograde.chase`; of rows and leads: `tbgen.rows`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import borrowing_kernel, by_pointer, part
from tbgen.indexing.squares import SQUARES, PieceType, piece_kind, piece_side
from tbgen.rows.bitsets import BIT, EMPTY, FULL, MIRROR, first_square, has, without_first
from tbgen.rows.boards import SlotConverter, copy, make_boards, move, set_up, slot_of
from tbgen.rows.frame import EYE, MIRRORED, SOURCE, TARGET, is_canonical
from tbgen.rows.sets import Frontier, Rows, mid_in_use, ranges_for, rows_in_use
from tbgen.rows.workers import Workers
from tbgen.rules.chases import is_new_attack, may_be_victim
from tbgen.rules.moves import generate_moves

ELEPHANT = int(PieceType.ELEPHANT)


@by_pointer
class ChaseSetting(NamedTuple):
    """Data of a search for one winner's direct wins by chases."""

    winner: int
    """The side that wins by a perpetual chase; the other side is the offender."""
    chase_rules: int
    """Bits of the rule set (`tbgen.indexing.rulesets`)."""
    unwon: Rows
    """Unknown positions, the winner to move, that no capture wins at this order."""
    converter: SlotConverter


@part
def is_won(row, square, setting):
    """Return whether the position (row, square), the winner to move, is not in `unwon`.

    Also True for illegal positions, so that an illegal move of the offender is no escape. Positions
    that the winner has lost give True, too, but no move of a loss candidate leads to one.
    """
    return not has(setting.unwon[row, 0], setting.unwon[row, 1], square)


@part
def new_attackers(before, after, squares, codes, source, target, victim, chase_rules, attackers):
    """List the pieces that attack `victim` anew (`is_new_attack`) after a move; return how many.

    If the move gives check, the list has no meaning.

    before, after : int8 (90,), the boards before and after the move; changed meanwhile, restored
    attackers : int64 (n,), out; the squares of these pieces, in the first elements
    """
    side = piece_side(after[target])
    count = 0
    for a in range(codes.size):
        if piece_side(codes[a]) == side and is_new_attack(
            before, after, source, target, squares[a], victim, chase_rules
        ):
            attackers[count] = squares[a]
            count += 1
    return count


@part
def newly_attacked(before, after, squares, codes, source, target, lo, hi, chase_rules):
    """Return the squares among (lo, hi) whose piece a move (`source` to `target`) attacks anew.

    Pieces that cannot be victims (`may_be_victim`) are left out. The move must give no check. The
    boards are changed meanwhile, and restored.
    """
    side = piece_side(after[target])
    found_lo, found_hi = EMPTY, EMPTY
    for v in range(codes.size):
        victim = squares[v]
        if piece_side(codes[v]) == side or not has(lo, hi, victim):
            continue
        if not may_be_victim(after[victim], victim, chase_rules):
            continue
        for a in range(codes.size):
            if piece_side(codes[a]) == side and is_new_attack(
                before, after, source, target, squares[a], victim, chase_rules
            ):
                found_lo |= BIT[victim, 0]
                found_hi |= BIT[victim, 1]
                break
    return found_lo, found_hi


@part
def _chased_by(source, target, lo, hi, setting, boards):
    """Return the squares among (lo, hi) whose piece the offender's quiet move chases.

    `boards.after` equals `boards.board` before and after the call. The move gives no check: a check
    that does not lose is an escape, and a loss candidate has none.
    """
    move(boards.squares, boards.after, source, target)
    lo, hi = newly_attacked(
        boards.board, boards.after, boards.squares, setting.converter.codes, source, target, lo,
        hi, setting.chase_rules,
    )  # fmt: skip
    move(boards.squares, boards.after, target, source)
    return lo, hi


@part
def common_victims(row, square, setting, boards):
    """Return the squares of the common victims: pieces chased by every move that does not lose.

    The set is empty if every move loses. Captures are not tested: those of a loss candidate lose.
    """
    converter = setting.converter
    frame, mids = converter.frame, converter.frame.mids
    lead, mid = row // mids, row % mids
    offender = 1 - setting.winner
    squares, board, after = boards.squares, boards.board, boards.after
    set_up(row, square, converter, squares, board)
    copy(board, after)
    lo, hi = FULL, FULL
    chases = 0
    # Moves of the defenders come first: few of them chase, so most candidates are removed here.
    for m in range(frame.move_start[offender, lead], frame.move_start[offender, lead + 1]):
        to_row, to_square = np.int64(frame.lead_after[m]) * mids, np.int64(square)
        if frame.lead_moves[m, MIRRORED]:
            to_row += frame.mid_mirror[mid]
            to_square = MIRROR[square]
        else:
            to_row += mid
        if is_won(to_row, to_square, setting):
            continue
        eye = np.int64(frame.lead_moves[m, EYE])
        if eye == square or has(frame.mid_taken[mid, 0], frame.mid_taken[mid, 1], eye):
            continue
        chases += 1
        source, target = frame.lead_moves[m, SOURCE], frame.lead_moves[m, TARGET]
        lo, hi = _chased_by(source, target, lo, hi, setting, boards)
        if not (lo | hi):
            return lo, hi
    count = generate_moves(board, offender, boards.sources, boards.targets)
    for m in range(count):
        source, target = boards.sources[m], boards.targets[m]
        if piece_kind(board[source]) <= ELEPHANT or board[target] != 0:
            continue
        move(squares, after, source, target)
        to_row, to_square = slot_of(squares, converter)
        move(squares, after, target, source)
        if not is_won(to_row, to_square, setting):
            chases += 1
            lo, hi = _chased_by(source, target, lo, hi, setting, boards)
            if not (lo | hi):
                return lo, hi
    if chases == 0:
        return EMPTY, EMPTY
    return lo, hi


@borrowing_kernel
def _k_keep_with_victim(lead_0, lead_1, losses, keys, victims, setting, boards):
    """Remove from a frontier the positions without a common victim; list the canonical ones left.

    Returns the number of canonical positions left, which may exceed `room`, the length of the
    lists; 0 if `room` is 0.

    losses : Frontier of the offender, inout
    keys : int64 (room,), out; the keys of the positions listed
    victims : uint64 (room, 2), out; the common victims of each, as a set of squares
    """
    frame = setting.converter.frame
    mids, count = frame.mids, 0
    for lead in range(lead_0, lead_1):
        for i in range(rows_in_use(lead, losses, mids)):
            mid = mid_in_use(i, lead, losses)
            row = lead * mids + mid
            left_lo, left_hi = losses.rows[row, 0], losses.rows[row, 1]
            while left_lo | left_hi:
                square = first_square(left_lo, left_hi)
                left_lo, left_hi = without_first(left_lo, left_hi)
                lo, hi = common_victims(row, square, setting, boards)
                if not (lo | hi):
                    losses.rows[row, 0] &= ~BIT[square, 0]
                    losses.rows[row, 1] &= ~BIT[square, 1]
                elif keys.size and is_canonical(lead, mid, square, frame):
                    if count < keys.size:
                        keys[count] = row * SQUARES + square
                        victims[count, 0] = lo
                        victims[count, 1] = hi
                    count += 1
    return count


def keep_with_victim(
    losses: Frontier, capacity: int, setting: ChaseSetting, workers: Workers
) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """Keep the loss candidates with a common victim, and list them.

    losses : Frontier of the offender, inout; all captures in its positions must lose. Positions
        without a common victim are removed
    capacity : at least the number of positions of `losses`; or 0 to return empty lists

    Returns int64 (n,), the keys (row * 90 + square) of the canonical positions kept, ascending, and
    uint64 (n, 2), the common victims of each, as a set of squares.
    """
    rooms = [
        (
            make_boards(setting.converter),
            np.empty(capacity, np.int64),
            np.empty((capacity, 2), np.uint64),
        )
        for _ in range(workers.threads)
    ]
    found = [(np.empty(0, np.int64), np.empty((0, 2), np.uint64))]

    def list_some(lead_0: int, lead_1: int, thread: int) -> None:
        boards, keys, victims = rooms[thread]
        count = _k_keep_with_victim(lead_0, lead_1, losses, keys, victims, setting, boards)
        assert count <= capacity, "a row of the frontier is listed twice"
        if count:
            found.append((keys[:count].copy(), victims[:count].copy()))

    workers.run(list_some, len(losses.counts), ranges_for(losses))
    keys, victims = (np.concatenate(column) for column in zip(*found, strict=True))
    order = np.argsort(keys)
    return keys[order], victims[order]
