"""Write docs/facts.md: facts about xiangqi, computed from tables.

    python scripts/docs/facts.py DIRECTORY    measure the tables there (figures.py), then write
    python scripts/docs/facts.py DIRECTORY --only facts-rules.csv    measure for that file only
    python scripts/docs/facts.py              write the page again from the CSV files

A material is included if its tables under all of `RULES` are there, with all orders and minor
chases. The page and its pictures depend only on docs/facts*.csv. `tests/docs/test_facts.py`
compares the page with them, and the CSV files with tables that it builds.
"""

from __future__ import annotations

import textwrap
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Iterable, Sequence
from pathlib import Path

import figures
from figures import DOCS, PAIRS, RULES, Difference, Fact, Moves, Zugzwangs

from tbgen.board.drawing.diagram import Look, draw
from tbgen.building.sets import materials_of
from tbgen.finding.handbook import CLASS_SHARE, outcome_class
from tbgen.indexing import Material, Position

PAGE = DOCS / "facts.md"
PICTURES = DOCS / "diagrams"
BOARD_ADDRESS = "http://127.0.0.1:8064/?fen="
"""Default address at which `tbgen serve` shows a position."""

LISTED_ROWS = 3
"""Largest number of rows in a list on the page; the CSV file has all."""


def link(fen: str) -> str:
    """Return a Markdown link from a position to the board that shows it."""
    board, side, *_ = fen.split()
    return f"[`{board} {side}`]({BOARD_ADDRESS}{board}_{side})"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Format rows as a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines) + "\n"


def outcome(row: Fact) -> str:
    """Describe the outcome of a material with Red to move: won, drawn, or the share of wins."""
    kind = outcome_class(row.red_legal, row.red_wins, row.red_draws)
    return f"{row.red_wins / row.red_legal:.0%}" if kind == "open" else kind


def by_strength(side: str) -> tuple[int, list[int]]:
    """Return the sort key of a side's piece letters: few before many, then in the order RNCPAB."""
    return len(side), ["RNCPAB".index(piece) for piece in side]


def armies(row: Fact) -> tuple[str, str]:
    """Return the pieces of Red and of Black in a material, without the kings."""
    red, black = row.material[1:].split("K")
    return red, black


def matrix(rows: Sequence[Fact]) -> str:
    """Return a Markdown table of the outcomes in `rows`, by Red's pieces (down) and Black's."""
    known = {armies(row): row for row in rows}
    reds = sorted({red for red, _ in known}, key=by_strength)
    blacks = sorted({black for _, black in known}, key=by_strength)

    def cell(red: str, black: str) -> str:
        row = known.get((red, black))
        return "" if row is None else outcome(row)

    head = ["", *(f"K{black}" for black in blacks)]
    return table(head, [[f"K{red}", *(cell(red, black) for black in blacks)] for red in reds])


def who_wins(rows: Sequence[Fact]) -> dict[str, str]:
    """Return two Markdown tables of outcomes with Red to move: `bare` and `one`.

    `rows` are those of one rule set. `bare` is against a bare king. `one` is against a single black
    piece, for Red's pieces without advisors and elephants.
    """
    bare: dict[str, list[str]] = {}
    for row in sorted(rows, key=lambda row: by_strength(armies(row)[0])):
        if not armies(row)[1]:
            bare.setdefault(outcome(row), []).append(f"K{armies(row)[0]}")
    others = [[said, ", ".join(names)] for said, names in sorted(bare.items()) if said != "won"]
    listed = [*others, ["won", f"the other {len(bare['won'])}"]]
    return {
        "bare": table(["against a bare king", ""], listed),
        "one": matrix(
            [
                row
                for row in rows
                if len(armies(row)[1]) == 1 and not set(armies(row)[0]) & set("AB")
            ]
        ),
    }


def rules_compared(rows: Sequence[Fact]) -> str:
    """Return a Markdown table of the draws under each of `RULES`, and a sentence with counts.

    The table has at most `LISTED_ROWS` materials: those in which `wxf` decides the largest share of
    the draws under `none`.
    """
    by_name: dict[str, dict[str, Fact]] = {}
    for row in rows:
        by_name.setdefault(row.material, {})[row.rules] = row

    def fewer(name: str) -> float:
        draws = {rules: row.draws for rules, row in by_name[name].items()}
        return (draws["none"] - draws["wxf"]) / draws["none"]

    differ = [name for name, sets in by_name.items() if len({sets[r].draws for r in RULES}) > 1]
    changed = [
        [name, f"{by_name[name]['none'].legal:,}",
         *(f"{by_name[name][r].draws:,}" for r in RULES), f"{fewer(name):.1%}"]
        for name in sorted(differ, key=lambda name: (-fewer(name), name))[:LISTED_ROWS]
    ]  # fmt: skip
    head = ["material", "legal positions", *(f"draws, {r}" for r in RULES), "fewer under wxf"]
    return table(head, changed) + (
        f"\nThe draws of {len(differ)} materials change; in the other {len(by_name) - len(differ)} "
        "the three agree.\n"
    )


