"""The tables as numba sees them: one pointer to a block that says where each table is and how long and wide it is.

Passing the arrays to every kernel made the compiled code more than three times as large, and compiling it twice as long. The block never
changes while a kernel runs, so the compiler may read an address once.
"""

import operator
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.core.imputils import lower_getattr_generic
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_global, signature
from numba.extending import infer_getattr, intrinsic, lower_builtin, overload, register_model

from ..engine.core.tables import Ints, Narrow

_WORDS = 5
"""Words of the block for each table: its address and up to four lengths."""

_INT = ir.IntType(64)


class TablesType(types.Type):  # type: ignore[misc]
    """All tables of one set, each by its name with its dimensions; those that are `narrow` are of 32-bit integers."""

    def __init__(self, dimensions: Mapping[str, int], narrow: Collection[str]) -> None:
        found = enumerate(dimensions.items())
        self.tables = {name: TableType(number, count, 32 if name in narrow else 64) for number, (name, count) in found}
        super().__init__(f"Tables({', '.join(f'{name} {table.dimensions} {table.bits}' for name, table in self.tables.items())})")


class TableType(types.Type):  # type: ignore[misc]
    """A table: its place in its set, its dimensions, and how many bits its integers have."""

    def __init__(self, number: int, dimensions: int, bits: int) -> None:
        self.number, self.dimensions, self.bits = number, dimensions, bits
        super().__init__(f"Table({number}, {dimensions}, {bits})")


def address_block(kind: TablesType, tables: Sequence[Ints | Narrow]) -> Ints:
    """The block for some tables of that type; they must live as long as it is used."""
    block = np.zeros(_WORDS * len(tables), np.int64)
    for (number, table), type_ in zip(enumerate(tables), kind.tables.values(), strict=True):
        assert table.flags.c_contiguous
        assert table.dtype == f"int{type_.bits}"
        block[_WORDS * number] = table.ctypes.data
        block[_WORDS * number + 1 : _WORDS * number + 1 + table.ndim] = table.shape
    return block


@register_model(TablesType)
@register_model(TableType)
class _Pointer(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, type_: Any) -> None:
        super().__init__(manager, type_, _INT.as_pointer())


def tables_reader(tables: TablesType) -> Any:
    """A function for compiled code: the tables whose block is at an address."""

    def generate(context: Any, builder: Any, called: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], _INT.as_pointer())

    @intrinsic  # type: ignore[untyped-decorator]
    def tables_at(typing: Any, address: Any) -> Any:
        return tables(types.int64), generate

    return tables_at


@infer_getattr
class _Attributes(AttributeTemplate):  # type: ignore[misc]
    key = TablesType

    def generic_resolve(self, tables: Any, name: str) -> Any:
        return tables.tables.get(name)


@lower_getattr_generic(TablesType)  # type: ignore[untyped-decorator]
def _table(context: Any, builder: Any, type_: Any, value: Any, name: str) -> Any:
    return value


def _word(builder: Any, block: Any, at: int) -> Any:
    found = builder.load(builder.gep(block, [ir.Constant(_INT, at)]))
    found.set_metadata("invariant.load", builder.module.add_metadata([]))
    return found


def _address(context: Any, builder: Any, table: Any, block: Any, index_type: Any, index: Any) -> Any:
    """Where an item is: the indices are not negative, and lie in the table."""
    parts, kinds = [index], [index_type]
    if isinstance(index_type, types.BaseTuple):
        parts, kinds = cgutils.unpack_tuple(builder, index, len(index_type)), list(index_type)
    parts = [context.cast(builder, part, kind, types.int64) for part, kind in zip(parts, kinds, strict=True)]
    first, offset = _WORDS * table.number, parts[0]
    for dimension, part in enumerate(parts[1:], 1):
        offset = builder.add(builder.mul(offset, _word(builder, block, first + 1 + dimension)), part)
    return builder.gep(builder.inttoptr(_word(builder, block, first), ir.IntType(table.bits).as_pointer()), [offset])


def _index(table: Any, index: Any) -> Any:
    """The type of a whole index of a table; None for all else."""
    count = len(index) if isinstance(index, types.BaseTuple) else 1
    if not isinstance(table, TableType) or count != table.dimensions:
        return None
    return types.UniTuple(types.int64, count) if count > 1 else types.int64


@infer_global(operator.getitem)
class _Reads(AbstractTemplate):  # type: ignore[misc]
    def generic(self, arguments: Any, _: Any) -> Any:
        index = _index(*arguments)
        return None if index is None else signature(types.int64, arguments[0], index)


@infer_global(operator.setitem)
class _Writes(AbstractTemplate):  # type: ignore[misc]
    def generic(self, arguments: Any, _: Any) -> Any:
        index = _index(*arguments[:2])
        return None if index is None else signature(types.none, arguments[0], index, types.int64)


@lower_builtin(operator.getitem, TableType, types.Any)  # type: ignore[untyped-decorator]
def _read(context: Any, builder: Any, called: Any, arguments: Any) -> Any:
    found = builder.load(_address(context, builder, called.args[0], arguments[0], called.args[1], arguments[1]))
    return builder.sext(found, _INT)


@lower_builtin(operator.setitem, TableType, types.Any, types.Any)  # type: ignore[untyped-decorator]
def _write(context: Any, builder: Any, called: Any, arguments: Any) -> Any:
    value = context.cast(builder, arguments[2], called.args[2], types.int64)
    value = builder.trunc(value, ir.IntType(called.args[0].bits))
    builder.store(value, _address(context, builder, called.args[0], arguments[0], called.args[1], arguments[1]))
    return context.get_dummy_value()


@intrinsic  # type: ignore[untyped-decorator]
def _length(typing: Any, table: Any) -> Any:
    def generate(context: Any, builder: Any, called: Any, arguments: Any) -> Any:
        return _word(builder, arguments[0], _WORDS * table.number + 1)

    return types.int64(table), generate


@overload(len)  # type: ignore[untyped-decorator]
def _len(table: Any) -> Any:
    def implementation(table: Any) -> Any:  # numba wants the same signature
        return _length(table)

    return implementation if isinstance(table, TableType) else None


INT = numba.int64
