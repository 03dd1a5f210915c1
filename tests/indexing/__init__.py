"""Tests of squares, materials, positions and the index."""
