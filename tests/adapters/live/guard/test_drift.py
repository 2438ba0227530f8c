"""What an object is judged to be beside the policy: what differs, who wrote it, what is to be written, and what is left to others."""

from typing import Any

import pytest
from fake_kinds import CLUSTER_QUEUE
from fake_store import FakeStore
from gpol.adapters.kueue.live.guard.guarded_objects import KUEUE_GUARDED, guarded_objects
from gpol.adapters.live.guard.drift import Drift, Judged, ObjectJudge, has_label, is_left_over
from gpol.adapters.live.guard.guarded_system import GuardedObject
from guarded_policies import APART, PLAIN, STOPPED

Json = dict[str, Any]
GPOL = "gpol.dev/policy"


def queue(policy: Any = PLAIN, guard: str = "gpol") -> GuardedObject:
    """The first queue of a policy."""
    return guarded_objects(policy, "nvidia.com/gpu", guard)[0]["clusterqueues a"]


class Cluster:
    """A store with the first queue of a policy, as gpol has applied it."""

    def __init__(self, wanted: GuardedObject) -> None:
        self.store = FakeStore()
        self.store.apply(CLUSTER_QUEUE, "a", wanted.body, manager=GPOL)

    @property
    def found(self) -> Json:
        """The queue."""
        return self.store.get(CLUSTER_QUEUE, "a")

    def edit(self, patch: Json, manager: str = "kubectl-edit") -> None:
        """Somebody writes once."""
        self.store.merge_patch(CLUSTER_QUEUE, "a", patch, manager=manager)

    def apply(self, spec: Json, manager: str = "argocd") -> None:
        """A program applies what it wants, and takes it from others."""
        body = {"apiVersion": CLUSTER_QUEUE.api_version, "kind": "ClusterQueue", "metadata": {"name": "a"}, "spec": spec}
        self.store.apply(CLUSTER_QUEUE, "a", body, manager=manager, force=True)


@pytest.fixture
def cluster() -> Cluster:
    """A cluster in step with the policy."""
    return Cluster(queue())


def judged(cluster: Cluster, wanted: GuardedObject | None = None, **options: Any) -> Judged:
    """What is judged of the queue."""
    return ObjectJudge("gpol", KUEUE_GUARDED.forms, **options).judge(wanted or queue(), cluster.found)


def test_in_step(cluster: Cluster) -> None:
    """Nothing differs, and nothing is to be written."""
    assert judged(cluster) == Judged()


def test_an_object_that_is_not_there() -> None:
    """It is drift of the whole object, and is applied."""
    found = ObjectJudge("gpol", KUEUE_GUARDED.forms).judge(queue(), None)

    assert [str(each) for each in found.drift] == ["ClusterQueue a: it is not there, and the policy has it"]
    assert found.body == queue().body


def test_what_somebody_has_edited(cluster: Cluster) -> None:
    """It is told with its writer, and is applied again as a whole."""
    cluster.edit({"spec": {"queueingStrategy": "StrictFIFO"}})
    found = judged(cluster)

    said = "ClusterQueue a: spec.queueingStrategy is StrictFIFO (written by kubectl-edit), and the policy says BestEffortFIFO"
    assert [str(each) for each in found.drift] == [said]
    assert found.body == queue().body


def test_what_somebody_has_removed(cluster: Cluster) -> None:
    """Nobody has written it, and it is applied again."""
    cluster.edit({"spec": {"cohortName": None}})
    found = judged(cluster)

    assert [(each.field, each.found, each.by) for each in found.drift] == [("spec.cohortName", "nothing", ())]
    assert found.body is not None


def test_the_same_value_by_somebody_else_is_applied_once() -> None:
    """An object that gpol has not applied yet is no drift, and is applied, so that nobody changes it unseen."""
    store = FakeStore()
    store.create(CLUSTER_QUEUE, {**queue().body, "metadata": {"name": "a"}}, manager="kubectl")
    found = ObjectJudge("gpol", KUEUE_GUARDED.forms).judge(queue(), store.get(CLUSTER_QUEUE, "a"))

    assert (found.drift, found.body) == ((), queue().body)


def test_a_field_that_only_an_earlier_policy_said() -> None:
    """It is drift that gpol itself has written, and the next apply takes it away; an amount of an earlier policy is drift as well."""
    cluster = Cluster(queue(STOPPED))
    found = judged(cluster, queue(PLAIN))

    fields = {each.field: (each.wanted, each.found, each.by) for each in found.drift}
    assert fields["spec.stopPolicy"] == ("nothing", "Hold", (GPOL,))
    assert fields["spec.fairSharing.weight"] == ("1", "2", (GPOL,))
    assert found.body is not None
    cluster.store.apply(CLUSTER_QUEUE, "a", found.body, manager=GPOL)
    assert judged(cluster, queue(PLAIN)) == Judged()


def test_a_cohort_of_an_earlier_policy(cluster: Cluster) -> None:
    """A field that is stale and has to be absent is told once, and the apply alone takes it away."""
    found = judged(cluster, queue(APART))

    assert [each.field for each in found.drift if "cohort" in each.field] == ["spec.cohortName"]
    assert found.body is not None
    cluster.store.apply(CLUSTER_QUEUE, "a", found.body, manager=GPOL)
    assert judged(cluster, queue(APART)) == Judged()


