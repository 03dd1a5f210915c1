"""Write docs/classical.md and its Chinese page: classical endgames and records, from tables.

    python scripts/docs/classical.py DIRECTORY    read the tables there, then write
    python scripts/docs/classical.py              write the pages again from docs/classical.csv

DIRECTORY has tables under `wxf`, with all orders and minor chases. Their statistics (`tbgen stats`)
become rows of docs/classical.csv; rows of tables that are not there stay unchanged. A thousand
tables take seconds. docs/classical-books.csv has the verdicts of books. The test
`tests/docs/test_classical.py` compares the pages with both files, and rows with new tables.
"""

from __future__ import annotations

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from facts import table
from figures import DOCS, materials_of, read, write

from tbgen import open_tablebase
from tbgen.building import sets
from tbgen.finding.handbook import CLASS_SHARE, outcome_class
from tbgen.indexing import Material, Side
from tbgen.tables import TableStatistics

FIGURES = DOCS / "classical.csv"
BOOKS = DOCS / "classical-books.csv"

RULES = "wxf"

LEAST_SHARE = 0.005
"""Smallest share of wins, draws or losses that the page prints: 0.005 is half a percent."""

RECORD_ROWS = 5
"""Number of rows in each list of records."""


class Words(NamedTuple):
    """Texts of one language for the page.

    `text` is the template of the page; `missing` and `one_attacker` are templates of sentences in
    it. `classical`, `longest`, `orders` and `shares` are column titles of its tables. `outcomes`
    and `verdicts` name the outcomes for Red and the verdicts of books. `comma` joins names, and
    `nowhere` stands for an empty list.
    """

    file: Path
    text: str
    missing: str
    one_attacker: str
    classical: tuple[str, ...]
    longest: tuple[str, ...]
    orders: tuple[str, ...]
    shares: tuple[str, ...]
    outcomes: dict[str, str]
    verdicts: dict[str, str]
    comma: str
    nowhere: str


ENGLISH = Words(
    file=DOCS / "classical.md",
    text="""# Classical endgames

For players and authors: verdicts of books ([classical-books.csv](classical-books.csv)) beside the
results of {tables} tables of at most {men} men under `wxf` ([classical.csv](classical.csv)), then
records. Written by `python scripts/docs/classical.py DIRECTORY`.

Red is the side named first. Shares are of all legal positions, including those in which a piece can
be taken at once. *Won* and *drawn* stand for more than {decided:.0%}. *Longest* counts plies to
mate (dtm) or to conversion (dtc). *By repetition* is the share that a perpetual check or chase
decides. Books treat pawns on the last rank (底兵) separately, these shares do not. In KPK with Red
to move, the draws are the positions with such a pawn
(`tbgen find KPK --turn red --outcome draw`).

## What books say

{classical}
{missing}

With Red to move, less than half of the positions are as books say in: {disagreements}.
*Divided*: one book draws the endgame, another wins it (Wu & Beal 2002).

## One attacker

{one_attacker}

## The longest wins

{longest}
## The highest orders

{orders}
## The most decided by repetition

{shares}""",
    missing="Of the {of} endgames these are not built yet: {absent}.",
    one_attacker="""{there} of the {wanted} endgames of one attacker (rook, knight, cannon or pawn),
of up to eleven men, are built. With the attacker's side to move {won} are won, {drawn} drawn, and
{others} neither.""",
    classical=("material", "name", "books", "Red to move", "Black to move", "longest",
               "by repetition"),
    longest=("material", "plies", "metric", "position"),
    orders=("material", "orders", "a position of the last order"),
    shares=("material", "by repetition", "orders"),
    outcomes={"won": "won", "drawn": "drawn", "lost": "lost"},
    verdicts={"win": "win", "draw": "draw", "divided": "divided"},
    comma=", ",
    nowhere="none",
)  # fmt: skip

