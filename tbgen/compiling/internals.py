# mypy: allow-untyped-calls
"""Features of kernels that need undocumented names inside numba (docs/decisions/008).

Importing this module fails if numba lacks one of these names; `tbgen.compiling.jit` then uses
documented features instead. The docstring of the package defines kernel, part, borrow and entry.
"""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import pickle
from collections.abc import Callable
from functools import cache
from types import SimpleNamespace
from typing import Any

from llvmlite import ir
from numba import extending, njit, types
from numba.core import cgutils
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.options import DefaultOptions
from numba.core.pythonapi import PythonAPI
from numba.core.registry import cpu_target
from numba.core.serialize import dumps
from numba.core.typing.templates import AttributeTemplate, infer_global
from numba.core.typing.typeof import typeof
from numba.extending import models, register_model

_USED = (
    DefaultOptions._nrt, DefaultOptions.no_cfunc_wrapper, DefaultOptions.no_rewrites,
    FunctionCache._impl_class, FunctionCache._load_overload,
    JITCodeLibrary._finalize_final_module, JITCodeLibrary._optimize_final_module,
    PythonAPI.numba_array_adaptor, models.PrimitiveModel, types.Dispatcher.get_call_type,
    types.IntEnumMember, types.NamedTuple, types.signed_domain,
)  # fmt: skip

if list(inspect.signature(Compiler).parameters)[2:3] != ["library"]:
    raise ImportError("numba's compiler has another signature")


class _Entries(CompileResultCacheImpl):  # type: ignore[misc]
    """Format of cache entries: digest and pickled kernel; numba's own format has no digest."""

    def reduce(self, cres: Any) -> tuple[bytes, bytes]:
        """Return the cache entry of numba's compile result: SHA-256 digest, and pickled result."""
        code = dumps(super().reduce(cres))
        return hashlib.sha256(code).digest(), code

    def rebuild(self, target_context: Any, payload: tuple[bytes, bytes]) -> Any:
        """Return the compile result in an entry; raises `ValueError` if the entry is damaged."""
        digest, code = payload
        if hashlib.sha256(code).digest() != digest:
            raise ValueError("a damaged entry")
        return super().rebuild(target_context, pickle.loads(code))


class KernelCache(FunctionCache):  # type: ignore[misc]
    """Cache of one kernel on disk, used in place of numba's; damaged entries count as missing.

    A full disk or a power failure may damage an entry, and loading it would run wrong code. If
    several processes write at once, an entry may be of other argument types (numba issue 4807); it
    counts as missing, too.

    borrows : whether the kernel borrows arrays (`borrowing_kernel`)
    at_miss : called before the kernel is compiled
    """

    _impl_class = _Entries

    def __init__(self, function: Any, borrows: bool, at_miss: Callable[[], None]) -> None:
        super().__init__(function)
        self._borrows, self._at_miss = borrows, at_miss

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the cached kernel for argument types `sig`; None if it is missing or damaged.

        If an entry is damaged, all entries of this kernel are removed; if this fails, the kernel's
        cache is disabled. Before None is returned, `at_miss` is called.
        """
        # numba's own method initialises the compiler, which kernels that borrow arrays do not need.
        # This takes a quarter of the program's start.
        load = self._load_overload if self._borrows else super().load_overload
        try:
            found = load(sig, target_context)
            if found is not None and found.signature.args == tuple(sig):
                return found
        except Exception:  # damaged bytes may raise any error
            try:
                self.flush()
            except OSError:
                self.disable()
        self._at_miss()
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Store a compiled kernel (`data`) for argument types `sig`; ignore errors of writing."""
        with contextlib.suppress(OSError):
            super().save_overload(sig, data)


class _Part(types.Dispatcher):  # type: ignore[misc]
    """numba type of a part (`compile_part`), which is passed all signed integers as int64.

    So a part is compiled once for elements of int8 arrays, members of enums and constants.
    """

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        """Return a call's signature; numba casts the arguments (types `args`, `kws`) to it."""
        named = {name: _widened(kws[name]) for name in kws}
        return super().get_call_type(context, tuple(map(_widened, args)), named)


register_model(_Part)(models.OpaqueModel)


def _widened(argument: Any) -> Any:
    signed = isinstance(argument, types.IntEnumMember) or argument in types.signed_domain
    return types.int64 if signed else types.unliteral(argument)


class _Library(JITCodeLibrary):  # type: ignore[misc]
    """Code library of a part, for linking into kernels: not optimised, without machine code."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalized = True

    # numba calls `library.codegen.set_env`, but a part has no environment (Python globals).
    codegen = SimpleNamespace(set_env=lambda name, environment: None)


def _compiler(typing: Any, target: Any, library: Any, *arguments: Any) -> Compiler:
    """Return numba's compiler for a part, with a new `_Library` in place of `library`."""
    library = _Library(target.codegen(), "part")
    return Compiler(typing, target, library, *arguments)


def compile_part(function: Callable[..., Any], **options: Any) -> None:
    """Make a function callable from kernels, as a part; `options` are those of `numba.njit`.

    A part has no cache file, and only kernels can call it. It is optimised and translated to
    machine code only in these kernels: otherwise parts would take half of the compile time.
    """
    options |= {"pipeline_class": _compiler, "no_cpython_wrapper": True}
    compiled = njit(**options)(function)
    kind = _Part(compiled)
    kind.compiled = compiled  # keeps it alive: numba's type refers to it weakly
    infer_global(function, kind)


