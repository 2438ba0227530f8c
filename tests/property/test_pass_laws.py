"""The laws of deciding by passes, under the profiles of KAI, Volcano and Armada, over drawn submissions and ends on nodes in racks."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import pytest
from by_passes import Passes, policy
from gpol.engine.default_core import new_core
from gpol.engine.elastic.pod_counts import running_pods
from gpol.engine.events import WorkloadAdmitted, WorkloadEvicted
from hypothesis import given
from hypothesis import strategies as st

NODES = {"n1": 8, "n2": 8, "n3": 4}
RACKS = {"n1": "r1", "n2": "r2", "n3": "r2"}
OWNED = """cohort all {
  queue q { owns 8 gpu }
  queue r {
    owns 4 gpu
    uses up to 16 gpu
  }
}
"""
WEIGHTED = "queue q {\n  weight 1\n}\nqueue r {\n  weight 2\n}\n"
POLICIES = {
    "kai.default": policy("kai.default", OWNED),
    "volcano.proportion": policy("volcano.proportion", WEIGHTED),
    "volcano.capacity": policy("volcano.capacity", OWNED),
    "volcano.drf": policy("volcano.drf", WEIGHTED),
    "armada.default": policy("armada.default", WEIGHTED, "  place pods by evicts asc, free gpu asc\n"),
}


@dataclass(frozen=True)
class Job:
    """What is submitted: so many pods of so many GPUs, within a rack or anywhere; or, with `ends`, the end of one that runs.

    So many of the pods are `surplus`, where the profile knows any.
    """

    queue: str
    pods: int
    gpu: int
    priority: int
    within: bool
    surplus: int
    ends: int | None


JOBS = st.lists(
    st.builds(
        Job,
        queue=st.sampled_from("qr"),
        pods=st.integers(1, 4),
        gpu=st.integers(1, 8),
        priority=st.sampled_from([0, 50, 200]),
        within=st.booleans(),
        surplus=st.integers(0, 3),
        ends=st.none() | st.integers(0, 5),
    ),
    min_size=1,
    max_size=14,
)


def _hold(cluster: Passes) -> None:
    """No node is exceeded, and everybody who runs has nodes for as many pods as it needs, in one rack if it asked for that."""
    used = Counter[str]()
    for workload in cluster.core.view.workloads():
        if workload.admitted is None:
            continue
        [pod_set] = workload.fact.pod_sets
        places = cluster.places(workload.name)
        assert (pod_set.minimum or pod_set.count) <= sum(places.values()) <= pod_set.count
        assert sum(places.values()) == sum(running_pods(workload))
        assert not pod_set.within or len({RACKS[node] for node in places}) == 1
        for node, pods in places.items():
            used[node] += pods * pod_set.requests["gpu"]
    assert all(used[node] <= NODES[node] * 1000 for node in used)


def _charged(cluster: Passes) -> None:
    """What each queue is charged is what its workloads hold, and no queue exceeds its limit."""
    graph = cluster.core.graph
    assert graph is not None
    for queue in graph.queues:
        running = [each for each in cluster.core.view.workloads() if each.queue == queue.node and each.admitted is not None]
        held = sum(sum(running_pods(each)) * each.fact.pod_sets[0].requests["gpu"] for each in running)
        assert cluster.core.view.used(queue.node, 0) == held
        terms = graph.nodes[queue.node].terms
        assert terms is None or terms.limits[0] is None or held <= terms.limits[0]


def _play(profile: str, jobs: list[Job]) -> Passes:
    """A cluster after all jobs, with cycles after each: at most 12, as some systems never come to rest."""
    cluster = Passes(POLICIES[profile], NODES, RACKS)
    for number, job in enumerate(jobs):
        running = cluster.running()
        if job.ends is not None and running:
            cluster.finish(running[job.ends % len(running)])
        else:
            said: dict[str, Any] = {"within": "rack"} if job.within else {}
            if profile != "armada.default" and job.surplus:
                said["minimum"] = max(1, job.pods - job.surplus)
            pod_set = {"count": job.pods, "requests": {"gpu": str(job.gpu)}, **said}
            cluster.submit(f"w{number}", job.queue, sets=[pod_set], priority=job.priority)
        for _ in range(12):
            if cluster.core.next_wake() is None:
                break
            cluster.cycle()
            evicted = [each.workload for each in cluster.decided if isinstance(each, WorkloadEvicted)]
            admitted = [each.workload for each in cluster.decided if isinstance(each, WorkloadAdmitted)]
            assert len({*evicted, *admitted}) == len(evicted) + len(admitted)
            _hold(cluster)
            _charged(cluster)
    return cluster


@pytest.mark.parametrize("profile", sorted(POLICIES))
@given(jobs=JOBS)
def test_what_is_decided_is_possible(profile: str, jobs: list[Job]) -> None:
    """Nodes, limits and gangs hold after every cycle, and nobody is admitted and evicted in one."""
    _play(profile, jobs)


@pytest.mark.parametrize("profile", sorted(POLICIES))
@given(jobs=JOBS, part=st.integers(1, 200))
def test_replay_in_parts(profile: str, jobs: list[Job], part: int) -> None:
    """Recorded events give the same state, and a state from bytes goes on as the one from which they are."""
    cluster = _play(profile, jobs)
    core = new_core()
    for number, (event, graph) in enumerate(cluster.history, 1):
        core.apply(event, graph)
        if number == part:
            core = core.copy()
    assert core.freeze() == cluster.core.freeze()
    assert core.next_wake() == cluster.core.next_wake()
