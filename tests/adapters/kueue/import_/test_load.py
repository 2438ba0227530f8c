"""The whole way: a dump to a policy that checks, and facts that a core takes."""

import json
from typing import Any

import pytest
from gpol.adapters.kueue.import_.load import ImportRefused, load, read_files
from gpol.dsl.analysis.checker import check_parsed
from gpol.dsl.analysis.digest import digest
from gpol.dsl.syntax.parser import Parsed
from gpol.engine.default_core import new_core
from gpol.engine.facts import PolicyActivated, TimeAdvanced

from ..conftest import Json, Maker

CLUSTER = """
apiVersion: v1
kind: List
items:
- apiVersion: kueue.x-k8s.io/v1beta1
  kind: ClusterQueue
  metadata: {name: owners}
  spec:
    cohort: lab
    namespaceSelector: {}
    preemption: {reclaimWithinCohort: Any, withinClusterQueue: LowerPriority}
    resourceGroups:
    - coveredResources: [cpu, nvidia.com/gpu]
      flavors:
      - name: a100
        resources: [{name: cpu, nominalQuota: 64}, {name: nvidia.com/gpu, nominalQuota: 8}]
- apiVersion: kueue.x-k8s.io/v1beta2
  kind: ClusterQueue
  metadata: {name: guests}
  spec:
    cohortName: lab
    namespaceSelector: {}
    resourceGroups:
    - coveredResources: [cpu, nvidia.com/gpu]
      flavors:
      - name: a100
        resources: [{name: cpu, nominalQuota: 0}, {name: nvidia.com/gpu, nominalQuota: 0}]
- {apiVersion: kueue.x-k8s.io/v1beta1, kind: LocalQueue, metadata: {name: lq, namespace: one}, spec: {clusterQueue: owners}}
- {apiVersion: kueue.x-k8s.io/v1beta1, kind: LocalQueue, metadata: {name: lq, namespace: two}, spec: {clusterQueue: guests}}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ResourceFlavor
metadata: {name: a100}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: Workload
metadata: {name: guest, namespace: two, uid: g, creationTimestamp: "2026-01-03T01:00:00Z"}
spec:
  queueName: lq
  priorityClassSource: kueue.x-k8s.io/workloadpriorityclass
  podSets:
  - {name: main, count: 2, template: {spec: {containers: [{name: c, resources: {requests: {cpu: 4, nvidia.com/gpu: 4}}}]}}}
status:
  admission:
    clusterQueue: guests
    podSetAssignments:
    - {name: main, count: 2, flavors: {cpu: a100, nvidia.com/gpu: a100}, resourceUsage: {cpu: 8, nvidia.com/gpu: 8}}
  conditions:
  - {type: QuotaReserved, status: "True", reason: QuotaReserved, lastTransitionTime: "2026-01-03T01:00:01Z"}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: Workload
metadata: {name: owner, namespace: one, uid: o, creationTimestamp: "2026-01-03T02:00:00Z"}
spec:
  queueName: lq
  podSets:
  - {name: main, count: 1, template: {spec: {containers: [{name: c, resources: {requests: {cpu: 4, nvidia.com/gpu: 4}}}]}}}
"""
"""Guests run on all that the owners own, and an owner comes back; both versions of the objects, in two forms of documents."""


def play(dump: str, kueue: Maker, profile: str | None) -> list[str]:
    """What the first cycle after an import decides."""
    made = load(read_files([("cluster.yaml", dump.encode())]), kueue.now, profile)
    graph = check_parsed(Parsed(made.tree, (), (), "", "kueue.gpol")).graph
    assert graph is not None
    core = new_core()
    core.step(PolicyActivated(time=kueue.now, file="kueue.gpol", text="text", digest=graph.digest), graph)
    for fact in made.facts:
        core.step(fact)
    decided = core.step(TimeAdvanced(time=kueue.now))
    return [f"{decision.kind} {decision.workload} {getattr(decision, 'preemption', '')}".strip() for decision in decided]


@pytest.mark.parametrize("profile", ["kueue.classical", "kueue.fair"])
def test_a_dump_rebuilds_its_cluster(profile: str, kueue: Maker) -> None:
    """The guests hold all GPUs, so the owner waits and takes its own back; nothing else is decided."""
    decided = play(CLUSTER, kueue, profile)
    assert sorted(decided) == ["WorkloadDeferred one/owner", "WorkloadEvicted two/guest reclaim"]


def test_a_policy_that_decides_at_once_takes_over_what_runs(kueue: Maker) -> None:
    """Nothing is decided about who runs before that is known; the owner, submitted last, gets its GPUs back in one go."""
    made = load(read_files([("cluster.yaml", CLUSTER.encode())]), kueue.now, "gpol.fair")
    graph = check_parsed(Parsed(made.tree, (), (), "", "kueue.gpol")).graph
    assert graph is not None
    core = new_core()
    core.step(PolicyActivated(time=kueue.now, file="kueue.gpol", text="text", digest=graph.digest), graph)
    decided = [decision for fact in made.facts for decision in core.step(fact)]
    assert [f"{decision.kind} {decision.workload}" for decision in decided] == ["WorkloadEvicted two/guest", "WorkloadAdmitted one/owner"]


