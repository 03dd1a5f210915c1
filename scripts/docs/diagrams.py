"""Draw docs/diagrams/*.svg, the positions shown in the pages, with the board's own code.

    python scripts/docs/diagrams.py

A page shows a diagram as `![description](diagrams/NAME.svg)`. `python scripts/docs/facts.py` draws
those of docs/facts.md, `python scripts/docs/animation.py` the animated one.
`tests/docs/test_generated.py` compares the files.
"""

from __future__ import annotations

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path

from tbgen.board.drawing.diagram import Look, Marks, draw
from tbgen.indexing import Move, Position

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "diagrams"
WIDTH = 320

DIAGRAMS = {
    "checks": ("9/9/4k4/9/9/9/9/3n5/9/R2K5 b", ""),
    "checks-begun": ("9/9/4k4/9/9/9/9/3n5/9/R2K5 b", "d2b1"),
    "rook-chases-cannon": ("9/5k1C1/9/9/9/9/9/9/6r2/3KR4 b", "g1h1"),
    "forced-checks": ("5r3/5k3/9/9/9/9/9/5A3/3R5/3K5 w", ""),
    "knight-pawn": ("9/9/5k3/4p4/9/9/9/3K5/1N7/9 w", ""),
    "d2": ("9/4k4/9/9/9/9/9/9/2p6/3K1RBc1 w", ""),
}
"""FEN and a move to play and mark, by name of the diagram; the move is empty for none."""


def drawing(name: str) -> str:
    """Return the SVG document of a diagram, given its name in `DIAGRAMS`."""
    fen, move_text = DIAGRAMS[name]
    position, marks = Position.from_fen(fen), Marks()
    if move_text:
        move = Move.from_iccs(move_text)
        position, marks = position.after(*move), Marks(move)
    return draw(position, Look(), marks, alone=True, width=WIDTH) + "\n"


if __name__ == "__main__":
    ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter).parse_args()
    FOLDER.mkdir(exist_ok=True)
    for diagram in DIAGRAMS:
        (FOLDER / f"{diagram}.svg").write_text(drawing(diagram), encoding="utf-8")
