"""Compare Table 1 of Fang, Hsu & Hsu with tables of this project.

    python scripts/reproduce/table1.py [--max-legal N] [--tables DIR]

Builds the tables of at most N legal positions (default 300 million), by `--rules check --orders 1`
as in the paper. Prints legal positions, draws, the longest distance, the longest distance-to-check
(to a forced loop of checks) and the check rate (share of the positions that such loops decide). A
figure that differs is printed beside the paper's, and the exit status is 1.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import tempfile
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path

PAPER = Path(__file__).resolve().parents[2] / "tests" / "data" / "fang_hsu_table1.csv"
COLUMNS = ("legal", "draws", "max_distance", "max_distance_to_check", "check_rate_percent")


def tbgen(*arguments: str) -> str:
    """Run `tbgen` with these arguments, and return its output."""
    command = [sys.executable, "-m", "tbgen", *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def measured(material: str, metric: str, tables: str) -> dict[str, str]:
    """Build a table if it is missing; return its figures by column, in the paper's format.

    metric : "dtm" or "dtc"; tables : directory, with a folder for each metric
    """
    options = ("--rules", "check", "--orders", "1", "--tables", f"{tables}/{metric}")
    tbgen("build", material, "--metric", metric, *options)
    stats = json.loads(tbgen("stats", material, "--json", *options))
    decided = stats["rule_decided"]
    return {
        "legal": str(stats["legal"]),
        "draws": str(stats["draws"]),
        "max_distance": str(stats["max_distance"]),
        "max_distance_to_check": str(stats["max_rule_distance"]) if decided else "N/A",
        "check_rate_percent": f"{100 * decided / stats['legal']:.2f}" if decided else "N/A",
    }


def main() -> int:
    """Print Table 1 with the figures of this project; return 1 if one differs from the paper's."""
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--max-legal", type=int, default=300_000_000)
    parser.add_argument("--tables", help="Where to build. Default: a temporary folder.")
    options = parser.parse_args()
    differences = 0
    with tempfile.TemporaryDirectory() as folder, PAPER.open(newline="") as file:
        print("| endgame | metric | legal | draws | max distance | max to check | check rate % |")
        print("|---|---|---|---|---|---|---|")
        for row in sorted(csv.DictReader(file), key=lambda row: int(row["legal"])):
            if int(row["legal"]) > options.max_legal:
                continue
            ours = measured(row["material"], row["metric"], options.tables or folder)
            cells = [row["material"], row["metric"]]
            for column in COLUMNS:
                # The paper counts a conversion as two plies more: its DTC column is left blank.
                same = not row[column] or row[column] == ours[column]
                differences += not same
                cells.append(ours[column] if same else f"{ours[column]} (paper: {row[column]})")
            print("| " + " | ".join(cells) + " |", flush=True)
    print(f"{differences} figures differ from the paper", file=sys.stderr)
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
