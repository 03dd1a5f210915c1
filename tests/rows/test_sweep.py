"""Sweeps, searches for predecessors of a set of positions, against moves of the naive oracle.

The sets are random and depend on the squares of the pieces alone. So it is known without the index
whether the position after a move is in a set. A lead is a placement of the kings, advisors and
elephants, a mid one of the attackers except the inner piece. A row has the squares of the inner
piece as bits.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest

from tbgen.indexing.layout import Layout
from tbgen.indexing.material import Material
from tbgen.indexing.squares import LETTERS, SQUARES, Side, mirror_square, piece_kind, piece_side
from tbgen.rows.frame import make_frame
from tbgen.rows.sets import Frontier, Rows, Sets
from tbgen.rows.sweep import Sweeper
from tbgen.rows.workers import Workers
from tests.oracles.naive.movegen import Board, area, targets

ALL_LEADS = ("KRKB", "KPKAB", "KCAKP", "KNBKN", "KNKNB", "KRRK")
"""Materials of which all leads are swept, so that defenders move, too. Each kind of attacker occurs
as the inner piece.
"""

ONE_LEAD = ("KRKRP", "KCKRC", "KPKCP", "KNNKNP")
"""Materials of which one lead is swept, so that defenders do not move. Each kind of attacker moves
in the fastest digit of the mid (stride 1) and in a slower one.
"""

MANY, SOME, FEW = 26_000, 2000, 20
"""Sizes of random sets, as shares of 65536.

The leads of a frontier are then dense, or sparse with many or few rows.
"""

_ORACLE = [square % 9 * 10 + square // 9 for square in range(SQUARES)]
"""For each square of tbgen, the oracle's number of it."""


class Bench:
    """Sweeper for one material, over all leads or one, with conversion of slots to boards."""

    def __init__(self, name: str) -> None:
        layout = Layout.of(Material.parse(name))
        self.frame = make_frame(layout, with_moves=name in ALL_LEADS)
        if name in ONE_LEAD:
            self.frame = self.frame._replace(leads=1)
        self.leads, self.mids = self.frame.leads, self.frame.mids
        workers = Workers(1)
        self.sets = Sets(self.frame, workers)
        self.sweeper = Sweeper(self.frame, workers)
        self.letters = [
            LETTERS[piece_kind(code)] if piece_side(code) == Side.RED
            else LETTERS[piece_kind(code)].lower()
            for code in layout.piece_codes
        ]  # fmt: skip
        self.movers = self.letters if name in ALL_LEADS else set("RNCPrncp")
        """Letters of the pieces that move."""

    def board(self, row: int, square: int) -> Board | None:
        """Return the board of a row with the inner piece on `square`; None if pieces overlap."""
        lead, mid = divmod(row, self.mids)
        squares = [*self.frame.lead_squares[lead], *self.frame.mid_squares[mid], square]
        board = {_ORACLE[at]: letter for at, letter in zip(squares, self.letters, strict=True)}
        return board if len(board) == len(squares) else None

    def after(self, board: Board, side: int) -> Iterator[Board]:
        """Yield the board after each quiet move, legal or not, of the `movers` of a side."""
        for square, letter in board.items():
            if letter in self.movers and letter.isupper() == (side == 0):
                for target in targets(board, square):
                    if target not in board:
                        moved = dict(board)
                        moved[target] = moved.pop(square)
                        yield moved

    def front(self, rows: Rows) -> Frontier:
        """Return a set of positions as a frontier, a sparse set that lists its rows."""
        front = self.sets.empty_frontier()
        self.sets.put_common(rows, rows, front)
        return front

    def swept(
        self, side: int, front: Frontier | None, within: Rows | Frontier, escape: Rows | None
    ) -> Rows:
        """Return the positions of `within` with a move into `front` and no move into `escape`.

        None for `front` or `escape` leaves out that condition.
        """
        found = self.sets.empty_frontier()
        if front is None:
            assert escape is not None
            self.sweeper.without_move_into(side, within, found, escape)
        else:
            assert not isinstance(within, Frontier)
            self.sweeper.predecessors(side, front, within, found, escape)
        return found.rows

    def sample(self, found: Rows, within: Rows) -> Iterator[tuple[bool, Board]]:
        """Yield (True if found, board) of random positions in the sets `found` and `within`."""
        rng = np.random.default_rng(len(found))
        for rows in (found, within):
            used = np.flatnonzero(rows.any(axis=1))
            for row in rng.choice(used, 100).tolist() if len(used) else ():
                square = rng.choice([at for at in range(SQUARES) if _has(rows, row, at)])
                board = self.board(row, int(square))
                assert board is not None
                yield _has(found, row, int(square)), board


