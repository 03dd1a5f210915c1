"""Filters of solver and proof keep every position with an attack that can be a chase.

Both find attacks before they test chases: `tbgen.retrograde.chase.sieve`, `tbgen.verify.complete`.
Tested are all rule sets with their options. The kernels run as plain Python here, on the rows of
some positions.
"""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from tbgen.indexing import Material, Position
from tbgen.indexing.layout import Layout
from tbgen.indexing.rulesets import Rules
from tbgen.indexing.squares import (
    SQUARES,
    PieceType,
    Side,
    area,
    piece_code,
    piece_kind,
    piece_side,
)
from tbgen.retrograde.chase import sieve
from tbgen.retrograde.chase.search import k_mark_attacked
from tbgen.retrograde.chase.sieve import attacked_row
from tbgen.retrograde.legality import find_legal
from tbgen.rows import bitsets
from tbgen.rows.frame import make_frame
from tbgen.rows.sets import Sets
from tbgen.rows.workers import Workers
from tbgen.rules.attacks import attacks
from tbgen.rules.chases import threatens
from tbgen.verify.complete import hangs
from tbgen.verify.index import BoardState, make_index
from tbgen.verify.moves import set_up
from tests.helpers.strategies import random_position

MATERIALS = ("KRPKN", "KCAKP", "KNBKRA", "KPPKC", "KCAKNB", "KNKPP", "KRCKN")
"""Materials with every kind of piece as the inner piece (whose squares vary fastest in the index)
and as an outer one, and with identical pieces (twins).
"""

WORDS = sorted(
    {rules.chase_rules() for rules in Rules} | {Rules.WXF.chase_rules(minor_chases=False)}
)
"""Chase rules of all rule sets, each packed into one integer for kernels."""


def attacks_on(side: int, position: Position, word: int) -> set[tuple[int, int]]:
    """Return the pairs (kind of attacker, kind of victim) of possible chases of `side`'s pieces.

    word : chase rules, packed as in `WORDS`
    """
    board = bytearray(position.board)
    pieces = [square for square in range(SQUARES) if board[square]]
    return {
        (piece_kind(board[q]), piece_kind(board[v]))
        for v in pieces
        for q in pieces
        if piece_side(board[v]) == side and threatens(board, q, v, False, word)
    }


class Filters:
    """The solver's and the proof's filter for chases of one material, run as plain Python.

    The argument `word` of the methods has the chase rules, packed as in `WORDS`.
    """

    def __init__(self, material: Material) -> None:
        layout = self.layout = Layout.of(material)
        self.frame = make_frame(layout)
        self.index = make_index(layout)
        self.state = BoardState.make(self.index)

    def of_the_solver(self, slot: int, side: int, word: int) -> bool:
        """Return whether the solver's filter finds an attack on a piece of `side` in a position."""
        row, place = divmod(slot, self.layout.inner_size)
        lead, mid = divmod(row, self.frame.mids)
        lo, hi = attacked_row(lead, mid, 1 - side, word, self.frame)
        return bool(bitsets.has(lo, hi, self.layout.inner.area[place]))

    def of_the_proof(self, slot: int, side: int, word: int) -> bool:
        """Return whether the proof's filter finds an attack on a piece of `side` in a position."""
        set_up(slot, self.state, self.index)
        return bool(hangs(side, word, self.state, self.index))


@pytest.mark.parametrize("side", list(Side))
@pytest.mark.parametrize("kind", [PieceType.ADVISOR, PieceType.ELEPHANT])
def test_attacks_of_guards_stand_unless_their_eye_is_taken(kind: PieceType, side: Side) -> None:
    rng = random.Random(int(kind))
    for source in area(side, kind) * 4:
        taken = rng.sample([square for square in range(SQUARES) if square != source], 25)
        board = bytearray(SQUARES)
        for square in taken:
            board[square] = piece_code(side.other, PieceType.PAWN)
        board[source] = piece_code(side, kind)
        lo, hi = map(np.uint64, bitsets.square_set([*taken, source]))
        for target in range(SQUARES):
            found = sieve._defender_attack_stands(int(side), source, target, lo, hi)
            eye = (source + target) // 2
            for inner in {eye, *rng.sample(range(SQUARES), 4)} - {*taken, source}:
                board[inner] = piece_code(side.other, PieceType.ROOK)
                assert bitsets.has(*found, inner) == attacks(board, source, target)
                board[inner] = 0


def test_filters_keep_every_attack(monkeypatch: pytest.MonkeyPatch) -> None:
    # Plain Python cannot run this intrinsic.
    monkeypatch.setattr(bitsets, "count_bits", lambda word: int(word).bit_count())
    rng = random.Random(1)
    seen: Counter[tuple[int, int]] = Counter()
    dropped = 0
    for name in MATERIALS:
        filters = Filters(Material.parse(name))
        for _ in range(60):
            position = random_position(rng, (name,))
            if position.is_swapped:
                position = position.swapped()
            slot = filters.layout.slot(position)
            position = filters.layout.position(slot, position.side)
            for side in range(2):
                for word in WORDS:
                    found = attacks_on(side, position, word)
                    kept = (
                        filters.of_the_solver(slot, side, word),
                        filters.of_the_proof(slot, side, word),
                    )
                    assert not found or all(kept), (position.fen, side, word, kept)
                    seen.update(found)
                    dropped += not any(kept)
    assert dropped > 100  # otherwise they filter nothing
    chasers = {PieceType.ROOK, PieceType.KNIGHT, PieceType.CANNON}
    for victim in (PieceType.PAWN, *chasers, PieceType.ADVISOR, PieceType.ELEPHANT):
        assert {kind for kind, of in seen if of == victim} & chasers, PieceType(victim).name
    assert {PieceType.ADVISOR, PieceType.ELEPHANT} & {kind for kind, _ in seen}


def test_marks_of_one_half_of_the_board_do_not_depend_on_the_other() -> None:
    """The marks in one half of the rows stay the same if the other half has no candidates.

    Marked are candidates with an attacked piece (`k_mark_attacked`). A row has two words, one for
    each half of the board.
    """
    with Workers(1) as workers:
        sets = Sets(make_frame(Layout.of(Material.parse("KRKN"))), workers)
        legal = find_legal(sets.frame, Side.BLACK, workers)

        def marked(within: np.ndarray) -> np.ndarray:
            found = sets.empty_frontier()
            rules = Rules.WXF.chase_rules()
            k_mark_attacked(rules, 0, sets.leads, int(Side.BLACK), within, found, sets.frame)
            return found.rows

        whole = marked(legal)
        for word in range(2):
            half = legal.copy()
            half[:, 1 - word] = 0
            assert whole[:, word].any()
            assert np.array_equal(marked(half)[:, word], whole[:, word])
