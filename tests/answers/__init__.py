"""What is said of a position."""
