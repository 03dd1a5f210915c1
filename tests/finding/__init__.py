"""Tests of searches in whole tables."""
