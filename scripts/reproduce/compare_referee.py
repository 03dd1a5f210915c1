"""Compare the referee with that of pyffish (Fairy-Stockfish) on random loops.

    python scripts/reproduce/compare_referee.py [--loops N] [--seed N]

The cause of a disagreement is a set of clauses of the rules without which both verdicts would be
equal. The figures in docs/referee.md are those of 20000 loops with seed 1 (several minutes).
"""

import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.helpers.agreement import compare

SAMPLES = 6
"""Largest number of disagreements printed for each cause."""


def main() -> None:
    """Print numbers of loops by our verdict and of disagreements by cause, with samples."""
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--loops", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    result = compare(options.seed, options.loops)
    print(f"{result.loops} loops, seed {options.seed}: {dict(result.verdicts)}")
    print(f"{sum(result.differences.values())} disagreements")
    for cause, count in result.differences.most_common():
        print(f"{count:6}  {cause}")
        for position, loop, ours, theirs in result.samples[cause][:SAMPLES]:
            moves = " ".join(move.iccs for move in loop)
            print(f"        {position.fen};{moves}  here {ours}, pyffish {theirs}")


if __name__ == "__main__":
    main()
