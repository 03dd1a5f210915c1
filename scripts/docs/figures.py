"""Figures of docs/facts.md: measure all but facts-moves.csv, and read and write the CSV files.

    facts.csv             a row for each material and rule set: figures of `tbgen stats`
    facts-zugzwangs.csv   mutual zugzwangs of a material under `wxf`
    facts-loops.csv       loops that referees have judged, with the tables' values
    facts-rules.csv       number of positions whose outcomes differ between two rule sets
    facts-moves.csv       under `wxf`, positions with exactly one winning move, and the longest
                          study: a line in which every move of the winner is the only winning one

`studies.py` measures facts-moves.csv; it and `facts.py` write pages from these files. Tables are
read; nothing is built.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, TypeVar, get_type_hints

import numpy as np

from tbgen import TableColumns, find, open_tablebase
from tbgen.answers.mechanism import find_mechanism
from tbgen.indexing import InputError, Material, Move, Position, Side
from tbgen.play.tablebase import GameTablebase
from tbgen.probing.columns import columns_of_slots
from tbgen.referee import judge
from tbgen.tables import Tablebase, TableFile, TableStatistics
from tbgen.tables.outcomes import outcomes_of

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
CASES = ROOT / "tests" / "data" / "repetition_cases.json"
RULES = ("none", "check", "wxf")
PAIRS = (("check", "wxf"), ("check", "computer"), ("wxf", "computer"), ("wxf", "taiwan"))
"""Pairs of rule sets whose outcomes are compared position by position."""

CHUNK = 1 << 16
"""Number of slots (numbers of placements in a table) that are compared at once."""


class Fact(NamedTuple):
    """Row of one table; `red_...` count positions with Red, the side named first, to move.

    `legal` and `draws` count positions of both sides to move. `longest` is the FEN of a position of
    order 0 at `max_distance` plies. `longest_by_rules` is the FEN of a position decided by
    repetition, farthest from its loop, whose offence, "check" or "chase", is `offence`. These texts
    are empty if there is none. `orders` is the number of orders, `rule_decided` that of positions
    of order 1 or above. `checks` and `chases` count direct wins by perpetual check and chase.
    """

    material: str
    rules: str
    metric: str
    legal: int
    draws: int
    red_legal: int
    red_wins: int
    red_draws: int
    max_distance: int
    longest: str
    orders: int
    rule_decided: int
    checks: int
    chases: int
    max_rule_distance: int
    longest_by_rules: str
    offence: str


class Zugzwangs(NamedTuple):
    """Row of a material: mutual zugzwangs, placements that are worse for whichever side moves.

    `red`: number in which Red wins with Black to move, and draws with Red to move; `black`: the
    same with colours exchanged; `both`: number in which the side to move loses, either way. `fen`
    is one of `both` if there are any, else of all, with its loser to move, who loses in `plies`. It
    has the lowest order, and then the most plies.
    """

    material: str
    red: int
    black: int
    both: int
    plies: int
    fen: str


class Loop(NamedTuple):
    """Row of a loop from `CASES`: its verdict, and the table's value of its first position.

    `case` is the loop's id in `CASES`; `diagram` is the federation's number, empty for other loops.
    Outcome, order and plies are those of the value, for the side to move.
    """

    case: str
    diagram: str
    material: str
    fen: str
    moves: str
    verdict: str
    outcome: str
    order: int
    plies: int


class Difference(NamedTuple):
    """Row of a material and two rule sets: number of positions (`differ`) whose outcomes differ.

    `fen` is an example of least order, and then of fewest plies to the loop. `first_outcome` and
    `second_outcome` are its outcomes for the side to move under the rule sets `first` and `second`.
    These three fields are empty if no position differs.
    """

    material: str
    first: str
    second: str
    legal: int
    differ: int
    fen: str
    first_outcome: str
    second_outcome: str


class Moves(NamedTuple):
    """Row of a material: its won positions, either side to move, and those with one winning move.

    `unique` counts won positions with several legal moves of which one wins. `studies` counts those
    in which this holds again after every longest defence, to the end. `fen` is a study of the most
    plies, `length`; `line` is its solution in ICCS notation, and `end` the kind of its end. They
    are empty or 0 if there is no study.
    """

    material: str
    won: int
    unique: int
    studies: int
    length: int
    fen: str
    line: str
    end: str


Row = TypeVar("Row", bound=NamedTuple)
FILES: dict[type, Path] = {
    Fact: DOCS / "facts.csv",
    Zugzwangs: DOCS / "facts-zugzwangs.csv",
    Loop: DOCS / "facts-loops.csv",
    Difference: DOCS / "facts-rules.csv",
    Moves: DOCS / "facts-moves.csv",
}


def read(kind: type[Row], path: Path | None = None) -> list[Row]:
    """Read a CSV file, by default that of `kind` in `FILES`; return a `kind` for each row."""
    kinds = get_type_hints(kind)
    with (path or FILES[kind]).open(newline="", encoding="utf-8") as file:
        return [
            kind(**{name: int(text) if kinds[name] is int else text for name, text in row.items()})
            for row in csv.DictReader(file)
        ]


def write(kind: type[Row], rows: Iterable[Row], path: Path | None = None) -> None:
    """Write rows of class `kind` to a CSV file, by default to the one in `FILES`."""
    with (path or FILES[kind]).open("w", newline="", encoding="ascii") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(kind._fields)
        writer.writerows(rows)


def offence(tables: GameTablebase, fen: str) -> str:
    """Return the offence, "check" or "chase", of the loop that decides the position `fen`.

    Returns "" for an empty FEN, or if the line of best play does not reach the loop.
    """
    found = find_mechanism(tables, Position.from_fen(fen)) if fen else None
    return "" if found is None else str(found.offence)


def fact(found: TableStatistics, tables: GameTablebase) -> Fact:
    """Return a table's row of facts.csv, from its statistics; `tables` are probed for `offence`."""
    by_mate = [(one.value, one.fen) for one in found.longest if one.order == 0]
    by_rules = [(255 - one.value, one.fen) for one in found.longest if one.order]
    longest_by_rules = max(by_rules, default=(0, ""))[1]
    return Fact(
        found.material,
        found.rules,
        found.metric,
        found.legal,
        found.draws,
        found.red_to_move.legal,
        found.red_to_move.wins,
        found.red_to_move.draws,
        found.max_distance,
        max(by_mate, default=(0, ""))[1],
        len(found.orders),
        found.rule_decided,
        sum(order.check_patterns or 0 for order in found.orders),
        sum(order.chase_patterns or 0 for order in found.orders),
        found.max_rule_distance or 0,
        longest_by_rules,
        offence(tables, longest_by_rules),
    )


