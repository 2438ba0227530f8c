"""Guarding quotas: what holds whatever others write meanwhile, in whatever order, and through whatever loss and restart."""

import json
from collections.abc import Coroutine
from typing import Any

from fake_errors import ApiError
from fake_fields import same
from fake_kinds import CLUSTER_QUEUE, COHORT, LOCAL_QUEUE, RESOURCE_FLAVOR, Kind
from fake_objects import merge_patched
from fake_store import FakeStore
from gpol.adapters.kueue.live.guard.guarded_objects import GUARDED_KINDS, KUEUE_GUARDED
from gpol.adapters.kueue.live.protocol import CONTROLLER
from gpol.adapters.live.guard.object_writes import RepairPace
from gpol.adapters.live.guard.quota_guard import QuotaGuard
from guard_store_api import GuardStoreApi, stored_kind
from guarded_policies import APART, PLAIN, STOPPED
from hypothesis import given, settings
from hypothesis import strategies as st

Json = dict[str, Any]

POLICIES = (PLAIN, STOPPED, APART)
QUEUES = [(CLUSTER_QUEUE, "a", ""), (CLUSTER_QUEUE, "b", "")]
OBJECTS = [*QUEUES, (COHORT, "all", ""), (LOCAL_QUEUE, "gpus", "team-b"), (LOCAL_QUEUE, "default", "team-a"), (RESOURCE_FLAVOR, "h100", "")]


def group(number: str, resource: str = "nvidia.com/gpu", **limits: str) -> list[Json]:
    """Resource groups of one quota."""
    quota = {"name": resource, "nominalQuota": number, **limits}
    return [{"coveredResources": [resource], "flavors": [{"name": "h100", "resources": [quota]}]}]


EDITS: tuple[Json, ...] = (
    {"spec": {"resourceGroups": group("99")}},
    {"spec": {"resourceGroups": group("8", borrowingLimit="1")}},
    {"spec": {"resourceGroups": group("8000m")}},
    {"spec": {"resourceGroups": group("8", "cpu")}},
    {"spec": {"resourceGroups": None}},
    {"spec": {"cohortName": "other"}},
    {"spec": {"cohortName": None}},
    {"spec": {"parentName": "other"}},
    {"spec": {"fairSharing": {"weight": "3"}}},
    {"spec": {"fairSharing": None}},
    {"spec": {"preemption": {"withinClusterQueue": "LowerPriority"}}},
    {"spec": {"preemption": {"borrowWithinCohort": {"maxPriorityThreshold": 3}}}},
    {"spec": {"admissionScope": {"admissionMode": "UsageBasedAdmissionFairSharing"}}},
    {"spec": {"namespaceSelector": {"matchLabels": {"a": "b"}}}},
    {"spec": {"clusterQueue": "b"}},
    {"spec": {"nodeLabels": {"gpu": "other"}}},
    {"metadata": {"labels": {"gpol.dev/guard": "somebody"}}},
    {"metadata": {"labels": None}},
    {"spec": None},
)
"""What people do by hand to fields that the policy says. An edit of a field that a kind does not have does nothing of importance."""

FREE: tuple[tuple[str, ...], ...] = (
    ("metadata", "labels", "team"),
    ("metadata", "annotations", "note"),
    ("spec", "nodeTaints"),
    ("spec", "stopPolicy"),
    ("status", "pendingWorkloads"),
)
"""Fields that no policy says of the objects that are edited there."""


def nested(path: tuple[str, ...], value: Any) -> Json:
    """A patch of one field."""
    return {path[0]: value if len(path) == 1 else nested(path[1:], value)}


def at(obj: Json | None, path: tuple[str, ...]) -> Any:
    """What stands in an object at a path."""
    found: Any = obj
    for name in path:
        found = (found or {}).get(name)
    return found


def as_policies_write(value: Any) -> Any:
    """A value with the one quantity that people write in another way."""
    return json.loads(json.dumps(value).replace("8000m", "8"))


def done(step: Coroutine[Any, Any, Any]) -> Any:
    """What a step gives that waits for nothing: this API answers at once."""
    try:
        step.send(None)
    except StopIteration as end:
        return end.value
    raise AssertionError("the step waits for something")


class Queue:
    """The names of objects that are to be looked at."""

    def __init__(self) -> None:
        self.names: dict[str, None] = {}

    def add(self, name: str) -> None:
        """Name an object."""
        self.names[name] = None


