# mypy: allow-untyped-calls
"""Named tuples that are lent: kernels read them where they are, and hand on one address.

To numba a named tuple of arrays is the numbers that its arrays are made of, some hundreds of them.
Every call hands them on one by one, and every function puts them together again: that is most of
what there is to compile. What is lent is written down once, when Python calls a kernel; functions
hand on where it is, and load what they use of it.

    Python   a named tuple of a class that is declared `lent`
    entry    what kernels need of its fields, in the entry's frame: of arrays address and shape
    kernels  the address; what is lent inside of it is an address, too

Kernels read the fields and do nothing else: they neither make nor return what is lent. Nobody
writes to the fields themselves while a kernel runs, which lets the compiler load them as seldom as
it likes; the elements of arrays are written as ever. References to arrays are not counted
(`tbgen.compiling.jit.borrowing_kernel`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import reduce
from typing import Any, TypeVar

from llvmlite import ir
from numba import types
from numba.core import cgutils
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

_WORD = ir.IntType(64)
_ALIGNMENT = 8
"""Of what is lent, bytes: that of addresses and lengths."""


class Lent(types.Type):  # type: ignore[misc]
    """The type of what is lent: its class, and the types of its fields."""

    def __init__(self, made_of: Any, members: tuple[types.Type, ...]) -> None:
        self.made_of, self.members = made_of, members
        fields = ", ".join(map(str, members))
        super().__init__(f"lent({made_of.__module__}.{made_of.__qualname__}: {fields})")
        # The name of all its fields is some thousand letters long.
        digest = hashlib.sha256(self.name.encode()).hexdigest()[:16]
        self.symbol = f"{made_of.__name__}.{digest}"

    @property
    def mangling_args(self) -> tuple[str, tuple[()]]:
        """The text that stands for the type in the names of compiled functions."""
        return self.symbol, ()

    def place(self, field: str) -> int:
        """The number of the field of a name."""
        place: int = self.made_of._fields.index(field)
        return place


def lent(cls: Class) -> Class:
    """Have kernels take the named tuples of a class where they are."""

    def type_of(value: Any, context: Any) -> Lent:
        return Lent(cls, tuple(typeof(field, context.purpose) for field in value))

    typeof_impl.register(cls)(type_of)
    return cls


@register_model(Lent)
class _Address(models.DataModel):  # type: ignore[misc]
    """The type of an address of a lent tuple, in compiled code."""

    def __init__(self, manager: Any, of: Lent) -> None:
        super().__init__(manager, of)
        self.fields = _Fields(manager, of.members)
        body = ir.LiteralStructType(self.fields.types)
        self._bytes = cpu_target.target_context.get_abi_sizeof(body)
        # With a name: thousands of instructions say what it is that they point to.
        self.struct = ir.global_context.get_identified_type(of.symbol)
        if self.struct.is_opaque:
            self.struct.set_body(*self.fields.types)

    def get_value_type(self) -> Any:
        return self.struct.as_pointer()

    def as_argument(self, builder: Any, value: Any) -> Any:
        del builder
        return value

    def from_argument(self, builder: Any, value: Any) -> Any:
        """Return the address; that all of it can be read at any time lets loads leave loops."""
        del builder
        value.attributes.dereferenceable, value.attributes.align = self._bytes, _ALIGNMENT
        return value


class _Field:
    """A field that is written down as numba keeps such values in memory."""

    def __init__(self, manager: Any, of: Any) -> None:
        self._of, self._model = of, manager.lookup(of)
        self.type = self._model.get_data_type()

    def write(self, c: Any, value: Any, address: Any) -> Any:
        """Write down a Python object; a bit that says whether that failed."""
        native = c.unbox(self._of, value)
        c.builder.store(self._model.as_data(c.builder, native.value), address)
        return native.is_error

    def load(self, context: Any, builder: Any, address: Any) -> Any:
        """The value, as numba has it in functions."""
        del context
        return self._model.from_data(builder, _load(builder, address))


class _ArrayField(_Field):
    """An array in one piece; all else that numba wants to know of one follows from its shape."""

    def __init__(self, manager: Any, of: types.Array) -> None:
        super().__init__(manager, of)
        self._value = self._model.get_value_type()
        data = self._value.elements[self._model.get_field_position("data")]
        self.type = ir.LiteralStructType([data, *[_WORD] * of.ndim])

    def write(self, c: Any, value: Any, address: Any) -> Any:
        builder, position = c.builder, self._model.get_field_position
        array = cgutils.alloca_once(builder, self._value)
        status = c.pyapi.numba_array_adaptor(value, builder.bitcast(array, c.pyapi.voidptr))
        parts = [[position("data")], *([position("shape"), axis] for axis in range(self._of.ndim))]
        for place, part in enumerate(parts):
            number = builder.load(cgutils.gep_inbounds(builder, array, 0, *part))
            builder.store(number, cgutils.gep_inbounds(builder, address, 0, place))
        return cgutils.is_not_null(builder, status)

    def load(self, context: Any, builder: Any, address: Any) -> Any:
        data, *shape = (
            _load(builder, cgutils.gep_inbounds(builder, address, 0, place))
            for place in range(1 + self._of.ndim)
        )
        item_bytes = context.get_abi_sizeof(context.get_data_type(self._of.dtype))
        strides = [_WORD(item_bytes)]
        for length in shape[:0:-1]:
            strides.insert(0, builder.mul(strides[0], length))
        items = reduce(builder.mul, shape)
        array = self._value(None)
        for name, value in (("nitems", items), ("itemsize", _WORD(item_bytes)), ("data", data)):
            array = self._model.set(builder, array, value, name)
        for name, values in (("shape", shape), ("strides", strides)):
            place = self._model.get_field_position(name)
            for axis, value in enumerate(values):
                array = builder.insert_value(array, value, (place, axis))
        return array


class _LentField(_Field):
    """The type of a lent tuple inside of another; its value is its address."""

    def __init__(self, manager: Any, of: Lent) -> None:
        super().__init__(manager, of)
        self.type = self._model.struct

    def write(self, c: Any, value: Any, address: Any) -> Any:
        return self._model.fields.write(c, value, address)

    def load(self, context: Any, builder: Any, address: Any) -> Any:
        return address


class _TupleField(_Field):
    """A tuple, written down field by field, and loaded as a whole."""

    def __init__(self, manager: Any, of: types.BaseTuple) -> None:
        super().__init__(manager, of)
        self._fields = _Fields(manager, of.types)
        self.type = ir.LiteralStructType(self._fields.types)

    def write(self, c: Any, value: Any, address: Any) -> Any:
        return self._fields.write(c, value, address)

    def load(self, context: Any, builder: Any, address: Any) -> Any:
        values = [self._fields.load(context, builder, address, place)
                  for place in range(len(self._of))]  # fmt: skip
        return context.make_tuple(builder, self._of, values)


class _Fields:
    """Fields one after the other in memory."""

    def __init__(self, manager: Any, members: Sequence[types.Type]) -> None:
        self._fields = [_field(manager, member) for member in members]
        self.types = [field.type for field in self._fields]

    def write(self, c: Any, value: Any, address: Any) -> Any:
        """Write down a Python tuple; a bit that says whether that failed."""
        failed = cgutils.false_bit
        for place, field in enumerate(self._fields):
            item = c.pyapi.tuple_getitem(value, place)
            there = cgutils.gep_inbounds(c.builder, address, 0, place)
            failed = c.builder.or_(failed, field.write(c, item, there))
        return failed

    def load(self, context: Any, builder: Any, address: Any, place: int) -> Any:
        """The value of one of them."""
        there = cgutils.gep_inbounds(builder, address, 0, place)
        return self._fields[place].load(context, builder, there)


def _field(manager: Any, of: types.Type) -> _Field:
    """The form in which a field of a type is written down."""
    if isinstance(of, types.Array) and of.layout == "C" and of.ndim:
        return _ArrayField(manager, of)
    if isinstance(of, Lent):
        return _LentField(manager, of)
    if isinstance(of, types.BaseTuple):
        return _TupleField(manager, of)
    return _Field(manager, of)


def _load(builder: Any, address: Any) -> Any:
    """Load the value at an address in a lent tuple, which nobody writes to."""
    value = builder.load(address)
    value.set_metadata("invariant.load", builder.module.add_metadata([]))
    return value


def _forget(builder: Any, address: Any) -> Any:
    """Return the same address with an origin that the compiler does not know.

    Else, with a kernel's code within its entry's, it could see the fields being written.
    """
    kind = ir.FunctionType(address.type, [address.type])
    return builder.asm(kind, "", "=r,0,~{memory}", [address], True)


@infer_getattr
class _TypeOfField(AttributeTemplate):  # type: ignore[misc]
    """Fields have names and nothing else has."""

    key = Lent

    def generic_resolve(self, of: Any, name: Any) -> Any:  # type: ignore[override]
        """The type of a field, None where there is no such field."""
        return of.members[of.place(name)] if name in of.made_of._fields else None


@lower_getattr_generic(Lent)  # type: ignore[untyped-decorator]
def _load_field(context: Any, builder: Any, of: Lent, value: Any, name: str) -> Any:
    """The value of a field."""
    fields = context.data_model_manager[of].fields
    return fields.load(context, builder, value, of.place(name))


@unbox(Lent)  # type: ignore[untyped-decorator]
def _write_down(of: Lent, value: Any, c: Any) -> Any:
    """The address of what is lent for one call."""
    if c.context.enable_nrt:
        raise TypeError(f"{of.made_of.__name__} is lent: its kernels are to borrow arrays")
    model = c.context.data_model_manager[of]
    address = cgutils.alloca_once(c.builder, model.struct)
    failed = model.fields.write(c, value, address)
    with c.builder.if_then(failed, likely=False):
        c.pyapi.err_set_string("PyExc_TypeError", f"no {of.made_of.__name__} that it can read")
    return NativeValue(_forget(c.builder, address), is_error=failed)
