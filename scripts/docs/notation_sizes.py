"""Print the table of docs/notations.md: mean size of a position in each notation.

    python scripts/docs/notation_sizes.py

Sizes are bytes in FEN, in Pai's string and in the six integers, and bits in the index of tbgen.
`tests/notation/test_docs.py` compares the page.
"""

import random
from argparse import ArgumentParser, RawDescriptionHelpFormatter

from tbgen.indexing import START_FEN, Material, Position, Side
from tbgen.indexing.layout import Layout, choose_inner
from tbgen.notation import format_position

MATERIALS = ("KRKC", "KRNKRAA", "KRNPAABBKRCPAABB")
SAMPLES = 200
HEADER = "| material | FEN | Pai | six integers | tbgen index |\n|---|---|---|---|---|"


def sample(material: Material) -> list[Position]:
    """Draw `SAMPLES` random positions, legal or not, from the slots of the material's index."""
    layout, rng = Layout(material.armies, choose_inner(material.armies)), random.Random(1)
    positions: list[Position] = []
    while len(positions) < SAMPLES:
        position = layout.position(rng.randrange(layout.slots), rng.choice(tuple(Side)))
        if position is not None:
            positions.append(position)
    return positions


def row(name: str, positions: list[Position]) -> str:
    """Return a line of the table: mean bytes of a position in each notation, bits of the index."""
    material = positions[0].material
    layout = Layout(material.armies, choose_inner(material.armies))
    texts = [
        # A FEN without its counters, which tables do not store.
        [" ".join(position.fen.split()[:2]) for position in positions],
        [format_position(position, "pai") for position in positions],
        [format_position(position, "six") for position in positions],
    ]
    means = " | ".join(f"{sum(map(len, column)) / len(column):.1f}" for column in texts)
    bits = (2 * layout.slots - 1).bit_length()
    return f"| {name} | {means} | {bits} bits |"


def table() -> str:
    """Return the table in Markdown."""
    lines = [HEADER]
    lines += [row(name, sample(Material.parse(name))) for name in MATERIALS]
    lines.append(row("opening array", [Position.from_fen(START_FEN)]))
    return "\n".join(lines)


if __name__ == "__main__":
    ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter).parse_args()
    print(table())
