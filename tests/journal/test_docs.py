"""The pages on events and audit say what is so: every example is a golden payload, the schema is the file's, the script works."""

import re
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest
from gpol.engine.events import AnyEvent
from gpol.journal.journal import Journal

pytestmark = pytest.mark.sqlite

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "events.md").read_text(encoding="utf-8")


def test_every_kind_has_its_golden_example() -> None:
    """Each kind is named in bold, and its example is the golden payload, byte for byte."""
    examples = re.findall(r'^    (\{"kind":.*\})$', PAGE, re.MULTILINE)
    golden = [file.read_text(encoding="utf-8") for file in (ROOT / "tests" / "journal" / "golden").iterdir()]

    assert sorted(examples) == sorted(golden)
    for kind in get_args(AnyEvent):
        assert f"**{kind.__name__}**" in PAGE


def test_every_field_is_described() -> None:
    """Every field of every kind stands in code type on the page, and in the part on its own kind where it is not common to all."""
    parts = re.split(r"^(?=\*\*)", PAGE, flags=re.MULTILINE)
    for kind in get_args(AnyEvent):
        (part,) = [part for part in parts if f"**{kind.__name__}**" in part]
        for field in kind.model_fields:
            assert f"`{field}`" in (PAGE if field in ("kind", "v", "time", "cause") else part), f"{kind.__name__}.{field}"


def test_schema(journal: Journal, place: Path) -> None:
    """The tables on the page are those of a journal, and the described meta rows are there."""
    connection = sqlite3.connect(place)
    tables = [sql for (sql,) in connection.execute("SELECT sql FROM sqlite_master WHERE type = 'table' ORDER BY name")]
    meta = dict(connection.execute("SELECT key, value FROM meta"))
    connection.close()

    assert re.findall(r"^    (CREATE TABLE .*)$", PAGE, re.MULTILINE) == [
        re.sub(r"\s+", " ", sql).replace("( ", "(").replace(" )", ")") for sql in tables
    ]
    assert meta == {"format": "gpol journal", "version": "1"}


def _run(script: str, place: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", script, str(place)], capture_output=True, text=True, check=False)


def test_script(journal: Journal, place: Path, history) -> None:
    """The script on the page prints the head of a good journal and names the first altered event of another."""
    (script,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    journal.append(history(5))
    head = journal.head
    journal.close()
    assert _run(script, place).stdout == f"{head.seq} {head.chain.hex()}\n"

    connection = sqlite3.connect(place)
    connection.execute("DROP TRIGGER events_no_update")
    connection.execute("UPDATE events SET payload = x'7b7d' WHERE seq = 3")
    connection.commit()
    connection.close()
    assert _run(script, place).stderr == "event 3 is missing or was altered\n"
