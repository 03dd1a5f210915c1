"""Whom a loss candidate chases: the pieces that each of its moves attacks anew.

Attacks are judged by the predicates of the referee (`tbgen.rules.chases`) on whole boards, move
by move: only the positions that the sieve of sweeps has left come this far, and nearly all of
them fail here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tbgen.indexing.squares import PieceType, piece_kind, piece_side
from tbgen.jit import borrowing_kernel, part
from tbgen.retrograde.bitsets import BIT, EMPTY, FULL, MIRROR, ONE, has, lowest_bit
from tbgen.retrograde.frame import MIDS
from tbgen.retrograde.parallel import Workers
from tbgen.retrograde.row_boards import Places, copy, find, make_desk, move, set_up
from tbgen.retrograde.sweep import Frontier, Rows, clear_lead, put_row
from tbgen.rules.chases import is_new_attack, may_be_victim
from tbgen.rules.moves import generate_moves

ELEPHANT = int(PieceType.ELEPHANT)


class Setting(NamedTuple):
    """The sets that a search works on."""

    winner: int
    minor_chases: bool
    """Whether advisors and elephants chase protected rooks, knights and cannons."""
    live: Rows
    """The winner's positions that are no win for him, known or by a capture."""
    wins: Rows
    losses: Rows


@part
def is_won(row, square, setting):
    """Whether the winner, to move, has won.

    True also where no position is legal: so an illegal move of the offender is no escape.
    """
    return not has(setting.live[row, 0], setting.live[row, 1], square)


@part
def attackers_anew(before, after, squares, codes, source, target, victim, minor_chases, attackers):
    """The squares of the pieces that the move `source`-`target` lets attack the victim anew.

    squares, codes : the pieces on `after`; attackers : int64, out; returns how many
    """
    side = piece_side(after[target])
    count = 0
    for a in range(codes.size):
        if piece_side(codes[a]) == side and is_new_attack(
            before, after, source, target, squares[a], victim, minor_chases
        ):
            attackers[count] = squares[a]
            count += 1
    return count


@part
def attacked_anew(before, after, squares, codes, source, target, lo, hi, minor_chases):
    """Of the wanted squares, those whose piece the move attacks anew."""
    side = piece_side(after[target])
    found_lo, found_hi = EMPTY, EMPTY
    for v in range(codes.size):
        victim = squares[v]
        if piece_side(codes[v]) == side or not has(lo, hi, victim):
            continue
        if not may_be_victim(after[victim], victim):
            continue
        for a in range(codes.size):
            if piece_side(codes[a]) == side and is_new_attack(
                before, after, source, target, squares[a], victim, minor_chases
            ):
                found_lo |= BIT[victim, 0]
                found_hi |= BIT[victim, 1]
                break
    return found_lo, found_hi


@part
def _chased_by(source, target, to_row, to_square, lo, hi, setting, places, desk):
    """Of a set of victims, those that the quiet move `source`-`target` chases.

    to_row, to_square : the slot of the position after the move, which is not won
    """
    # A win candidate is not in check, so the move is none.
    if not has(setting.wins[to_row, 0], setting.wins[to_row, 1], to_square):
        return EMPTY, EMPTY
    move(desk.squares, desk.after, source, target)
    lo, hi = attacked_anew(
        desk.board, desk.after, desk.squares, places.codes, source, target, lo, hi,
        setting.minor_chases,
    )  # fmt: skip
    move(desk.squares, desk.after, target, source)
    return lo, hi


@part
def common_victims(row, square, setting, places, desk):
    """The pieces that every move of the offender chases (unless it loses), as a set of squares.

    Captures lose by this order: the candidate would not be one otherwise.
    """
    frame = places.frame
    mids = frame.size[MIDS]
    lead, mid = row // mids, row % mids
    offender = 1 - setting.winner
    squares, board, after = desk.squares, desk.board, desk.after
    lo, hi = FULL, FULL
    chases = 0
    # Moves of the lead come first: they seldom chase, which settles most candidates, and it takes
    # no search to find the rows that they lead to.
    for m in range(frame.move_start[offender, lead], frame.move_start[offender, lead + 1]):
        info = np.int64(frame.lead_moves[m, 1])
        to_row, to_square = np.int64(frame.lead_moves[m, 0]) * mids, np.int64(square)
        if info & 1:
            to_row += frame.mid_mirror[mid]
            to_square = MIRROR[square]
        else:
            to_row += mid
        if is_won(to_row, to_square, setting):
            continue
        eye = (info >> 1 & 127) - 1
        if eye >= 0 and (
            eye == square or has(frame.mid_taken[mid, 0], frame.mid_taken[mid, 1], eye)
        ):
            continue
        if chases == 0:
            set_up(row, square, places, squares, board)
            copy(board, after)
        chases += 1
        lo, hi = _chased_by(info >> 15, info >> 8 & 127, to_row, to_square, lo, hi,
                            setting, places, desk)  # fmt: skip
        if not (lo | hi):
            return lo, hi
    if chases == 0:
        set_up(row, square, places, squares, board)
        copy(board, after)
    count = generate_moves(board, offender, desk.sources, desk.targets)
    for m in range(count):
        source, target = desk.sources[m], desk.targets[m]
        if piece_kind(board[source]) <= ELEPHANT or board[target] != 0:
            continue
        move(squares, after, source, target)
        to_row, to_square = find(squares, places)
        move(squares, after, target, source)
        if not is_won(to_row, to_square, setting):
            chases += 1
            lo, hi = _chased_by(source, target, to_row, to_square, lo, hi, setting, places, desk)
            if not (lo | hi):
                return lo, hi
    if chases == 0:
        return EMPTY, EMPTY
    return lo, hi


@borrowing_kernel
def _k_judge(lead_0, lead_1, found, setting, places, desk):
    """Put the loss candidates that need not chase any one piece on `found`."""
    mids = places.frame.size[MIDS]
    for lead in range(lead_0, lead_1):
        clear_lead(lead, found, mids)
        for mid in range(mids):
            row = lead * mids + mid
            failed_lo, failed_hi = EMPTY, EMPTY
            for word in range(2):
                bits = setting.losses[row, word]
                while bits:
                    square = 45 * word + lowest_bit(bits)
                    bits &= bits - ONE
                    lo, hi = common_victims(row, square, setting, places, desk)
                    if not (lo | hi):
                        failed_lo |= BIT[square, 0]
                        failed_hi |= BIT[square, 1]
            if failed_lo | failed_hi:
                put_row(lead, mid, failed_lo, failed_hi, found, mids)


def judge(setting: Setting, places: Places, found: Frontier, workers: Workers) -> None:
    """Put the loss candidates that need not chase any one piece on `found`."""
    desks = [make_desk(places) for _ in range(workers.threads)]
    workers.run(
        lambda lead_0, lead_1, thread: _k_judge(
            lead_0, lead_1, found, setting, places, desks[thread]
        ),
        len(found.counts),
    )
