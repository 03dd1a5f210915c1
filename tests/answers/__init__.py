"""Answers about a position."""
