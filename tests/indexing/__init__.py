"""Squares, materials, positions and the perfect index."""
