"""Write docs/longest-studies.md: the longest studies of six endgames, with diagrams.

    python scripts/docs/studies.py DIRECTORY [MATERIAL ...]    measure tables there, then write
    python scripts/docs/studies.py                             write the page from the CSV

A study is a won position in which only one move wins, and again after every longest defence, to the
end. DIRECTORY has tables under `wxf`; without a MATERIAL all of at most five men are measured. Each
row is written to docs/facts-moves.csv (`figures.Moves`) as soon as it is known. The page and its
pictures depend only on that file. `tests/docs/test_studies.py` compares both with each other, and
with tables that it builds.
"""

from __future__ import annotations

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Iterator
from pathlib import Path

import figures
from facts import PICTURES, link
from figures import DOCS, Moves

from tbgen import GameTablebase, Material, Position, find, open_tablebase
from tbgen.board.drawing.diagram import Look, draw
from tbgen.building.sets import materials_of

PAGE = DOCS / "longest-studies.md"
SHOWN_ROWS = 6
"""Number of endgames on the page."""

WIDTH = 240

ENDS = {
    "mate": "mate",
    "stalemate": "no move left",
    "capture": "capture",
    "loop": "forced loop",
}

TEXT = """# The longest studies

For composers and teachers: the longest studies under wxf, of {shown} endgames. A study is a
position with a unique solution ([what counts](find.md#studies)). Where several defences resist
equally long, *plies* are those of the shortest line; the line shown may be longer. Links open your
[board](board.md) while `tbgen serve` runs. [facts-moves.csv](facts-moves.csv) has all {measured}
materials. Written by `python scripts/docs/studies.py DIRECTORY`.

{studies}"""


def line_of(tables: GameTablebase, position: Position) -> tuple[str, str]:
    """Return the moves of best play in ICCS notation, and the kind of their end (a key of `ENDS`).

    The line ends with mate, stalemate, the first capture, or the start of the loop.
    """
    line = tables.mainline(position)
    moves = []
    for played in line.moves:
        if played.result.order and not played.result.plies:
            return " ".join(moves), "loop"
        moves.append(played.choice.move.iccs)
        if played.choice.capture:
            return " ".join(moves), "capture"
    return " ".join(moves), str(line.ending)


def measure(tables: GameTablebase, material: Material) -> Moves:
    """Search a material's table for studies; return the row of docs/facts-moves.csv."""
    counts = tables.stats(material)
    won = counts.red_to_move.wins + counts.black_to_move.wins
    unique = find(material, tables, outcome="win", only=True).count()
    studies = find(material, tables, study=True, sort="-length").columns()
    if not studies.rows:
        return Moves(material.name, won, unique, 0, 0, "", "", "")
    longest, length = next(studies.positions()), int(studies["length"][0])
    return Moves(
        material.name, won, unique, studies.rows, length, longest.fen, *line_of(tables, longest)
    )


def measured(directory: Path, names: list[str]) -> Iterator[Moves]:
    """Yield the row of each named material; without names, of all materials of at most five men."""
    with open_tablebase(directory, rules="wxf", orders=0) as tables:
        for material in [Material.parse(name) for name in names] or materials_of([], 5):
            yield measure(tables, material)


def shown(rows: list[Moves]) -> list[Moves]:
    """Return the `SHOWN_ROWS` rows with the longest studies, the longest first.

    Of equally long studies, that of the smaller material is first.
    """
    rows = [row for row in rows if row.length]
    return sorted(rows, key=lambda row: (-row.length, len(row.material), row.material))[:SHOWN_ROWS]


def page(rows: list[Moves]) -> str:
    """Return the whole page; `rows` are those of docs/facts-moves.csv."""
    parts = []
    for row in shown(rows):
        who = Position.from_fen(row.fen).side.name.title()
        parts.append(
            f"## {row.material}: {row.length} plies\n\n"
            f"![{who} to move wins](diagrams/study-{row.material}.svg)\n\n"
            f"{link(row.fen)}: {row.line} ({ENDS[row.end]})\n"
        )
    return TEXT.format(shown=len(parts), measured=len(rows), studies="\n".join(parts))


def pictures(rows: list[Moves]) -> dict[str, str]:
    """Map the name of each of the page's SVG files to its text."""
    return {
        f"study-{row.material}.svg": draw(
            Position.from_fen(row.fen), Look(), alone=True, width=WIDTH
        )
        + "\n"
        for row in shown(rows)
    }


def main() -> None:
    """Write the page and its pictures; given a directory, search its tables first."""
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("directory", nargs="?", type=Path, help="Tables under wxf.")
    parser.add_argument("materials", nargs="*", metavar="MATERIAL", help="Default: all.")
    asked = parser.parse_args()
    if asked.directory is not None:
        for row in measured(asked.directory, asked.materials):
            kept = [each for each in figures.read(Moves) if each.material != row.material]
            by_size = sorted([*kept, row], key=lambda each: (len(each.material), each.material))
            figures.write(Moves, by_size)
    rows = figures.read(Moves)
    PAGE.write_text(page(rows), encoding="utf-8")
    for old in PICTURES.glob("study-*.svg"):
        old.unlink()
    for name, picture in pictures(rows).items():
        (PICTURES / name).write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main()
