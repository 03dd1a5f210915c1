"""numba: declaration, compilation and cache of kernels; and its settings.

    jit          kernels, parts and scalars; the lock of the cache
    folder       folder of the cache of compiled code
    second       process that compiles beside this one
    cache        cache entries with a digest: damaged ones are compiled again
    parts        functions that are compiled into the kernels that call them, and no further
    lending      named tuples that kernels take by address
    fetching     prefetch of memory
    internals    check of numba's undocumented names that these modules use

Only packages with kernels import this one: `tbgen.rows`, `retrograde`, `verify`, `probing`, and
the compiled half of `tbgen.referee`. Nothing that only probes or plays does.

numba takes settings from the environment (`NUMBA_*`) and from a file of the current directory, when
it is loaded and again when it compiles. They can keep it from being loaded, name modules to import,
or have kernels interpreted; and the current directory may be anybody's. None of them counts here.
Nothing in this file imports numba unless such a file is there.
"""

import contextlib
import os
import re
import sys
import warnings

SETTINGS_FILE = ".numba_config.yaml"

_OURS = {"NUMBA_BOUNDSCHECK": "[01]", "NUMBA_CACHE_DIR": ".*", "NUMBA_DISABLE_JIT": "[01]"}
"""The variables of numba that are left in force, and the values that they may have."""


def ignore_environment() -> None:
    """Remove the settings of the environment that do not count, for this process and its own."""
    for name in [name for name in os.environ if name.startswith("NUMBA_")]:
        if not re.fullmatch(_OURS.get(name, "(?!)"), os.environ[name], re.DOTALL):
            del os.environ[name]


def ignore_file() -> None:
    """Load numba without the settings of the current directory, where it has any."""
    if "numba" in sys.modules or not os.path.isfile(SETTINGS_FILE):
        return
    missing = object()
    yaml = sys.modules.get("yaml", missing)
    sys.modules["yaml"] = None  # type: ignore[assignment]  # without it numba cannot read them
    try:
        with warnings.catch_warnings(), contextlib.suppress(ImportError):
            warnings.simplefilter("ignore")  # numba would say what to install
            import numba  # noqa: F401
    finally:
        if yaml is missing:
            del sys.modules["yaml"]
        else:
            sys.modules["yaml"] = yaml  # type: ignore[assignment]


ignore_file()
