"""Independent oracles, and tests of those that belong to this project."""
