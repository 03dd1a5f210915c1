"""Materials solved from the rules: every legal position of a material and of its captures.

A material is a pair of strings, Red's pieces and Black's, each starting with the king: `("KR",
"KN")`. The pair is not canonical: `("KN", "KR")` is another material. Positions are numbered in the
order of generation, either side to move. A position and its mirror image share a number:

    key = square of the 1st piece + 90 * square of the 2nd + ...   (like pieces in ascending order)
    nodes[side][key]  the number, under the key of the position and under that of its mirror

A move is legal if the resulting position has a number, so legality is tested once per position.

    solution = solve(("KR", "KN"), rules="check")
    for fen, outcome, value, order in solution.items(): ...
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations
from typing import NamedTuple

from .chase_patterns import Chasing
from .chases import TERMS
from .movegen import (
    SIDES,
    Board,
    Move,
    after,
    area,
    from_fen,
    in_check,
    kings_face,
    mirror,
    targets,
    to_fen,
)
from .patterns import DRAW, LOSS, WIN, Game, Verdict
from .retrograde import decide

Material = tuple[str, str]
LETTERS = "KRNCPAB"


class Entry(NamedTuple):
    """A position, and the fields of its verdict for the side to move (`patterns.Verdict`)."""

    fen: str
    outcome: int
    value: int
    order: int


def parse(text: str) -> Material:
    """Split `KRKN` into Red's and Black's pieces."""
    red, black = text[1:].split("K")
    return "K" + red, "K" + black


class Table:
    """Positions of one material and the moves between them.

    `moves[node]` lists the nodes after the legal quiet moves of position number `node`.
    `pawn_ranks`, if given, keeps only positions with all pawns on their last `pawn_ranks` ranks.
    Moves to other positions of the material are then left out. Captures lead to positions with the
    same limit.
    """

    def __init__(self, material: Material, pawn_ranks: int | None = None) -> None:
        self.material, self.pawn_ranks = material, pawn_ranks
        self.slots = material[0].upper() + material[1].lower()
        self.weights = [90**index for index in range(len(self.slots))]
        # Runs of like pieces, whose squares are kept in ascending order.
        self.runs: list[tuple[int, int]] = []
        start = 0
        for index in range(1, len(self.slots) + 1):
            if index == len(self.slots) or self.slots[index] != self.slots[start]:
                self.runs.append((start, index))
                start = index
        self.has_twins = len(self.runs) < len(self.slots)
        self.nodes: tuple[dict[int, int], dict[int, int]] = ({}, {})
        self.squares: list[tuple[int, ...]] = []
        self.side: list[int] = []
        self.in_check: list[bool] = []
        self.moves: list[list[int]] = []
        self.captures: dict[int, list[tuple[Material, int]]] = {}
        """For each node with captures: the material and the node that each capture leads to."""
        self._find_positions()
        self._find_moves()

    def key(self, squares: Sequence[int]) -> int:
        """Return the key of a placement: the squares of the pieces, like pieces in any order."""
        if self.has_twins:
            squares = [square for start, end in self.runs for square in sorted(squares[start:end])]
        return sum(square * weight for square, weight in zip(squares, self.weights, strict=True))

    def _placements(self) -> Iterator[tuple[int, ...]]:
        """Yield every placement of the pieces on squares of their areas; like pieces are sorted."""
        areas = [(self._area(self.slots[start]), end - start) for start, end in self.runs]

        def place(run: int, placed: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
            if run == len(areas):
                yield placed
                return
            allowed, count = areas[run]
            for squares in combinations(allowed, count):
                if not any(square in placed for square in squares):
                    yield from place(run + 1, placed + squares)

        return place(0, ())

    def _area(self, letter: str) -> list[int]:
        """List the squares on which a piece is placed, for pawns limited by `pawn_ranks`."""
        squares = area(letter)
        if letter in "Pp" and self.pawn_ranks is not None:
            last = 9 if letter == "P" else 0
            squares = [sq for sq in squares if abs(sq % 10 - last) < self.pawn_ranks]
        return squares

    def _find_positions(self) -> None:
        """Number the legal positions."""
        for squares in self._placements():
            key = self.key(squares)
            mirror_key = self.key([mirror(square) for square in squares])
            if mirror_key < key:
                continue  # the mirror image stands for both
            board = dict(zip(squares, self.slots, strict=True))
            if kings_face(board):
                continue
            checked = (in_check(board, "w"), in_check(board, "b"))
            for side in (0, 1):
                if checked[1 - side]:
                    continue
                node = len(self.side)
                self.nodes[side][key] = node
                self.nodes[side][mirror_key] = node
                self.squares.append(squares)
                self.side.append(side)
                self.in_check.append(checked[side])

    def _find_moves(self) -> None:
        """Fill `moves` with the nodes after quiet moves, and `captures` by `_capture`."""
        for node, squares in enumerate(self.squares):
            side = self.side[node]
            board = dict(zip(squares, self.slots, strict=True))
            key = self.key(squares)
            there = self.nodes[1 - side]
            found: list[int] = []
            for slot, square in enumerate(squares):
                if self.slots[slot].isupper() != (side == 0):
                    continue
                weight = self.weights[slot]
                for to in targets(board, square):
                    if to in board:
                        self._capture(node, squares, slot, to)
                        continue
                    if self.has_twins:
                        child_key = self.key((*squares[:slot], to, *squares[slot + 1 :]))
                    else:
                        child_key = key + (to - square) * weight
                    child = there.get(child_key)
                    if child is not None:
                        found.append(child)
            self.moves.append(found)

    def _capture(self, node: int, squares: tuple[int, ...], slot: int, to: int) -> None:
        """Add the capture on `to` by piece number `slot` to `captures[node]`, if it is legal."""
        taken = squares.index(to)
        assert self.slots[taken] not in "Kk", "a king could be taken in a legal position"
        left = [to if index == slot else square for index, square in enumerate(squares)]
        del left[taken]
        slots = self.slots[:taken] + self.slots[taken + 1 :]
        material = (
            "".join(letter for letter in slots if letter.isupper()),
            "".join(letter for letter in slots if letter.islower()).upper(),
        )
        child_table = table(material, self.pawn_ranks)
        child = child_table.nodes[1 - self.side[node]].get(child_table.key(left))
        if child is not None:
            self.captures.setdefault(node, []).append((material, child))

    def find(self, board: Board, side: str) -> int:
        """Return the number of a position.

        Raises KeyError if the position is illegal or of another material.
        """
        squares = []
        remaining = sorted(board.items())
        for letter in self.slots:
            square = next((sq for sq, piece in remaining if piece == letter), None)
            if square is None:
                raise KeyError(f"{self.material} has {letter}, the position has not")
            remaining.remove((square, letter))
            squares.append(square)
        if remaining:
            raise KeyError(f"the position has more pieces than {self.material}")
        return self.nodes[SIDES.index(side)][self.key(squares)]

    def after(self, board: Board, move: Move) -> tuple[int, bool]:
        """Return the node after a quiet move, and whether its board is the mirror image."""
        moved = after(board, move)
        node = self.find(moved, "b" if board[move[0]].isupper() else "w")
        return node, moved != self.board(node)

    def board(self, node: int) -> Board:
        """Return the board of position number `node`."""
        return dict(zip(self.squares[node], self.slots, strict=True))

    def fen(self, node: int) -> str:
        """Return the FEN of position number `node`."""
        return to_fen(self.board(node), SIDES[self.side[node]])


@cache
def table(material: Material, pawn_ranks: int | None = None) -> Table:
    """Return the positions of a material, generated once."""
    return Table(material, pawn_ranks)


class Solution:
    """Verdicts of one material under one rule set, by position number."""

    def __init__(self, positions: Table, game: Game, verdicts: list[Verdict]) -> None:
        self.table = positions
        self.game = game
        self.verdicts = verdicts

    @property
    def material(self) -> Material:
        """Pieces of Red and of Black."""
        return self.table.material

    def __len__(self) -> int:
        """Number of legal positions, either side to move, one for each pair of mirror images."""
        return len(self.verdicts)

    def items(self) -> Iterator[Entry]:
        """Yield every position, one of each pair of mirror images."""
        for node, verdict in enumerate(self.verdicts):
            yield Entry(self.table.fen(node), verdict.outcome, verdict.value, verdict.order)

    def probe(self, fen: str) -> Verdict:
        """Return the verdict of a position; KeyError if it is illegal or of another material."""
        return self.verdicts[self.table.find(*from_fen(fen))]

    def count(self, outcome: int, side: str | None = None) -> int:
        """Count the positions with an outcome for the side to move.

        side : side to move, `w` or `b`; None for both
        """
        return sum(
            verdict.outcome == outcome and (side is None or SIDES[mover] == side)
            for verdict, mover in zip(self.verdicts, self.table.side, strict=True)
        )

    def orders(self) -> dict[int, int]:
        """Return the number of rule-decided positions of each order (1 and above), ascending."""
        return dict(sorted(Counter(v.order for v in self.verdicts if v.order).items()))

    def max_distance(self) -> int:
        """Return the longest distance of order 0, in plies."""
        return max((v.plies for v in self.verdicts if v.order == 0), default=0)

    def max_rule_distance(self) -> int | None:
        """Return the longest distance, in plies, to a direct win by the repetition rules.

        None if these rules decide no position.
        """
        return max((v.plies for v in self.verdicts if v.order), default=None)


def solve(
    material: Material,
    rules: str = "none",
    metric: str = "dtm",
    orders: int | None = None,
    pawn_ranks: int | None = None,
) -> Solution:
    """Solve a material and all its supporting materials.

    rules : `none`, `check` or one of `chases.TERMS`
    metric : that of the material itself; supporting materials are solved in `dtm`. In `dtc`, each
        capture into a decided position ends the game, also if the rules of repetition decide it.
        For its side to move, that position then counts as lost in 0 or won in 1
    orders : highest order to search, in supporting materials as well; None for all
    pawn_ranks : as in `Table`

    Raises `ValueError` for other rules or metrics.
    """
    if rules not in ("none", "check", *TERMS):
        raise ValueError(f"rules are 'none', 'check' or of {list(TERMS)}, not {rules!r}")
    if metric not in ("dtm", "dtc"):
        raise ValueError(f"metrics are 'dtm' and 'dtc', not {metric!r}")
    red, black = ("".join(sorted(army, key=LETTERS.index)) for army in material)
    return _solve((red, black), rules, metric, orders if rules != "none" else None, pawn_ranks)


@cache
def _solve(
    material: Material, rules: str, metric: str, orders: int | None, pawn_ranks: int | None
) -> Solution:
    positions = table(material, pawn_ranks)
    exits: dict[int, list[Verdict]] = {}
    for node, captures in positions.captures.items():
        exits[node] = [
            _solve(child_material, rules, "dtm", orders, pawn_ranks).verdicts[child]
            for child_material, child in captures
        ]
        if metric == "dtc":
            exits[node] = [_CONVERTED[verdict.outcome] for verdict in exits[node]]
    game = Game(positions.side, positions.in_check, positions.moves, exits)
    chases = []
    if rules in TERMS:
        chases = [Chasing(positions, game, winner, TERMS[rules]) for winner in (0, 1)]
    verdicts = decide(game, checks_lose=rules != "none", orders=orders, chases=chases)
    return Solution(positions, game, verdicts)


_CONVERTED = {WIN: Verdict(WIN, 0, 1), DRAW: Verdict(DRAW), LOSS: Verdict(LOSS, 0, 0)}


def forget() -> None:
    """Clear the caches of solutions and positions."""
    _solve.cache_clear()
    table.cache_clear()
