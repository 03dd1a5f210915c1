"""The tests: a folder for each package, `house` for the laws of the code, oracles, kits, data."""

import os
from pathlib import Path

_worker = os.environ.get("PYTEST_XDIST_WORKER")
if _worker:
    # Tests run in several processes, and numba's cache is unsafe while two of them write it
    # (numba issue 4807): each has one of its own, before anything looks for compiled kernels.
    _base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    os.environ["XDG_CACHE_HOME"] = str(_base / "tbgen-tests" / _worker)
