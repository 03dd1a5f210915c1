"""The board, over HTTP and in a browser."""
