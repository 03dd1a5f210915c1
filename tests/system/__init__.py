"""Tests of memory limits, imports, threads and units."""
