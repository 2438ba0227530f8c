"""Facts: what rebuilds the state of a cluster, and what is left out of it by name."""

from typing import Any

import pytest
from gpol.engine.default_core import new_core
from gpol.engine.events import WorkloadAdmitted
from gpol.engine.facts import PolicyActivated, TimeAdvanced, WorkloadAdopted, WorkloadSubmitted, WorkloadUpdated
from gpol.engine.units import SECOND

from ..conftest import Json, Maker

HOUR = 3_600_000_000


def facts(kueue: Maker, *objects: Json, **options: Any) -> list[Any]:
    """The facts of workloads beside a ClusterQueue `a` with its flavor and LocalQueue."""
    return list(kueue.load(kueue.queue(), kueue.flavor(), kueue.local(), *objects, **options).facts)


def kinds(found: list[Any]) -> list[str]:
    """The kinds of facts."""
    return [fact.kind for fact in found]


def test_a_pending_workload_is_submitted(kueue: Maker) -> None:
    """With all that its object says, by its local queue, at the moment of the import."""
    pods = kueue.pods(count=3, requests={"cpu": "2"}, nodeSelector={"zone": "b"}, tolerations=[{"key": "t", "operator": "Exists"}])
    affinity = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "In", "values": ["1"]}]}]}
    pods["template"]["spec"]["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": affinity}}
    pods |= {"minCount": 1, "topologyRequest": {"podSetGroupName": "g"}}
    work = kueue.work(sets=[pods], spec={"priority": 7}, uid="u-1", creationTimestamp="2026-01-03T02:04:05Z", labels={"k": "v"})
    (fact,) = facts(kueue, work, kueue.obj("Namespace", "ns", labels={"dep": "x"}))
    assert isinstance(fact, WorkloadSubmitted)
    assert (fact.workload, fact.local_queue, fact.queue, fact.namespace) == ("ns/w", "ns/lq", None, "ns")
    assert (fact.time, fact.created, fact.uid, fact.priority, fact.boost) == (kueue.now, kueue.now - HOUR, "u-1", 7, 0)
    assert (fact.labels, fact.namespace_labels) == ({"k": "v"}, {"dep": "x"})
    (only,) = fact.pod_sets
    assert (only.name, only.count, only.min_count, only.requests, only.group) == ("main", 3, 1, {"cpu": 2000}, "g")
    assert (only.node_selector, [each.key for each in only.tolerations]) == ({"zone": "b"}, ["t"])
    assert [[each.key for each in term] for term in only.affinity] == [["a"]]


def test_an_admitted_workload_is_adopted(kueue: Maker) -> None:
    """In the queue that charges it, since its reservation, with what it is charged."""
    submitted, adopted = facts(kueue, kueue.work(status=kueue.admitted(usage={"cpu": "3"})))
    assert isinstance(submitted, WorkloadSubmitted)
    assert isinstance(adopted, WorkloadAdopted)
    assert (adopted.workload, adopted.queue, adopted.since, adopted.evicting) == ("ns/w", "a", kueue.now - 2 * HOUR - 245_000_000, False)
    assert [(given.pod_set, given.count, given.flavors, given.usage) for given in adopted.placements] == [
        ("main", 1, {"cpu": "base"}, {"cpu": 3000})
    ]


def test_what_is_charged_of_no_flavor_counts_for_nothing(kueue: Maker) -> None:
    """As in Kueue; a reservation of nothing at all is still one."""
    status = kueue.admitted(usage={"cpu": "1"})
    status["admission"]["podSetAssignments"][0]["flavors"] = {}
    adopted = facts(kueue, kueue.work(status=status))[1]
    assert [(given.flavors, given.usage) for given in adopted.placements] == [({}, {})]
    status["admission"]["podSetAssignments"] = []
    assert [given.count for given in facts(kueue, kueue.work(status=status))[1].placements] == [0]


def test_a_workload_that_is_being_evicted(kueue: Maker) -> None:
    """It still holds its quota in a policy that decides in cycles; in one that decides at once it waits again."""
    work = kueue.work(status=kueue.admitted("a", "base", None, 1, kueue.true("Evicted", "Preempted")))
    assert facts(kueue, work)[1].evicting
    assert kinds(facts(kueue, work, profile="gpol.fair")) == ["WorkloadSubmitted"]
    objects = [kueue.queue(), kueue.flavor(), kueue.local(), work]
    assert "has been told to stop" in kueue.notes(*objects, profile="gpol.fair")[0]


