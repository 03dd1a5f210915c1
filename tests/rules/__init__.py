"""Tests of moves, checks and chases, in Python and compiled."""
