"""The functions of KAI's quota agree with KAI's own unit tables."""

from pathlib import Path

import pytest
from kai_tables import TABLES, UnitTable, mismatches


@pytest.mark.parametrize("table", [pytest.param(table, id=table.file) for table in TABLES])
def test_every_case_of_a_table_matches(table: UnitTable, kai_data: Path) -> None:
    """Every case of a table gives what KAI's function gave, and there are as many as the README says."""
    count, differing = mismatches(kai_data, table)
    assert differing == {}
    assert count == table.count
