"""Campaigns at a small size; the large ones are the scripts themselves (docs/reliability.md)."""
