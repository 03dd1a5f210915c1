"""Numbers of the network, from `weights.json`, which `scripts/tune/train.py` writes."""

from __future__ import annotations

import json
from pathlib import Path

FILE = Path(__file__).with_name("weights.json")

_READ = json.loads(FILE.read_text("utf-8"))

VALUES: list[int] = _READ["values"]
"""Worth of an advisor, elephant, rook, knight, cannon and pawn in an exchange."""
BIASES: list[int] = _READ["biases"]
"""The number that each sum begins with."""
OUTPUTS: list[list[list[int]]] = _READ["outputs"]
"""Weights of the sums, squared: for the opening and the ending, the mover's view and the other."""
OUTPUT_BASES: list[int] = _READ["output_bases"]
"""Numbers added to the outputs of the opening and the ending."""
SHAPES = "".join(_READ["shapes"])
"""int8 (inputs, sums) in base 85: what each piece on a square adds to the sums."""
