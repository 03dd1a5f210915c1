"""Imports of what is large and stays: the compiler, and packages with kernels."""

from __future__ import annotations

import gc
import importlib
from functools import cache


@cache
def import_for_good(module: str) -> None:
    """Import a module by its name, and keep all that there is by then from the collector of cycles.

    To look through it for garbage again and again, as it is loaded and whenever kernels are, takes
    a tenth of the processor time of a start.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        importlib.import_module(module)
    finally:
        gc.freeze()
        if collecting:
            gc.enable()