def test_what_is_known_of_a_workload_comes_before_its_adoption(kueue: Maker) -> None:
    """Checks, pods that are done and when it waits again are one update, so that nothing is charged twice."""
    status = kueue.admitted("a", "base", {"cpu": "4"}, 4, kueue.true("Evicted", "AdmissionCheck", "2026-01-03T02:04:05Z"))
    status |= {"admissionChecks": [{"name": "p", "state": "Retry"}], "reclaimablePods": [{"name": "main", "count": 3}]}
    found = facts(kueue, kueue.work(sets=[kueue.pods(count=4)], status=status))
    assert kinds(found) == ["WorkloadSubmitted", "WorkloadUpdated", "WorkloadAdopted"]
    update = found[1]
    assert isinstance(update, WorkloadUpdated)
    assert (update.checks, update.reclaimable, update.requeued, update.hold) == ({"p": "Retry"}, {"main": 3}, kueue.now - HOUR, None)
    assert [(given.count, given.usage) for given in found[2].placements] == [(1, {"cpu": 1000})]


def test_workloads_that_kueue_does_not_queue_are_held(kueue: Maker) -> None:
    """Held with a note that says why; one that backs off, until then."""
    idle = kueue.work("idle", spec={"active": False})
    later = kueue.work("later", status={"requeueState": {"requeueAt": "2026-01-03T04:00:00Z"}})
    past = kueue.work("past", status={"requeueState": {"requeueAt": "2026-01-03T03:04:05Z"}})
    made = kueue.load(kueue.queue(), kueue.flavor(), kueue.local(), idle, later, past)
    assert [fact.workload for fact in made.facts if isinstance(fact, WorkloadSubmitted) and fact.hold] == ["ns/idle", "ns/later"]
    assert [str(note) for note in made.notes] == [
        "Workload ns/later: is held: it backs off until 2026-01-03T04:00:00Z; release it then",
        "Workload ns/idle: is held: it is not active",
    ]


def test_a_misconfigured_workload_blocks_a_strict_queue(kueue: Maker) -> None:
    """It is turned away whenever it is its turn, and in a strict queue it is always its turn."""
    pods = kueue.pods(requests={"cpu": "1"})
    pods["template"]["spec"]["containers"][0]["resources"]["limits"] = {"cpu": "500m"}
    wrong, right = kueue.work("wrong", sets=[pods], spec={"priority": 7}), kueue.work("right")
    objects = [kueue.queue(queueingStrategy="StrictFIFO"), kueue.flavor(), kueue.local(), wrong, right]
    made, graph, core = kueue.load(*objects), kueue.checked(*objects).graph, new_core()
    assert graph is not None
    core.step(PolicyActivated(time=kueue.now, file="kueue.gpol", text="", digest=graph.digest), graph)
    for fact in made.facts:
        core.step(fact)
    cycles = [core.step(TimeAdvanced(time=kueue.now + second * SECOND)) for second in range(3)]
    assert [(decision.workload, decision.reason) for decision in cycles[0]] == [("ns/wrong", "Misconfigured")]
    assert core.view.workload("ns/right").admitted is None
    assert [fact.misconfigured for fact in made.facts] == ["a container asks for more cpu than its limit", ""]
    assert [str(note) for note in made.notes] == [
        "Workload ns/wrong: spec.podSets: is never admitted: a container asks for more cpu than its limit"
    ]


def test_what_timed_out_may_wait_since_its_creation(kueue: Maker) -> None:
    """Kueue's requeuing strategy says so; other evictions are not concerned."""
    said = {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "waitForPodsReady": {"requeuingStrategy": {"timestamp": "Creation"}},
    }
    timed_out = kueue.work("t", status={"conditions": [kueue.true("Evicted", "PodsReadyTimeout")]})
    checked = kueue.work("c", status={"conditions": [kueue.true("Evicted", "AdmissionCheck")]})
    assert [fact.workload for fact in facts(kueue, timed_out, checked) if fact.kind == "WorkloadUpdated"] == ["ns/t", "ns/c"]
    assert [fact.workload for fact in facts(kueue, timed_out, checked, said) if fact.kind == "WorkloadUpdated"] == ["ns/c"]


def test_a_priority_boost_counts_where_its_gate_is_on(kueue: Maker) -> None:
    """Off by default, which is noted; the caller or the Configuration may turn it on."""
    work = kueue.work(annotations={"kueue.x-k8s.io/priority-boost": "-5"})
    gates = {"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration", "featureGates": {"PriorityBoost": True}}
    assert facts(kueue, work)[0].boost == 0
    assert "has a priority boost, which counts for nothing" in kueue.notes(kueue.queue(), kueue.flavor(), kueue.local(), work)[0]
    assert facts(kueue, work, boost=True)[0].boost == -5
    assert facts(kueue, work, gates)[0].boost == -5


