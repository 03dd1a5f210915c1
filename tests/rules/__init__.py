"""Moves and checks, in Python and compiled."""
