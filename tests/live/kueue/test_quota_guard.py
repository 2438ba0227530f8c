"""Guarding quotas on the tests' own API server: edits, other programs, deletions, and a server that is down or forgets."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from fake_access import Access, Grant, User
from fake_apiserver import FakeApiServer
from fake_kinds import CLUSTER_QUEUE, COHORT, LOCAL_QUEUE, NAMESPACE, Kind
from fake_store import FakeStore
from gpol.adapters.kubernetes.api import Api
from gpol.adapters.kubernetes.object_events import ObjectEvent
from gpol.adapters.kueue.export.live.access_rights import AccessChoices, access_objects
from gpol.adapters.kueue.live.guard.guarded_objects import KUEUE_GUARDED
from gpol.adapters.live.guard.drift import Drift
from gpol.adapters.live.guard.object_writes import RepairPace
from gpol.adapters.live.guard.quota_guard import QuotaGuard
from guard_site import GuardSite, at_work, run
from guarded_policies import APART, PLAIN, STOPPED
from kubernetes.aio.client import ApiClient, Configuration

Json = dict[str, Any]


@dataclass
class Site(GuardSite):
    """A server, and a guard that is at work there."""

    server: FakeApiServer = field(kw_only=True)
    events: list[ObjectEvent] = field(default_factory=list)

    def edit(self, patch: Json, name: str = "a", kind: Kind = CLUSTER_QUEUE, manager: str = "kubectl-edit") -> None:
        """Somebody writes by hand."""
        self.store.merge_patch(kind, name, patch, manager=manager)

    def apply(self, spec: Json, name: str = "a") -> None:
        """Another program applies what it wants, and takes it from others."""
        body = {"apiVersion": CLUSTER_QUEUE.api_version, "kind": "ClusterQueue", "metadata": {"name": name}, "spec": spec}
        self.store.apply(CLUSTER_QUEUE, name, body, manager="argocd", force=True)

    def has(self, name: str, kind: Kind) -> bool:
        """Whether there is such an object."""
        return any(item["metadata"]["name"] == name for item in self.store.list(kind)["items"])

    def spec(self, name: str = "a", kind: Kind = CLUSTER_QUEUE, namespace: str = "") -> Json:
        """What stands in an object."""
        found: Json = self.store.get(kind, name, namespace)["spec"]
        return found


def connected(url: str, token: str = "") -> Api:
    """A connection to a server."""
    configuration = Configuration()
    configuration.host = url
    if token:
        configuration.api_key = {"BearerToken": token}
        configuration.api_key_prefix = {"BearerToken": "Bearer"}
    return Api(ApiClient(configuration))


@asynccontextmanager
async def site(
    policy: Any = PLAIN, store: FakeStore | None = None, access: Access | None = None, token: str = "", **options: Any
) -> AsyncIterator[Site]:
    """A guard at work."""
    store = store or FakeStore(namespaces=["team-a", "team-b"])
    told: list[tuple[str, Drift]] = []
    events: list[ObjectEvent] = []
    async with FakeApiServer(store, access=access) as server, connected(server.url, token) as api:
        guard = QuotaGuard(
            api,
            KUEUE_GUARDED,
            policy,
            pace=RepairPace(first_pause=0),
            tell=lambda step, drift: told.append((step, drift)),
            add_event=events.append,
            **options,
        )
        async with at_work(guard):
            yield Site(store, guard, told, events, server=server)


STRICT = {"spec": {"queueingStrategy": "StrictFIFO"}}


def test_objects_are_applied_once() -> None:
    """All objects of the policy are made; a guard that begins anew writes nothing, nor does one that looks again."""

    async def scene() -> None:
        async with site() as here:
            await here.rest()
            assert here.guard.applied == 7
            assert here.spec()["cohortName"] == "all"
            assert {event.reason for event in here.events} == {"QuotaApplied"}
            store, version = here.store, here.store.version
        async with site(store=store) as here:
            await here.rest()
            for key in list(here.guard._wanted):
                here.guard.looks.add(key)
            await here.rest()
            assert (here.store.version, here.guard.applied, here.told) == (version, 0, [])

    run(scene)


def test_the_same_apply_twice() -> None:
    """The server leaves an object that is applied again at its version."""

    async def scene() -> None:
        async with site() as here:
            await here.rest()
            wanted = here.guard._wanted["clusterqueues a"]
            before = here.store.get(CLUSTER_QUEUE, "a")["metadata"]["resourceVersion"]
            answer = await here.guard.api.apply(wanted.path, wanted.body, "gpol.dev/policy", force=False)
            assert answer["metadata"]["resourceVersion"] == before

    run(scene)


def test_what_somebody_edits_is_repaired() -> None:
    """Quotas, cohorts and strategies are put back; an Event and the drift say who had changed them; other fields stay as they are."""

    async def scene() -> None:
        async with site() as here:
            await here.rest()
            groups = here.spec()["resourceGroups"]
            groups[0]["flavors"][0]["resources"][0]["nominalQuota"] = "99"
            here.edit({"metadata": {"labels": {"team": "x"}}, "spec": {"resourceGroups": groups, "stopPolicy": "Hold", **STRICT["spec"]}})
            here.edit({"spec": {"parentName": "top"}}, "all", COHORT)
            await here.until(lambda: here.guard.repaired == 9)
            await here.rest()
            assert here.spec()["resourceGroups"][0]["flavors"][0]["resources"][0]["nominalQuota"] == "8"
            assert (here.spec()["stopPolicy"], here.spec()["queueingStrategy"]) == ("Hold", "BestEffortFIFO")
            assert "parentName" not in here.spec("all", COHORT)
            assert here.store.get(CLUSTER_QUEUE, "a")["metadata"]["labels"] == {"gpol.dev/guard": "gpol", "team": "x"}
            [event] = [each for each in here.events if each.reason == "QuotaRepaired" and each.name == "a"]
            assert "nominalQuota is 8 as the policy says, and was 99 (written by kubectl-edit)" in event.note
            seen = [(step, drift.field) for step, drift in here.told if drift.field == "spec.parentName"]
            assert seen == [("seen", "spec.parentName"), ("repaired", "spec.parentName")]

    run(scene)


def test_drift_is_only_reported() -> None:
    """Nothing is written; what differs is told with both values and the writer, by an Event as well, until somebody puts it back."""

    async def scene() -> None:
        async with site() as here:
            await here.rest()
            store = here.store
        async with site(store=store, mode="report") as here:
            await here.rest()
            here.edit(STRICT)
            await here.until(lambda: here.guard.drift)
            version = store.version
            [drift] = here.guard.drift
            assert str(drift) == here.guard.problem
            assert (drift.kind, drift.name, drift.field, drift.by) == ("ClusterQueue", "a", "spec.queueingStrategy", ("kubectl-edit",))
            [event] = here.events
            assert (event.reason, event.type) == ("QuotaDrift", "Warning")
            here.guard.looks.add("clusterqueues a")
            await here.until(lambda: not len(here.guard.looks))
            assert (store.version, len(here.events)) == (version, 1)
            here.edit({"spec": {"queueingStrategy": "BestEffortFIFO"}})
            await here.rest()
            assert [step for step, _ in here.told] == ["seen", "gone"]
            assert here.guard.applied == 0

    run(scene)


def test_an_empty_cluster_is_only_reported() -> None:
    """Where nothing may be written, all objects are missing, and none is made."""

    async def scene() -> None:
        async with site(mode="report") as here:
            version = here.store.version
            await here.until(lambda: len(here.guard.drift) == 7)
            assert "it is not there, and the policy has it (and 6 more)" in here.guard.problem
            assert here.store.version == version

    run(scene)


def test_what_another_program_applies_is_told_by_name() -> None:
    """A field that argocd applies stays as it wants it, and is told; what was edited beside it is repaired."""

    async def scene() -> None:
        async with site() as here:
            await here.rest()
            here.apply({"queueingStrategy": "StrictFIFO"})
            here.edit({"spec": {"cohortName": "other"}})
            await here.until(lambda: here.spec()["cohortName"] == "all" and here.guard.drift)
            await here.until(lambda: len(here.guard.drift) == 1)
            [drift] = here.guard.drift
            assert (drift.field, drift.by) == ("spec.queueingStrategy", ("argocd",))
            assert drift.kept.startswith("argocd applies this field")
            assert here.spec()["queueingStrategy"] == "StrictFIFO"
            assert any(event.reason == "QuotaDrift" and "argocd applies this field" in event.note for event in here.events)

    run(scene)


def test_what_another_program_applies_can_be_overridden() -> None:
    """With that setting the field is taken over."""

    async def scene() -> None:
        async with site(overrides=True) as here:
            await here.rest()
            here.apply({"queueingStrategy": "StrictFIFO"})
            await here.until(lambda: here.spec()["queueingStrategy"] == "BestEffortFIFO")
            await here.rest()

    run(scene)


def test_a_conflict_that_the_watch_has_not_told_yet() -> None:
    """The server answers 409, as gpol takes nothing by force that it has not looked at; then the other program is told by name."""

    async def scene() -> None:
        async with site() as here:
            await here.rest()
            here.server.faults.hold_watches()
            here.apply({"queueingStrategy": "StrictFIFO"})
            here.guard.keep(STOPPED)
            await here.until(lambda: here.spec().get("stopPolicy") == "Hold")
            patches = [seen.status for seen in here.server.seen if seen.method == "PATCH" and seen.path.endswith("/clusterqueues/a")]
            assert patches[-2:] == [409, 200]
            assert here.spec()["queueingStrategy"] == "StrictFIFO"
            here.server.faults.release_watches()
            await here.until(lambda: [each.by for each in here.guard.drift] == [("argocd",)])

    run(scene)


def test_a_deleted_object_is_made_anew() -> None:
    """At once where nothing keeps it; else as soon as its finalizer lets it go, which is told until then."""

    async def scene() -> None:
        async with site() as here:
            await here.rest()
            here.store.delete(LOCAL_QUEUE, "gpus", namespace="team-b")
            await here.until(lambda: here.guard.repaired == 8)
            assert here.spec("gpus", LOCAL_QUEUE, "team-b") == {"clusterQueue": "b"}

            here.edit({"metadata": {"finalizers": ["kueue.x-k8s.io/resource-in-use"]}}, "b")
            here.store.delete(CLUSTER_QUEUE, "b")
            await here.until(lambda: "it is being deleted" in here.guard.problem)
            uid = here.store.get(CLUSTER_QUEUE, "b")["metadata"]["uid"]
            here.edit({"metadata": {"finalizers": []}}, "b")
            await here.rest()
            assert here.store.get(CLUSTER_QUEUE, "b")["metadata"]["uid"] != uid

    run(scene)


def test_the_server_is_down_for_a_while() -> None:
    """That is told; what was edited meanwhile is repaired once it is there again."""

    async def scene() -> None:
        async with site() as here:
            await here.rest()
            await here.server.go_down()
            await here.until(lambda: "cannot follow" in here.guard.problem)
            here.edit(STRICT)
            here.store.delete(COHORT, "all")
            await here.server.come_up()
            await here.until(lambda: here.spec()["queueingStrategy"] == "BestEffortFIFO" and here.has("all", COHORT))
            await here.rest()

    run(scene)


@pytest.mark.parametrize("fault", ["expire", "reset", "end"])
def test_watches_break(fault: str) -> None:
    """Whether a watch expires (410), is cut, or ends: what was edited meanwhile is repaired."""

    async def scene() -> None:
        async with site() as here:
            await here.rest()
            await here.until(lambda: here.server.faults.open_watches == 5)
            here.server.faults.hold_watches()
            here.edit(STRICT)
            getattr(here.server.faults, f"{fault}_watches")()
            here.server.faults.release_watches()
            await here.until(lambda: here.spec()["queueingStrategy"] == "BestEffortFIFO")
            await here.rest()

    run(scene)


def test_lost_answers() -> None:
    """Whether a write that got no answer was made or not, it is made in the end, and told once."""

    async def scene() -> None:
        async with site() as here:
            await here.rest()
            here.server.faults.lose_request(method="PATCH", path="*/clusterqueues/a")
            here.server.faults.lose_answer(method="PATCH", path="*/clusterqueues/b")
            here.edit(STRICT)
            here.edit({"spec": {"cohortName": None}}, "b")
            await here.until(lambda: here.spec()["queueingStrategy"] == "BestEffortFIFO" and here.spec("b").get("cohortName"))
            await here.rest()
            for name in "ab":
                steps = [step for step, drift in here.told if drift.field and drift.name == name]
                assert steps in (["seen", "repaired"], ["seen", "gone"])

    run(scene)


def test_a_policy_is_replaced() -> None:
    """The new policy's amounts are applied, what only the old one said is taken away, and what it no longer has is told and left alone."""

    async def scene() -> None:
        async with site(STOPPED) as here:
            await here.rest()
            assert here.spec()["stopPolicy"] == "Hold"
            here.guard.keep(APART)
            await here.until(lambda: len(here.guard.drift) == 3 and not len(here.guard.looks))
            assert "stopPolicy" not in here.spec()
            assert "cohortName" not in here.spec()
            assert [(each.kind, each.name, each.found, each.wanted) for each in here.guard.drift] == [
                ("ClusterQueue", "b", "there", "not there"),
                ("Cohort", "all", "there", "not there"),
                ("LocalQueue", "team-b/gpus", "there", "not there"),
            ]
            assert "it is there, and the policy does not have it; gpol applied it for an earlier policy" in here.guard.problem
            here.guard.keep(STOPPED)
            await here.rest()
            assert here.guard.drift == []

    run(scene)