def materials_of(tables: Tablebase, rules: str) -> Iterator[Material]:
    """Yield the materials that have a table under `rules` without a limit on orders.

    Tables that ignore minor chases (of protected pieces by advisors and elephants) are left out.
    """
    for name in tables.available():
        if name.rules == rules and not name.orders and name.rule_set.minor_chases:
            yield name.material


def facts(directory: Path) -> list[Fact]:
    """List the rows of facts.csv: materials with tables under all of `RULES`, small ones first."""
    present: dict[str, dict[str, Fact]] = {}
    for rules in RULES:
        with open_tablebase(directory, rules=rules, orders=0) as tables:
            for material in materials_of(tables, rules):
                row = fact(tables.stats(material), tables)
                present.setdefault(row.material, {})[rules] = row
    chosen = sorted(present, key=lambda name: (Material.parse(name).men, name))
    return [
        present[name][rules] for name in chosen if len(present[name]) == len(RULES)
        for rules in RULES
    ]  # fmt: skip


def zugzwangs(tables: GameTablebase, material: Material | str) -> Zugzwangs:
    """Search a table for mutual zugzwangs; return the row of its material."""
    found = find(material, tables, zugzwang=True)
    columns = found.columns()
    # Every placement is found twice, once for each side to move.
    red, black = (columns.take(columns["side"] == side) for side in Side)
    both = (red["outcome"] < 0) & (black["outcome"] < 0)
    only_red, only_black = red["outcome"] == 0, black["outcome"] == 0
    plies, fen = 0, ""
    kind = both if both.any() else np.ones(len(both), bool)
    if kind.any():
        # Positions whose side to move loses: Black's, but Red's where Black draws.
        losers = TableColumns.concatenate(
            [red.take(kind & only_black), black.take(kind & ~only_black)]
        )
        keys = losers["slot"], losers["plies"], -losers["order"].astype(np.int64)
        hardest = losers.take(np.lexsort(keys)[-1:])
        plies, fen = int(hardest["plies"][0]), next(hardest.positions()).fen
    counts = (int(np.count_nonzero(one)) for one in (only_red, only_black, both))
    return Zugzwangs(found.material.name, *counts, plies, fen)


