"""Naive referee of repetitions, written from the prose of the rules alone (docs/referee.md).

Q is an attacker, V its victim, and a root a piece that can recapture on V's square. Points are
those of section 2 there. Uses sets of pairs (attacker id, victim id):

    C         pairs that satisfy points 1-5 after a ply
    new       pairs of C that did not satisfy them before the ply
    kept      pairs of C that still satisfy them after the reply
    victims   pieces chased by the ply: those of pairs that are new and not kept

Shares no code with `tbgen.rules`. Clauses can be switched off, to find those that another program
lacks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tbgen.indexing import Move, Position

RED, BLACK = 0, 1
PROMOTE = {1: "K", 2: "A", 3: "B", 4: "R", 5: "N", 6: "C", 7: "P"}


@dataclass(frozen=True)
class Clauses:
    """Switches for clauses of the rules, all on by default; points are those of docs/referee.md."""

    answered: bool = True
    """Point 7: an attack that still stands after the reply was no chase."""
    new: bool = True
    """Point 6: an attack that stood before the move is no chase."""
    same_attacker: bool = True
    """Point 7: an attack is answered even if another piece then attacks the victim."""
    root_cuts: bool = True
    """Point 6: removing a root makes an attack that stood before a new one."""
    xray: bool = True
    """Point 6: before the move, a root that works only through Q's square does not count."""
    legal_captures: bool = True
    """Point 3: Q x V must be legal."""
    legal_roots: bool = True
    """Point 4b: a root must be able to recapture legally."""
    check_only: bool = True
    """A ply that gives check is only a check, and never a chase too."""
    common_victim: bool = True
    """A perpetual chase must chase the same piece at every ply."""
    free_chasers: bool = True
    """Point 1: kings and pawns may chase perpetually."""
    standing_check: bool = True
    """Point 3: a check that already stands against the attacker's side before Q x V is ignored."""
    minor_chases: bool = True
    """Point 4: advisors and elephants chase protected rooks, knights and cannons."""
    exchanges: bool = True
    """Point 5: even exchanges are no chases."""


Square = tuple[int, int]
Board = dict[Square, tuple[int, str, int]]


