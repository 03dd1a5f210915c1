"""Random loops, in which checks and chases are frequent.

A loop is a position and a sequence of moves that leads back to it.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from tbgen.indexing import Move, Position, Side
from tbgen.indexing.rulesets import Rules
from tbgen.indexing.squares import EMPTY, SQUARES, PieceType, piece_kind, piece_side
from tbgen.rules import in_check, legal_moves
from tbgen.rules.chases import is_new_attack
from tests.helpers.strategies import random_position

ARMED = (
    "KRKC",
    "KRKN",
    "KRAKCA",
    "KRBKNB",
    "KCAKN",
    "KCPKRAB",
    "KRNKRAA",
    "KRCKRAB",
    "KNNKRBB",
    "KNPPKCAB",
    "KRRKCCAABB",
    "KRPPKNCA",
    "KNCPKRPAB",
    "KRRNKRCC",
    "KRNCPABKRNCPAB",
)
"""Materials in which both sides can attack."""
WXF = Rules.WXF.chase_rules()


def quiet_moves(position: Position) -> list[Move]:
    """List the legal moves that can be part of a loop: no captures, no pawn advances."""
    return [
        move
        for move in legal_moves(position)
        if position.board[move.target] == EMPTY
        and not (
            piece_kind(position.board[move.source]) == PieceType.PAWN
            and move.source % 9 == move.target % 9
        )
    ]


def makes_threat(position: Position, move: Move) -> bool:
    """Return whether a move gives check or makes an attack that could be a chase."""
    after = position.after(*move)
    if in_check(after):
        return True
    before_board, after_board = bytearray(position.board), bytearray(after.board)
    own = [s for s in range(SQUARES) if after.board[s] and piece_side(after.board[s]) != after.side]
    enemies = [
        s for s in range(SQUARES) if after.board[s] and piece_side(after.board[s]) == after.side
    ]
    return any(
        is_new_attack(before_board, after_board, *move, attacker, victim, WXF)
        for attacker in own
        for victim in enemies
    )


def _choose(rng: random.Random, position: Position, moves: Sequence[Move]) -> Move:
    """Choose one of the moves at random, often (70 %) among those that give check or attack."""
    if rng.random() < 0.7:
        threats = [move for move in moves if makes_threat(position, move)]
        if threats:
            return rng.choice(threats)
    return rng.choice(moves)


def random_loop(rng: random.Random, attempts: int = 60) -> tuple[Position, list[Move]] | None:
    """Return a random legal position and moves that lead back to it; None if no loop is found.

    Often tries a loop of four plies first (`_there_and_back`). In other loops, of at most 24 plies,
    each side repeats its own tour, a cycle of 2, 3 or 4 moves, until both tours end together. At
    most `attempts` of them are tried.
    """
    position = random_position(rng, ARMED)
    if rng.random() < 0.7:
        found = _there_and_back(rng, position)
        if found is not None:
            return position, found
    for _ in range(attempts):
        lengths = {side: rng.choice((2, 2, 2, 3, 4)) for side in Side}
        tours: dict[Side, list[Move]] = {side: [] for side in Side}
        moves: list[Move] = []
        now = position
        while len(moves) < 24:
            side = now.side
            tour, length = tours[side], lengths[side]
            if len(tour) < length:
                move = _next_of_tour(rng, position, now, tour, length)
            else:
                move = tour[len(moves) // 2 % length]
                if move not in quiet_moves(now):
                    move = None
            if move is None:
                break
            if len(tour) < length:
                tour.append(move)
            moves.append(move)
            now = now.after(*move)
            if now == position:
                return position, moves
    return None


def _there_and_back(rng: random.Random, position: Position) -> list[Move] | None:
    """Find a loop of four plies in which each side moves one piece and moves it back.

    Both moves of the side that begins give check or attack a piece. Returns None if no loop of this
    form is found.
    """
    threats = [move for move in quiet_moves(position) if makes_threat(position, move)]
    rng.shuffle(threats)
    for there in threats[:4]:
        after = position.after(*there)
        replies = quiet_moves(after)
        rng.shuffle(replies)
        for reply in replies[:16]:
            replied = after.after(*reply)
            back, reply_back = Move(there[1], there[0]), Move(reply[1], reply[0])
            if back in quiet_moves(replied) and makes_threat(replied, back):
                returned = replied.after(*back)
                if reply_back in quiet_moves(returned):
                    return [there, reply, back, reply_back]
    return None


def _next_of_tour(
    rng: random.Random, start: Position, now: Position, tour: list[Move], length: int
) -> Move | None:
    """Choose the next move of a tour, one side's part of a loop; None if no move is suitable.

    The last move must bring all pieces of the side back to their squares in the loop's first
    position. The last but one moves a piece that is not on its first square, if there is one.

    start, now : first and current position of the loop
    tour, length : the tour's moves so far, and the number of moves that it is to have
    """
    moves = quiet_moves(now)
    if not moves:
        return None
    displaced = [
        s
        for s in range(SQUARES)
        if now.board[s] != start.board[s] and now.board[s] and piece_side(now.board[s]) == now.side
    ]
    left = length - len(tour)
    if left == 1:
        moves = [m for m in moves if _brings_back(start, now.after(*m), now.side)]
    elif left == 2 and displaced:
        moves = [m for m in moves if m.source in displaced]
    return _choose(rng, now, moves) if moves else None


def _brings_back(start: Position, after: Position, side: Side) -> bool:
    """Return whether a side's pieces stand on the same squares in two positions."""
    return all(
        after.board[s] == start.board[s]
        for s in range(SQUARES)
        if (after.board[s] and piece_side(after.board[s]) == side)
        or (start.board[s] and piece_side(start.board[s]) == side)
    )


