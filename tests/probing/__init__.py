"""Tests of compiled probing, the C reader, and exports."""
