"""A journal as JSON lines: one object an event, each of which can be understood alone."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from ...engine.units import format_time
from .columns import COLUMNS, VERSION, Row

_TIMES = tuple(name for name, kind in COLUMNS.items() if kind == "time")


def json_lines(rows: Iterable[Row]) -> Iterator[str]:
    """Each row as a line without its end: `v`, then every column; times in RFC 3339, what an event does not say null."""
    for row in rows:
        times = {name: format_time(row[name]) for name in _TIMES if row[name] is not None}
        line: dict[str, Any] = {"v": VERSION, **row, **times}
        yield json.dumps(line, ensure_ascii=False, separators=(",", ":"))
