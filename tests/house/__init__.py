"""House tests: rules on the code itself, such as layers, documentation, sizes and scripts."""
