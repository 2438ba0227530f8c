"""The Queues and PriorityClasses that a guard keeps: said in full, in an order and with amounts that Volcano's webhook takes."""

from typing import Any

import pytest
from fake_kinds import VOLCANO_QUEUE
from fake_store import FakeStore
from gpol.adapters.kueue.problems import ExportRefused
from gpol.adapters.live.guard.differences import differences
from gpol.adapters.live.guard.guarded_system import GUARD_LABEL, GuardedObject
from gpol.adapters.volcano.export.export_to_volcano import json_list
from gpol.adapters.volcano.import_.load_volcano import load_volcano, read_files
from gpol.adapters.volcano.live.guarded_queues import volcano_guarded
from gpol.dsl import check, compile_policy, print_tree
from hypothesis import given
from volcano_webhook import with_volcano

from ..volcano_clusters import CAPACITY, clusters
from ..volcano_exports import HEAD
from ..volcano_objects import NOW

Json = dict[str, Any]
GPU = "nvidia.com/gpu"
VOLCANO = volcano_guarded()
TREE = (
    'priority prod 1000\ncohort p {\n  queue u {\n    owns 12 "nvidia.com/gpu"\n    guarantees 4 "nvidia.com/gpu"\n'
    '    borrows up to 0 "nvidia.com/gpu"\n  }\n}\nqueue alone { owns nothing }\n'
)


def guarded(text: str) -> dict[str, GuardedObject]:
    """What is guarded of a policy."""
    return VOLCANO.objects(compile_policy(text, "p.gpol"), GPU, "blue")[0]


def test_what_is_guarded() -> None:
    """PriorityClasses, then Queues, those above others first; each has the guard's label, and says what would be Volcano's default."""
    found = guarded(HEAD + TREE)
    assert list(found) == ["priorityclasses prod", "queues alone", "queues p", "queues u"]
    assert all(each.body["metadata"]["labels"] == {GUARD_LABEL: "blue"} for each in found.values())
    assert found["queues u"].body["spec"] == {
        "parent": "p",
        "weight": 1,
        "reclaimable": True,
        "dequeueStrategy": "traverse",
        "priority": 0,
        "deserved": {GPU: "12"},
        "guarantee": {"resource": {GPU: "4"}},
        "capability": {GPU: "12"},
    }
    assert found["queues u"].absent == ()
    assert found["queues p"].absent == (("spec", "parent"),)
    assert VOLCANO.parted("queues u") == (found["queues u"].kind, "", "u")


def told(wanted: GuardedObject, spec: Json) -> list[tuple[str, str, str]]:
    """How a Queue with some other fields differs."""
    there = {**wanted.body, "spec": {**wanted.body["spec"], **spec}}
    return [(each.field, each.wanted, each.found) for each in differences(wanted, there, VOLCANO.forms)]


def test_a_queue_as_the_policy_says_does_not_differ() -> None:
    """However its amounts are written, where defaults are not said, and whatever the policy does not say of it."""
    found = guarded(HEAD + TREE)
    assert told(found["queues u"], {"deserved": {GPU: "12000m"}, "capability": {GPU: 12}, "weight": None, "priority": None}) == []
    assert told(found["queues u"], {"affinity": {"nodeGroupAffinity": {}}, "extendClusters": []}) == []
    assert told(found["queues p"], {"parent": "root"}) == []
    prod = found["priorityclasses prod"]
    there = {**prod.body, "globalDefault": False, "preemptionPolicy": "PreemptLowerPriority", "description": "x"}
    assert differences(prod, there, VOLCANO.forms) == []


@pytest.mark.parametrize(
    ("name", "spec", "difference"),
    [
        ("u", {"deserved": {GPU: "13"}}, (f"spec.deserved[{GPU}]", "12", "13")),
        ("u", {"deserved": {}}, (f"spec.deserved[{GPU}]", "12", "nothing")),
        ("u", {"capability": {GPU: "12", "cpu": "1"}}, ("spec.capability.cpu", "nothing", "1")),
        ("u", {"guarantee": {"resource": {GPU: "4", "cpu": "1"}}}, ("spec.guarantee.resource.cpu", "nothing", "1")),
        ("alone", {"capability": {GPU: "12"}}, (f"spec.capability[{GPU}]", "nothing", "12")),
        ("alone", {"deserved": {GPU: "x"}}, (f"spec.deserved[{GPU}]", "nothing", "x")),
        ("u", {"parent": "root"}, ("spec.parent", "p", "root")),
        ("p", {"parent": "other"}, ("spec.parent", "nothing", "other")),
        ("u", {"reclaimable": False}, ("spec.reclaimable", "true", "false")),
        ("u", {"priority": 3}, ("spec.priority", "0", "3")),
        ("u", {"weight": 3}, ("spec.weight", "1", "3")),
        ("u", {"dequeueStrategy": "fifo"}, ("spec.dequeueStrategy", "traverse", "fifo")),
    ],
)
def test_what_differs(name: str, spec: Json, difference: tuple[str, str, str]) -> None:
    """Each field that decides."""
    assert told(guarded(HEAD + TREE)[f"queues {name}"], spec) == [difference]


@pytest.mark.parametrize(
    "text",
    [
        HEAD + 'flavor g { "example.com/nic" 8 }\n\nresource "example.com/nic"\n\nqueue a {\n  owns 8 "nvidia.com/gpu" on f\n  only g\n}\n',
        HEAD + 'queue root { owns 8 "nvidia.com/gpu" }\n',
        HEAD + 'queue a {\n  owns 8 "nvidia.com/gpu"\n  weight 1/2\n}\n',
    ],
)
def test_what_volcano_would_refuse_is_refused_before(text: str) -> None:
    """A queue that deserves what it may not use, one that is called `root`, a weight that no Queue has."""
    with pytest.raises(ExportRefused):
        guarded(text)


@given(clusters())
def test_the_webhook_takes_all_that_is_guarded(objects: list[Json]) -> None:
    """Applied in order, each Queue of a policy is taken: no queue deserves more than its capability, nor do those below it together."""
    tree = load_volcano(read_files([("dump", json_list(objects).encode())]), NOW, capacity=CAPACITY).tree
    checked = check(print_tree(tree), "volcano.gpol")
    assert checked.graph is not None
    store = with_volcano(FakeStore())
    for wanted in VOLCANO.objects(checked.graph, GPU, "gpol")[0].values():
        if wanted.kind.kind == "Queue":
            store.apply(VOLCANO_QUEUE, wanted.name, wanted.body, manager="gpol.dev/policy", force=True)
            assert differences(wanted, store.get(VOLCANO_QUEUE, wanted.name), VOLCANO.forms) == []


def test_flavors_are_summed_up_where_that_is_wanted() -> None:
    """Else several flavors of one resource are refused."""
    text = HEAD + 'flavor g { "nvidia.com/gpu" 8 }\n\nqueue a {\n  owns 8 "nvidia.com/gpu" on f\n  owns 4 "nvidia.com/gpu" on g\n}\n'
    with pytest.raises(ExportRefused, match="several flavors"):
        guarded(text)
    summed = volcano_guarded(sum_flavors=True).objects(compile_policy(text, "p.gpol"), GPU, "gpol")[0]
    assert summed["queues a"].body["spec"]["deserved"] == {GPU: "12"}
