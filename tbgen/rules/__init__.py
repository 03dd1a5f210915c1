"""The rules: what may move, what is a check."""
