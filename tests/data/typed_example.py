"""Example of typed code of other projects, checked strictly by scripts/typecheck.py."""

from typing import assert_type

from tbgen import (
    GameTablebase,
    Move,
    Outcome,
    Position,
    Verdict,
    judge,
    legal_moves,
    open_tablebase,
)


def outcome_of(fen: str) -> Outcome:
    """Return the outcome of a position."""
    with open_tablebase("egtb", rules="wxf") as tables:
        assert_type(tables, GameTablebase)
        return tables.probe(fen).outcome


def moves_of(position: Position) -> list[Move]:
    """Return the moves of a position."""
    return legal_moves(position)


def verdict_of(fen: str) -> Verdict:
    """Return the verdict on a game of one move, a0a9, from a position."""
    return judge(fen, ["a0a9"], rules="wxf").verdict
