"""Names are numbered in the order in which they are met, and found whatever their hashes are."""

import pytest
from gpol.engine.core import columns as c
from gpol.engine.core import names as module
from gpol.engine.core.names import Names

TOLD = ["w1", "", "ns/w1", "w", "1", "größer", "\udc80", "w1w", *(f"job-{number}" for number in range(1000))]


@pytest.mark.parametrize("bits", [module._HASH, 0, 7])
def test_names_are_told_apart_by_their_bytes(bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where all names have the same hash, or one of eight."""
    monkeypatch.setattr(module, "_HASH", bits)
    names = Names()
    assert names.find("w1") == c.NONE
    assert [names.numbers((name,))[0] for name in TOLD[:8]] == list(range(8))
    assert names.numbers(TOLD) == list(range(len(TOLD)))
    assert [names.find(name) for name in TOLD] == list(range(len(TOLD)))
    assert list(names) == TOLD
    assert names.find("job-1000") == names.find("w2") == c.NONE
    assert len(names) == len(TOLD)


def test_a_name_that_is_told_twice_is_met_once() -> None:
    """Also where both are told at the same time."""
    names = Names()
    assert names.numbers(["a", "b", "a"]) == [0, 1, 0]
    with pytest.raises(IndexError):
        names[2]
