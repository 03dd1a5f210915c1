"""Independent programs that the tests believe, and the tests of those that are our own."""
