"""Parquet: what is read back is what was written, in row groups of bounded size."""

import builtins
import io
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from gpol.adapters.export import parquet
from gpol.adapters.export.columns import COLUMNS, row_of
from gpol.adapters.export.parquet import NoParquetError, write_parquet
from gpol.journal.read.workload_origins import NO_ORIGIN
from gpol.journal.records import Recorded
from pyarrow.parquet import ParquetFile

_AMOUNT = {"flavor": pa.string(), "resource": pa.string(), "amount": pa.int64()}


@pytest.fixture
def rows(all_stored: list[Recorded]) -> list[dict[str, Any]]:
    """A row of every kind."""
    return [row_of(recorded, NO_ORIGIN) for recorded in all_stored]


def _written(rows: list[dict[str, Any]], place: Path) -> ParquetFile:
    with place.open("wb") as file:
        assert write_parquet(iter(rows), file) == len(rows)
    return ParquetFile(place)


def test_rows_come_back(rows: list[dict[str, Any]], tmp_path: Path) -> None:
    """Every value of every kind is read as it was; times as moments in UTC."""
    found = _written(rows, tmp_path / "e.parquet").read().to_pylist()

    moment = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert found == [{**row, "time": moment} for row in rows]


def test_types(rows: list[dict[str, Any]], tmp_path: Path) -> None:
    """Columns have their types in the file, which says the version of the columns."""
    schema = _written(rows, tmp_path / "e.parquet").schema_arrow
    usage = pa.struct([pa.field(name, kind, nullable=False) for name, kind in _AMOUNT.items()])

    assert schema.names == list(COLUMNS)
    assert schema.field("seq").type == pa.int64()
    assert schema.field("time").type == pa.timestamp("us", tz="UTC")
    assert schema.field("is_decision").type == pa.bool_()
    assert schema.field("payload").type == pa.string()
    assert schema.metadata[b"gpol.columns"] == b"1"
    assert schema.field("usage").type.value_type == usage


@pytest.mark.parametrize(
    ("limits", "groups"),
    [
        ({"_CHUNK_ROWS": 1, "_GROUP_ROWS": 5}, [5, 5, 5, 5, 2]),
        ({"_CHUNK_ROWS": 4, "_GROUP_ROWS": 6}, [8, 8, 6]),  # groups are of whole chunks
        ({"_CHUNK_CHARACTERS": 1, "_GROUP_BYTES": 1}, [1] * 22),
        ({}, [22]),
    ],
)
def test_groups_are_bounded(
    rows: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limits: dict[str, int], groups: list[int]
) -> None:
    """A row group ends by rows and by bytes, so memory doesn't depend on how many rows there are; none is lost in between."""
    for name, limit in limits.items():
        monkeypatch.setattr(parquet, name, limit)
    file = _written(rows, tmp_path / "e.parquet")

    assert [file.metadata.row_group(number).num_rows for number in range(file.metadata.num_row_groups)] == groups
    assert [row["kind"] for row in file.read().to_pylist()] == [row["kind"] for row in rows]


def test_nothing_to_write(tmp_path: Path) -> None:
    """No rows make a file with all columns and no row."""
    file = _written([], tmp_path / "e.parquet")

    assert file.metadata.num_rows == 0
    assert file.schema_arrow.names == list(COLUMNS)


def test_without_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where pyarrow is missing, the error names the extra to install."""
    real = builtins.__import__

    def missing(name: str, *arguments: Any, **keywords: Any) -> Any:
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return real(name, *arguments, **keywords)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(NoParquetError, match=r"pip install 'gpol\[parquet\]'"):
        write_parquet(iter(()), io.BytesIO())
