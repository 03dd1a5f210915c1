"""Shared test code: tables built once, random positions, planted errors."""