CHINESE = Words(
    file=DOCS / "zh" / "classical.md",
    text="""# 实用残局：书上怎么说，残局表怎么说

写给棋手和作者：书上的结论（[classical-books.csv](../classical-books.csv)），和 {tables} \
张残局表的结果。残局表至多 {men} 个子，规则是 `wxf`（[classical.csv](../classical.csv)）。\
本页由 `python scripts/docs/classical.py DIRECTORY` 写成。

子力写在前面的一方是红方。百分数是占全部合法局面的比例，包括马上能吃子的局面；\
只写*胜*、*和*，表示超过 {decided:.0%}。*最长*是到将死（dtm）或到吃子转换（dtc）的步数，\
红黑各走一次算两步。*由循环规则决定*是因长将或长捉而分出胜负的局面所占的比例。\
书上把底兵另算，这里不分开：单兵对孤将红先的和棋全是底兵，其余的局面全胜\
（`tbgen find KPK --turn red --outcome draw`）。

## 书上怎么说

{classical}
{missing}

红先时，符合书上结论的局面不到一半的有：{disagreements}。\
*说法不一*：一本书说和，另一本书说胜（Wu & Beal 2002）。

## 只有一个进攻子

只有一个进攻子（车、马、炮或兵）、至多十一个子的残局{one_attacker}

## 最长的胜局

{longest}
## 最高的阶

阶的意思见[循环规则（棋例）改变了什么](repetition.md)。

{orders}
## 循环规则决定得最多的残局

{shares}""",
    missing="{of} 种残局里还没有生成的：{absent}。",
    one_attacker="""有 {wanted} 种，这里生成了 {there} 种。进攻的一方先走时，\
例胜 {won} 种，例和 {drawn} 种，其余 {others} 种要看局面。""",
    classical=("子力", "名称", "书上", "红先", "黑先", "最长", "由循环规则决定"),
    longest=("子力", "步数", "计法", "局面"),
    orders=("子力", "阶数", "最后一阶的一个局面"),
    shares=("子力", "由循环规则决定", "阶数"),
    outcomes={"won": "胜", "drawn": "和", "lost": "负"},
    verdicts={"win": "胜", "draw": "和", "divided": "说法不一"},
    comma="、",
    nowhere="无",
)  # fmt: skip

PAGES = (ENGLISH, CHINESE)


class Endgame(NamedTuple):
    """Row of one table; fields with `red` or `black` count positions with that side to move.

    Red is the side named first. Outcomes are those of the side to move, so `black_lost` are wins of
    Red. `..._by_rules` count the positions that repetition decides; their *order* is above 0.
    `longest` is the FEN of a longest win or loss of order 0, with a distance of `distance` plies by
    `metric`. `hardest` is the FEN of a position of the highest order, which is `orders` (0 if no
    position is decided by repetition). A FEN is empty if there is no such position.
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
        """Share of the legal positions that repetition decides, 0 to 1."""
        return (self.red_by_rules + self.black_by_rules) / (self.red_legal + self.black_legal)


class Book(NamedTuple):
    """Verdict of books on a classical endgame: "win" for Red, "draw", or "divided" (they differ).

    `name` is the endgame's name, `source` the book.
    """

    material: str
    name: str
    verdict: str
    source: str


def endgame(found: TableStatistics) -> Endgame:
    """Return a table's row of docs/classical.csv, from the statistics of the table."""
    by_rules: Counter[Side] = Counter()
    for line in found.histogram:
        by_rules[line.side] += line.positions if line.order else 0
    plain = [one for one in found.longest if one.order == 0]
    longest = max(plain, key=lambda one: one.value, default=None)
    highest = max((order.order for order in found.orders), default=0)
    last = [one for one in found.longest if one.order == highest and one.order]
    red, black = found.red_to_move, found.black_to_move
    return Endgame(
        found.material, found.metric,
        red.legal, red.wins, red.draws, by_rules[Side.RED],
        black.legal, black.losses, black.draws, by_rules[Side.BLACK],
        found.max_distance, longest.fen if longest else "",
        highest, min(last, key=lambda one: one.value).fen if last else "",
    )  # fmt: skip


def endgames(directory: Path) -> list[Endgame]:
    """List the rows of docs/classical.csv for the tables in a directory, in no certain order."""
    with open_tablebase(directory, rules=RULES, orders=0, minor_chases=True) as tables:
        return [endgame(tables.stats(material)) for material in materials_of(tables, RULES)]


def outcome(words: Words, legal: int, wins: int, draws: int) -> str:
    """Describe an endgame: won or drawn, else the shares of Red's wins, draws and losses.

    Shares below `LEAST_SHARE` are left out.

    legal, wins, draws : with one side to move, numbers of all positions, Red's wins, and draws
    """
    kind = outcome_class(legal, wins, draws)
    if kind != "open":
        return words.outcomes[kind]
    shares = {"won": wins / legal, "drawn": draws / legal, "lost": 1 - (wins + draws) / legal}
    said = [
        f"{words.outcomes[name]} {part:.0%}" for name, part in shares.items() if part >= LEAST_SHARE
    ]
    return words.comma.join(said)


