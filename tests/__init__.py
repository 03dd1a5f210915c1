"""Tests, one module per subject; `strategies` and `oracle` are shared by all."""
