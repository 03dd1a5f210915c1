"""The tests: a folder for each package, `house` for the laws of the code, oracles, kits, data."""
