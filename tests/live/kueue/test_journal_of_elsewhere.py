"""A journal of another cluster, system or way, or of a simulation, is not gone on with: its workloads would be taken for gone."""

from pathlib import Path

import pytest
from failing_cluster import FailingCluster, play
from fake_kinds import NAMESPACE
from gpol.adapters.live.decider import LiveDecider
from gpol.adapters.live.journal_place import JournalPlace
from gpol.adapters.live.stamps import Stamps
from gpol.console.policy_file import read_policy
from gpol.engine.default_core import thaw
from gpol.engine.facts import PolicyActivated, SimulationStarted, WorkloadCancelled


def kube_system(cluster: FailingCluster) -> str:
    """Let the namespace kube-system be made anew, as in another cluster; its uid."""
    if any(item["metadata"]["name"] == "kube-system" for item in cluster.store.list(NAMESPACE)["items"]):
        cluster.store.delete(NAMESPACE, "kube-system")
    made = cluster.store.create(NAMESPACE, {"metadata": {"name": "kube-system"}})
    return str(made["metadata"]["uid"])


def begin_journal(cluster: FailingCluster, note: str, is_simulated: bool = False) -> None:
    """A journal with a policy that says where it was activated."""
    with LiveDecider.open(str(cluster.journal), lambda frozen: thaw(*frozen), Stamps) as decider:
        decider.by, decider.note = ("gpol serve" if note else ""), note
        decider.activate(read_policy(cluster.folder / "policy.gpol"))
        decider.begin(lambda events: None)
        if is_simulated:
            decider.play(SimulationStarted(time=decider.moment, on_evict="restart", source="jobs.csv", source_digest=f"sha256:{'0' * 64}"))
        decider.commit(lambda events: None)


def test_the_journal_of_another_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is decided with it and nobody taken for gone; in its own cluster all goes on, and where nobody may know the cluster."""

    async def act(cluster: FailingCluster) -> None:
        uid = kube_system(cluster)
        async with cluster.gpol():
            cluster.kueue.submit("a", 4)
            await cluster.until(lambda: cluster.kueue.running == {"a"})
        [activated] = cluster.events(PolicyActivated)
        assert (activated.by, activated.note) == ("gpol serve", f"kueue.way decide, cluster {uid}")
        other = kube_system(cluster)
        events = len(cluster.events())
        async with cluster.gpol() as service:
            cluster.kueue.submit("b", 2)
            told = f"belongs to another cluster: the uid of kube-system is {uid} there, and {other} here; name another journal"
            await cluster.until(lambda: told in service.health.problems().get("journal", ""))
            await cluster.settle()
            assert cluster.kueue.running == {"a"}
        assert len(cluster.events()) == events
        cluster.store.delete(NAMESPACE, "kube-system")
        async with cluster.gpol():
            await cluster.until(lambda: cluster.kueue.running == {"a", "b"})
        assert not cluster.events(WorkloadCancelled)

    play(monkeypatch, tmp_path, act)


@pytest.mark.parametrize(
    ("note", "is_simulated", "told"),
    [
        ("volcano.way decide", False, "by gpol with `volcano.way: decide`, and this one works with `kueue.way: decide`"),
        ("kueue.way watch", False, "by gpol with `kueue.way: watch`, and this one works with `kueue.way: decide`"),
        ("", True, "is the journal of a simulation"),
    ],
)
def test_the_journal_of_something_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, note: str, is_simulated: bool, told: str) -> None:
    """It is refused; a journal without such a note, which is none of a simulation, is taken."""

    async def act(cluster: FailingCluster) -> None:
        begin_journal(cluster, note, is_simulated)
        async with cluster.gpol() as service:
            cluster.kueue.submit("a", 4)
            await cluster.until(lambda: told in service.health.problems().get("journal", ""))
            await cluster.settle()
            assert not cluster.kueue.running
        cluster.journal.unlink()
        begin_journal(cluster, "")
        async with cluster.gpol():
            await cluster.until(lambda: cluster.kueue.running == {"a"})

    play(monkeypatch, tmp_path, act)


def test_places_are_read_as_they_are_written() -> None:
    """Another text is none."""
    for place in (JournalPlace("kueue", "watch", ""), JournalPlace("volcano", "decide", "0-1")):
        assert JournalPlace.read(place.note) == place
    assert JournalPlace.read("asked for by the owner") is None
