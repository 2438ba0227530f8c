"""What a table of exported rows looks like: its columns with their types, and the version of them that a file says."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

FieldType = Literal["integer", "text", "integer or null", "text or null"]
"""What a field of an object in a list holds."""

ObjectFields = Mapping[str, Mapping[str, FieldType]]
"""The fields of the objects in a list, by the name of the list's type."""

TableRow = dict[str, Any]
"""Values by column, in the order of the columns. Times are microseconds since the epoch; absent values are None."""


@dataclass(frozen=True, slots=True)
class TableForm:
    """A table: columns with their types, in order. A type is plain (`integer`, `text`, `boolean`, `time`), or one of `objects`.

    Under the same `version` no column is renamed, removed or given another meaning. A Parquet file says it under `key` of its metadata, a
    line of JSON as `v`.
    """

    key: str
    version: int
    columns: Mapping[str, str]
    objects: ObjectFields
