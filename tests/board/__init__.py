"""Tests of the board, over HTTP and in a browser."""
