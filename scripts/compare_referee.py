"""Compare the referee with pyffish's on random loops, and classify every disagreement.

Run from the repository root: `python scripts/compare_referee.py [LOOPS] [SEED]`. The figures
in docs/referee.md are those of 20000 loops with seed 1 (several minutes).
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.agreement import compare

SAMPLES = 6
"""Disagreements printed per cause."""


def main() -> None:
    """Print verdicts, causes, and samples of each cause."""
    loops = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    result = compare(seed, loops)
    print(f"{result.loops} loops, seed {seed}: {dict(result.verdicts)}")
    print(f"{sum(result.differences.values())} disagreements")
    for cause, count in result.differences.most_common():
        print(f"{count:6}  {cause}")
        for position, loop, ours, theirs in result.samples[cause][:SAMPLES]:
            moves = " ".join(move.iccs for move in loop)
            print(f"        {position.fen};{moves}  here {ours}, pyffish {theirs}")


if __name__ == "__main__":
    main()
