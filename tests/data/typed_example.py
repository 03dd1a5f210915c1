"""Example of typed code of other projects, checked strictly by scripts/typecheck.py."""

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

from tbgen import (
    GameTablebase,
    Move,
    Outcome,
    Position,
    ProbeResult,
    Verdict,
    judge,
    legal_moves,
    open_tablebase,
)
from tbgen.probing import NumbaTables, plies_of, probe_board


def outcome_of(fen: str) -> Outcome:
    """Return the outcome of a position, from tables with the rules `wxf`."""
    with open_tablebase("egtb", rules="wxf") as tables:
        assert_type(tables, GameTablebase)
        assert_type(tables.get(fen), ProbeResult | None)
        assert_type(tables.get_wdl(fen, "unknown"), Outcome | str)
        return tables.probe(fen).outcome


def moves_of(position: Position) -> list[Move]:
    """Return the legal moves of a position."""
    return legal_moves(position)


def verdict_of(fen: str) -> Verdict:
    """Return the verdict on a game of one move, a0a9, from a position."""
    return judge(fen, ["a0a9"], rules="wxf").verdict


def plies_on(board: NDArray[Any], tables: NumbaTables) -> int:
    """Return the distance in plies of a board with Red to move, from compiled probes."""
    assert_type(probe_board(tables.buffers, board, 0), tuple[int, int])
    return plies_of(tables.probe_boards(board[None], np.zeros(1, np.int64))[1][0])
