"""What is learned of a PodGroup: the facts between what is known of it and what it is."""

from typing import Any

import pytest
from gpol.adapters.live.learned_facts import Learned
from gpol.adapters.volcano.live.followed_pod_groups import observe_pod_group
from gpol.adapters.volcano.live.pod_group_facts import NamesInCluster, PastDecisions, facts_of_pod_group
from gpol.dsl.analysis.checker import check
from gpol.engine.cores import Core
from gpol.engine.default_core import new_core
from gpol.engine.facts import FACT
from gpol.sim.drive.policy import Policy

Json = dict[str, Any]
GPU = "nvidia.com/gpu"
NOW = 1_800_000_000_000_000
TEXT = """policy "p" { use gpol.fair }
flavor h100 { gpu 8 }
flavor a100 { gpu 8 }
priority high 10
queue one {
  owns 8 gpu on h100
  only h100
}
queue both { owns 6 gpu on a100 }
queue some {
  owns 2 gpu on a100
  for namespaces where label "tier" in "good"
}
"""


class Known:
    """A core under the policy, to which facts are told."""

    def __init__(self) -> None:
        self.core: Core = new_core()
        policy = Policy.of(check(TEXT, "p.gpol"))
        self.core.step(policy.activation(NOW), policy.graph)
        self.names = NamesInCluster(policy.graph, {"gpu": GPU})

    def learn(self, item: Json, is_turned_away: bool = False, is_evicted: bool = False, tier: str = "x") -> Learned:
        """The next facts about a PodGroup; without a `tier`, its namespace was not seen yet."""
        group = observe_pod_group(item).group
        assert group is not None
        past, labels = PastDecisions(is_turned_away, is_evicted), {"tier": tier} if tier else None
        return facts_of_pod_group(group, self.core.view.workload(group.key), past, self.names, labels, NOW)

    def take(self, item: Json, **past: Any) -> list[str]:
        """Learn and tell until there is nothing more; the kinds of the facts."""
        kinds = []
        while facts := self.learn(item, **past).facts:
            for fact in facts:
                self.core.step(fact)
                kinds.append(fact.kind)
        return kinds

    def runs(self) -> bool:
        """Whether the PodGroup is admitted."""
        workload = self.core.view.workload("team/a")
        return workload is not None and workload.admitted is not None


def item(phase: str = "Pending", pods: int = 4, gpus: int = 4, uid: str = "u", **spec: Any) -> Json:
    """A PodGroup as the API server has it, without what a list leaves out."""
    asked = {"minMember": pods, "queue": "one", "minResources": {GPU: str(gpus), "pods": "4", "requests.cpu": "1"}, **spec}
    metadata = {"name": "a", "namespace": "team", "uid": uid, "creationTimestamp": "2026-01-01T00:00:00Z"}
    return {"metadata": metadata, "spec": {name: asked[name] for name in asked if asked[name] is not None}, "status": {"phase": phase}}


def test_a_pod_group_is_submitted_once() -> None:
    """With its queue, its gang by the policy's names, and the labels of its namespace; however far Volcano is with it."""
    known = Known()
    [submitted] = known.learn(item(priorityClassName="high")).facts
    assert (submitted.workload, submitted.queue, submitted.priority, submitted.hold) == ("team/a", "one", "high", False)  # type: ignore[union-attr]
    [pods] = submitted.pod_sets  # type: ignore[union-attr]
    assert (pods.count, dict(pods.requests)) == (4, {"gpu": 1000})
    assert submitted.namespace_labels == {"tier": "x"}  # type: ignore[union-attr]
    assert known.take(item()) == ["WorkloadSubmitted"]
    assert known.runs()
    for phase in ("Inqueue", "Running", "Unknown", "Pending"):
        assert known.take(item(phase)) == []
    assert known.runs()


def test_what_runs_by_no_decision_is_adopted() -> None:
    """Whether it was known before or not: it counts on the only flavor of its queue."""
    known = Known()
    assert known.take(item("Running")) == ["WorkloadSubmitted", "WorkloadAdopted"]
    assert known.runs()
    waits = Known()
    waits.take(item(uid="other", gpus=12, pods=12))
    assert not waits.runs()
    assert waits.take(item("Running", uid="other", gpus=12, pods=12)) == ["WorkloadAdopted"]
    several = Known()
    several.take(item("Running", queue="both"))
    assert "does not say on which flavor: a100, h100 have gpu" in several.learn(item("Running", queue="both")).problem
    assert several.take(item("Pending", queue="both")) == ["WorkloadUpdated"]
    assert several.runs()


