"""Tests of indexes, downloads and known digests of tables."""
