"""Proof of a win-draw-loss file: blocks, positions, counts, and agreement with its source table.

    every checksum   ->  CorruptTableError
    every position   its outcome is the best of its moves
    the counts       equal those of the positions
    the table        every outcome is that of the source table, which the file names with a digest

The second check accepts positions that win only through each other, and draws that are decided by
repetition. The proof of the source table (`tbgen.verify.prove`) excludes both, and the last check
shows that the outcomes are those of that table. If that table is missing, the last check is left
out, and the file is not proven.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tbgen.indexing import Side
from tbgen.indexing.material import Material
from tbgen.tables import CodeSpace, Metric, Rules, RuleSet, Tablebase, TableFile, TableName, WdlFile
from tbgen.tables.blocks import Codes, NumbersOf
from tbgen.tables.outcomes import DRAW, LOSS, WIN, outcomes_of
from tbgen.tables.statistics import SideCounts
from tbgen.verify.arrays import Arrays, Numbers, Table, gather
from tbgen.verify.passes import Passes
from tbgen.verify.report import Progress, fen_of, no_progress
from tbgen.verify.values import MATE, Values, keys_of_codes

_SPACE = CodeSpace(1)
"""Coding of outcomes in the proof: one win, the draw and one loss; distances have no meaning."""
_CODES = np.array([0, 1, _SPACE.draw, _SPACE.top], np.uint8)
"""uint8 (4,): the code in `_SPACE` of each outcome code of the file; 0 (no position) stays 0."""

_CHUNK = 1 << 20
"""Number of slots that are compared at a time."""


class _OutcomeTable:
    """Outcomes of a win-draw-loss file or of a table, as a `Table` for the proof.

    Tiles are as in the file. The codes are those of `_SPACE`. The metric is DTC, so that only the
    outcome of a position after a capture counts.
    """

    metric = Metric.DTC
    code_space = _SPACE

    def __init__(self, file: WdlFile | TableFile) -> None:
        self._file, self.layout = file, file.layout

    def occurring_codes(self, side: int) -> list[int]:
        """Return the codes of all outcomes; not all of them need to occur."""
        return [int(code) for code in _CODES if code]

    def tiles(self, side: int) -> int:
        """Return the number of tiles of a side."""
        return self._file.tiles(side)

    def tile(self, side: int, number: int, numbers_of: NumbersOf) -> list[tuple[int, Codes]]:
        """Return a tile as `Table.tile`, with arbitrary numbers where there is no position."""
        file = self._file

        def outcome_numbers(codes: Codes) -> Codes:
            if isinstance(file, TableFile):
                codes = outcomes_of(codes, file.code_space)
            return numbers_of(_CODES.take(codes))

        return file.tile(side, number, outcome_numbers)


@dataclass(frozen=True, slots=True)
class WdlReport:
    """Result of the proof of a win-draw-loss file.

    `source` names the file of the source table. `inconsistent` counts positions whose outcome is
    not the best of their moves, `differing` those whose outcome is not the source table's.
    `compared` is False if that table is missing or has another digest. `first` is the FEN of the
    first inconsistent position, else of the first that differs, else None. `problems` are stored
    counts that differ from a recount.
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
    def refuted(self) -> bool:
        """True if a position is wrong, or if there are problems."""
        return bool(self.inconsistent or self.differing or self.problems)

    @property
    def ok(self) -> bool:
        """True if the file is proven: it was compared with its table, and is not refuted."""
        return self.compared and not self.refuted

    def to_json(self) -> dict[str, Any]:
        """Return the object that `tbgen verify --json` prints for a file."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        return {**fields, "problems": list(self.problems), "ok": self.ok}


def verify_wdl(
    tablebase: Tablebase, material: Material, *, threads: int, progress: Progress = no_progress
) -> WdlReport | None:
    """Prove the win-draw-loss file of a material; return None if there is no file.

    Captures lead into win-draw-loss files, or into tables where those are missing. Raises
    `CorruptTableError` for a damaged file, `MissingTableError` if a capture leads to neither, and
    the other errors of `Tablebase.table`.
    """
    file = tablebase.wdl_file(material)
    if file is None:
        return None
    progress("checksums", 0, 1)
    file.check(threads=threads)
    name, facts = file.header.spec.name, file.statistics

    def supporting(child: Material) -> Table:
        return _OutcomeTable(tablebase.wdl_file(child) or tablebase.table(child))

    # Outcomes have no orders and belong to no pattern: compare them without repetition rules.
    arrays, _, palettes, captures = gather(_OutcomeTable(file), supporting, RuleSet(Rules.NONE))
    arrays = arrays._replace(values=_by_outcome(arrays.values))
    found, _ = Passes(file.layout, threads, progress).compare(arrays, captures)
    node = -1 if found.first is None else found.first[0]
    counted = [
        _counts(palette.count_codes(counts))
        for palette, counts in zip(palettes, found.counts, strict=True)
    ]
    problems = [
        f"the stored counts of {side.name.lower()} to move are {stored}, counted are {counts}"
        for side, stored, counts in zip(
            Side, (facts.red_to_move, facts.black_to_move), counted, strict=True
        )
        if counts != stored
    ]
    table = _source(tablebase, facts.source.file, facts.source.digest)
    differing = 0
    if table is not None:
        progress("table", 0, 1)
        with table:
            for nodes in _differing(file, table, arrays, threads):
                differing += len(nodes)
                if len(nodes) and node < 0:
                    node = int(nodes[0])
    return WdlReport(
        material=material.name,
        rule_set=str(name.rule_set),
        file=name.filename,
        source=facts.source.file,
        positions=sum(counts.legal for counts in counted),
        inconsistent=found.findings,
        differing=differing,
        compared=table is not None,
        first=None if node < 0 else fen_of(file.layout, node),
        problems=tuple(problems),
    )


def _source(tablebase: Tablebase, file: str, digest: str) -> TableFile | None:
    """Open the source table; None if it is missing or has another digest (hex) than `digest`.

    Raises the other errors of `TableFile`.
    """
    wanted = TableName.parse(file)
    if wanted is None or wanted not in tablebase.available():
        return None
    try:
        table = TableFile(tablebase.path(wanted), name=wanted)
    except FileNotFoundError:
        return None
    if table.header.digest.hex() == digest:
        return table
    table.close()
    return None


def _by_outcome(values: Values) -> Values:
    """Return a copy of the lookup tables that compares only win, draw and loss, not distances."""
    loss, draw, win = keys_of_codes(_CODES[1:].astype(np.int64), _SPACE)
    children = values.keys.copy()
    children[:, 0] = MATE  # no move: lost
    return values._replace(expected=np.select([children > 0, children < 0], [loss, win], draw))


def _differing(file: WdlFile, table: TableFile, arrays: Arrays, threads: int) -> Iterator[Numbers]:
    """Yield the positions whose outcome differs from the table's, as ascending nodes, in chunks.

    All chunks with Red to move come first. Slots without a canonical position are not compared.
    """
    for side in Side:
        ours = file.plane(side, threads=threads)
        theirs = table.plane(side, threads=threads)
        for first in range(0, len(ours), _CHUNK):
            part = slice(first, first + _CHUNK)
            differs = ours[part] != outcomes_of(theirs[part], table.code_space)
            nodes = 2 * (first + np.flatnonzero(differs)) + side
            slots = nodes // 2
            is_legal = arrays.ranks[side * file.layout.slots + slots] != 0
            yield nodes[is_legal & file.layout.squares_of_slots(slots)[1]]


def _counts(histogram: dict[int, int]) -> SideCounts:
    """Return the wins, draws and losses of a side; histogram : positions by code of `_SPACE`."""
    wins, draws, losses = (histogram.get(int(_CODES[code]), 0) for code in (WIN, DRAW, LOSS))
    return SideCounts(wins + draws + losses, wins, draws, losses)
