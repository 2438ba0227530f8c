"""JSON lines: every row whole on its line."""

import json

from gpol.adapters.export.columns import COLUMNS, row_of
from gpol.adapters.export.jsonl import json_lines
from gpol.journal.read.workload_origins import NO_ORIGIN
from gpol.journal.records import Recorded

TIMES = ("time", "submitted")


def test_lines_are_rows(all_stored: list[Recorded]) -> None:
    """A line begins with the version, has every column in order, and says what the row says; times are RFC 3339."""
    rows = [row_of(recorded, NO_ORIGIN) for recorded in all_stored]
    lines = list(json_lines(rows))

    for row, line in zip(rows, lines, strict=True):
        found = json.loads(line)
        assert line.startswith('{"v":1,"seq":')
        assert "\n" not in line
        assert list(found) == ["v", *COLUMNS]
        assert found["time"] == "2026-01-02T03:04:05Z"
        assert found["submitted"] is None
        assert {name: found[name] for name in COLUMNS if name not in TIMES} == {name: row[name] for name in COLUMNS if name not in TIMES}
