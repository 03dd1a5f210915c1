# mypy: allow-untyped-calls
"""Names inside numba that nothing documents, and what a version without them does instead.

    known_options   flags of `numba.njit`               without: they are left out
    HAS_PARTS       for `parts`                         `numba.extending.overload`
    HAS_DIGESTS     for `cache`                         numba's own `cache=True`
    HAS_LENDING     for `lending`                       numba's named tuples
    has_indices     for `count_from_the_front`          numba tests the sign of every index

Tables are the same in any case, and kernels take longer. docs/measurements/compiling.md has what
each of them saves. `tests/compiling/test_internals.py` runs kernels without them, and
`python scripts/certify/versions.py` with the oldest and the newest numba.
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
    and _has("core.caching", "FunctionCache._impl_class", "FunctionCache._load_overload")
    and _has("core.serialize", "dumps")
)

HAS_LENDING = (
    _has("core.registry", "cpu_target.target_context")
    and _has("core.typing.templates", "AttributeTemplate")
    and _has("core.typing.typeof", "typeof")
    and _has("core.types", "NamedTuple")
    and _has("extending", "models.PrimitiveModel", "infer_getattr", "lower_getattr_generic")
    and _has("core.pythonapi", "PythonAPI.numba_array_adaptor")
)


def has_indices() -> bool:
    """Return whether `count_from_the_front` can work; it takes 40 ms to import the last name."""
    return (
        _has("core.targetconfig", "ConfigStack.top_or_none")
        and _has("core.options", "DefaultOptions._nrt")
        and _has("np.arrayobj", "fix_integer_index")
    )


def known_options(**options: Any) -> dict[str, Any]:
    """The options that this version knows; any other would be an error."""
    return {name: value for name, value in options.items()
            if _has("core.options", f"DefaultOptions.{name}")}  # fmt: skip


def count_from_the_front() -> None:
    """Have numba take the indices of kernels that count no references as they are.

    It tests the sign of every signed index, and adds the length of the array to a negative one:
    three instructions for each dimension. In kernels that count no references
    (`jit.borrowing_kernel`) and their parts a negative index is an error, and raises with bounds
    checked (`NUMBA_BOUNDSCHECK=1`). Other functions, whoever compiles them, are left as they are.
    """
    from numba.core import types
    from numba.core.targetconfig import ConfigStack
    from numba.np import arrayobj

    usual = arrayobj.fix_integer_index

    def index_as_it_is(context: Any, builder: Any, index_type: Any, index: Any, size: Any) -> Any:
        flags = ConfigStack.top_or_none()
        if flags is None or flags.nrt:
            return usual(context, builder, index_type, index, size)
        return context.cast(builder, index, index_type, types.intp)

    arrayobj.fix_integer_index = index_as_it_is
