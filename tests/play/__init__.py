"""Tests of best moves, safe draws, and whole games."""
