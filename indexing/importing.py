"""Imports of what is large and stays: the compiler, and packages with kernels."""

from __future__ import annotations

import gc
import importlib
from functools import cache
from types import ModuleType


@cache
def import_for_good(name: str) -> ModuleType:
    """The module of a name; the collector of cycles no longer looks at what there is by then.

    To look through it for garbage again and again, as it is loaded and whenever kernels are, takes
    a tenth of the processor time of a start.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        return importlib.import_module(name)
    finally:
        gc.freeze()
        if collecting:
            gc.enable()
