"""Sets of positions: storage, threads, sweeps."""