def most_different(rows: Sequence[Difference], pair: tuple[str, str]) -> list[Difference]:
    """List the rows of a pair of rule sets with differing positions, most positions first."""
    found = [row for row in rows if (row.first, row.second) == pair and row.differ]
    return sorted(found, key=lambda row: (-row.differ, row.material))


def pictured(rows: Sequence[Difference]) -> list[Difference]:
    """Choose the rows whose positions get a diagram, at most one for each of `PAIRS`.

    For each pair: the row with the most differing positions whose material has no diagram yet.
    """
    drawn: dict[str, Difference] = {}
    for pair in PAIRS:
        new = [row for row in most_different(rows, pair) if row.material not in drawn]
        drawn |= {row.material: row for row in new[:1]}
    return list(drawn.values())


def of_the_page(rows: Sequence[Difference]) -> list[Difference]:
    """Return the rows of the materials that the page shows: those in facts.csv."""
    known = {row.material for row in figures.read(Fact)}
    return [row for row in rows if row.material in known]


def pairs_compared(rows: Sequence[Difference]) -> str:
    """Return Markdown that compares the outcomes of each pair of rule sets.

    A table has the numbers of materials and positions that differ, and the materials with the most.
    A second table has pictures, at most one for a pair (`pictured`).
    """
    rows, lines, titles, images = of_the_page(rows), [], [], []
    for first, second in PAIRS:
        found = most_different(rows, (first, second))
        most = ", ".join(f"{row.material} {row.differ:,}" for row in found[:LISTED_ROWS])
        total = f"{sum(row.differ for row in found):,}"
        lines.append([f"`{first}`, `{second}`", len(found), total, most])
    for row in pictured(rows):
        said = f"{row.first_outcome} under {row.first}, {row.second_outcome} under {row.second}"
        titles.append(f"{row.material}: {said}")
        images.append(f"![{row.material}](diagrams/facts-differ-{row.material}.svg)")
    head = ["rule sets", "materials", "positions", "most in"]
    return table(head, lines) + "\n" + table(titles, [images])


def by_check_alone(rows: Sequence[Difference]) -> str:
    """Return the sentence that compares `check` with `wxf` in Table 1 of Fang, Hsu & Hsu 2002.

    The sentence names the materials in which some position has different outcomes.
    """
    names = [material.name for material in materials_of(["table1"])]
    asked = [row for row in rows if row.material in names and row.second == "wxf"]
    same = [row.material for row in asked if not row.differ]
    others = [row.material for row in asked if row.differ]
    missing = sorted({*names} - {row.material for row in asked})
    said = f"{len(same)} have the same outcomes, {len(others)} have not: {', '.join(others)}."
    said += f" Not compared: {', '.join(missing)}." if missing else ""
    return textwrap.fill(said, 100) + "\n"


def longest_by_rules(rows: Sequence[Fact]) -> list[Fact]:
    """List tables under `wxf` that have positions decided by repetition, longest distance first.

    The distance is the largest number of plies from such a position to its loop.
    """
    decided = [row for row in rows if row.rules == "wxf" and row.rule_decided]
    return sorted(decided, key=lambda row: (-row.max_rule_distance, row.material))


def longest_wins(rows: Sequence[Fact]) -> list[Fact]:
    """List tables under wxf, longest distance of order 0 (mate or conversion) first."""
    won = [row for row in rows if row.rules == "wxf" and row.longest]
    return sorted(won, key=lambda row: (-row.max_distance, row.material))


def zugzwang_rows(rows: Sequence[Zugzwangs]) -> list[list[object]]:
    """List cells for the page's table of mutual zugzwangs: materials with the most positions."""
    ordered = sorted(rows, key=lambda row: (-(row.red + row.black + row.both), row.material))
    return [
        [row.material, f"{row.red:,}", f"{row.black:,}", f"{row.both:,}", row.plies, link(row.fen)]
        for row in ordered[:LISTED_ROWS]
    ]


