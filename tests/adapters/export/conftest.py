"""What the tests of exports share: one event of every kind, as it is stored."""

from collections.abc import Callable
from pathlib import Path

import pytest
from gpol.journal.records import Recorded, parse

GOLDEN = Path(__file__).parents[2] / "journal" / "golden"


def _stored(kind: str, seq: int = 7) -> Recorded:
    return Recorded(seq, (GOLDEN / f"{kind}_v1.json").read_bytes(), bytes(range(32)))


@pytest.fixture
def stored() -> Callable[..., Recorded]:
    """The stored event of a kind: `stored("WorkloadEvicted", seq=7)`."""
    return _stored


@pytest.fixture
def all_stored() -> list[Recorded]:
    """One event of every kind."""
    found = [Recorded(seq, file.read_bytes(), bytes(32)) for seq, file in enumerate(sorted(GOLDEN.iterdir()), start=1)]
    assert len({parse(each.seq, each.payload).kind for each in found}) == 22
    return found
