"""Xiangqi moves on dictionaries: pieces, moves, checks, legality.

A square is `10 * file + rank` (a0 = 0, a9 = 9, i9 = 89), a board maps the occupied squares to
FEN letters, upper case for Red; a side is `w` or `b`. A move is (source, target). It is legal if
the king of the side that moves is safe after it.
"""

from __future__ import annotations

from collections.abc import Iterator

Board = dict[int, str]
Move = tuple[int, int]

FILES = "abcdefghi"
SIDES = "wb"
ORTHOGONAL = ((1, 0), (-1, 0), (0, 1), (0, -1))
DIAGONAL = ((1, 1), (1, -1), (-1, 1), (-1, -1))


def name(square: int) -> str:
    """Return the name of a square, such as `e0` for the middle of Red's back rank."""
    return FILES[square // 10] + str(square % 10)


def mirror(square: int) -> int:
    """Return the mirror image of a square, on the other side of the e-file."""
    return (8 - square // 10) * 10 + square % 10


def other(side: str) -> str:
    """Return the opponent of a side."""
    return "b" if side == "w" else "w"


def _step(square: int, files: int, ranks: int) -> int | None:
    """Return the square that is `files` and `ranks` away, or None outside the board."""
    file, rank = square // 10 + files, square % 10 + ranks
    return 10 * file + rank if 0 <= file <= 8 and 0 <= rank <= 9 else None


def _steps(square: int, ways: tuple[tuple[int, int], ...]) -> list[int]:
    return [to for way in ways if (to := _step(square, *way)) is not None]


def _ray(square: int, way: tuple[int, int]) -> tuple[int, ...]:
    """Return the squares beyond a square in one direction, to the edge, nearest first."""
    squares, to = [], _step(square, *way)
    while to is not None:
        squares.append(to)
        to = _step(to, *way)
    return tuple(squares)


def _as_red(square: int, letter: str) -> int:
    """Return a piece's square as its owner sees it: with the ranks reversed for Black."""
    return square if letter.isupper() else square - square % 10 + 9 - square % 10


PALACE = frozenset(10 * file + rank for file in (3, 4, 5) for rank in (0, 1, 2))
ADVISOR_POINTS = frozenset((30, 32, 41, 50, 52))
ELEPHANT_POINTS = frozenset((2, 20, 24, 42, 60, 64, 82))
PAWN_POINTS = frozenset(
    10 * file + rank for file in range(9) for rank in range(3, 10) if rank >= 5 or file % 2 == 0
)
EVERYWHERE = frozenset(range(90))
_AREA = {"K": PALACE, "A": ADVISOR_POINTS, "B": ELEPHANT_POINTS, "P": PAWN_POINTS}


def area(letter: str) -> list[int]:
    """List the squares on which a piece may stand, ascending."""
    allowed = _AREA.get(letter.upper(), EVERYWHERE)
    return [square for square in range(90) if _as_red(square, letter) in allowed]


RAYS = [tuple(_ray(square, way) for way in ORTHOGONAL) for square in range(90)]


def _knight_steps(square: int) -> tuple[tuple[int, int], ...]:
    """Return a knight's (leg, target) pairs; a piece on the leg, one step away, blocks the move."""
    pairs = []
    for files, ranks in ORTHOGONAL:
        leg = _step(square, files, ranks)
        for turn in (1, -1):
            to = _step(square, 2 * files + turn * abs(ranks), 2 * ranks + turn * abs(files))
            if leg is not None and to is not None:
                pairs.append((leg, to))
    return tuple(pairs)


def _elephant_steps(square: int, letter: str) -> tuple[tuple[int, int], ...]:
    """Return an elephant's (eye, target) pairs; a piece on the eye, halfway, blocks the move."""
    pairs = []
    for files, ranks in DIAGONAL:
        eye, to = _step(square, files, ranks), _step(square, 2 * files, 2 * ranks)
        if eye is not None and to is not None and _as_red(to, letter) in ELEPHANT_POINTS:
            pairs.append((eye, to))
    return tuple(pairs)


def _free_steps(square: int, letter: str) -> tuple[int, ...]:
    """Return the targets of a king, advisor or pawn, which nothing can block."""
    match letter.upper():
        case "K":
            return tuple(to for to in _steps(square, ORTHOGONAL) if _as_red(to, letter) in PALACE)
        case "A":
            return tuple(
                to for to in _steps(square, DIAGONAL) if _as_red(to, letter) in ADVISOR_POINTS
            )
    forward = (0, 1) if letter.isupper() else (0, -1)
    across_the_river = _as_red(square, letter) % 10 >= 5
    sideways = ((1, 0), (-1, 0)) if across_the_river else ()
    return tuple(_steps(square, (forward, *sideways)))


KNIGHT_STEPS = [_knight_steps(square) for square in range(90)]
ELEPHANT_STEPS = {letter: [_elephant_steps(sq, letter) for sq in range(90)] for letter in "Bb"}
FREE_STEPS = {letter: [_free_steps(sq, letter) for sq in range(90)] for letter in "KkAaPp"}


def targets(board: Board, square: int) -> list[int]:
    """List the pseudo-legal targets of the piece on `square`: empty squares and captures."""
    letter = board[square]
    red = letter.isupper()
    kind = letter.upper()
    found = []
    if kind == "R":
        for ray in RAYS[square]:
            for to in ray:
                if to not in board:
                    found.append(to)
                    continue
                if board[to].isupper() != red:
                    found.append(to)
                break
        return found
    if kind == "C":
        for ray in RAYS[square]:
            jumped = False
            for to in ray:
                if not jumped:
                    if to in board:
                        jumped = True
                    else:
                        found.append(to)
                elif to in board:
                    if board[to].isupper() != red:
                        found.append(to)
                    break
        return found
    if kind == "N":
        reach = [to for leg, to in KNIGHT_STEPS[square] if leg not in board]
    elif kind == "B":
        reach = [to for eye, to in ELEPHANT_STEPS[letter][square] if eye not in board]
    else:
        return [
            to for to in FREE_STEPS[letter][square] if to not in board or board[to].isupper() != red
        ]
    return [to for to in reach if to not in board or board[to].isupper() != red]


def king_square(board: Board, side: str) -> int:
    """Return the square of a side's king."""
    king = "K" if side == "w" else "k"
    return next(square for square, letter in board.items() if letter == king)


def kings_face(board: Board) -> bool:
    """Return whether the kings share a file with nothing between them."""
    red, black = king_square(board, "w"), king_square(board, "b")
    return red // 10 == black // 10 and not any(sq in board for sq in range(red + 1, black))


def in_check(board: Board, side: str) -> bool:
    """Return whether an enemy piece attacks a side's king; facing kings do not count."""
    king = king_square(board, side)
    return any(
        king in targets(board, square)
        for square, letter in board.items()
        if letter.isupper() != (side == "w")
    )


def is_legal(board: Board, side: str) -> bool:
    """Return whether a position can arise with `side` to move.

    The kings must not face each other, and the side that has just moved must not be in check.
    """
    return not kings_face(board) and not in_check(board, other(side))


def after(board: Board, move: Move) -> Board:
    """Return the board after a move."""
    source, to = move
    new = dict(board)
    new[to] = new.pop(source)
    return new


def legal_moves(board: Board, side: str) -> Iterator[Move]:
    """Yield all legal moves of a side, captures included."""
    for square, letter in board.items():
        if letter.isupper() != (side == "w"):
            continue
        for to in targets(board, square):
            if is_legal(after(board, (square, to)), other(side)):
                yield square, to


def to_fen(board: Board, side: str) -> str:
    """Return the FEN, with all six fields; the last four are always `- - 0 1`."""
    rows = []
    for rank in range(9, -1, -1):
        row, blanks = "", 0
        for file in range(9):
            letter = board.get(10 * file + rank)
            if letter is None:
                blanks += 1
                continue
            row += (str(blanks) if blanks else "") + letter
            blanks = 0
        rows.append(row + (str(blanks) if blanks else ""))
    return "/".join(rows) + f" {side} - - 0 1"


def from_fen(fen: str) -> tuple[Board, str]:
    """Return board and side to move of a FEN with letters K A B N R C P, w and b."""
    rows, side = fen.split()[:2]
    board: Board = {}
    for rank, row in zip(range(9, -1, -1), rows.split("/"), strict=True):
        file = 0
        for letter in row:
            if letter.isdecimal():
                file += int(letter)
            else:
                board[10 * file + rank] = letter
                file += 1
    return board, side