def test_what_is_left_over_is_deleted() -> None:
    """Where a setting says so: what has the guard's label, as far as finalizers let it go; nothing of anybody else."""

    async def scene() -> None:
        async with site(deletes=True) as here:
            await here.rest()
            theirs = {"apiVersion": CLUSTER_QUEUE.api_version, "kind": "ClusterQueue", "metadata": {"name": "theirs"}, "spec": {}}
            here.store.create(CLUSTER_QUEUE, theirs)
            here.edit({"metadata": {"finalizers": ["kueue.x-k8s.io/resource-in-use"]}}, "b")
            here.edit({"metadata": {"labels": None}}, "all", COHORT)
            here.server.faults.hold_watches()  # or the guard puts the label back
            here.guard.followed[next(kind for kind in here.guard.followed if kind.kind == "Cohort")].written(here.store.get(COHORT, "all"))
            here.guard.keep(APART)
            here.server.faults.release_watches()
            await here.until(lambda: here.guard.deleted == 2)
            await here.until(lambda: len(here.guard.drift) == 2)
            [queue, cohort] = here.guard.drift
            assert (queue.name, cohort.name) == ("b", "all")
            assert "it is being deleted" in queue.kept
            assert "it has lost the label of this guard" in cohort.kept
            here.edit({"metadata": {"finalizers": []}}, "b")
            await here.until(lambda: len(here.guard.drift) == 1)
            assert here.store.get(CLUSTER_QUEUE, "theirs")["metadata"]["name"] == "theirs"
            assert ("repaired", "b") in [(step, drift.name) for step, drift in here.told]

    run(scene)


