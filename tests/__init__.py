"""The tests: a folder for each package, `house` for rules of the code, oracles, helpers, data."""
