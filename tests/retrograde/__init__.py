"""The phases, against the naive solver."""
