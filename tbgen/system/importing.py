"""Imports of large modules that stay loaded: the compiler, and packages with kernels."""

from __future__ import annotations

import gc
import importlib
from functools import cache
from types import ModuleType


@cache
def import_permanently(name: str) -> ModuleType:
    """Import a module, and exempt all objects that exist then from garbage collection.

    Garbage collection during these imports would take a tenth of the CPU time of a start.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        return importlib.import_module(name)
    finally:
        gc.freeze()
        if collecting:
            gc.enable()
