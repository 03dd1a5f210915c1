"""numba: declaration, compilation and cache of kernels; and its settings.

    jit             declaration of kernels and their parts; lock of the cache
    parts           functions that are compiled into the kernels that call them
    pointers        named tuples that kernels take by pointer
    prefetching     prefetch of memory
    cache           cache entries with a digest: damaged entries are compiled again
    folder          folder of the cache
    second_process  process that compiles beside this one

Vocabulary
    kernel    compiled function that Python calls
    part      function that is compiled into the kernels that call it
    borrow    to use arrays without counting the references to them
    entry     a compiled kernel in the cache, for some types of arguments

Packages with kernels import this one. Commands that report on the cache import it late, so that
code that only probes or plays does not load numba.

numba reads settings from the environment (`NUMBA_*`) and from a file in the current directory, both
on import and when it compiles. Such settings can break the import, name modules to load, or disable
compilation, and another user may own the directory. So this package ignores the file, and all
variables except `_VARIABLES`. This module imports numba only if the file exists.
"""

import contextlib
import os
import re
import sys
import warnings

_SETTINGS_FILE = ".numba_config.yaml"

_VARIABLES = {"NUMBA_BOUNDSCHECK": "[01]", "NUMBA_CACHE_DIR": ".*", "NUMBA_DISABLE_JIT": "[01]"}
"""Names of numba's variables that are not ignored, with patterns of the values they may have."""


def ignore_environment() -> None:
    """Remove numba's variables from the environment of this process, except `_VARIABLES`."""
    for name in [name for name in os.environ if name.startswith("NUMBA_")]:
        if not re.fullmatch(_VARIABLES.get(name, "(?!)"), os.environ[name], re.DOTALL):
            del os.environ[name]


def ignore_file() -> None:
    """Import numba so that it does not read a settings file in the current directory.

    Do nothing if there is no such file.
    """
    if "numba" in sys.modules or not os.path.isfile(_SETTINGS_FILE):
        return
    yaml = sys.modules.get("yaml")
    sys.modules["yaml"] = None  # type: ignore[assignment]  # numba then skips the file
    try:
        # numba warns that yaml should be installed.
        with warnings.catch_warnings(action="ignore"), contextlib.suppress(ImportError):
            import numba  # noqa: F401
    finally:
        del sys.modules["yaml"]
        if yaml is not None:
            sys.modules["yaml"] = yaml


ignore_file()