def read(position: Position) -> Board:
    """Return a position as a map from (file, rank) to (side, upper-case letter, piece's id)."""
    board: Board = {}
    for square, code in enumerate(position.board):
        if code:
            board[square % 9, square // 9] = (code // 8, PROMOTE[code % 8], len(board))
    return board


def palace(side: int, square: Square) -> bool:
    return 3 <= square[0] <= 5 and (square[1] <= 2 if side == RED else square[1] >= 7)


def home(side: int, square: Square) -> bool:
    return (square[1] <= 4) == (side == RED)


def hits(board: Board, source: Square) -> set[Square]:
    """Return the squares that the piece on `source` attacks, empty or occupied by either side.

    A king also attacks a king that it faces.
    """
    side, letter, _ = board[source]
    x, y = source
    out: set[Square] = set()
    if letter in "RC":
        for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            jumped = 0
            for n in range(1, 10):
                square = (x + n * dx, y + n * dy)
                if jumped == (letter == "C"):
                    out.add(square)
                jumped += square in board
    elif letter == "N":
        for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            if (x + dx, y + dy) not in board:
                out |= {(x + 2 * dx + dy, y + 2 * dy + dx), (x + 2 * dx - dy, y + 2 * dy - dx)}
    elif letter == "P":
        out.add((x, y + (1 if side == RED else -1)))
        if not home(side, source):
            out |= {(x - 1, y), (x + 1, y)}
    elif letter == "K":
        out = {s for s in ((x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)) if palace(side, s)}
        for n in range(1, 10):
            square = (x, y + n if side == RED else y - n)
            if square in board:
                if board[square][1] == "K":
                    out.add(square)
                break
    else:
        for dx in (-1, 1):
            for dy in (-1, 1):
                if letter == "A" and palace(side, (x + dx, y + dy)):
                    out.add((x + dx, y + dy))
                target = (x + 2 * dx, y + 2 * dy)
                if letter == "B" and home(side, target) and (x + dx, y + dy) not in board:
                    out.add(target)
    return {s for s in out if 0 <= s[0] <= 8 and 0 <= s[1] <= 9}


def checkers(board: Board, side: int) -> set[Square]:
    """Return the squares of the pieces that attack a side's king, a facing king included."""
    (king,) = [s for s, piece in board.items() if piece[:2] == (side, "K")]
    return {s for s, piece in board.items() if piece[0] != side and king in hits(board, s)}


def moved(board: Board, source: Square, target: Square) -> Board:
    after = dict(board)
    after[target] = after.pop(source)
    return after


def worth_taking(board: Board, q: Square, v: Square, before: bool, on: Clauses) -> bool:
    """Return whether the piece on `q` attacks the piece on `v` in the sense of points 1 to 5.

    before : True for the position before a ply, for the comparison of point 6
    on : clauses in force
    """
    side, kind, _ = board[q]
    other, victim, _ = board[v]
    if side == other or v not in hits(board, q):
        return False
    if (kind in "KP" and on.free_chasers) or victim == "K" or (victim == "P" and home(other, v)):
        return False
    after = moved(board, q, v)
    standing = checkers(board, side) if on.standing_check else set()
    if on.legal_captures and checkers(after, side) - standing:
        return False
    if (
        on.exchanges
        and kind == victim
        and q in hits(board, v)
        and not checkers(moved(board, v, q), other)
    ):
        return False
    if (kind in "NC" and victim == "R") or (on.minor_chases and kind in "AB" and victim in "RNC"):
        return True
    if before and not on.root_cuts:
        return True
    for root, piece in board.items():
        if piece[0] != other or root == v or v not in hits(after, root):
            continue
        if before and on.xray and piece[1] in "RC" and v not in hits(board, root):
            continue
        if not on.legal_roots or not checkers(moved(after, root, v), other):
            return False
    return True


def pairs(board: Board, side: int, before: bool, on: Clauses) -> set[tuple[int, int]]:
    return {
        (board[q][2], board[v][2])
        for q in board
        for v in board
        if board[q][0] == side and worth_taking(board, q, v, before, on)
    }


def levels(position: Position, loop: Sequence[Move], on: Clauses | None = None) -> tuple[int, int]:
    """Return Red's and Black's levels if a loop of moves from a position is repeated endlessly.

    Level 2 is perpetual check, 1 perpetual chase, 0 neither. The default of `on` is all clauses.
    """
    on = on or Clauses()
    boards = [read(position)]
    steps: list[tuple[Square, Square]] = []
    while True:
        for move in loop:
            source, target = divmod(move.source, 9)[::-1], divmod(move.target, 9)[::-1]
            assert target not in boards[-1]
            boards.append(moved(boards[-1], source, target))
            steps.append((source, target))
        if boards[-1] == boards[0]:
            break
    count = len(steps)
    result = [0, 0]
    for side in (RED, BLACK):
        own = [i for i in range(count) if boards[i][steps[i][0]][0] == side]
        checks = [bool(checkers(boards[i + 1], 1 - side)) for i in own]
        if all(checks):
            result[side] = 2
        elif not any(checks) or not on.check_only:
            chased = [victims(boards, i, side, on) for i in own]
            common = set.intersection(*chased)
            result[side] = int(bool(common) if on.common_victim else all(chased))
    return result[0], result[1]


def victims(boards: Sequence[Board], i: int, side: int, on: Clauses) -> set[int]:
    """Return the ids of the pieces that a side chases by ply number `i` of a loop.

    boards : board before each ply and after the last; the last equals the first
    """
    attacks = pairs(boards[i + 1], side, False, on)
    new = attacks - pairs(boards[i], side, True, on) if on.new else attacks
    later = pairs(boards[(i + 2) if i + 2 < len(boards) else 1], side, False, on)
    if not on.answered:
        return {v for _, v in new}
    if not on.same_attacker:
        return {v for _, v in new} - {v for _, v in later}
    return {v for _, v in new - later}


def verdict(both: tuple[int, int]) -> str:
    if both[0] == both[1]:
        return "draw"
    return "black wins" if both[0] > both[1] else "red wins"
