"""Write docs/facts.md and docs/facts.csv: what the tables of a directory say about xiangqi.

    python scripts/docs/facts.py DIRECTORY    read the tables there, and write both, and pictures
    python scripts/docs/facts.py              write the page anew from the CSV

Materials are taken of which all three rule sets are there, all orders, with minor chases. Every
figure is one that `tbgen stats` prints; the page is made of the CSV and of nothing else.
`tests/docs/test_facts.py` compares both, and the CSV with tables that it builds.
"""

from __future__ import annotations

import argparse
import csv
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, get_type_hints

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tbgen.board.diagram import Look, draw  # noqa: E402
from tbgen.indexing import Material, Position  # noqa: E402
from tbgen.tables import Tablebase, TableStatistics  # noqa: E402

PAGE = ROOT / "docs" / "facts.md"
DATA = ROOT / "docs" / "facts.csv"
PICTURES = ROOT / "docs" / "diagrams"
RULES = ("none", "check", "wxf")

LISTED = 15
"""Rows of the list of longest wins; the CSV has all."""

DECIDED = 0.98
"""A material counts as won or drawn from this share on, as on the board's pages."""


class Fact(NamedTuple):
    """One table: a row of the CSV. Wins and draws are those with Red, who is named first, to move.

    `longest` and `longest_by_rules` are FENs, empty where there is no such position.
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


def fact(found: TableStatistics) -> Fact:
    """The row of one table."""
    by_mate = [(one.value, one.fen) for one in found.longest if one.order == 0]
    by_rules = [(255 - one.value, one.fen) for one in found.longest if one.order]
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
        max(by_rules, default=(0, ""))[1],
    )


def measure(directory: Path) -> list[Fact]:
    """The rows of a directory, smaller materials first."""
    present: dict[str, dict[str, Fact]] = {}
    for rules in RULES:
        with Tablebase.open(directory, rules=rules, orders=0) as tables:
            for name in tables.available():
                if name.rules == rules and not name.orders and name.rule_set.minor_chases:
                    row = fact(tables.stats(name.material))
                    present.setdefault(row.material, {})[rules] = row
    chosen = sorted(present, key=lambda name: (Material.parse(name).men, name))
    return [
        present[name][rules] for name in chosen if len(present[name]) == len(RULES)
        for rules in RULES
    ]  # fmt: skip


def read() -> list[Fact]:
    """The rows of the CSV."""
    kinds = get_type_hints(Fact)
    with DATA.open(newline="", encoding="ascii") as file:
        return [
            Fact(**{k: int(v) if kinds[k] is int else v for k, v in row.items()})
            for row in csv.DictReader(file)
        ]


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines) + "\n"


def outcome(row: Fact) -> str:
    """What a material is with Red to move: won, drawn, or the share of wins."""
    if row.red_wins > DECIDED * row.red_legal:
        return "won"
    if row.red_draws > DECIDED * row.red_legal:
        return "drawn"
    return f"{row.red_wins / row.red_legal:.0%}"


def by_strength(side: str) -> tuple[int, list[int]]:
    """How the pieces of a side are sorted: few before many, attackers before defenders."""
    return len(side), ["RNCPAB".index(piece) for piece in side]


def matrix(rows: Sequence[Fact]) -> str:
    """Outcomes of Red's pieces, down, against Black's, across."""
    known = {tuple(row.material[1:].split("K")): row for row in rows}
    reds = sorted({red for red, _ in known}, key=by_strength)
    blacks = sorted({black for _, black in known}, key=by_strength)

    def cell(red: str, black: str) -> str:
        row = known.get((red, black))
        return "" if row is None else outcome(row)

    head = ["", *(f"K{black}" for black in blacks)]
    return table(head, [[f"K{red}", *(cell(red, black) for black in blacks)] for red in reds])


def rules_compared(rows: Sequence[Fact]) -> str:
    """Draws of each material under the three rule sets, where they differ."""
    by_name: dict[str, dict[str, Fact]] = {}
    for row in rows:
        by_name.setdefault(row.material, {})[row.rules] = row
    changed = [
        [name, f"{sets['none'].legal:,}", *(f"{sets[r].draws:,}" for r in RULES),
         f"{(sets['none'].draws - sets['wxf'].draws) / sets['none'].draws:.1%}"]
        for name, sets in by_name.items() if len({sets[r].draws for r in RULES}) > 1
    ]  # fmt: skip
    same = len(by_name) - len(changed)
    head = ["material", "legal positions", *(f"draws, {r}" for r in RULES), "fewer under wxf"]
    return table(head, changed) + f"\nIn the other {same} materials the three agree.\n"


def longest_by_rules(rows: Sequence[Fact]) -> list[Fact]:
    """The tables under wxf in which repetition decides, the longest way to a loop first."""
    decided = [row for row in rows if row.rules == "wxf" and row.rule_decided]
    return sorted(decided, key=lambda row: (-row.max_rule_distance, row.material))


def longest_wins(rows: Sequence[Fact]) -> list[Fact]:
    """The tables under wxf, the longest win by mate or conversion first."""
    won = [row for row in rows if row.rules == "wxf" and row.longest]
    return sorted(won, key=lambda row: (-row.max_distance, row.material))


PAGE_TEXT = """# What the tables say about xiangqi