def test_what_has_no_part_in_decisions_is_left_out(kueue: Maker) -> None:
    """Finished workloads without a word; those without pods and those of a ClusterQueue that is gone with one."""
    finished = kueue.work("done", status={**kueue.admitted(), "conditions": [kueue.true("Finished")]})
    empty = kueue.work("empty", sets=[kueue.pods(count=0)])
    stray = kueue.work("stray", status=kueue.admitted(queue="gone"))
    made = kueue.load(kueue.queue(), kueue.flavor(), kueue.local(), finished, empty, stray)
    assert made.facts == []
    assert [str(note) for note in made.notes] == [
        "Workload ns/empty: spec.podSets: a pod set without pods is left out",
        "Workload ns/empty: spec.podSets: has no pods at all: the workload is left out",
        "Workload ns/stray: status.admission.clusterQueue: is not there: the workload is left out, as Kueue charges nobody for it",
    ]


def test_namespaces_that_are_not_in_the_dump(kueue: Maker) -> None:
    """Only the label that every namespace has is known; noted where a ClusterQueue selects namespaces."""
    assert facts(kueue, kueue.work())[0].namespace_labels == {"kubernetes.io/metadata.name": "ns"}
    assert kueue.notes(kueue.queue(), kueue.flavor(), kueue.local(), kueue.work()) == []
    choosy = kueue.queue(namespaceSelector={"matchLabels": {"dep": "x"}})
    assert "is not in the dump" in kueue.notes(choosy, kueue.flavor(), kueue.local(), kueue.work())[0]


def test_a_queue_that_is_not_in_the_dump(kueue: Maker) -> None:
    """Its workloads wait, which is noted; a workload of no LocalQueue can be given its ClusterQueue by the caller."""
    work = kueue.work(spec={"queueName": "gone"})
    assert facts(kueue, work)[0].local_queue == "ns/gone"
    assert kueue.notes(kueue.queue(), kueue.flavor(), work) == [
        "Workload ns/w: spec.queueName: is no LocalQueue of the dump: the workload waits for it"
    ]
    named = facts(kueue, kueue.work(spec={"queueName": None}), kueue.queue("cluster"), queues={"ns/w": "cluster"})[0]
    assert (named.local_queue, named.queue) == (None, "queue/cluster")


