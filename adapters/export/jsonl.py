"""A table as JSON lines: one object for each row, which can be understood without the others."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from ...engine.units import format_time
from .columns import EVENT_ROWS
from .table_form import TableForm, TableRow


def json_lines(rows: Iterable[TableRow], form: TableForm = EVENT_ROWS) -> Iterator[str]:
    """Each row as a line without its end: `v`, then every column; times in RFC 3339, what a row does not say null."""
    moments = tuple(name for name, kind in form.columns.items() if kind == "time")
    for row in rows:
        times = {name: format_time(row[name]) for name in moments if row[name] is not None}
        line: dict[str, Any] = {"v": form.version, **row, **times}
        yield json.dumps(line, ensure_ascii=False, separators=(",", ":"))
