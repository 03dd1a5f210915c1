# mypy: allow-untyped-calls
"""Check of numba's internals; kernels of a version without them are equal, and take longer.

    known_options   flags of `numba.njit` that nothing documents    else they are left out
    HAS_PARTS       what `parts` is made of                         else `numba.extending.overload`
    HAS_DIGESTS     what `cache` is made of                         else numba's own `cache=True`
    has_indices     what `indices` is made of                       else numba asks for their sign

What is not documented may be gone with any version. Only names are looked at here: what they do is
tried by `python scripts/certify/versions.py`, with the oldest and the newest numba.
"""

from __future__ import annotations

import importlib
import inspect
from typing import Any


def _has(module: str, *names: str) -> bool:
    """Return whether a module of numba has all these names; `Class.method` is one, too."""
    try:
        for name in names:
            found: Any = importlib.import_module(f"numba.{module}")
            for word in name.split("."):
                found = getattr(found, word)
    except (ImportError, AttributeError):
        return False
    return True


def _makes_libraries() -> bool:
    """Return whether a compiler still takes the library as its third argument."""
    from numba.core.compiler import Compiler

    return list(inspect.signature(Compiler).parameters)[2:3] == ["library"]


HAS_PARTS = (
    _has("core.codegen", "JITCodeLibrary._finalize_final_module")
    and _has("core.codegen", "JITCodeLibrary._optimize_final_module")
    and _has("core.compiler", "Compiler")
    and _has("core.typing.templates", "infer_global")
    and _has("core.types", "Dispatcher.get_call_type", "IntEnumMember", "signed_domain")
    and _has("extending", "models.OpaqueModel", "register_model")
    and _makes_libraries()
)

HAS_DIGESTS = (
    _has("core.caching", "CompileResultCacheImpl.reduce", "CompileResultCacheImpl.rebuild")
    and _has("core.caching", "FunctionCache._impl_class", "FunctionCache.load_overload")
    and _has("core.caching", "FunctionCache._load_overload")
    and _has("core.codegen", "JITCodeLibrary.serialize_using_object_code")
    and _has("core.codegen", "JITCodeLibrary._get_module_for_linking")
    and _has("core.codegen", "JitEngine._load_defined_symbols")
    and _has("core.serialize", "dumps")
)


def has_indices() -> bool:
    """The last of them is asked for only where something is compiled: it takes 40 ms to import."""
    return (
        _has("core.targetconfig", "ConfigStack.top_or_none")
        and _has("core.options", "DefaultOptions._nrt")
        and _has("np.arrayobj", "fix_integer_index")
    )


def known_options(**options: Any) -> dict[str, Any]:
    """The options that this version knows; any other would be an error."""
    return {name: value for name, value in options.items()
            if _has("core.options", f"DefaultOptions.{name}")}  # fmt: skip