@pytest.mark.parametrize(("counts", "kept"), [((1, 1), (2**62, 2**62 - 1)), ((1, 3), (2**62, (2**62 - 1) // 3))])
def test_requests_end_at_64_bits(counts: tuple[int, int], kept: tuple[int, int], kueue: Maker) -> None:
    """Sums saturate in Kueue; here the last pod set asks for what is left of 64 bits, which is noted."""
    sets = [kueue.pods(name, count, {"memory": "4Ei"}) for name, count in zip(("one", "two"), counts, strict=True)]
    (fact,) = facts(kueue, kueue.work(sets=sets))
    assert tuple(pods.requests["memory"] for pods in fact.pod_sets) == kept
    assert "asks for more memory than 64 bits hold" in kueue.notes(kueue.queue(), kueue.flavor(), kueue.local(), kueue.work(sets=sets))[0]


@pytest.mark.parametrize(
    ("work", "why"),
    [
        ({"creationTimestamp": "2026-01-03T03:04:06Z"}, "cannot be imported: created after it was submitted"),
        ({"labels": {f"k{number}": "" for number in range(257)}}, "cannot be imported: labels: "),
        (
            {
                "status": {
                    "admission": {"clusterQueue": "a"},
                    "conditions": [{"type": "QuotaReserved", "status": "True", "lastTransitionTime": "2027-01-01T00:00:00Z"}],
                }
            },
            "a reservation of later than the import's time",
        ),
    ],
)
def test_what_no_fact_can_say(work: dict[str, Any], why: str, kueue: Maker) -> None:
    """A workload that cannot be submitted or adopted now is refused by name."""
    said = kueue.problems(kueue.queue(), kueue.flavor(), kueue.local(), kueue.work(**work))
    assert len(said) == 1
    assert said[0].startswith("Workload ns/w: ")
    assert why in said[0]


def test_a_name_that_is_too_long_with_its_namespace(kueue: Maker) -> None:
    """gpol's names have at most 253 characters, `namespace/` included."""
    assert kueue.problems(kueue.work("w" * 251))[0].endswith("has 254 characters with its namespace; use 253 at most")
    assert len(kueue.load(kueue.work("w" * 250)).facts) == 1


def test_usage_so_far_is_reported(kueue: Maker) -> None:
    """Where the Configuration goes by usage, a queue that does starts with what its LocalQueue's status says, as of then; else not."""
    local = kueue.local()
    used = {"consumedResources": {"cpu": "1500m"}, "lastUpdate": "2026-01-01T00:00:00Z"}
    local["status"] = {"fairSharing": {"admissionFairSharingStatus": used}}
    by_usage = kueue.queue(admissionScope={"admissionMode": "UsageBasedAdmissionFairSharing"})
    settings = {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "admissionFairSharing": {"usageHalfLifeTime": "168h"},
    }
    (reported,) = kueue.load(by_usage, local, kueue.flavor(), settings).facts
    assert (reported.kind, reported.local_queue, reported.consumed) == ("UsageReported", "ns/lq", {"cpu": 1500})
    assert reported.as_of == 1_767_225_600_000_000
    assert kueue.load(by_usage, local, kueue.flavor()).facts == []


SLICE = {"kueue.x-k8s.io/workload-slice-replacement-for": "ns/old"}


def test_a_slice_takes_the_place_of_another(kueue: Maker) -> None:
    """As its annotation says, in a policy that decides in cycles as in one that decides at once."""
    beside, old, new = (
        (kueue.queue(), kueue.flavor(), kueue.local()),
        kueue.work("old", status=kueue.admitted()),
        kueue.work(annotations=SLICE),
    )
    for profile in (None, "gpol.fair"):
        loaded = kueue.load(*beside, old, new, profile=profile).facts
        made = {fact.workload: fact for fact in loaded if isinstance(fact, WorkloadSubmitted)}
        assert (made["ns/old"].replaces, made["ns/w"].replaces) == (None, "ns/old")


def test_quotas_of_pods_count_in_cycles_only(kueue: Maker) -> None:
    """A policy that decides at once cannot say them: they are left out, and that is noted."""
    queue = kueue.queue(groups=[kueue.group("pods", base={"nominalQuota": "5"})])
    assert "owns 5 pods on base" in kueue.text(queue, kueue.flavor())
    text = kueue.text(queue, kueue.flavor(), profile="gpol.fair")
    assert "owns 5 pods" not in text
    assert any("left out" in note for note in kueue.notes(queue, kueue.flavor(), profile="gpol.fair"))


@pytest.mark.parametrize("state", ["Ready", "Retry", "Rejected"])
@pytest.mark.parametrize("profile", [None, "gpol.fair"])
def test_what_checks_say_is_imported(profile: str | None, state: str, kueue: Maker) -> None:
    """It counts in a policy that decides at once as well, so nothing is noted."""
    work = kueue.work(status={"admissionChecks": [{"name": "p", "state": state}]})
    submitted, updated = facts(kueue, work, profile=profile)
    assert isinstance(submitted, WorkloadSubmitted)
    assert isinstance(updated, WorkloadUpdated)
    assert updated.checks == {"p": state}
    notes = kueue.notes(kueue.queue(), kueue.flavor(), kueue.local(), work, profile=profile)
    assert not any("admissionChecks" in note for note in notes)


@pytest.mark.parametrize("profile", ["kueue.classical", "gpol.fair"])
def test_nobody_is_decided_about_before_all_is_known(profile: str, kueue: Maker) -> None:
    """Who is held, or waits for a check, is not admitted between the facts of its import; who has fewer pods left is charged for these."""
    idle = kueue.work("idle", spec={"active": False})
    waits = kueue.work("checked", status={"admissionChecks": [{"name": "p", "state": "Retry"}]})
    shrunk = kueue.work("shrunk", [kueue.pods(count=3)], {"reclaimablePods": [{"name": "main", "count": 1}]})
    objects = [kueue.queue(), kueue.flavor(), kueue.local(), idle, waits, shrunk]
    graph, core = kueue.checked(*objects, profile=profile).graph, new_core()
    assert graph is not None
    core.step(PolicyActivated(time=kueue.now, file="kueue.gpol", text="", digest=graph.digest), graph)
    cycles = [TimeAdvanced(time=kueue.now + second * SECOND) for second in range(3)]
    decided = [decision for fact in (*kueue.load(*objects, profile=profile).facts, *cycles) for decision in core.step(fact)]
    (admission,) = [decision for decision in decided if isinstance(decision, WorkloadAdmitted)]
    assert (admission.workload, admission.assignments[0].count) == ("ns/shrunk", 2)