def test_only_a_stale_field_is_reason_enough() -> None:
    """Where nothing else differs, the object is applied all the same."""
    wanted = queue()
    cluster = Cluster(wanted)
    cluster.store.apply(CLUSTER_QUEUE, "a", {**wanted.body, "spec": {**wanted.body["spec"], "stopPolicy": "Hold"}}, manager=GPOL)

    assert judged(cluster).body == wanted.body


def test_only_another_amount_is_reason_enough(cluster: Cluster) -> None:
    """Where the policy alone has changed, gpol has written what is there, and it is applied all the same."""
    wanted = queue()
    cluster.store.apply(CLUSTER_QUEUE, "a", {**wanted.body, "spec": {**wanted.body["spec"], "resourceGroups": []}}, manager=GPOL)
    found = judged(cluster)

    assert [(each.field, each.by, each.is_news) for each in found.drift] == [("spec.resourceGroups", (GPOL,), True)]
    assert found.body == wanted.body


def test_an_extra_field(cluster: Cluster) -> None:
    """What the policy says by saying nothing is taken away, and needs no apply."""
    wanted = queue(APART)
    cluster = Cluster(wanted)
    cluster.edit({"spec": {"cohortName": "all"}})
    found = judged(cluster, wanted)

    assert [each.field for each in found.extra] == ["spec.cohortName"]
    assert found.body is None


def test_what_another_program_applies(cluster: Cluster) -> None:
    """It is told, and left out of what is written; what else differs is repaired. With `overrides` all is."""
    cluster.apply({"queueingStrategy": "StrictFIFO"})
    cluster.edit({"spec": {"cohortName": "other"}})
    found = judged(cluster)

    [strategy, cohort] = sorted(found.drift, key=lambda each: each.field, reverse=True)
    assert (strategy.field, strategy.by) == ("spec.queueingStrategy", ("argocd",))
    assert (cohort.field, cohort.by) == ("spec.cohortName", ("kubectl-edit",))
    assert "argocd applies this field" in strategy.kept
    assert cohort.kept == ""
    assert found.body is not None
    assert found.body["spec"] == {name: value for name, value in queue().body["spec"].items() if name != "queueingStrategy"}
    overriding = judged(cluster, overrides=True)
    assert overriding.body == queue().body
    assert [each.kept for each in overriding.drift] == ["", ""]


def test_what_another_program_applies_is_reason_for_nothing(cluster: Cluster) -> None:
    """If that is all that differs, nothing is written; also where it writes the same number in another way."""
    cluster.apply({"fairSharing": {"weight": "1000m"}})
    assert judged(cluster) == Judged()
    cluster.apply({"fairSharing": {"weight": "2"}})
    found = judged(cluster)
    assert (len(found.drift), found.body, found.extra) == (1, None, ())


def test_an_extra_field_that_another_program_applies() -> None:
    """It stays, and that is told."""
    wanted = queue(APART)
    cluster = Cluster(wanted)
    cluster.apply({"cohortName": "all"})
    found = judged(cluster, wanted)

    assert (found.body, found.extra) == (None, ())
    assert [(each.field, each.by) for each in found.drift] == [("spec.cohortName", ("argocd",))]


def test_two_guards(cluster: Cluster) -> None:
    """What another guard keeps is left to it, and where it differs that is told; a label that a person has changed is put back."""
    cluster = Cluster(queue(STOPPED, "blue"))
    found = judged(cluster)
    assert (found.body, found.extra) == (None, ())
    assert all("guard `blue` keeps this object" in each.kept for each in found.drift)
    assert found.drift

    cluster = Cluster(queue())
    cluster.edit({"metadata": {"labels": {"gpol.dev/guard": "blue"}}})
    found = judged(cluster)
    assert [(each.field, each.kept) for each in found.drift] == [("metadata.labels[gpol.dev/guard]", "")]
    assert found.body is not None


def test_an_object_that_is_being_deleted(cluster: Cluster) -> None:
    """Nothing is written to it; it is made anew when it is gone."""
    cluster.edit({"metadata": {"finalizers": ["kueue.x-k8s.io/resource-in-use"]}})
    cluster.store.delete(CLUSTER_QUEUE, "a")
    found = judged(cluster)

    assert (found.body, found.extra) == (None, ())
    assert [str(each) for each in found.drift] == [
        "ClusterQueue a: it is being deleted, and the policy has it; it is made anew once it is gone: finalizers keep it until then"
    ]


def test_what_is_left_over(cluster: Cluster) -> None:
    """What this guard has applied is; what others have made, and what another guard keeps, is not. One without its label has no owner."""
    assert is_left_over(cluster.found, "gpol")
    assert has_label(cluster.found, "gpol")
    assert not is_left_over(cluster.found, "blue")
    cluster.edit({"metadata": {"labels": None}})
    assert is_left_over(cluster.found, "blue")
    assert not has_label(cluster.found, "gpol")
    cluster.store.create(CLUSTER_QUEUE, {**queue().body, "metadata": {"name": "theirs"}}, manager="kubectl")
    assert not is_left_over(cluster.store.get(CLUSTER_QUEUE, "theirs"), "gpol")


def test_how_repairs_are_told() -> None:
    """The words name the field, both values and the writer."""
    drift = Drift("ClusterQueue", "a", "spec.x", "8", "9", ("kubectl-edit",))

    assert drift.mended == "spec.x is 8 as the policy says, and was 9 (written by kubectl-edit)"
    assert Drift("ClusterQueue", "a", "", "there", "not there").mended == "it was not there, and the policy has it"