def exchanging_loop(rng: random.Random, attempts: int = 4000) -> tuple[Position, list[Move]]:
    """Return a position and a loop in which two identical pieces of one side exchange squares.

    The pieces belong to the side to move, and make its four moves in the loop: from squares a and b
    they move a-x, b-y, x-b, y-a. Raises `RuntimeError` if no loop is found in `attempts` positions.
    """
    for _ in range(attempts):
        position = random_position(rng, ("KRRKC", "KRRKRN", "KNNKRB", "KCCKRN", "KRCCKNN"))
        own = [s for s in range(SQUARES) if position.board[s] and _owner(position, s)]
        pairs = [(a, b) for a in own for b in own if a != b and _twins(position, a, b)]
        if not pairs:
            continue
        one, other = rng.choice(pairs)
        asides = [m for m in quiet_moves(position) if m.source == one and _related(m.target, other)]
        others = [m for m in quiet_moves(position) if m.source == other and _related(m.target, one)]
        if not asides or not others:
            continue
        aside, step = rng.choice(asides), rng.choice(others)
        tour = [aside, step, Move(aside.target, other), Move(step.target, one)]
        replies: list[Move] = []
        moves: list[Move] = []
        length = rng.choice((2, 4))
        now = position
        while len(moves) < 8:
            move: Move | None
            if len(moves) % 2 == 0:
                move = tour[len(moves) // 2]
            elif len(replies) < length:
                move = _next_of_tour(rng, position, now, replies, length)
                if move is not None:
                    replies.append(move)
            else:
                move = replies[len(moves) // 2 % length]
            if move is None or move not in quiet_moves(now):
                break
            moves.append(move)
            now = now.after(*move)
        if now == position:
            return position, moves
    raise RuntimeError("no loop found in which twins change places")


def _related(one: int, other: int) -> bool:
    """Return whether a rook or knight could move between two squares of an empty board."""
    ranks, files = abs(one // 9 - other // 9), abs(one % 9 - other % 9)
    return one != other and (ranks * files == 2 or ranks * files == 0)


def _owner(position: Position, square: int) -> bool:
    """Return whether the side to move owns the piece on a square."""
    return piece_side(position.board[square]) == position.side


def _twins(position: Position, one: int, other: int) -> bool:
    """Return whether two squares hold identical rooks, knights, cannons or pawns of one side."""
    code = position.board[one]
    return code == position.board[other] and PieceType(piece_kind(code)).is_attacker


CHECKING = "3k5/9/9/9/9/9/4r4/9/9/4K4 w"
"""FEN of a position in which Black's rook can give perpetual check."""
