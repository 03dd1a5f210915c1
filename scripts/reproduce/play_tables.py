"""Play the tables against stubborn defenders, judged by the referee.

    python scripts/reproduce/play_tables.py [MATERIAL ...] [--rules R] [--positions N] [--draws N]
                                  [--dangers N] [--tables DIR]

One side plays the moves of `best_move` with the history of the game. From at most `--positions`
positions that it wins by the repetition rules, it must reach mate, a won table, or a loop that the
referee judges won. From at most four times `--draws` draws it must not lose. Every reply is tried
in direct wins, and in up to `--dangers` endangered draws for each side to move, in which only
checks and attacks draw. `tests.helpers.defences` has the defenders. Prints a table of results by
material and rule set. Exit status 1 if a game failed.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tbgen.play.tablebase import open_tablebase
from tests.helpers.play import Ending
from tests.helpers.tournament import play_all

MATERIALS = (
    "KRKN", "KRAKR", "KRKPP", "KNKPP", "KRKNN", "KRPKR", "KRCKR", "KNCKN", "KRKCP", "KRNKR",
)  # fmt: skip
PER_CODE = 20
"""Largest number of starting positions of each side to move, outcome, order and distance."""
COLUMNS = (
    "endgame", "rules", "positions", "games", "mate", "conversion", "loop", "idle repetitions",
    "wins by every reply",
    "drawn games", "endangered", "draws by every reply", "offences in a row", "loops judged",
    "pyffish agrees", "failed",
)  # fmt: skip


def main() -> int:
    """Build the tables, play the games, print a table of results; return 1 if a game failed."""
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("materials", nargs="*", default=MATERIALS)
    parser.add_argument("--rules", action="append", choices=("check", "wxf"))
    parser.add_argument("--positions", type=int, default=100)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--dangers", type=int, default=150)
    parser.add_argument("--tables", help="Where to build. Default: a temporary folder.")
    options = parser.parse_args()
    failures: list[str] = []
    print("| " + " | ".join(COLUMNS) + " |")
    print("|" + "---|" * len(COLUMNS))
    with tempfile.TemporaryDirectory() as folder:
        for rules in options.rules or ("check", "wxf"):
            directory = f"{options.tables or folder}/{rules}"
            for material in options.materials:
                command = [sys.executable, "-m", "tbgen", "build", material, "--rules", rules]
                subprocess.run([*command, "--tables", directory], check=True, capture_output=True)
                with open_tablebase(directory, rules=rules) as tables:
                    tally = play_all(
                        tables,
                        material,
                        PER_CODE,
                        options.positions,
                        options.draws,
                        options.dangers,
                    )
                failures += tally.failures
                cells = (
                    material, rules, tally.positions, tally.won.total(), tally.won[Ending.MATE],
                    tally.won[Ending.CONVERSION], tally.won[Ending.LOOP],
                    tally.idle_repetitions, tally.won_by_hunt, tally.drawn.total(),
                    tally.endangered, tally.hunted,
                    tally.deepest, tally.verdicts, tally.pyffish_agrees, len(tally.failures),
                )  # fmt: skip
                print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)
    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