def test_an_end() -> None:
    """Completed is finished or cancelled, another uid is another PodGroup, and one that was turned away asks no more."""
    known = Known()
    known.take(item())
    assert known.take(item("Completed")) == ["WorkloadFinished"]
    known.take(item(gpus=12, pods=12))
    assert known.take(item("Completed", gpus=12, pods=12)) == ["WorkloadCancelled"]
    known.take(item())
    assert known.take(item(uid="new")) == ["WorkloadCancelled", "WorkloadSubmitted"]
    assert Known().learn(item(), is_turned_away=True) == Learned()
    assert "it runs, and the policy denies it" in Known().learn(item("Running"), is_turned_away=True).problem
    assert Known().learn(item("Running"), is_turned_away=True, is_evicted=True) == Learned()


def test_changes_while_it_waits() -> None:
    """Another size or queue asks anew; another priority is an update, and none any more asks anew. So do labels that let it in, or not."""
    known = Known()
    known.take(item(gpus=12, pods=12))
    assert known.take(item(gpus=13, pods=13)) == ["WorkloadCancelled", "WorkloadSubmitted"]
    assert known.take(item(gpus=13, pods=13, priorityClassName="high")) == ["WorkloadUpdated"]
    assert known.take(item(gpus=13, pods=13)) == ["WorkloadCancelled", "WorkloadSubmitted"]
    assert known.take(item(gpus=13, pods=13, queue="both")) == ["WorkloadCancelled", "WorkloadSubmitted"]
    assert known.take(item(gpus=13, pods=13, queue="both"), tier="y") == []
    known.take(item(gpus=13, pods=13, queue="some"))
    assert known.take(item(gpus=13, pods=13, queue="some"), tier="z") == []
    assert known.take(item(gpus=13, pods=13, queue="some"), tier="good") == ["WorkloadCancelled", "WorkloadSubmitted"]
    assert known.take(item(gpus=13, pods=13, queue="some"), tier="z") == ["WorkloadCancelled", "WorkloadSubmitted"]


def test_changes_of_what_is_admitted() -> None:
    """It counts as it was admitted, which is told; a priority is followed."""
    known = Known()
    known.take(item())
    assert "have changed since it was admitted" in known.learn(item(gpus=5, pods=5)).problem
    assert known.take(item(priorityClassName="high")) == ["WorkloadUpdated"]


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ({"minResources": None}, "spec.minResources is missing or empty"),
        ({"minResources": {}}, "spec.minResources is missing or empty"),
        ({"queue": "nobody"}, "the policy has no queue `nobody`"),
        ({"queue": None}, "the policy has no queue `default`"),
        ({"priorityClassName": "x"}, "the policy has no priority `x`"),
    ],
)
def test_what_cannot_be_decided(spec: Json, problem: str) -> None:
    """It is named, with what to do."""
    learned = Known().learn(item(**spec))
    assert (learned.facts, problem in learned.problem) == ((), True)
    waits, runs = Known(), Known()
    waits.take(item(gpus=12, pods=12))
    assert waits.take(item(gpus=12, pods=12, **spec)) == ["WorkloadCancelled"]  # it would be decided by what it says no more
    runs.take(item())
    assert runs.take(item(**spec)) == []
    assert runs.runs()


def test_nothing_before_its_namespace_is_seen() -> None:
    """Its labels count, and a rejection by them would be final."""
    assert Known().learn(item(), tier="") == Learned()


def test_what_cannot_be_read() -> None:
    """A PodGroup with a field of another form is a problem by its place."""
    observed = observe_pod_group({**item(), "spec": {"minMember": "x"}})
    assert observed.group is None
    assert "spec.minMember" in observed.problem


def test_one_that_was_evicted_and_still_runs() -> None:
    """It waits, and is adopted by no means; if it is admitted again before Volcano stops it, it runs on."""
    known = Known()
    known.take(item())
    evicted: Any = {"kind": "OperatorAction", "time": NOW, "by": "admin", "action": "evict", "workload": "team/a"}
    known.core.step(FACT.validate_python(evicted))
    assert known.take(item("Running"), is_evicted=True) == []
    assert not known.runs()