def test_two_guards_leave_each_other_alone() -> None:
    """What guard `blue` keeps is not written by guard `gpol`, nor deleted by it."""

    async def scene() -> None:
        async with site(STOPPED, name="blue") as here:
            await here.rest()
            store, version = here.store, here.store.version
        async with site(PLAIN, store=store, deletes=True) as here:
            await here.until(lambda: not here.guard._unseen and here.guard.drift)
            assert all("guard `blue` keeps this object" in each.kept for each in here.guard.drift)
            here.guard.keep(APART)
            await here.until(lambda: not here.guard._unseen and not len(here.guard.looks))
            assert store.version == version

    run(scene)


def test_refused_writes_are_told() -> None:
    """A namespace that is missing, a webhook that refuses, a field that cannot change: each by name, and it is tried again."""

    async def scene() -> None:
        store = FakeStore(namespaces=["team-a"])
        store.validate(CLUSTER_QUEUE, lambda old, new, part, by: "no queue of this name" if new["metadata"]["name"] == "b" else None)
        async with site(store=store) as here:
            await here.until(lambda: len(here.guard.failures) == 2)
            assert 'namespaces "team-b" not found' in here.guard.failures["localqueues team-b/gpus"]
            assert "no queue of this name" in here.guard.failures["clusterqueues b"]
            assert here.guard.problem.endswith("(and 1 more)")
            store.create(NAMESPACE, {"metadata": {"name": "team-b"}})
            here.guard.looks.add("localqueues team-b/gpus")
            await here.until(lambda: len(here.guard.failures) == 1)

        store = FakeStore(namespaces=["team-a", "team-b"])
        store.validate(LOCAL_QUEUE, lambda old, new, part, by: "field is immutable" if old and old["spec"] != new["spec"] else None, 422)
        body = {"apiVersion": LOCAL_QUEUE.api_version, "kind": "LocalQueue", "metadata": {"name": "gpus"}, "spec": {"clusterQueue": "x"}}
        store.create(LOCAL_QUEUE, body, namespace="team-b")
        async with site(store=store) as here:
            await here.until(lambda: here.guard.failures)
            assert "field is immutable" in here.guard.problem
            assert "delete it by hand, so that gpol makes it anew" in here.guard.problem

    run(scene)


def test_the_rights_of_the_export_are_enough() -> None:
    """A guard with the rights that `gpol export kueue --live --way guard --may-delete` gives can do all that it does."""
    groups = [
        Grant(tuple(rule["verbs"]), tuple(rule["resources"]), rule["apiGroups"][0])
        for role in access_objects(AccessChoices("guard", "gpol-system", "gpol", deletes=True))
        if role["kind"] == "ClusterRole"
        for rule in role["rules"]
    ]

    async def scene() -> None:
        access = Access({"secret": User("gpol", tuple(groups))})
        async with site(access=access, token="secret", deletes=True) as here:
            await here.rest()
            here.edit(STRICT)
            here.edit({"spec": {"admissionScope": {"admissionMode": "UsageBasedAdmissionFairSharing"}}}, "b")
            await here.until(lambda: here.guard.repaired == 9)
            here.guard.keep(APART)
            await here.until(lambda: here.guard.deleted == 3)
            await here.rest()
            assert {seen.status for seen in here.server.seen if seen.method != "WATCH"} <= {200, 201, 409}

    run(scene)
