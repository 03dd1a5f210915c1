"""The cache of compiled kernels: damaged, out of reach, or left behind."""
