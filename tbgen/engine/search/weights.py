"""Weights of the evaluation network, from `weights.json`, which `scripts/tune/train.py` writes."""

from __future__ import annotations

import json
from pathlib import Path

FILE = Path(__file__).with_name("weights.json")

_READ = json.loads(FILE.read_text("utf-8"))

VALUES: list[int] = _READ["values"]
"""Exchange value of advisor, elephant, rook, knight, cannon and pawn."""
BIASES: list[int] = _READ["biases"]
"""Initial value of each sum."""
OUTPUTS: list[list[list[int]]] = _READ["outputs"]
"""Weights of the squared sums: by opening and endgame, then side to move and opponent."""
OUTPUT_BASES: list[int] = _READ["output_bases"]
"""Constants added to the outputs for opening and endgame."""
SHAPES = "".join(_READ["shapes"])
"""int8 (inputs, sums) in base 85: weights that each piece on a square adds to the sums."""
