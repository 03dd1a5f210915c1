"""Weights of the evaluation network, from `weights.json`, which `scripts/tune/train.py` writes."""

from __future__ import annotations

import json
from pathlib import Path

FILE = Path(__file__).with_name("weights.json")

_READ = json.loads(FILE.read_text("utf-8"))

VALUES: list[int] = _READ["values"]
"""Value of advisor, elephant, rook, knight, cannon and pawn, in this order, for exchange
evaluation.
"""
BIASES: list[int] = _READ["biases"]
"""Bias of each unit of the hidden layer: its sum for an empty board."""
OUTPUTS: list[list[list[int]]] = _READ["outputs"]
"""Weights of the output layer, for the squared sums of the hidden layer. Indices: opening or
endgame, then view of the side to move or of the opponent, then the sum.
"""
OUTPUT_BASES: list[int] = _READ["output_bases"]
"""Biases of the output layer: constants added to the outputs for opening and endgame."""
SHAPES = "".join(_READ["shapes"])
"""Weights of the first layer, int8 (inputs, sums) encoded in base 85. An input is a piece on a
square; it adds its row to the sums of the hidden layer.
"""
