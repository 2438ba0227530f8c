"""A table as a Parquet file, which DuckDB, pandas and most databases read. Needs pyarrow, the extra `parquet`."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, BinaryIO

from .columns import EVENT_ROWS
from .table_form import TableForm, TableRow

if TYPE_CHECKING:
    import pyarrow as pa

_CHUNK_ROWS = 2_000
"""Rows that are held as Python's objects; beyond, they are kept as columns, which take a fraction of the room."""

_CHUNK_CHARACTERS = 4 << 20
"""The same for what their payloads have."""

_GROUP_ROWS = 100_000
_GROUP_BYTES = 64 << 20
"""A row group ends at this many rows or bytes, so that memory does not depend on the journal's length."""


class NoParquetError(Exception):
    """Parquet files cannot be written here; the message says what is missing and how to get it."""


def write_parquet(rows: Iterable[TableRow], file: BinaryIO, form: TableForm = EVENT_ROWS) -> int:
    """Write rows into a file, a row group at a time, and return how many there were. Raises NoParquetError where pyarrow is missing."""
    _require_pyarrow()
    from pyarrow.parquet import ParquetWriter

    written = 0
    with ParquetWriter(file, arrow_schema(form), compression="zstd") as writer:
        group = _Group(writer, arrow_schema(form))
        chunk: list[TableRow] = []
        characters = 0
        for row in rows:
            chunk.append(row)
            characters += len(row["payload"] or "")
            written += 1
            if len(chunk) >= _CHUNK_ROWS or characters >= _CHUNK_CHARACTERS:
                group.add(chunk)
                chunk, characters = [], 0
        group.add(chunk)
        group.end()
    return written


def arrow_schema(form: TableForm = EVENT_ROWS) -> "pa.Schema":
    """The columns in Arrow's types: 64-bit integers, text, booleans, moments in UTC, lists of structs."""
    import pyarrow as pa

    plain = {"integer": pa.int64(), "text": pa.string(), "boolean": pa.bool_(), "time": pa.timestamp("us", tz="UTC")}
    lists = {
        name: pa.list_(pa.struct([_field(field, plain[kind.removesuffix(" or null")], kind) for field, kind in fields.items()]))
        for name, fields in form.objects.items()
    }
    types = plain | lists
    return pa.schema([pa.field(name, types[kind]) for name, kind in form.columns.items()], {form.key: str(form.version)})


def _field(name: str, of: "pa.DataType", kind: str) -> "pa.Field":
    import pyarrow as pa

    return pa.field(name, of, nullable=kind.endswith(" or null"))


class _Group:
    """A row group that is being filled."""

    def __init__(self, writer: "pa.parquet.ParquetWriter", schema: "pa.Schema") -> None:
        self._writer = writer
        self._schema = schema
        self._chunks: list[pa.RecordBatch] = []

    def add(self, rows: list[TableRow]) -> None:
        """Take in rows; a group that is full is written."""
        import pyarrow as pa

        columns = [pa.array([row[field.name] for row in rows], type=field.type) for field in self._schema]
        self._chunks.append(pa.RecordBatch.from_arrays(columns, schema=self._schema))
        rows_held, bytes_held = sum(chunk.num_rows for chunk in self._chunks), sum(chunk.nbytes for chunk in self._chunks)
        if rows_held >= _GROUP_ROWS or bytes_held >= _GROUP_BYTES:
            self.end()

    def end(self) -> None:
        """Write what is held as one row group."""
        import pyarrow as pa

        table = pa.Table.from_batches(self._chunks, self._schema)
        self._chunks = []
        if table.num_rows:
            self._writer.write_table(table, row_group_size=table.num_rows)


def _require_pyarrow() -> None:
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        raise NoParquetError("Parquet files are written by pyarrow, which is not installed; pip install 'gpol[parquet]'") from None
