"""Write docs/classical.md: classical endgames, and records, from the tables that are there.

    python scripts/docs/classical.py DIRECTORY    read the tables there, then write
    python scripts/docs/classical.py              write the page anew from docs/classical.csv

Taken are all tables under wxf of all orders, with minor chases. The figures are those that the
files state (`tbgen stats`), so that a thousand tables take seconds. docs/classical-books.csv has
what books say. `tests/docs/test_classical.py` compares the page with both files, and rows with
tables that it builds.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts" / "docs")]

from facts import table  # noqa: E402
from figures import read, write  # noqa: E402

from tbgen import open_tablebase  # noqa: E402
from tbgen.building.sets import materials_of  # noqa: E402
from tbgen.finding.handbook import SURE, outcome_class  # noqa: E402
from tbgen.indexing import Material, Side  # noqa: E402
from tbgen.tables import TableStatistics  # noqa: E402

PAGE = ROOT / "docs" / "classical.md"
FIGURES = ROOT / "docs" / "classical.csv"
BOOKS = ROOT / "docs" / "classical-books.csv"

RULES = "wxf"

LEAST = 0.005
"""Smaller shares are left out."""

RECORDS = 4
"""Rows of a list of records."""


class Endgame(NamedTuple):
    """A table: positions by side to move and outcome for Red, who is named first.

    `red_by_rules` and `black_by_rules` count those with Red, with Black to move that the rules of
    repetition decide; `longest` is a FEN of `distance` plies by `metric`, of order 0; `hardest` one
    of the last order. Both are empty where there is none.
    """

    material: str
    metric: str
    red_legal: int
    red_wins: int
    red_draws: int
    red_by_rules: int
    black_legal: int
    black_lost: int
    black_draws: int
    black_by_rules: int
    distance: int
    longest: str
    orders: int
    hardest: str

    @property
    def by_rules(self) -> float:
        """The share of all legal positions that the rules of repetition decide."""
        return (self.red_by_rules + self.black_by_rules) / (self.red_legal + self.black_legal)


class Book(NamedTuple):
    """A classical endgame; `verdict` is win, draw or divided."""

    material: str
    name: str
    verdict: str
    source: str


def endgame(found: TableStatistics) -> Endgame:
    """The row of one table."""
    by_rules: Counter[Side] = Counter()
    for line in found.histogram:
        by_rules[line.side] += line.positions if line.order else 0
    plain = [one for one in found.longest if one.order == 0]
    longest = max(plain, key=lambda one: one.value, default=None)
    last = [one for one in found.longest if one.order == len(found.orders) and one.order]
    red, black = found.red_to_move, found.black_to_move
    return Endgame(
        found.material, found.metric,
        red.legal, red.wins, red.draws, by_rules[Side.RED],
        black.legal, black.losses, black.draws, by_rules[Side.BLACK],
        found.max_distance, longest.fen if longest else "",
        len(found.orders), min(last, key=lambda one: one.value).fen if last else "",
    )  # fmt: skip


def endgames(directory: Path) -> list[Endgame]:
    """The rows of the tables of a directory, fewest men first."""
    with open_tablebase(directory, rules=RULES, orders=0, minor_chases=True) as tables:
        materials = sorted(
            {name.material for name in tables.available() if str(name.rules) == RULES},
            key=lambda material: (material.men, material.name),
        )
        return [endgame(tables.stats(material)) for material in materials]


def outcome(legal: int, wins: int, draws: int) -> str:
    """Red's outcome: won, drawn, or the shares."""
    kind = outcome_class(legal, wins, draws)
    if kind != "open":
        return kind
    shares = {"won": wins / legal, "drawn": draws / legal, "lost": 1 - (wins + draws) / legal}
    return ", ".join(f"{said} {part:.0%}" for said, part in shares.items() if part >= LEAST)


def differs(book: Book, found: Endgame) -> bool:
    """Return whether less than half of the positions with Red to move are what a book says."""
    said = found.red_wins if book.verdict == "win" else found.red_draws
    return book.verdict != "divided" and 2 * said < found.red_legal