def _has(rows: Rows, row: int, square: int) -> bool:
    """Return whether a set has the position of a row with the inner piece on `square`."""
    return bool(int(rows[row, square // 45]) >> square % 45 & 1)


class RandomSet:
    """Random set of positions, determined by the squares of the pieces.

    Each piece has a weight by its square. A position is in the set if the sum of its weights,
    modulo 65536, is below `size`.
    """

    def __init__(self, bench: Bench, seed: int, size: int) -> None:
        self._size = size
        half = np.random.default_rng(seed).integers(0, 1 << 16, (128, SQUARES), np.uint16)
        # Equal for mirror images, of which the index has only one.
        weights = half + half[:, [mirror_square(square) for square in range(SQUARES)]]
        self._weights = {letter: weights[ord(letter)] for letter in bench.letters}
        self.rows = self._rows(bench)

    def __contains__(self, board: Board) -> bool:
        squares = ((at % 10 * 9 + at // 10, letter) for at, letter in board.items())
        total = sum(int(self._weights[letter][square]) for square, letter in squares)
        return total % 65536 < self._size

    def _rows(self, bench: Bench) -> Rows:
        """Return the set as rows, without slots in which pieces overlap."""
        *outer, inner = bench.letters
        leads, mids = bench.frame.lead_squares[: bench.leads], bench.frame.mid_squares
        squares = np.column_stack(
            [np.repeat(leads, bench.mids, axis=0), np.tile(mids, (bench.leads, 1))]
        ).astype(np.int64)
        total = np.zeros(len(squares), np.uint16)
        for letter, column in zip(outer, squares.T, strict=True):
            total += self._weights[letter][column]
        members = (total[:, None] + self._weights[inner]) < self._size
        members[np.arange(len(squares))[:, None], squares] = False
        ascending = np.sort(squares, axis=1)
        members[(ascending[:, 1:] == ascending[:, :-1]).any(axis=1)] = False
        members[:, [_ORACLE[square] not in area(inner) for square in range(SQUARES)]] = False
        words = np.packbits(members.reshape(-1, 2, 45), axis=2, bitorder="little")
        return np.pad(words, ((0, 0), (0, 0), (0, 2))).view(np.uint64)[:, :, 0]


bench_of = cache(Bench)


@cache
def random_set(name: str, seed: int, size: int) -> RandomSet:
    """Return a random set of positions of a material; `size` is its share, of 65536."""
    return RandomSet(bench_of(name), seed, size)


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("size", [MANY, SOME, FEW])
@pytest.mark.parametrize("name", ALL_LEADS + ONE_LEAD)
def test_predecessors_have_a_move_into_the_frontier(name: str, size: int, side: int) -> None:
    bench = bench_of(name)
    front, within = random_set(name, 1, size), random_set(name, 2, 40_000)
    found = bench.swept(side, bench.front(front.rows), within.rows, None)
    for is_found, board in bench.sample(found, within.rows):
        assert board in within
        assert is_found == any(after in front for after in bench.after(board, side)), board


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("size", [40_000, FEW])
@pytest.mark.parametrize("name", ALL_LEADS + ONE_LEAD)
def test_losses_have_no_move_into_the_escapes(name: str, size: int, side: int) -> None:
    bench = bench_of(name)
    escape, within = random_set(name, 1, 5000), random_set(name, 2, size)
    found = bench.swept(side, None, within.rows, escape.rows)
    for is_found, board in bench.sample(found, within.rows):
        assert board in within
        assert is_found != any(after in escape for after in bench.after(board, side)), board
    assert np.array_equal(found, bench.swept(side, None, bench.front(within.rows), escape.rows))


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("size", [MANY, SOME, FEW])
@pytest.mark.parametrize("name", ALL_LEADS + ONE_LEAD)
def test_predecessors_without_escapes(name: str, size: int, side: int) -> None:
    """A sweep finds the positions with a move into the frontier and no move to an escape.

    As in the phases of the solver, every position of `within` has a move into one of the two.
    """
    bench = bench_of(name)
    front, escape = random_set(name, 1, size), random_set(name, 3, 5000)
    everything = random_set(name, 2, 65_536).rows
    lost = bench.swept(side, None, everything, front.rows | escape.rows)
    within = everything & ~lost
    found = bench.swept(side, bench.front(front.rows), within, escape.rows)
    for is_found, board in bench.sample(found, within):
        boards = list(bench.after(board, side))
        assert any(after in front or after in escape for after in boards)
        assert is_found == (not any(after in escape for after in boards)), board
