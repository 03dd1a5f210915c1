"""What other projects write: checked by scripts/typecheck.py, as strictly as the package."""

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
    """The outcome of a position."""
    with open_tablebase("egtb", rules="wxf") as tables:
        assert_type(tables, GameTablebase)
        return tables.probe(fen).outcome


def moves_of(position: Position) -> list[Move]:
    """The moves of a position."""
    return legal_moves(position)


def verdict_of(fen: str) -> Verdict:
    """The verdict on a move."""
    return judge(fen, ["a0a9"], rules="wxf").verdict
