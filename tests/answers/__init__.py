"""Tests of answers about a position."""
