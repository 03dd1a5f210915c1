"""The laws of the code itself: layers, documentation, sizes, scripts."""