class World:
    """A cluster with a guard and with others who write, in which everybody takes one step at a time.

    At first it is empty but for a queue of somebody else; or gpol has been there before (`is_old`).
    """

    def __init__(self, mode: str, overrides: bool, deletes: bool, is_old: bool) -> None:
        self.store = FakeStore(namespaces=["team-a", "team-b"])
        self.api = GuardStoreApi(self.store)
        self.options: Json = {"mode": "repair", "overrides": overrides, "deletes": deletes}
        self.policy = PLAIN
        self.free: dict[tuple[tuple[Kind, str, str], tuple[str, ...]], tuple[str, Any]] = {}
        head = {"apiVersion": CLUSTER_QUEUE.api_version, "kind": CLUSTER_QUEUE.name, "metadata": {"name": "theirs"}}
        self.theirs = self.store.create(CLUSTER_QUEUE, {**head, "spec": {"resourceGroups": group("5"), "cohortName": "all"}})
        self.restart()
        if is_old:
            self._come_to_rest()
        self.api.written.clear()
        self.options["mode"] = mode
        self.restart()

    def restart(self) -> None:
        """gpol begins anew, from what the cluster is like."""
        pace = RepairPace(first_pause=0, longest_pause=0)
        looks: Any = Queue()
        self.guard = QuotaGuard(self.api, KUEUE_GUARDED, self.policy, pace=pace, looks=looks, **self.options)  # type: ignore[arg-type]
        for reflector in self.guard.followed.values():
            done(reflector._list())
        self.watches = {kind: self.store.watch(stored_kind(kind), version=str(self.store.version)) for kind in GUARDED_KINDS}
        self.pending: dict[Any, list[Json]] = {kind: [] for kind in GUARDED_KINDS}
        for key in self.guard._wanted:
            looks.add(key)

    # --- others

    def edit(self, which: tuple[Kind, str, str], edit: Json) -> None:
        """Somebody changes a field that the policy says."""
        self._try(lambda: self.store.merge_patch(which[0], which[1], edit, namespace=which[2], manager="kubectl-edit"), which)

    def apply(self, which: tuple[Kind, str, str], edit: Json) -> None:
        """Another program applies a quota, and takes it from whoever had it. Without `overrides` it stays as that program wants it."""
        spec = {name: value for name, value in edit["spec"].items() if value is not None}
        body = {"apiVersion": which[0].api_version, "kind": which[0].name, "metadata": {"name": which[1]}, "spec": spec}
        if self._live(which) is not None:
            is_applied = self._try(lambda: self.store.apply(which[0], which[1], body, manager="argocd", force=True), which)
            self.free.pop((which, ("spec", "resourceGroups")), None)  # what it no longer applies it lets go of
            for name in spec if is_applied and not self.options["overrides"] else ():
                self._note_free(which, ("spec", name))

    def edit_what_is_free(self, which: tuple[Kind, str, str], path: tuple[str, ...], value: str) -> None:
        """Somebody changes a field that the policy does not say."""
        if (path[-1] == "nodeTaints" and which[0] is not RESOURCE_FLAVOR) or (path[-1] == "stopPolicy" and which != QUEUES[1]):
            return
        part = "status" if path[0] == "status" and which[0].has_status else ""
        if path[0] == "status" and not part:
            return
        patch = nested(path, value)
        if self._try(
            lambda: self.store.merge_patch(which[0], which[1], patch, namespace=which[2], subresource=part, manager="they"), which
        ):
            self._note_free(which, path)

    def delete(self, which: tuple[Kind, str, str]) -> None:
        """Somebody deletes an object."""
        self._try(lambda: self.store.delete(which[0], which[1], namespace=which[2]), which)

    def use(self, which: tuple[Kind, str, str], finalizers: list[str]) -> None:
        """Kueue keeps a queue as long as workloads use it, or lets it go."""
        self._try(lambda: self.store.merge_patch(which[0], which[1], {"metadata": {"finalizers": finalizers}}, manager="kueue"), which)

    # --- gpol

    def reload(self, policy: Any) -> None:
        """Another policy counts."""
        self.policy = policy
        self.guard.keep(policy)

    def watch_some(self, number: int) -> None:
        """Some watch brings some events."""
        for kind, watch in self.watches.items():
            self.pending[kind] += watch.take()
            for event in self.pending[kind][:number]:
                self.guard.followed[kind]._on_event(event)
            del self.pending[kind][:number]

    def look(self, number: int) -> None:
        """gpol looks at some objects."""
        for _ in range(number):
            self._look()

    def lose_an_answer(self, lose: str) -> None:
        """The next write of gpol gets no answer."""
        self.api.lose = lose

    def edit_meanwhile(self, which: tuple[Kind, str, str], edit: Json) -> None:
        """Somebody writes just before the next write of gpol."""
        self.api.meanwhile = lambda: self.edit(which, edit)

    # --- what holds

    def end(self) -> None:
        """At the end everything comes to rest, and a guard that begins anew has nothing to do."""
        self.api.lose, self.api.meanwhile = "", None
        self._come_to_rest()
        self._check_fields()
        self._check_that_nothing_else_was_touched()
        version, told = self.store.version, self.guard.drift
        self.restart()
        self._come_to_rest()
        assert self.store.version == version, f"whoever rests writes nothing: {self.api.written[-3:]}"
        assert self.guard.drift == told, "what differs follows from the cluster and the policy alone"

    def _check_fields(self) -> None:
        """What is left of drift has a reason, and in repair mode everything else is as the policy says."""
        drift = self.guard.drift
        if self.options["mode"] == "report":
            assert self.api.written == []
            return
        assert [each for each in drift if not each.kept] == []
        for each in drift:
            is_contested = "argocd applies" in each.kept
            assert not (is_contested and self.options["overrides"]), each
            assert not is_contested or "argocd" in each.by, each
            assert is_contested or any(text in each.kept for text in ("being deleted", "it is gone", "deletes nothing", "label")), each
        for key, wanted in self.guard._wanted.items():
            kind, namespace, name = KUEUE_GUARDED.parted(key)
            of_object = [each for each in drift if (each.kind, each.name) == (kind.kind, key.partition(" ")[2])]
            if any(not each.field for each in of_object):
                continue
            live = self._live((stored_kind(kind), name, namespace))
            assert live is not None, key
            fields = [each.field for each in of_object]
            for field in ("value", *wanted.body.get("spec", {})):
                path = (field,) if field == "value" else ("spec", field)
                if at(wanted.body, path) is not None and not any(each.startswith(f"spec.{field}") for each in fields):
                    assert same(as_policies_write(at(merge_patched(live, wanted.body), path)), as_policies_write(at(live, path))), live
            for path in wanted.absent:
                assert ".".join(path) in fields or at(live, path) is None, live
            assert fields or at(live, ("metadata", "labels", "gpol.dev/guard")) == "gpol", live
        live = self._live(QUEUES[1])
        if self.options["deletes"] and self.policy is APART and live is not None and CONTROLLER in json.dumps(live["metadata"]):
            assert any(each.name == "b" for each in drift), "the queue that the policy no longer has is gone, or it is told why not"

    def _check_that_nothing_else_was_touched(self) -> None:
        for (which, path), (uid, value) in self.free.items():
            live = self._live(which)
            is_same = live is not None and live["metadata"]["uid"] == uid
            assert not is_same or at(live, path) == value, f"{which[1]}: nobody but its owner has changed {path}"
        assert self.store.get(CLUSTER_QUEUE, "theirs") == self.theirs

    # --- steps

    def _come_to_rest(self) -> None:
        for _ in range(100):
            self.watch_some(10**6)
            if not self.guard.looks.names and not any(self.pending.values()):  # type: ignore[attr-defined]
                return
            self._look()
        raise AssertionError(f"no rest: {self.guard.looks.names}, {self.guard.failures}")  # type: ignore[attr-defined]

    def _look(self) -> None:
        names: dict[str, None] = self.guard.looks.names  # type: ignore[attr-defined]
        if names:
            key = next(iter(names))
            del names[key]
            if done(self.guard.look(key)) is not None:
                names[key] = None

    def _live(self, which: tuple[Kind, str, str]) -> Json | None:
        try:
            return self.store.get(which[0], which[1], which[2])
        except ApiError:
            return None

    def _try(self, write: Any, which: tuple[Kind, str, str]) -> bool:
        """Write to an object, if it is there; forget what was free of one that goes by that, or is changed there by another edit."""
        if self._live(which) is None:
            return False
        try:
            write()
        except ApiError as error:
            if error.code == 422:  # nothing of a spec would be left
                return False
            raise
        live = self._live(which)
        for key in [key for key in self.free if key[0] == which and at(live, key[1]) != self.free[key][1]]:
            del self.free[key]
        return True

    def _note_free(self, which: tuple[Kind, str, str], path: tuple[str, ...]) -> None:
        """Note that a field of an object is nobody's but its writer's."""
        live = self._live(which)
        if live is not None:
            self.free[which, path] = live["metadata"]["uid"], at(live, path)