def all_zugzwangs(directory: Path) -> list[Zugzwangs]:
    """List the rows of facts-zugzwangs.csv: materials of facts.csv that have mutual zugzwangs."""
    with open_tablebase(directory, rules="wxf", orders=0) as tables:
        rows = [zugzwangs(tables, row.material) for row in read(Fact) if row.rules == "wxf"]
    return [row for row in rows if row.fen]


def loops(directory: Path) -> list[Loop]:
    """List the rows of facts-loops.csv: judged loops whose first position is in a table.

    Of loops with the same first position only the first is listed.
    """
    found: dict[str, Loop] = {}
    with open_tablebase(directory, rules="wxf", orders=0) as tables:
        present = {material.name for material in materials_of(tables, "wxf")}
        for case in json.loads(CASES.read_text("utf-8")):
            try:
                position = Position.from_fen(case["fen"])
            except InputError:  # a diagram that no table can hold
                continue
            if position.material.name not in present or position.fen in found:
                continue
            moves = case["moves"]
            verdict = judge(position, [Move.from_iccs(text) for text in moves.split()]).verdict
            value = tables.probe(position)
            found[position.fen] = Loop(
                case["id"], case["diagram"] or "", position.material.name, position.fen, moves,
                verdict.text, value.outcome.name.lower(), value.order, value.plies or 0,
            )  # fmt: skip
    return sorted(found.values(), key=lambda row: (not row.diagram, row.case))


def differing(
    first: TableFile, second: TableFile, side: Side
) -> Iterator[tuple[TableColumns, TableColumns]]:
    """Yield the positions whose outcome differs between two tables of the same material.

    Each item is a pair of columns, from the first and the second table, for the same slots (numbers
    of placements) with `side` to move.
    """
    planes = [file.plane(side) for file in (first, second)]
    for start in range(0, first.header.slots, CHUNK):
        one, other = (
            outcomes_of(plane[start : start + CHUNK], file.code_space)
            for plane, file in zip(planes, (first, second), strict=True)
        )
        apart = start + np.flatnonzero(one != other)
        if apart.size:
            yield columns_of_slots(first, side, apart), columns_of_slots(second, side, apart)


def difference(first: TableFile, second: TableFile) -> Difference:
    """Return the row of a material in facts-rules.csv, from its tables under two rule sets."""
    count, best, chosen = 0, None, None
    for side in Side:
        for rows in differing(first, second, side):
            count += rows[0].rows
            if not rows[0].rows:
                continue
            # A draw has order 0, so the larger order is the deciding one.
            first_decides = rows[0]["order"] >= rows[1]["order"]
            keys = [
                np.where(first_decides, *(one[name].astype(np.int64) for one in rows))
                for name in ("order", "plies", "outcome")
            ]
            place = np.lexsort((rows[0]["slot"], *keys[::-1]))[0]
            key = tuple(int(one[place]) for one in keys)
            if best is None or key < best:
                best, chosen = key, [one.take(np.array([place])) for one in rows]
    names = first.statistics.material, first.statistics.rules, second.statistics.rules
    if chosen is None:
        return Difference(*names, first.statistics.legal, 0, "", "", "")
    fen = next(chosen[0].positions()).fen
    outcomes = (("loss", "draw", "win")[int(row["outcome"][0]) + 1] for row in chosen)
    return Difference(*names, first.statistics.legal, count, fen, *outcomes)


def differences(directory: Path) -> list[Difference]:
    """List the rows of facts-rules.csv: one for each material and pair of rule sets in `PAIRS`.

    The materials are those in which both sides can attack, with tables under both rule sets.
    """
    found = []
    for pair in PAIRS:
        with (
            Tablebase.open(directory, rules=pair[0], orders=0, minor_chases=None) as one,
            Tablebase.open(directory, rules=pair[1], orders=0, minor_chases=None) as other,
        ):
            present = set(materials_of(other, pair[1]))
            for material in materials_of(one, pair[0]):
                if material in present and material.both_armed:
                    found.append(difference(one.table(material), other.table(material)))
    return sorted(
        found, key=lambda row: (Material.parse(row.material).men, row.material, row.first)
    )


_MEASURES = {Fact: facts, Zugzwangs: all_zugzwangs, Loop: loops, Difference: differences}

WRITTEN_FILES = {FILES[kind].name: (kind, measure) for kind, measure in _MEASURES.items()}
"""CSV files that `facts.py DIRECTORY` writes, in order; studies.py writes another one.

The value is the class of a row, and a function from a directory of tables to the rows.
"""
