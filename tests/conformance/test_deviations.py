"""The deviations from Kueue that can be seeded still have their place, and docs/testing.md says which suites see each."""

import re
from pathlib import Path

from conform import SUITES
from deviations import DEVIATIONS


def test_every_deviation_has_its_place(root: Path) -> None:
    """What a deviation replaces stands in its file exactly once, so that restructuring the core brings the script up to date."""
    counts = {deviation.what: (root / deviation.file).read_text().count(deviation.right) for deviation in DEVIATIONS}
    assert {what: count for what, count in counts.items() if count != 1} == {}


def test_every_deviation_has_its_row(root: Path) -> None:
    """The table lists every deviation by number with its file and at least one suite that sees it, and no other."""
    page = (root / "docs" / "testing.md").read_text()
    rows = re.findall(r"^\| K(\d+) \| (.+?) \| `([\w./]+)` \| (.+) \|$", page, re.MULTILINE)
    assert [(int(number), what, file) for number, what, file, _ in rows] == [
        (number, deviation.what, deviation.file) for number, deviation in enumerate(DEVIATIONS, start=1)
    ]
    names = {suite.name for suite in SUITES}
    for _, what, _, seen in rows:
        by = re.findall(r"`(\w+)` [1-9]\d*", seen)
        assert by, what
        assert set(by) <= names
