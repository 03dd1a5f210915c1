"""Kernels compiled by numba: declaration, compilation and cache; the settings of numba.

    jit         declaration of kernels and their parts; lock of the cache; second process
    internals   faster features of kernels, which need undocumented names of numba
    folder      folder of the cache

Vocabulary
    kernel    compiled function that Python calls
    part      function that is compiled into the kernels that call it
    borrow    to use arrays without counting the references to them
    entry     a compiled kernel in the cache, for one combination of argument types

numba reads settings from the environment (`NUMBA_*`) and from a file in the current directory,
which another user may own. Such settings can break the import, or name modules to load. So, if the
file exists, this package imports numba at once, without `yaml`: numba then ignores the file. The
programs `tbgen` and `tbgen-engine` call `ignore_environment` before they import numba.
"""

import contextlib
import os
import re
import sys
import warnings

_VARIABLES = {"NUMBA_BOUNDSCHECK": "[01]", "NUMBA_CACHE_DIR": ".*", "NUMBA_DISABLE_JIT": "[01]"}
"""Map from numba's variables that are not ignored to regular expressions of allowed values."""


def ignore_environment() -> None:
    """Remove numba's variables from `os.environ`, except allowed values (`_VARIABLES`)."""
    for name in [name for name in os.environ if name.startswith("NUMBA_")]:
        if not re.fullmatch(_VARIABLES.get(name, "(?!)"), os.environ[name], re.DOTALL):
            del os.environ[name]


if "numba" not in sys.modules and os.path.isfile(".numba_config.yaml"):
    _yaml = sys.modules.pop("yaml", None)
    sys.modules["yaml"] = None  # type: ignore[assignment]  # numba then skips the file
    # numba warns that yaml should be installed.
    with warnings.catch_warnings(action="ignore"), contextlib.suppress(ImportError):
        import numba  # noqa: F401
    del sys.modules["yaml"]
    if _yaml is not None:
        sys.modules["yaml"] = _yaml
