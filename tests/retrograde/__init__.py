"""Tests of the solver's phases, with comparison to the naive solver."""
