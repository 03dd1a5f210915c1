"""Proving finished table files from the rules alone."""
