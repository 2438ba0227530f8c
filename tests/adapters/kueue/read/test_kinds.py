"""Which objects are read, as what, and which are refused or passed over by name."""

import pytest
from gpol.adapters.kueue.import_.load import load, raws_of
from gpol.adapters.kueue.problems import Findings
from gpol.adapters.kueue.read.kinds import Raw, read_objects

from ..conftest import Maker


def test_every_kind_is_read(kueue: Maker) -> None:
    """Each kind ends up in its own list, under its name."""
    objects = kueue.load(
        kueue.queue(cohortName="c"),
        kueue.obj("Cohort", "c"),
        kueue.local(),
        kueue.flavor(),
        kueue.obj("WorkloadPriorityClass", "high", value=7),
        kueue.obj("AdmissionCheck", "prov"),
        kueue.obj("Namespace", "ns", labels={"team": "x"}),
        kueue.work(),
    ).objects
    assert [queue.name for queue in objects.cluster_queues] == ["a"]
    assert [cohort.name for cohort in objects.cohorts] == ["c"]
    assert [(local.namespace, local.name) for local in objects.local_queues] == [("ns", "lq")]
    assert [flavor.name for flavor in objects.flavors] == ["base"]
    assert [(item.name, item.value) for item in objects.priorities] == [("high", 7)]
    assert [check.name for check in objects.checks] == ["prov"]
    assert objects.namespaces == {"ns": {"team": "x"}}
    assert [workload.key for workload in objects.workloads] == ["ns/w"]


def test_objects_of_a_scenario_have_their_kinds_by_key(kueue: Maker) -> None:
    """Without apiVersion and kind, the key tells the kind, also where it holds null."""
    plain = {key: value for key, value in kueue.queue().items() if key in ("metadata", "spec")}
    made = load(raws_of({"clusterQueues": [plain], "cohorts": None}), kueue.now)
    assert [queue.name for queue in made.objects.cluster_queues] == ["a"]


def test_kinds_that_are_none_of_kueues_are_noted(kueue: Maker) -> None:
    """Other kinds, and a kind of the same name of another group, are passed over by name."""
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}}
    other = {"apiVersion": "example.com/v1", "kind": "Cohort", "metadata": {"name": "c"}}
    assert kueue.notes(kueue.queue(), kueue.flavor(), job, other) == [
        "Cohort c: is of no kind that is imported",
        "Job j: is of no kind that is imported",
    ]


def test_what_names_no_kind_or_version_is_refused(kueue: Maker) -> None:
    """A kind or a name that is missing and a version that is not known are problems."""
    assert kueue.problems({"metadata": {"name": "x"}})[0].startswith("object x: kind: is missing")
    assert "apiVersion: is kueue.x-k8s.io/v1beta9" in kueue.problems(kueue.queue(version="v1beta9"))[0]
    assert "metadata.name: is missing" in kueue.problems(kueue.obj("Cohort", ""))[0]
    assert "metadata.name: has a slash" in kueue.problems(kueue.obj("Cohort", "a/b"))[0]
    assert "metadata.name: is a list, not a text" in kueue.problems({"kind": "Cohort", "metadata": {"name": []}})[0]
    assert "metadata.namespace: is missing" in kueue.problems(kueue.obj("LocalQueue", "lq", {"clusterQueue": "a"}))[0]


def test_what_is_wrong_is_told_once(kueue: Maker) -> None:
    """A name that cannot be shown, a name that is none, and metadata that is none are one problem each."""
    remedy = "metadata.name: has an invisible character; write it with visible characters"
    assert kueue.problems(kueue.obj("Cohort", "a\x07")) == [f"Cohort: {remedy}"]
    assert kueue.problems({"kind": "Cohort", "metadata": {"name": 7}}) == [
        "Cohort: metadata.name: is the number 7, not a text; write a text in quotes"
    ]
    assert kueue.problems({"kind": "Cohort", "metadata": {}}) == ["Cohort: metadata.name: is missing; write a name"]
    assert kueue.problems({"kind": "Cohort", "metadata": 7}) == ["Cohort: metadata: is the number 7, not an object; write its fields"]
    assert kueue.problems({"kind": [], "metadata": {}}) == ["object: kind: is a list, not a text; write a text in quotes"]
    assert kueue.problems({**kueue.local(), "spec": []}) == ["LocalQueue ns/lq: spec: is a list, not an object; write its fields"]
    assert kueue.problems(kueue.work(spec={"podSets": {}})) == ["Workload ns/w: spec.podSets: is an object, not a list; write a list"]
    assert kueue.problems(kueue.obj("Workload", "w", {"podSets": [kueue.pods()]})) == [
        "Workload /w: metadata.namespace: is missing; a Workload lives in a namespace"
    ]


@pytest.mark.parametrize(("count", "missing"), [(None, "a part is"), (1200, "1200 objects are")])
def test_a_list_that_is_cut_off_is_told(kueue: Maker, count: int | None, missing: str) -> None:
    """A part of a long answer of Kubernetes is read, and told with how to get the whole."""
    part = {"apiVersion": "v1", "kind": "List", "metadata": {"continue": "x", "remainingItemCount": count}, "items": [kueue.queue()]}
    notes = kueue.notes(part, kueue.flavor())
    assert notes == [
        f"List: metadata.continue: is cut off, {missing} missing: "
        "give all of its parts, or dump it whole by `kubectl get`, which asks for one part after the other"
    ]


def test_names_are_there_once(kueue: Maker) -> None:
    """Two objects of a kind cannot share a name; of namespaced kinds, in one namespace."""
    assert kueue.problems(kueue.queue(), kueue.queue()) == ["ClusterQueue a: metadata.name: is there twice; keep one of the two objects"]
    assert kueue.problems(kueue.work(), kueue.work())[0].startswith("Workload ns/w: metadata.name: is there twice")
    elsewhere = kueue.obj("Workload", "w", {"podSets": [kueue.pods()]}, namespace="other")
    assert len(kueue.load(kueue.queue(), kueue.flavor(), kueue.work(), elsewhere).objects.workloads) == 2


def test_problems_end_at_twenty(kueue: Maker) -> None:
    """A dump in which everything is wrong tells twenty problems and how many more there are."""
    found = Findings()
    read_objects([Raw(kueue.queue(str(number), queueingStrategy="x"), "f") for number in range(30)], found)
    assert (len(found.problems), found.more) == (20, 10)


def test_an_object_that_is_none(kueue: Maker) -> None:
    """What is no object where one is wanted is a problem, whatever it is instead."""
    found = Findings()
    read_objects([Raw(7, "f", "Cohort"), Raw({"metadata": 1, "spec": []}, "f", "Cohort")], found)
    assert [problem.cause for problem in found.problems][:1] == ["is the number 7, not an object"]
    assert {problem.field for problem in found.problems} >= {"metadata", "spec"}
