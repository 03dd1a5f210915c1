"""Write the shares of wins, draws and losses of each table of at most five men in a directory.

    python scripts/tune/outcomes.py DIR [--rules wxf]

Reads the statistics of the tables in DIR, and writes outcomes.csv beside the engine's search, which
limits its evaluation by these shares: thousandths of all legal positions, with either side to move.
Wins and losses are those of the side that the material names first.
"""

from __future__ import annotations

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path

from tbgen.engine.search import scores
from tbgen.play.tablebase import open_tablebase

OUTCOMES = Path(scores.__file__).with_name("outcomes.csv")
MEN = 5


def main() -> None:
    """Read the statistics of the tables, and write outcomes.csv."""
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("tables", type=Path)
    parser.add_argument("--rules", default="wxf")
    options = parser.parse_args()
    lines = ["material,won,drawn,lost"]
    with open_tablebase(options.tables, rules=options.rules) as tables:
        names = {name.material for name in tables.available() if name.rule_set == tables.rule_set}
        for material in sorted(names, key=str):
            if material.men > MEN:
                continue
            counted = tables.table(material).statistics
            red, black = counted.red_to_move, counted.black_to_move
            legal = red.legal + black.legal
            won, lost = red.wins + black.losses, red.losses + black.wins
            shares = round(1000 * won / legal), round(1000 * lost / legal)
            lines.append(f"{material},{shares[0]},{1000 - sum(shares)},{shares[1]}")
    OUTCOMES.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
