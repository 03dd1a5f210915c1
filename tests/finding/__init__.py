"""Best moves, safe draws, whole games."""