def differs(book: Book, found: Endgame) -> bool:
    """Return whether a table contradicts a book.

    True if the book's verdict, win or draw, holds for fewer than half of the positions with Red to
    move. The verdict "divided" is never contradicted.
    """
    said = found.red_wins if book.verdict == "win" else found.red_draws
    return book.verdict != "divided" and 2 * said < found.red_legal


def share(part: float) -> str:
    """Format a share between 0 and 1 in percent; empty for 0."""
    return f"{part:.2%}" if part else ""


def classical(words: Words, books: Sequence[Book], known: dict[str, Endgame]) -> str:
    """Return the Markdown table of the endgames in `books` that have a row in `known`.

    known : rows of docs/classical.csv by material
    """
    rows = []
    for book in books:
        if (found := known.get(book.material)) is None:
            continue
        rows.append([
            found.material, book.name, words.verdicts[book.verdict],
            outcome(words, found.red_legal, found.red_wins, found.red_draws),
            outcome(words, found.black_legal, found.black_lost, found.black_draws),
            f"{found.distance} ({found.metric})" if found.longest else "",
            share(found.by_rules),
        ])  # fmt: skip
    return table(words.classical, rows)


def disagreements(words: Words, books: Sequence[Book], known: dict[str, Endgame]) -> str:
    """Return the names of the endgames whose tables contradict a book, joined into one text."""
    return words.comma.join(
        book.material for book in books
        if (found := known.get(book.material)) is not None and differs(book, found)
    ) or words.nowhere  # fmt: skip


def one_attacker(words: Words, known: dict[str, Endgame]) -> str:
    """Return the sentence that counts the endgames of one attacker by outcome with Red to move."""
    wanted = [m.name for m in sets.materials_of([], attackers=1)]
    there = [known[name] for name in wanted if name in known]
    kinds = Counter(outcome_class(row.red_legal, row.red_wins, row.red_draws) for row in there)
    return words.one_attacker.format(
        wanted=len(wanted), there=len(there), won=kinds["won"], drawn=kinds["drawn"],
        others=len(there) - kinds["won"] - kinds["drawn"],
    )  # fmt: skip


def records(words: Words, rows: Sequence[Endgame]) -> dict[str, str]:
    """Return three Markdown tables by name.

    `longest` has the longest wins, `orders` the highest orders, `shares` the largest shares of
    positions that repetition decides.
    """

    def first(key: Callable[[Endgame], float]) -> list[Endgame]:
        return sorted(rows, key=lambda row: (-key(row), row.material))[:RECORD_ROWS]

    longest = [[r.material, r.distance, r.metric, f"`{r.longest}`"]
               for r in first(lambda row: row.distance) if r.longest]  # fmt: skip
    orders = [[r.material, r.orders, f"`{r.hardest}`"]
              for r in first(lambda row: row.orders) if r.orders]  # fmt: skip
    shares = [[r.material, share(r.by_rules), r.orders]
              for r in first(lambda row: row.by_rules) if r.by_rules]  # fmt: skip
    return {
        "longest": table(words.longest, longest),
        "orders": table(words.orders, orders),
        "shares": table(words.shares, shares),
    }


def page(words: Words) -> str:
    """Return the page in one language, from the CSV files."""
    rows, books = read(Endgame, FIGURES), read(Book, BOOKS)
    known = {row.material: row for row in rows}
    absent = [book.material for book in books if book.material not in known]
    return words.text.format(
        tables=len(rows),
        men=max(Material.parse(row.material).men for row in rows),
        decided=CLASS_SHARE,
        classical=classical(words, books, known),
        missing=words.missing.format(of=len(books), absent=words.comma.join(absent))
        if absent
        else "",
        disagreements=disagreements(words, books, known),
        one_attacker=one_attacker(words, known),
        **records(words, rows),
    )


def main() -> None:
    """Write the pages; given a directory, add the rows of its tables to the CSV file first."""
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("directory", nargs="?", type=Path, help="tables; default: only the CSV")
    directory = parser.parse_args().directory
    if directory is not None:
        rows = {row.material: row for row in [*read(Endgame, FIGURES), *endgames(directory)]}
        by_men = sorted(
            rows.values(), key=lambda row: (Material.parse(row.material).men, row.material)
        )
        write(Endgame, by_men, FIGURES)
    for words in PAGES:
        words.file.write_text(page(words), "utf-8")


if __name__ == "__main__":
    main()
