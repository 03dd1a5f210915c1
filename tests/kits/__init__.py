"""Kits of several tests: tables built once, random positions, planted errors."""