PAGE_TEXT = """# What the tables say about xiangqi

For players and researchers: figures of {materials} materials of at most {men} men, under `wxf`
unless a section names other rules. Lists show {listed} rows; all are in [facts.csv](facts.csv),
[facts-zugzwangs.csv](facts-zugzwangs.csv), [facts-rules.csv](facts-rules.csv) and
[facts-moves.csv](facts-moves.csv). Positions open on your own [board](board.md) while
`tbgen serve` runs.

Written by `python scripts/docs/facts.py DIRECTORY` from the tables of `tbgen build --men 5` under
five rule sets, and larger ones of Table 1 under `check` and `wxf`.

## Who wins

Red (the side named first) is to move. *Won* and *drawn* stand for more than {decided:.0%} of the
legal positions. Otherwise the figure is the share that Red wins.

{bare}
Red's attackers (down) against one piece of Black's (across); [facts.csv](facts.csv) has the rest:

{one}
## What the rules of repetition change

Draws with either side to move, mirror images once. The last column is the share of the draws under
`none` that are no draws under `wxf`.

{compared}
## Position by position

Positions (mirror images once) with different outcomes under two rule sets. All are in the
{two_armed} materials in which both sides can attack.

{pairs}
## When the check rule is enough

Fang (2004) verified 24 of 50 tables with the rule on perpetual check alone as complete under the
Asian rules. Of the 43 materials of Table 1 in Fang, Hsu & Hsu 2002, under `check` and `wxf`:

{by_check}
## The longest wins

Plies to mate (dtm) or conversion (dtc), against the longest resistance; the winner or the loser is
to move.

![The longest win of these tables](diagrams/facts-longest.svg)

{longest}
## Decided by repetition

Positions of order 1 and above, the number of orders, direct wins by perpetual check and by
perpetual chase, and the longest forced way to a loop ([Values](values.md)).

![The longest way to a forced loop](diagrams/facts-by-rules.svg)

{by_rules}
## Mutual zugzwangs

Positions without a check in which either side does worse if it is to move. *Red wins*: Red wins if
Black is to move, and only draws if Red is. *Mover loses*: the side to move loses. The position is
one with the longest win.

{zugzwangs}
{zugzwang_materials} materials have {zugzwang_positions:,} such positions, the other {without} none.

## One winning move

Of {won:,} won positions, {unique:,} have several moves of which only one wins. {studies:,} are
[studies](longest-studies.md): there and after every longest defence exactly one move wins, which
may be the only legal move. Measured by `python scripts/docs/studies.py DIRECTORY`.

## Loops

[facts-loops.csv](facts-loops.csv) has loops of the federation's book and of other programs' tests,
with the referee's verdict on the moves, and the table's value of the first position.
"""


def page() -> str:
    """Return the whole page, from the CSV files."""
    rows, hindered = figures.read(Fact), figures.read(Zugzwangs)
    apart = figures.read(Difference)
    wxf = [row for row in rows if row.rules == "wxf"]
    longest = [
        [row.material, row.max_distance, row.metric, link(row.longest)]
        for row in longest_wins(rows)[:LISTED_ROWS]
    ]
    decided = longest_by_rules(rows)
    by_rules = [
        [row.material, f"{row.rule_decided:,}", f"{row.rule_decided / row.legal:.3%}", row.orders,
         f"{row.checks:,}", f"{row.chases:,}", row.max_rule_distance, row.offence,
         link(row.longest_by_rules)]
        for row in decided[:LISTED_ROWS]
    ]  # fmt: skip
    head = ["material", "positions", "of legal", "orders", "by check", "by chase", "plies"]
    moves = figures.read(Moves)
    return PAGE_TEXT.format(
        materials=len(wxf),
        men=max(Material.parse(row.material).men for row in rows),
        listed=LISTED_ROWS,
        decided=CLASS_SHARE,
        **who_wins(wxf),
        compared=rules_compared(rows),
        two_armed=len({row.material for row in of_the_page(apart)}),
        pairs=pairs_compared(apart),
        by_check=by_check_alone(apart),
        longest=table(["material", "plies", "metric", "position"], longest),
        by_rules=table([*head, "forced", "position"], by_rules)
        + f"\nRepetition decides positions of {len(decided)} of the {len(wxf)} materials.\n",
        zugzwangs=table(
            ["material", "Red wins", "Black wins", "mover loses", "plies", "position"],
            zugzwang_rows(hindered),
        ),
        zugzwang_materials=len(hindered),
        zugzwang_positions=sum(row.red + row.black + row.both for row in hindered),
        without=len(wxf) - len(hindered),
        won=sum(row.won for row in moves),
        unique=sum(row.unique for row in moves),
        studies=sum(row.studies for row in moves),
    )


def pictures() -> dict[str, str]:
    """Map the name of each of the page's SVG files to its text."""
    rows = figures.read(Fact)
    shown = {"facts-longest": longest_wins(rows)[0].longest,
             "facts-by-rules": longest_by_rules(rows)[0].longest_by_rules}  # fmt: skip
    for row in pictured(of_the_page(figures.read(Difference))):
        shown[f"facts-differ-{row.material}"] = row.fen
    return {
        f"{name}.svg": draw(Position.from_fen(fen), Look(), alone=True, width=320) + "\n"
        for name, fen in shown.items()
    }


def main() -> None:
    """Write the page and its pictures; given a directory, measure its tables first."""
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("directory", nargs="?", type=Path, help="Tables under all rule sets.")
    parser.add_argument(
        "--only", choices=list(figures.WRITTEN_FILES), help="Write that file alone."
    )
    options = parser.parse_args()
    if options.only and options.directory is None:
        parser.error("--only measures tables: name their directory")
    if options.directory is not None:
        for name in [options.only] if options.only else figures.WRITTEN_FILES:
            kind, measure = figures.WRITTEN_FILES[name]
            figures.write(kind, measure(options.directory))
    PAGE.write_text(page(), encoding="utf-8")
    for old in PICTURES.glob("facts-differ-*.svg"):
        old.unlink()
    for name, picture in pictures().items():
        (PICTURES / name).write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main()