@pytest.mark.parametrize("profile", [None, "kueue.fair", "gpol.fair"])
def test_the_tree_and_its_text_are_one_policy(profile: str | None, kueue: Maker) -> None:
    """What is printed means what the import made, whichever profile it uses."""
    objects = [kueue.queue(cohortName="c", stopPolicy="Hold"), kueue.queue("b"), kueue.flavor(nodeLabels={"a/b": "x y"}), kueue.local()]
    made = kueue.load(*objects, profile=profile)
    graph = check_parsed(Parsed(made.tree, (), (), "", "kueue.gpol")).graph
    printed = kueue.checked(*objects, profile=profile).graph
    assert graph is not None
    assert printed is not None
    assert digest(graph) == digest(printed)


def test_the_same_dump_is_the_same_import(kueue: Maker) -> None:
    """Byte for byte: policy, facts and notes."""
    first, second = (load(read_files([("c", CLUSTER.encode())]), kueue.now) for _ in range(2))
    assert first.tree == second.tree
    assert [fact.payload() for fact in first.facts] == [fact.payload() for fact in second.facts]
    assert first.notes == second.notes


def test_a_cluster_can_come_in_several_files(kueue: Maker) -> None:
    """Objects of several files are one cluster; a problem names the file that its object stands in."""
    queue, flavor = json.dumps(kueue.queue()).encode(), json.dumps(kueue.flavor()).encode()
    assert len(load(read_files([("q.json", queue), ("f.json", flavor)]), kueue.now).tree.items) == 3
    bad = json.dumps(kueue.queue("b", stopPolicy="x")).encode()
    with pytest.raises(
        ImportRefused, match=r"^bad\.json: ClusterQueue b: spec\.stopPolicy: is `x`; write one of None, Hold, HoldAndDrain$"
    ):
        load(read_files([("q.json", queue), ("bad.json", bad)]), kueue.now)


def test_all_problems_are_told_at_once(kueue: Maker) -> None:
    """Twenty, and the number of the rest."""
    queues = [kueue.queue(f"q{number}", stopPolicy="x") for number in range(25)]
    with pytest.raises(ImportRefused) as caught:
        kueue.load(*queues)
    assert (len(caught.value.problems), caught.value.more) == (20, 5)
    assert str(caught.value).endswith("\nand 5 more")


def replaced(value: Any, path: tuple[Any, ...], junk: Any) -> Any:
    """A copy of plain data with something else in one place."""
    if not path:
        return junk
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(value[path[0]], path[1:], junk)
    return copy


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of everything in plain data."""
    steps = list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else []
    return [path, *(place for step, child in steps for place in places(child, (*path, step)))]


def whole(kueue: Maker) -> list[Json]:
    """A cluster in which every kind says nearly everything."""
    pods = kueue.pods(tolerations=[{"key": "t"}], nodeSelector={"a": "1"})
    status = kueue.admitted() | {"admissionChecks": [{"name": "p", "state": "Ready"}], "reclaimablePods": [{"name": "main", "count": 0}]}
    return [
        kueue.queue(
            cohortName="c",
            preemption={"borrowWithinCohort": {"policy": "LowerPriority", "maxPriorityThreshold": 1}},
            namespaceSelector={"matchLabels": {"a": "1"}},
            admissionChecksStrategy={"admissionChecks": [{"name": "p", "onFlavors": ["base"]}]},
            fairSharing={"weight": "2"},
        ),
        kueue.obj("Cohort", "c", {"resourceGroups": [kueue.group(base={"nominalQuota": "1", "lendingLimit": "1"})]}),
        kueue.flavor(nodeLabels={"a": "1"}, nodeTaints=[{"key": "k", "effect": "NoSchedule"}]),
        kueue.local(),
        kueue.obj("WorkloadPriorityClass", "high", value=1),
        kueue.obj("AdmissionCheck", "p", status={"conditions": [kueue.true("Active")]}),
        kueue.obj("Namespace", "ns", labels={"a": "1"}),
        kueue.work(sets=[pods], status=status, creationTimestamp="2026-01-01T00:00:00Z"),
    ]


JUNK = (None, True, -1, 1e30, 2**70, "", "x" * 400, "a\u0000b", [], [None], [[]], {}, {"a": None}, {"": ""})


@pytest.mark.parametrize("index", range(8))
def test_junk_anywhere_is_refused_or_imported_whole(index: int, kueue: Maker) -> None:
    """Whatever stands in any place of an object, the import is refused with reasons, or makes a policy and facts that are taken."""
    objects = whole(kueue)
    seen = 0
    for place in places(objects[index]):
        for junk in JUNK:
            dump = [*objects[:index], replaced(objects[index], place, junk), *objects[index + 1 :]]
            try:
                made = kueue.load(*dump)
            except ImportRefused:
                seen += 1
                continue
            checked = check_parsed(Parsed(made.tree, (), (), "", "kueue.gpol"))
            assert checked.graph is not None, (place, junk, checked.errors)
            core = new_core()
            core.step(PolicyActivated(time=kueue.now, file="f", text="t", digest=checked.graph.digest), checked.graph)
            for fact in made.facts:
                core.step(fact)
    assert seen > 20
