"""Move text against pyffish and cchess, with every known difference listed.

`docs/notations.md` summarises them.
"""

from __future__ import annotations

import random
from itertools import islice

import pytest

from tbgen.indexing import START_FEN, Move, Position, Side
from tbgen.indexing.squares import FILES, SQUARES, PieceType
from tbgen.notation import format_move, parse_move
from tbgen.notation.naming import RelativePlace, displacement, relative_place
from tbgen.rules import legal_moves
from tests.helpers.strategies import random_game, random_position
from tests.notation.test_moves import crowded_pawns

pyffish = pytest.importorskip("pyffish")
cchess = pytest.importorskip("cchess")

GAMES, ENDGAMES, CROWDS = 15, 20, 30
PAWN = PieceType.PAWN


def sample(seed: int) -> list[Position]:
    """Return positions of a random game, random endgames, and positions crowded with pawns."""
    rng = random.Random(seed)
    start = Position.from_fen(START_FEN)
    return [
        *islice(random_game(rng, start, GAMES), GAMES),
        *(random_position(rng) for _ in range(ENDGAMES)),
        *(crowded_pawns(rng) for _ in range(CROWDS)),
    ]


def many_pawns(where: RelativePlace) -> bool:
    """Return whether a piece is a pawn that notations must number.

    That is so if its side has at least three pawns on its file, or at least two on its file and at
    least two on another.
    """
    return (
        where.kind == PAWN
        and where.count_on_file > 1
        and (where.count_on_file > 2 or where.crowded_files > 1)
    )


def partner_leaves_the_board(position: Position, move: Move) -> bool:
    """Return whether the mover's partner, moved by as much, would leave the board.

    The partner is the only other piece of this kind and side on the mover's file.
    """
    code = position.board[move.source]
    (partner,) = [
        square
        for square, other in enumerate(position.board)
        if other == code and square % FILES == move.source % FILES and square != move.source
    ]
    # They share a file, so only the ranks can differ.
    return not 0 <= partner + move.target - move.source < SQUARES


def test_pyffish() -> None:
    for position in sample(11):
        moves = legal_moves(position)
        coordinates = [format_move(position, move, "fairy") for move in moves]
        fen = position.fen
        assert sorted(coordinates) == sorted(pyffish.legal_moves("xiangqi", fen, []))
        for move, text in zip(moves, coordinates, strict=True):
            assert parse_move(position, text, "fairy") == move
            theirs = pyffish.get_san("xiangqi", fen, text, False, pyffish.NOTATION_XIANGQI_WXF)
            ours = format_move(position, move, "wxf")
            where = relative_place(position, move.source)
            if many_pawns(where):
                # pyffish numbers them from the front and adds the file.
                moved = displacement(position, move)
                expected = f"{where.rank}{where.file}{moved.direction}{moved.number}"
            elif where.is_tandem and partner_leaves_the_board(position, move):
                # pyffish keeps the file where the other piece could not do the same.
                expected = ours[0] + str(where.file) + ours[2:]
            else:
                expected = ours
            assert theirs == expected.replace(".", "="), (fen, move)
            third_of_two_files = where.count_on_file == 3 == where.rank and where.crowded_files == 2
            if third_of_two_files and where.file == 3:
                continue  # 33 is the middle pawn in the federation's text, the rear one here
            assert parse_move(position, theirs) == move, (fen, theirs)


def test_pyffish_33_is_the_federations_middle_pawn() -> None:
    position = Position.from_fen("3k5/9/2P3P2/6P2/2P3P2/9/9/9/9/4K4 w")
    rear = Move.from_iccs("g5f5")
    theirs = pyffish.get_san("xiangqi", position.fen, "g6f6", False, pyffish.NOTATION_XIANGQI_WXF)
    assert (theirs, format_move(position, rear, "wxf")) == ("33=4", "3-.4")
    assert parse_move(position, theirs).iccs == "g6f6"


def test_cchess_writes() -> None:
    for position in sample(12):
        board = cchess.ChessBoard(position.fen)
        for move in legal_moves(position):
            squares = [(square % FILES, square // FILES) for square in move]
            theirs = cchess.Move(board, *squares).to_text()
            ours = format_move(position, move, "zh")
            where = relative_place(position, move.source)
            if where.kind == PAWN and where.count_on_file > 1 and where.crowded_files > 1:
                # cchess examines one file only, so the text may fit a pawn of the other, too.
                assert theirs[1:] == ours[1:]
                continue
            if where.kind == PAWN and where.count_on_file > 3:
                # cchess: first 前, last 后, Black's others in full-width digits.
                numerals = "二三四" if position.side == Side.RED else "２３４"
                name = "前" + numerals[: where.count_on_file - 2] + "后"
                assert theirs == name[where.rank - 1] + ours[1:]
            else:
                assert theirs == ours, (position.fen, move)
            assert parse_move(position, theirs) == move


def test_cchess_reads() -> None:
    for position in sample(13):
        board = cchess.ChessBoard(position.fen)
        for move in legal_moves(position):
            where = relative_place(position, move.source)
            if where.kind == PAWN and where.count_on_file > 1:
                continue  # cchess takes 前 and 后 over all pawns of the board
            if not where.is_tandem and where.count_on_file > 1:
                continue  # cchess tries only the first of two advisors or elephants
            text = format_move(position, move, "zh")
            source, target = ((square % FILES, square // FILES) for square in move)
            assert cchess.Move.from_text(board, text) == (source, target), (position.fen, text)


@pytest.mark.parametrize(
    ("fen", "move", "text"),
    [
        # 前 and 后 are searched among all pawns of the board
        ("4k4/9/9/3P2p2/3P1P3/9/1p7/9/6p2/3K5 w", "d6d7", "前兵进一"),
        # the standard's names for pawns of two files are not read
        ("3k5/9/4P1P2/9/4P1P2/9/9/9/9/4K4 w", "g7f7", "一兵平四"),
        # only the first of two advisors on a file is tried
        ("3k5/9/9/9/9/9/9/3A5/9/3AK4 w", "d2e1", "仕六退五"),
    ],
)
def test_cchess_does_not_read(fen: str, move: str, text: str) -> None:
    position = Position.from_fen(fen)
    assert format_move(position, Move.from_iccs(move), "zh") == text
    assert parse_move(position, text).iccs == move
    source, target = ((square % FILES, square // FILES) for square in Move.from_iccs(move))
    assert cchess.Move.from_text(cchess.ChessBoard(position.fen), text) != (source, target)
