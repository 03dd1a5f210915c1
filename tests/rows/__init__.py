"""Tests of sets of positions: storage, threads, sweeps."""
