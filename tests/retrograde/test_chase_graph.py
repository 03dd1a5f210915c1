"""Graph of the search for chase patterns: offence nodes, one for each victim, and reply nodes.

A victim is a piece that all moves of a position chase, unless they lose. A reply node is a position
after a move.
"""

from __future__ import annotations

import random

import numpy as np
import pytest

from tbgen.indexing import Material, Position, Side
from tbgen.indexing.layout import Layout
from tbgen.indexing.rulesets import Rules
from tbgen.indexing.squares import SQUARES, PieceType, piece_code
from tbgen.retrograde.chase import graph
from tbgen.retrograde.chase.victims import ChaseSetting, keep_with_victim
from tbgen.rows import bitsets
from tbgen.rows.boards import make_boards, make_converter
from tbgen.rows.frame import make_frame
from tbgen.rows.sets import Sets, put_row
from tbgen.rows.workers import Workers
from tbgen.rules.board import MAX_MOVES
from tbgen.rules.moves import generate_moves

LAYOUT = Layout.of(Material.parse("KRKNN"))
KNIGHT = piece_code(Side.BLACK, PieceType.KNIGHT)
SLOTS = sorted(
    LAYOUT.slot(Position.from_fen(fen))
    for fen in ("3k5/9/4n4/9/2n6/4R4/9/9/9/3K5 w", "4k4/9/n8/9/9/R8/9/5n3/9/3K5 w")
)
"""Slots of two positions in which Red's rook attacks a knight.

Since a row has 90 slots, these numbers are also keys of candidates.
"""


def searched(unwon: np.ndarray) -> ChaseSetting:
    """Return the setting of a search for Black's wins.

    unwon : uint64 (rows, 2), bits of the positions with Black to move that are not won yet
    """
    converter = make_converter(LAYOUT, make_frame(LAYOUT))
    return ChaseSetting(int(Side.BLACK), Rules.WXF.chase_rules(), unwon, converter)


def sets_of(squares: list[list[int]]) -> np.ndarray:
    """Return each list of squares as a row of bits, uint64 (n, 2)."""
    return np.array(
        [
            [sum(int(bitsets.BIT[square, word]) for square in each) for word in range(2)]
            for each in squares
        ],
        np.uint64,
    )


def test_each_victim_has_a_node_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """A candidate's row, square and victim give its node; any other combination gives -1.

    Random victims are used, since most real candidates have a single victim.
    """
    # Plain Python cannot run this intrinsic.
    monkeypatch.setattr(graph, "count_bits", lambda word: int(word).bit_count())
    rng = random.Random(1)
    keys = sorted(rng.sample(range(50 * SQUARES), 40))
    victims = [sorted(rng.sample(range(SQUARES), rng.randint(1, 6))) for _ in keys]
    starts = np.concatenate([[0], np.cumsum([len(each) for each in victims])])
    candidates = graph.ChaseCandidates(np.array(keys), sets_of(victims), starts)
    node = 0
    for key, chased in zip(keys, victims, strict=True):
        row, square = divmod(key, SQUARES)
        for victim in range(SQUARES):
            found = graph._find_node(row, square, victim, candidates)
            assert found == (node if victim in chased else -1)
            node += victim in chased
    assert node == starts[-1]
    absent = next(key for key in range(50 * SQUARES) if key not in keys)
    assert graph._find_node(*divmod(absent, SQUARES), victims[0][0], candidates) == -1


def test_a_node_has_a_reply_node_for_each_move_that_does_not_lose() -> None:
    """If no move loses, a node has a reply node for each quiet move, for any victim."""
    positions = [LAYOUT.position(slot, Side.RED) for slot in SLOTS]
    knights = [[at for code, at in each.pieces() if code == KNIGHT] for each in positions]
    quiet = []
    for each in positions:
        sources, targets = [0] * MAX_MOVES, [0] * MAX_MOVES
        count = generate_moves(each.board, Side.RED, sources, targets)
        quiet.append(sum(each.board[target] == 0 for target in targets[:count]))
    candidates = graph.ChaseCandidates(np.array(SLOTS), sets_of(knights), np.array([0, 2, 4]))
    setting = searched(np.full((LAYOUT.rows, 2), bitsets.FULL))
    with Workers(1) as workers:
        boards_of = [make_boards(setting.converter)]
        found = graph._find_edges(candidates, setting, boards_of, workers)
    assert min(quiet) > 10
    assert found.node_replies.tolist() == [number for number in quiet for _ in range(2)]
    assert len(found.moves) == len(found.reply_keys) == len(found.reply_edges) == 2 * sum(quiet)


def test_a_candidate_whose_moves_all_lose_has_no_victim() -> None:
    """A candidate whose moves all lose is removed, since it is lost without a chase."""
    losses = Sets(make_frame(LAYOUT), Workers(1)).empty_frontier()
    for slot in SLOTS:
        row, square = divmod(slot, SQUARES)
        lead, mid = divmod(row, LAYOUT.mids)
        put_row(lead, mid, *bitsets.BIT[square], losses, LAYOUT.mids)
    setting = searched(np.zeros((LAYOUT.rows, 2), np.uint64))
    with Workers(1) as workers:
        keys, victims = keep_with_victim(losses, 10, setting, workers)
    assert (len(keys), len(victims)) == (0, 0)
    assert not losses.rows.any()
