"""Verdicts on repetitions."""
