# mypy: allow-untyped-calls
"""Lent named tuples: a kernel and its parts take one address in place of all fields.

To numba a named tuple of arrays is the numbers that its arrays are made of, some hundreds of
them, and every call passes each on. The fields of a class declared `lent` are stored in the
frame of the kernel's entry, when Python calls it; functions pass on the address, and load the
fields that they use. A lent tuple inside of another is an address, too.

Kernels only read the fields: they neither make nor return a lent tuple. Nobody writes to the
fields while a kernel runs, so the compiler may load them as seldom as it likes; the elements of
arrays are written as ever. References to arrays are not counted
(`tbgen.compiling.jit.borrowing_kernel`). Without `internals.HAS_LENDING` the tuples are numba's.
"""

from __future__ import annotations

import hashlib
from typing import Any, TypeVar

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.registry import cpu_target
from numba.core.typing.templates import AttributeTemplate
from numba.core.typing.typeof import typeof
from numba.extending import NativeValue, models, register_model, typeof_impl, unbox

from tbgen.compiling.internals import HAS_LENDING

Class = TypeVar("Class", bound=type)

_ALIGNMENT = 8
"""Of the fields of a lent tuple, bytes: that of addresses and lengths."""


class Lent(types.Type):  # type: ignore[misc]
    """The type of a lent tuple, made of numba's type of the named tuple."""

    def __init__(self, plain: types.NamedTuple) -> None:
        self.plain = plain
        super().__init__(f"lent({plain.name})")
        # The name of all fields has some thousand letters.
        digest = hashlib.sha256(self.name.encode()).hexdigest()[:16]
        self.symbol = f"{plain.instance_class.__name__}.{digest}"

    @property
    def mangling_args(self) -> tuple[str, tuple[()]]:
        """The text that stands for the type in the names of compiled functions."""
        return self.symbol, ()


def lent(cls: Class) -> Class:
    """Have kernels take the named tuples of a class by their address."""
    if HAS_LENDING:
        typeof_impl.register(cls)(lambda value, context: Lent(types.NamedTuple(
            [typeof(field, context.purpose) for field in value], cls
        )))  # fmt: skip
    return cls


@register_model(Lent)
class _Address(models.PrimitiveModel):  # type: ignore[misc]
    """The type of an address of a lent tuple, in compiled code."""

    def __init__(self, manager: Any, of: Lent) -> None:
        fields = manager[of.plain].get_data_type()
        self._bytes = cpu_target.target_context.get_abi_sizeof(fields)
        # With a name: thousands of instructions say what it is that they point to.
        self.struct = ir.global_context.get_identified_type(of.symbol)
        if self.struct.is_opaque:
            self.struct.set_body(*fields.elements)
        super().__init__(manager, of, self.struct.as_pointer())

    def from_argument(self, builder: Any, value: Any) -> Any:
        """Return the address; that all of it can be read at any time lets loads leave loops."""
        value.attributes.dereferenceable, value.attributes.align = self._bytes, _ALIGNMENT
        return value


class _TypeOfField(AttributeTemplate):  # type: ignore[misc]
    """Fields have names and nothing else has."""

    key = Lent

    def generic_resolve(self, of: Any, name: Any) -> Any:  # type: ignore[override]
        """The type of a field, None where there is no such field."""
        names = of.plain.fields
        return of.plain.types[names.index(name)] if name in names else None


def _load_field(context: Any, builder: Any, of: Lent, value: Any, name: str) -> Any:
    """The value of a field."""
    place = of.plain.fields.index(name)
    loaded = _load(builder, cgutils.gep_inbounds(builder, value, 0, place))
    return context.data_model_manager[of.plain.types[place]].from_data(builder, loaded)


def _load(builder: Any, address: Any) -> Any:
    """Load what is at an address in a lent tuple, which nobody writes to, number by number."""
    kind = address.type.pointee
    if not isinstance(kind, ir.Aggregate):
        value = builder.load(address)
        value.set_metadata("invariant.load", builder.module.add_metadata([]))
        return value
    value = kind(None)
    for place in range(len(kind)):
        item = _load(builder, cgutils.gep_inbounds(builder, address, 0, place))
        value = builder.insert_value(value, item, place)
    return value


def _store(of: Lent, value: Any, c: Any) -> Any:
    """Store the fields of a Python tuple for one call; returns their address.

    The address has an origin that the compiler does not know: else, with a kernel's code within
    its entry's, it could see the fields being written.
    """
    if c.context.enable_nrt:
        name = of.plain.instance_class.__name__
        raise TypeError(f"{name} is lent: its kernels are to borrow arrays")
    plain = c.unbox(of.plain, value)
    manager = c.context.data_model_manager
    address = cgutils.alloca_once(c.builder, manager[of].struct)
    fields = manager[of.plain].as_data(c.builder, plain.value)
    for place in range(len(of.plain.types)):
        field = c.builder.extract_value(fields, place)
        c.builder.store(field, cgutils.gep_inbounds(c.builder, address, 0, place))
    kind = ir.FunctionType(address.type, [address.type])
    hidden = c.builder.asm(kind, "", "=r,0,~{memory}", [address], True)
    return NativeValue(hidden, is_error=plain.is_error)


if HAS_LENDING:
    from numba.extending import infer_getattr, lower_getattr_generic

    infer_getattr(_TypeOfField)
    lower_getattr_generic(Lent)(_load_field)
    unbox(Lent)(_store)