class _Pointer(types.Type):  # type: ignore[misc]
    """numba type of a pointer to a named tuple; `plain` is the type of the tuple itself."""

    def __init__(self, plain: types.NamedTuple) -> None:
        self.plain = plain
        # The tuple type's name has some thousand letters.
        digest = hashlib.sha256(plain.name.encode()).hexdigest()[:16]
        super().__init__(f"{plain.instance_class.__name__}.{digest}")


def pass_by_pointer(cls: type) -> None:
    """Let kernels and parts take the named tuples of a class by pointer, not field by field.

    For a named tuple of arrays, numba passes address, shape and strides of every array: hundreds of
    numbers in every call. Here, the fields are stored once when Python calls the kernel, and
    functions load the fields that they use. A tuple nested in another one is a pointer, too.
    Kernels must neither create nor return these tuples. Elements of the arrays may be written.
    """
    extending.typeof_impl.register(cls)(lambda value, context: _Pointer(types.NamedTuple(
        [typeof(field, context.purpose) for field in value], cls
    )))  # fmt: skip


@register_model(_Pointer)
class _Model(models.PrimitiveModel):  # type: ignore[misc]
    """numba data model of `_Pointer`: in compiled code it is the address of the named tuple."""

    def __init__(self, manager: Any, of: _Pointer) -> None:
        fields = manager[of.plain].get_data_type()
        self._bytes = cpu_target.target_context.get_abi_sizeof(fields)
        # A named type, since thousands of instructions repeat its text.
        struct = ir.global_context.get_identified_type(of.name)
        if struct.is_opaque:
            struct.set_body(*fields.elements)
        super().__init__(manager, of, struct.as_pointer())

    def from_argument(self, builder: Any, value: Any) -> Any:
        """Mark the argument as dereferenceable, so that LLVM may move loads out of loops."""
        value.attributes.dereferenceable, value.attributes.align = self._bytes, 8
        return value


@extending.infer_getattr  # type: ignore[untyped-decorator]
class _TypeOfField(AttributeTemplate):  # type: ignore[misc]
    key = _Pointer

    def generic_resolve(self, of: Any, name: Any) -> Any:  # type: ignore[override]
        """Return the numba type of a tuple's field; None if it has no such field."""
        names = of.plain.fields
        return of.plain.types[names.index(name)] if name in names else None


@extending.lower_getattr_generic(_Pointer)  # type: ignore[untyped-decorator]
def _load_field(context: Any, builder: Any, of: _Pointer, value: Any, name: str) -> Any:
    number = of.plain.fields.index(name)
    loaded = _load(builder, cgutils.gep_inbounds(builder, value, 0, number))
    return context.data_model_manager[of.plain.types[number]].from_data(builder, loaded)


def _load(builder: Any, address: Any) -> Any:
    """Generate code that loads the field at `address`; return the field's LLVM value.

    The loads are marked as invariant, so that LLVM may merge loads from one address.
    """
    kind = address.type.pointee
    if not isinstance(kind, ir.Aggregate):
        value = builder.load(address)
        value.set_metadata("invariant.load", builder.module.add_metadata([]))
        return value
    value = kind(None)
    for number in range(len(kind)):
        item = _load(builder, cgutils.gep_inbounds(builder, address, 0, number))
        value = builder.insert_value(value, item, number)
    return value


@extending.unbox(_Pointer)  # type: ignore[untyped-decorator]
def _store(of: _Pointer, value: Any, c: Any) -> Any:
    """Generate code that stores a Python tuple's fields for one call; return their address.

    Raises `TypeError` for a kernel that counts references.
    """
    if c.context.enable_nrt:
        name = of.plain.instance_class.__name__
        raise TypeError(f"{name} is passed by pointer: its kernels are to borrow arrays")
    plain = c.unbox(of.plain, value)
    fields = c.context.data_model_manager[of.plain].as_data(c.builder, plain.value)
    address = cgutils.alloca_once_value(c.builder, fields)
    # Hide the address from LLVM: invariant loads in a kernel that is inlined here must not be
    # optimised together with these stores.
    kind = ir.FunctionType(c.context.get_value_type(of), [address.type])
    hidden = c.builder.asm(kind, "", "=r,0,~{memory}", [address], True)
    return extending.NativeValue(hidden, is_error=plain.is_error)


@cache
def disable_negative_indexing() -> None:
    """Disable negative indexing in functions without reference counting (decision 15).

    numba compiles three instructions per index to allow negative ones. Without the instructions, a
    negative index reads foreign memory, or raises `IndexError` if bounds are checked
    (`NUMBA_BOUNDSCHECK=1`). The call takes 40 ms, and does nothing if numba lacks a needed name.
    """
    with contextlib.suppress(AttributeError, ImportError):
        from numba.core.targetconfig import ConfigStack
        from numba.np import arrayobj

        usual, top = arrayobj.fix_integer_index, ConfigStack.top_or_none

        def as_it_is(context: Any, builder: Any, index_type: Any, index: Any, size: Any) -> Any:
            flags = top()
            if flags is None or flags.nrt:
                return usual(context, builder, index_type, index, size)
            return context.cast(builder, index, index_type, types.intp)

        arrayobj.fix_integer_index = as_it_is
