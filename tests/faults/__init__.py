"""Fault campaigns at a small size; run the modules for large ones (docs/reliability.md)."""