which, queues, edits = st.sampled_from(OBJECTS), st.sampled_from(QUEUES), st.sampled_from(EDITS)
others = st.one_of(
    st.tuples(st.just("edit"), which, edits),
    st.tuples(st.just("edit"), queues, edits),
    st.tuples(st.just("apply"), queues, st.sampled_from(EDITS[:5])),
    st.tuples(st.just("edit_what_is_free"), which, st.sampled_from(FREE), st.sampled_from(["x", "y"])),
    st.tuples(st.just("delete"), which),
    st.tuples(st.just("use"), queues, st.sampled_from([[], ["kueue.x-k8s.io/resource-in-use"]])),
)
own = st.one_of(
    st.tuples(st.just("reload"), st.sampled_from(POLICIES)),
    st.tuples(st.just("watch_some"), st.integers(1, 6)),
    st.tuples(st.just("look"), st.integers(1, 4)),
    st.tuples(st.just("look"), st.just(20)),
    st.tuples(st.just("lose_an_answer"), st.sampled_from(["before", "after"])),
    st.tuples(st.just("edit_meanwhile"), queues, edits),
    st.tuples(st.just("restart")),
)


@settings(max_examples=250)
@given(
    steps=st.lists(others | own, min_size=12, max_size=40),
    mode=st.sampled_from(["repair", "repair", "report"]),
    overrides=st.booleans(),
    deletes=st.booleans(),
    is_old=st.booleans(),
)
def test_everything_comes_to_rest_as_the_policy_says(steps: list[Any], mode: str, overrides: bool, deletes: bool, is_old: bool) -> None:
    """Whatever was written: at the end the fields of the policy are as it says, or it is told why not, and nothing else was touched."""
    world = World(mode, overrides, deletes, is_old)
    for name, *arguments in steps:
        getattr(world, name)(*arguments)
    world.end()