A first gallery: {materials} materials of at most {men} men, each under all three rule sets. Every
figure is one of `tbgen stats`, and all of them are in [facts.csv](facts.csv). Any FEN here can be
given to `tbgen line`, or opened on the [board](board.md).

Written by `python scripts/docs/facts.py DIRECTORY` at commit {commit}, from tables of
`tbgen build $(tail -n +2 docs/facts.csv | cut -d, -f1 | sort -u) --tables DIRECTORY --rules none`,
then `check` and `wxf`: all materials of at most four men, and of five men those with one attacker
and one defender against one attacker.

## Who wins

Red (down) against Black (across), Red to move, under wxf. *Won* and *drawn* are materials in which
more than {decided:.0%} of the legal positions are so, a capture on the first move included;
otherwise the share of positions that Red wins. Empty: no such table here, or the pair is in the
table of the other colours.

{matrix}
## What the rules of repetition change

Draws of both sides to move under each rule set, mirror images once, and the share of the draws
under `none` by which there are fewer under `wxf`.

{compared}
## The longest wins

By mate or conversion, under wxf; the loser resists as long as he can. Distances are plies (to
conversion where the metric is dtc), and either side may be to move.

![The longest win of these tables](diagrams/facts-longest.svg)

{longest}
## Decided by repetition

Positions that mate does not decide and the rules do, under wxf: how many, in how many orders, how
many of them are direct wins by perpetual check and by perpetual chase, and the longest way to the
loop (see [values](values.md)).

![The longest way to a forced loop](diagrams/facts-by-rules.svg)

{by_rules}"""


def page(rows: Sequence[Fact], commit: str) -> str:
    """The whole page."""
    wxf = [row for row in rows if row.rules == "wxf"]
    longest = [
        [row.material, row.max_distance, row.metric, f"`{row.longest}`"]
        for row in longest_wins(rows)[:LISTED]
    ]
    by_rules = [
        [row.material, f"{row.rule_decided:,}", f"{row.rule_decided / row.legal:.3%}", row.orders,
         f"{row.checks:,}", f"{row.chases:,}", row.max_rule_distance, f"`{row.longest_by_rules}`"]
        for row in longest_by_rules(rows)
    ]  # fmt: skip
    head = ["material", "positions", "of legal", "orders", "by check", "by chase", "plies"]
    return PAGE_TEXT.format(
        materials=len(wxf),
        men=max(Material.parse(row.material).men for row in rows),
        commit=commit,
        decided=DECIDED,
        matrix=matrix(wxf),
        compared=rules_compared(rows),
        longest=table(["material", "plies", "metric", "position"], longest),
        by_rules=table([*head, "position"], by_rules),
    )


def pictures(rows: Sequence[Fact]) -> dict[str, str]:
    """The SVG files of the page, by name."""
    shown = {"facts-longest": longest_wins(rows)[0].longest,
             "facts-by-rules": longest_by_rules(rows)[0].longest_by_rules}  # fmt: skip
    return {
        f"{name}.svg": draw(Position.from_fen(fen), Look(), alone=True, width=320) + "\n"
        for name, fen in shown.items()
    }


def written_at() -> str:
    """The commit that the page names now."""
    return PAGE.read_text("utf-8").partition("at commit ")[2].partition(",")[0]


def main() -> None:
    """Read the command line, and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("directory", nargs="?", type=Path, help="Tables under all three rule sets.")
    options = parser.parse_args()
    if options.directory is not None:
        rows = measure(options.directory)
        with DATA.open("w", newline="", encoding="ascii") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(Fact._fields)
            writer.writerows(rows)
        command = ["git", "rev-parse", "--short", "HEAD"]
        commit = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True)
        text = page(rows, commit.stdout.strip())
    else:
        rows = read()
        text = page(rows, written_at())
    PAGE.write_text(text, encoding="utf-8")
    PICTURES.mkdir(exist_ok=True)
    for name, picture in pictures(rows).items():
        (PICTURES / name).write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main()
