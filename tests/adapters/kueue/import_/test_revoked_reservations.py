"""Reservations in queues that have stopped: kept by who is admitted, taken back from who is not."""

from typing import Any

import pytest

from ..conftest import Json, Maker

TAKEN = "it waits again, as Kueue takes its quota back"


def kinds(kueue: Maker, status: Json, queue: Json, local: Json, **options: Any) -> list[str]:
    """The facts of a workload with this status."""
    made = kueue.load(queue, kueue.flavor(), local, kueue.work(status=status), **options)
    return [fact.kind for fact in made.facts]


@pytest.mark.parametrize("stop", ["Hold", "HoldAndDrain"])
@pytest.mark.parametrize("profile", ["kueue.classical", "gpol.fair"])
def test_who_is_not_admitted_waits_again(kueue: Maker, stop: str, profile: str) -> None:
    """Be it the ClusterQueue or the LocalQueue that is stopped; it is noted, with which of the two."""
    plain, stopped = (kueue.queue(), kueue.local()), (kueue.queue(stopPolicy=stop), kueue.local(stopPolicy=stop))
    for queue, local, where in ((stopped[0], plain[1], "ClusterQueue"), (plain[0], stopped[1], "LocalQueue")):
        assert kinds(kueue, kueue.admitted(), queue, local, profile=profile) == ["WorkloadSubmitted"]
        [note] = kueue.notes(queue, kueue.flavor(), local, kueue.work(status=kueue.admitted()), profile=profile)
        assert note == f"Workload ns/w: status.admission: is of a {where} that is stopped, and not admitted yet: {TAKEN}"


def test_who_waits_again_is_not_on_hold(kueue: Maker) -> None:
    """Nothing but the stopped queue keeps it, so that it runs again when that goes on."""
    [submitted] = kueue.load(kueue.queue(stopPolicy="Hold"), kueue.flavor(), kueue.local(), kueue.work(status=kueue.admitted())).facts
    assert submitted.hold is False


def test_who_is_admitted_stays(kueue: Maker) -> None:
    """In a stopped queue, too: whether it is drained is decided later, by the policy."""
    status = kueue.admitted("a", "base", None, 1, kueue.true("Admitted"))
    for queue, local in ((kueue.queue(stopPolicy="Hold"), kueue.local()), (kueue.queue(), kueue.local(stopPolicy="Hold"))):
        assert kinds(kueue, status, queue, local) == ["WorkloadSubmitted", "WorkloadAdopted"]


def test_a_reservation_stays_where_nothing_is_stopped(kueue: Maker) -> None:
    """A workload whose checks are not ready yet holds its quota; a queue of another namespace or name does not matter."""
    other = kueue.obj("LocalQueue", "lq", {"clusterQueue": "a", "stopPolicy": "Hold"}, namespace="other")
    made = kueue.load(kueue.queue(), kueue.flavor(), kueue.local(), other, kueue.work(status=kueue.admitted()))
    assert [fact.kind for fact in made.facts] == ["WorkloadSubmitted", "WorkloadAdopted"]


def test_a_cluster_queue_that_is_being_deleted_is_stopped(kueue: Maker) -> None:
    """Kueue takes back what is not admitted there, too."""
    queue = kueue.queue()
    queue["metadata"]["deletionTimestamp"] = "2026-01-03T01:00:00Z"
    assert kinds(kueue, kueue.admitted(), queue, kueue.local()) == ["WorkloadSubmitted"]
