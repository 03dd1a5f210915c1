# mypy: allow-untyped-defs, allow-untyped-calls
"""Proving a win-draw-loss file: its bytes, its positions, its counts, and the table it came from.

    every checksum   ->  CorruptTableError
    every position   its outcome is the best of its moves: a win has a move to a loss of the
                     opponent, a loss has none to anything but his wins, a draw has a move to a
                     draw and none to a loss
    the counts       are those of the positions
    the table        every outcome is the table's, where the table with the digest of the source
                     is there

What the second shows by itself, without the table: no outcome disagrees with those around it. It
does not show that a win ever arrives: positions that only claim to win through each other, or a
draw that the rules of repetition decide, pass. A table of distances has what proves that
(`tbgen.verify.prove`), and the last line ties the file to it.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import borrowing_kernel, compile_lock, part
from tbgen.indexing import Side
from tbgen.indexing.layout import Layout
from tbgen.indexing.material import Material
from tbgen.indexing.slots import slot_of_squares
from tbgen.indexing.squares import EMPTY
from tbgen.tables import (
    CodeSpace,
    Metric,
    MissingTableError,
    Tablebase,
    TableFile,
    TableName,
    WdlFile,
    WdlName,
)
from tbgen.tables.outcomes import DRAW, LOSS, WIN, outcomes_of
from tbgen.tables.statistics import SideCounts
from tbgen.verify.arrays import Arrays, Table, gather
from tbgen.verify.moves import (
    Desk,
    clear,
    image_of,
    is_checked,
    list_legal,
    load_key,
    set_up,
    slot_after,
    worth_of_capture,
)
from tbgen.verify.positions import RANGE_SLOTS
from tbgen.verify.report import Progress, no_progress

_SPACE = CodeSpace(1)
"""Outcomes as codes of this space, of which the proof reads nothing but the sign."""
_CODES = np.array([0, 1, _SPACE.draw, _SPACE.top], np.uint8)
"""uint8 (4,): the code of each outcome."""


class _OutcomeTable:
    """A win-draw-loss file as `gather` takes a table."""

    metric = Metric.DTC
    code_space = _SPACE

    def __init__(self, file: WdlFile, threads: int) -> None:
        self._file = file
        self._threads = threads

    @property
    def layout(self) -> Layout:
        """The index of its material."""
        return self._file.layout

    def plane(self, side: int) -> NDArray[Any]:
        """(slots,) codes; arbitrary where no position is."""
        return _CODES.take(self._file.plane(side, threads=self._threads))


class _DistanceTable(_OutcomeTable):
    """A table of distances as the same: what its captures lead to where no other file is there."""

    def __init__(self, file: TableFile, threads: int) -> None:
        self._table = file
        self._threads = threads

    @property
    def layout(self) -> Layout:
        """The index of its material."""
        return self._table.layout

    def plane(self, side: int) -> NDArray[Any]:
        """(slots,) codes; arbitrary where no position is."""
        plane = self._table.plane(side, threads=self._threads)
        return _CODES.take(outcomes_of(plane, self._table.code_space))


@dataclass(frozen=True, slots=True)
class WdlReport:
    """The outcome of a proof of a win-draw-loss file.

    `inconsistent` counts positions whose outcome is not the best of their moves, `differing` those
    whose outcome is not the table's; `compared` says whether that table was there. `first` is the
    FEN of the first of either, `problems` are disagreements between the file and its own facts.
    """

    material: str
    rule_set: str
    file: str
    source: str
    positions: int
    inconsistent: int
    differing: int
    compared: bool
    first: str | None
    problems: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing was found."""
        return not (self.inconsistent or self.differing or self.problems)

    def to_json(self) -> dict[str, Any]:
        """The object that `tbgen verify --json` prints for a file."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        return {**fields, "problems": list(self.problems), "ok": self.ok}


def verify_wdl(
    tablebase: Tablebase, material: Material, *, threads: int, report: Progress = no_progress
) -> WdlReport | None:
    """Prove the win-draw-loss file that a tablebase has of a material; None where it has none.

    Captures lead into win-draw-loss files, or into tables where those are missing. Raises
    `CorruptTableError` for a damaged file, and `MissingTableError` where a capture leads to
    neither.
    """
    file = tablebase.wdl_file(material)
    if file is None:
        return None
    report("checksums", 0, 1)
    file.check(threads=threads)
    name, facts = file.header.spec.name, file.facts

    def supporting(child: Material) -> Table:
        found = tablebase.wdl_file(child)
        if found is not None:
            return _OutcomeTable(found, threads)
        return _DistanceTable(tablebase.table(child), threads)

    arrays = gather(_OutcomeTable(file, threads), supporting, name.rule_set)
    inconsistent, node = _run(arrays, file.layout, threads, report)
    planes = [_outcomes(arrays, side, file.header.slots) for side in Side]
    problems = [
        f"the stored counts of {side.name.lower()} to move are {stored}, counted are {counted}"
        for side, stored in zip(Side, (facts.red_to_move, facts.black_to_move), strict=True)
        if (counted := _counts(planes[side])) != stored
    ]
    table = _source(tablebase, name, facts.source.file, facts.source.digest)
    differing = 0
    if table is not None:
        report("table", 0, 1)
        for side in Side:
            theirs = outcomes_of(table.plane(side, threads=threads), table.code_space)
            wrong = (planes[side] != 0) & (planes[side] != theirs)
            differing += int(np.count_nonzero(wrong))
            if differing and node < 0:
                node = 2 * int(wrong.argmax()) + side
    return WdlReport(
        material=material.name,
        rule_set=str(name.rule_set),
        file=name.filename,
        source=facts.source.file,
        positions=sum(int(np.count_nonzero(plane)) for plane in planes),
        inconsistent=inconsistent,
        differing=differing,
        compared=table is not None,
        first=_fen(file.layout, node),
        problems=tuple(problems),
    )


def _source(tablebase: Tablebase, name: WdlName, file: str, digest: str) -> TableFile | None:
    """The table that a file says it was derived from, None where it is not there."""
    wanted = TableName.parse(file)
    if wanted is None or wanted not in tablebase.available():
        return None
    try:
        table = tablebase.table(name.material)
    except MissingTableError:
        return None
    return table if table.header.digest.hex() == digest else None


def _run(arrays: Arrays, layout: Layout, threads: int, report: Progress) -> tuple[int, int]:
    """How many positions are inconsistent, and the first node of them, -1 for none."""
    step = max(1, RANGE_SLOTS // layout.inner_size)

    def prove(row_0: int, row_1: int) -> tuple[int, int]:
        return k_check_outcomes(row_0, row_1, Desk.make(len(arrays.men.pieces)), arrays)

    with compile_lock():
        prove(0, 0)
    total, first = 0, -1
    with ThreadPoolExecutor(threads) as pool:
        starts = range(0, layout.rows, step)
        ends = [min(start + step, layout.rows) for start in starts]
        for end, (count, node) in zip(ends, pool.map(prove, starts, ends), strict=True):
            first = node if first < 0 else first
            total += count
            report("outcomes", end, layout.rows)
    return total, first


def _outcomes(arrays: Arrays, side: int, slots: int) -> NDArray[np.uint8]:
    """(slots,) outcome codes after the pass: 0 where no canonical legal position is."""
    start = int(arrays.tables[0][side])
    return outcomes_of(arrays.codes[start : start + slots], _SPACE)


def _counts(plane: NDArray[np.uint8]) -> SideCounts:
    """How many positions of a side win, draw and lose."""
    wins, draws, losses = (int(np.count_nonzero(plane == code)) for code in (WIN, DRAW, LOSS))
    return SideCounts(wins + draws + losses, wins, draws, losses)


def _fen(layout: Layout, node: int) -> str | None:
    """The FEN of a node, None for none."""
    if node < 0:
        return None
    position = layout.position(node // 2, Side(node % 2))
    assert position is not None, "only positions are judged"
    return position.fen


@part
def _best_sign(slot, image, side, checked, desk, arrays):
    """1 if some move wins, 0 if none does and some draws, -1 if all lose or there is none.

    checked : bool, whether the side to move is in check
    """
    squares, board = desk.squares, desk.board
    movers, targets = desk.moves.movers, desk.moves.targets
    count = list_legal(side, checked, board, desk.moves, squares, arrays.men)
    best = -1
    for i in range(count):
        mover, target = movers[i], targets[i]
        if board[target] == EMPTY:
            after = slot_after(slot, image, mover, target, squares, arrays)
            worth = -load_key(arrays.codes, arrays.tables[0], 1 - side, after)
        else:
            worth = worth_of_capture(side, mover, desk.piece_on[target], desk, arrays)
        if worth > 0:
            return 1
        if worth == 0:
            best = 0
    return best


@borrowing_kernel
def k_check_outcomes(row_0, row_1, desk, arrays):
    """How many positions of the rows [row_0, row_1) are inconsistent, and the first node or -1.

    Slots that hold no position are emptied: none of them is read, because legal moves lead to
    canonical legal positions.
    """
    men, squares = arrays.men, desk.squares
    line = arrays.tables[0]
    wrong, first = 0, -1
    for slot in range(row_0 * arrays.inner_size, row_1 * arrays.inner_size):
        exists = set_up(slot, desk, arrays)
        if exists and slot_of_squares(squares, arrays.descriptor) != slot:
            clear(desk)
            exists = False
        if not exists:
            arrays.codes[line[0] + slot] = 0
            arrays.codes[line[1] + slot] = 0
            continue
        red_king, black_king = squares[men.kings[0]], squares[men.kings[1]]
        checked = (
            is_checked(desk.board, red_king, black_king, 0),
            is_checked(desk.board, black_king, red_king, 1),
        )
        image = image_of(slot, squares, arrays)
        for side in range(2):
            if checked[1 - side]:
                arrays.codes[line[side] + slot] = 0
                continue
            stored = load_key(arrays.codes, line, side, slot)
            best = _best_sign(slot, image, side, checked[side], desk, arrays)
            if (stored > 0) != (best > 0) or (stored < 0) != (best < 0):
                wrong += 1
                if first < 0:
                    first = 2 * slot + side
        clear(desk)
    return wrong, first
