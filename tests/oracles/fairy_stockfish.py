"""pyffish (Fairy-Stockfish) as an independent oracle for moves, checks and repetition verdicts.

Positions and moves are those of this project; the module translates the notation.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from tbgen.indexing import Move, Position, Side

pyffish = pytest.importorskip("pyffish")

VARIANT = "xiangqi"
_MOVE = re.compile(r"([a-i])(\d+)([a-i])(\d+)")


def to_oracle(move: Move) -> str:
    """Return a move in pyffish's notation with ranks from 1: `h3e3` for `h2e2`."""
    text = move.iccs
    return f"{text[0]}{int(text[1]) + 1}{text[2]}{int(text[3]) + 1}"


def from_oracle(text: str) -> Move:
    """Parse a move in pyffish's notation: `h2e2` from `h3e3`."""
    match = _MOVE.fullmatch(text)
    assert match is not None, text
    file, rank, to_file, to_rank = match.groups()
    return Move.from_iccs(f"{file}{int(rank) - 1}{to_file}{int(to_rank) - 1}")


def legal_moves(position: Position) -> set[Move]:
    """Return the legal moves according to pyffish."""
    return {from_oracle(text) for text in pyffish.legal_moves(VARIANT, position.fen, [])}


def in_check(position: Position) -> bool:
    """Return whether the side to move is in check according to pyffish."""
    return bool(pyffish.gives_check(VARIANT, position.fen, []))


def result_without_moves(position: Position) -> int:
    """Return pyffish's score of a position without legal moves; negative if the mover loses."""
    return int(pyffish.game_result(VARIANT, position.fen, []))


def perft(position: Position, depth: int) -> int:
    """Return the number of move sequences of `depth` plies according to pyffish."""

    def count(moves: list[str], left: int) -> int:
        replies = pyffish.legal_moves(VARIANT, position.fen, moves)
        if left == 1:
            return len(replies)
        return sum(count([*moves, reply], left - 1) for reply in replies)

    return count([], depth)


def repetition_verdict(position: Position, moves: Sequence[Move]) -> str:
    """Return pyffish's verdict, under its AXF rules, on a game from a position.

    The last position of the game occurs for the third time. The verdict is `draw`, `red wins` or
    `black wins`, or `undecided` if the game does not end.
    """
    texts = [to_oracle(move) for move in moves]
    ended, score = pyffish.is_optional_game_end(VARIANT, position.fen, texts)
    if not ended:
        return "undecided"
    if score == 0:
        return "draw"
    to_move = Side(position.side ^ (len(moves) & 1))
    winner = to_move if score > 0 else to_move.other
    return f"{winner.name.lower()} wins"
