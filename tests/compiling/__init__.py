"""Tests of kernel compilation and its cache."""
