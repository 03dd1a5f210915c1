"""Positions in which the loser by repetition must begin a given offence at once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tbgen.answers.mechanism import Offence, find_mechanism
from tbgen.play.tablebase import GameTablebase
from tbgen.probing.columns import TableColumns
from tbgen.rules import in_check

OFFENCE_ROWS = 16
"""Most rows tested for an offence, some tenths of a second, before the matching ones are yielded.
"""


def with_offence(
    tables: GameTablebase, part: TableColumns, offence: Offence
) -> Iterator[tuple[int, TableColumns]]:
    """Yield rows in which the loser commits `offence` at once, in parts of limited size.

    With each part comes the number of rows that have been tested so far.
    """
    for first in range(0, part.rows, OFFENCE_ROWS):
        rows = part.take(np.arange(first, min(first + OFFENCE_ROWS, part.rows)))
        chosen = []
        for number, position in enumerate(rows.positions()):
            # A side in perpetual check is in check whenever it is to move.
            if in_check(position) == (offence == Offence.CHECK):
                found = find_mechanism(tables, position)
                if found is not None and found.offence == offence:
                    chosen.append(number)
        yield first + rows.rows, rows.take(np.array(chosen, np.int64))
