"""Taking fields away, what may be deleted, and the pace of writes."""

import pytest
from gpol.adapters.live.guard import object_writes
from gpol.adapters.live.guard.object_writes import RepairPace, delete_refused, without_extra

NOW = {"metadata": {"name": "a", "uid": "u", "resourceVersion": "7"}}


def test_a_field_is_taken_away_at_one_version() -> None:
    """The patch names the field alone, and is taken only while the object is as it was read."""
    patch = without_extra(NOW, ("f:spec", "f:preemption", "f:borrowWithinCohort"))

    assert patch == {"metadata": {"uid": "u", "resourceVersion": "7"}, "spec": {"preemption": {"borrowWithinCohort": None}}}


@pytest.mark.parametrize(
    ("metadata", "has_label", "is_asked", "said"),
    [
        ({}, True, True, ""),
        ({}, False, True, "has lost the label of this guard"),
        ({}, True, False, "deletes nothing as it is set up"),
        ({"deletionTimestamp": "2026-01-01T00:00:00Z"}, True, True, "finalizers keep it"),
    ],
)
def test_what_is_deleted(metadata: dict[str, str], has_label: bool, is_asked: bool, said: str) -> None:
    """Only what has the guard's label, if that is wanted, and once."""
    refused = delete_refused({"metadata": metadata}, has_label, is_asked)

    assert said in refused
    assert bool(said) is bool(refused)


def test_writes_slow_down(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first one comes at once, each further one after twice the pause before it; after a quiet time all is forgotten."""
    now = 1000.0
    monkeypatch.setattr(object_writes, "monotonic", lambda: now)
    pace = RepairPace(first_pause=1, longest_pause=6, forget=100)
    waits = []
    for _ in range(5):
        waits.append(pace.seconds_to_wait("a"))
        pace.written("a")
    assert waits == [0, 1, 2, 4, 6]
    assert pace.seconds_to_wait("b") == 0
    now += 4
    assert pace.seconds_to_wait("a") == 2
    now += 100
    assert pace.seconds_to_wait("a") == 0
    pace.written("a")
    assert pace.seconds_to_wait("a") == 1
