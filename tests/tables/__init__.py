"""Table files and probing directories of them."""
