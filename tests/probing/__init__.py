"""Compiled probing, the C header, and exports."""