def share(part: float) -> str:
    """A share in words of a table; nothing for none."""
    return f"{part:.2%}" if part else ""


def classical(books: Sequence[Book], known: dict[str, Endgame]) -> str:
    """The table of classical endgames that are there."""
    rows = []
    for book in books:
        if (found := known.get(book.material)) is None:
            continue
        rows.append([
            found.material, book.name, book.verdict,
            outcome(found.red_legal, found.red_wins, found.red_draws),
            outcome(found.black_legal, found.black_lost, found.black_draws),
            f"{found.distance} ({found.metric})" if found.longest else "",
        ])  # fmt: skip
    head = ["material", "name", "books", "Red to move", "Black to move", "longest"]
    return table(head, rows)


def disagreements(books: Sequence[Book], known: dict[str, Endgame]) -> str:
    """The endgames in which tables and books differ, with the source of the verdict."""
    return ", ".join(
        f"{book.material} ({book.source})" for book in books
        if (found := known.get(book.material)) is not None
        and (book.verdict == "divided" or differs(book, found))
    ) or "nowhere"  # fmt: skip


def one_attacker(known: dict[str, Endgame]) -> str:
    """The sum over all endgames of one attacker."""
    wanted = [m.name for m in materials_of([], attackers=1)]
    there = [known[name] for name in wanted if name in known]
    said = Counter(outcome(row.red_legal, row.red_wins, row.red_draws) for row in there)
    others = len(there) - said["won"] - said["drawn"]
    return (
        f"There are {len(wanted)} endgames of one attacker, and tables of {len(there)} of "
        f"them. With\nthe attacker's side to move {said['won']} are won, {said['drawn']} drawn, "
        f"and {others}\nneither."
    )


def records(rows: Sequence[Endgame]) -> dict[str, str]:
    """The longest wins and the highest orders."""
    by_distance = sorted(rows, key=lambda row: (-row.distance, row.material))[:RECORDS]
    by_order = sorted(rows, key=lambda row: (-row.orders, row.material))[:RECORDS]
    return {
        "longest": table(
            ["material", "plies", "metric", "position"],
            [
                [r.material, r.distance, r.metric, f"`{r.longest}`"]
                for r in by_distance if r.longest
            ],
        ),
        "orders": table(
            ["material", "orders", "by repetition", "a position of the last order"],
            [
                [r.material, r.orders, share(r.by_rules), f"`{r.hardest}`"]
                for r in by_order if r.orders
            ],
        ),
    }  # fmt: skip


TEXT = """# Classical endgames

For players and authors: verdicts of books ([classical-books.csv](classical-books.csv)) beside the
results of {tables} tables of at most {men} men under `wxf` ([classical.csv](classical.csv)), then
records. Written by `python scripts/docs/classical.py DIRECTORY`.

Red is the side named first. Shares are of all legal positions: *won* and *drawn* stand for more
than {decided:.0%}. *Longest* counts plies to mate (dtm) or to conversion (dtc). *By repetition* is
the share that a perpetual check or chase decides.

## What books say

{classical}
{missing}

Less than half of the positions, with Red to move, are what books say in: {disagreements}.

## One attacker

{one_attacker}

## The longest wins

{longest}
## The highest orders

{orders}"""


def page() -> str:
    """The page, from the CSV files."""
    rows, books = read(Endgame, FIGURES), read(Book, BOOKS)
    known = {row.material: row for row in rows}
    absent = [book.material for book in books if book.material not in known]
    return TEXT.format(
        tables=len(rows),
        men=max(Material.parse(row.material).men for row in rows),
        decided=SURE,
        classical=classical(books, known),
        missing=f"Of the {len(books)} endgames {len(absent)} are not built yet." if absent else "",
        disagreements=disagreements(books, known),
        one_attacker=one_attacker(known),
        **records(rows),
    )


def main() -> None:
    """Write the page, and the figures if a directory is named."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("directory", nargs="?", type=Path, help="the tables; else the CSV is kept")
    directory = parser.parse_args().directory
    if directory is not None:
        write(Endgame, endgames(directory), FIGURES)
    PAGE.write_text(page(), "utf-8")


if __name__ == "__main__":
    main()
