"""Tests of positions and moves as text."""
