# mypy: allow-untyped-calls
"""Named tuples that kernels and parts take by pointer, in place of all fields.

For a named tuple of arrays, numba passes address, shape and strides of every array: hundreds of
numbers in every call. The fields of a class declared `by_pointer` are instead stored once, in the
stack frame in which Python calls the kernel. Functions pass a pointer to them on, and load the
fields that they use. A nested tuple of such a class is a pointer, too.

Kernels read the fields, and neither create nor return such tuples. Nothing writes to the fields
during a kernel, so that the compiler may cache loads; elements of arrays may be written. References
to arrays are not counted (`tbgen.compiling.jit.borrowing_kernel`).
"""

from __future__ import annotations

import hashlib
from typing import Any, TypeVar

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.pythonapi import PythonAPI
from numba.core.registry import cpu_target
from numba.core.typing.templates import AttributeTemplate
from numba.core.typing.typeof import typeof
from numba.extending import (
    NativeValue,
    infer_getattr,
    lower_getattr_generic,
    models,
    register_model,
    typeof_impl,
    unbox,
)

Class = TypeVar("Class", bound=type)

# Importing this module fails if numba lacks one of these undocumented names (`jit`).
_USED = types.NamedTuple, models.PrimitiveModel, PythonAPI.numba_array_adaptor

_ALIGNMENT = 8
"""Alignment of the stored fields in bytes: that of addresses and array lengths."""


class _Pointer(types.Type):  # type: ignore[misc]
    """numba type of a pointer to a named tuple; `plain` is the type of the tuple itself."""

    def __init__(self, plain: types.NamedTuple) -> None:
        self.plain = plain
        # The name of the tuple type has some thousand letters.
        digest = hashlib.sha256(plain.name.encode()).hexdigest()[:16]
        super().__init__(f"{plain.instance_class.__name__}.{digest}")


def by_pointer(cls: Class) -> Class:
    """Declare a named tuple class that kernels take by pointer; return the class."""
    typeof_impl.register(cls)(lambda value, context: _Pointer(types.NamedTuple(
        [typeof(field, context.purpose) for field in value], cls
    )))  # fmt: skip
    return cls


@register_model(_Pointer)
class _Model(models.PrimitiveModel):  # type: ignore[misc]
    """numba data model: representation of a `_Pointer` in compiled code."""

    def __init__(self, manager: Any, of: _Pointer) -> None:
        fields = manager[of.plain].get_data_type()
        self._bytes = cpu_target.target_context.get_abi_sizeof(fields)
        # A named type, since thousands of instructions repeat its text.
        self.struct = ir.global_context.get_identified_type(of.name)
        if self.struct.is_opaque:
            self.struct.set_body(*fields.elements)
        super().__init__(manager, of, self.struct.as_pointer())

    def from_argument(self, builder: Any, value: Any) -> Any:
        """Return the pointer argument, declared as dereferenceable.

        So LLVM may move loads through the pointer out of loops.
        """
        value.attributes.dereferenceable, value.attributes.align = self._bytes, _ALIGNMENT
        return value


@infer_getattr  # type: ignore[untyped-decorator]
class _TypeOfField(AttributeTemplate):  # type: ignore[misc]
    key = _Pointer

    def generic_resolve(self, of: Any, name: Any) -> Any:  # type: ignore[override]
        """Return the numba type of a tuple's field; None if it has no such field."""
        names = of.plain.fields
        return of.plain.types[names.index(name)] if name in names else None


@lower_getattr_generic(_Pointer)  # type: ignore[untyped-decorator]
def _load_field(context: Any, builder: Any, of: _Pointer, value: Any, name: str) -> Any:
    number = of.plain.fields.index(name)
    loaded = _load(builder, cgutils.gep_inbounds(builder, value, 0, number))
    return context.data_model_manager[of.plain.types[number]].from_data(builder, loaded)


def _load(builder: Any, address: Any) -> Any:
    """Return code that loads a stored field; loads are invariant, so LLVM may merge them.

    A field of several numbers, such as an array, is loaded number by number.
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


@unbox(_Pointer)  # type: ignore[untyped-decorator]
def _store(of: _Pointer, value: Any, c: Any) -> Any:
    """Return code that stores a Python tuple's fields for one call, and gives their address."""
    if c.context.enable_nrt:
        name = of.plain.instance_class.__name__
        raise TypeError(f"{name} is passed by pointer: its kernels are to borrow arrays")
    plain = c.unbox(of.plain, value)
    manager = c.context.data_model_manager
    address = cgutils.alloca_once(c.builder, manager[of].struct)
    fields = manager[of.plain].as_data(c.builder, plain.value)
    for number in range(len(of.plain.types)):
        field = c.builder.extract_value(fields, number)
        c.builder.store(field, cgutils.gep_inbounds(c.builder, address, 0, number))
    # An opaque copy: if a kernel is inlined into its entry, these stores must stay invisible to it.
    kind = ir.FunctionType(address.type, [address.type])
    hidden = c.builder.asm(kind, "", "=r,0,~{memory}", [address], True)
    return NativeValue(hidden, is_error=plain.is_error)
