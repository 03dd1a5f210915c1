"""Tests of verdicts on repetitions."""
