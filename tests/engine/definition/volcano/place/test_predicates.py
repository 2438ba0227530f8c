"""Which nodes a pod may have."""

from dataclasses import replace

import pytest
from gpol.engine.definition.session.session import SessionNode
from gpol.engine.definition.volcano.model.pod_group_facts import GroupPhase
from gpol.engine.definition.volcano.model.volcano_cycle import VolcanoCycle
from gpol.engine.definition.volcano.model.volcano_settings import NodeShard
from gpol.engine.definition.volcano.place.predicates import FailedNodes, by_shard, could_have, may_have, may_have_with_room
from gpol.engine.event_parts import Toleration
from gpol.engine.nodes.conditions import Taint
from small_clusters import Asked, Gang, cluster, ran


def _cycle(**pod: object) -> VolcanoCycle:
    return cluster({"a": 4, "b": 2}, [Gang("g", (Asked(3, **pod), Asked(1, **pod)))], ())  # type: ignore[arg-type]


def _with_node(cycle: VolcanoCycle, **machine: object) -> VolcanoCycle:
    first, *others = cycle.session.nodes
    changed = SessionNode(0, first.name, replace(first.machine, **machine), first.capacity)  # type: ignore[arg-type]
    cycle.session.nodes = (changed, *others)
    return cycle


@pytest.mark.parametrize(
    ("machine", "tolerations"),
    [
        ({"cordoned": True}, [Toleration(key="node.kubernetes.io/unschedulable", operator="Exists")]),
        ({"taints": (Taint("gpu", "yes", "NoSchedule"),)}, [Toleration(key="gpu", value="yes")]),
    ],
)
def test_what_keeps_pods_off_for_good(machine: dict[str, object], tolerations: list[Toleration]) -> None:
    """No eviction helps, unless the pod tolerates it."""
    cycle = _with_node(_cycle(), **machine)
    pod = cycle.session.pods[0]
    assert not could_have(cycle, pod, 0)
    assert could_have(cycle, pod, 1)
    pod.pod_set = pod.pod_set.model_copy(update={"tolerations": tuple(tolerations)})
    assert may_have(cycle, pod, 0)


def test_where_a_node_has_all_its_pods_eviction_helps() -> None:
    """It may not have the node now, but could."""
    cycle = cluster({"a": 9}, [Gang("g", (Asked(1, on="a"), Asked(1)), phase=GroupPhase.RUNNING)], (), most_pods=1)
    pod = cycle.session.pods[1]
    assert (may_have(cycle, pod, 0), could_have(cycle, pod, 0)) == (False, True)


def test_room_is_asked_for_by_name() -> None:
    """The large pod has room on one node only; a small one of its role is not asked about the other one any more."""
    for role, found in (("", [0, 1]), ("w", [0])):
        cycle = _cycle(role=role)
        failed = FailedNodes()
        large, small = cycle.session.pods
        assert failed.nodes_for(cycle, large, [1, 0], may_have_with_room) == [0]
        assert failed.nodes_for(cycle, small, [1, 0], may_have_with_room) == found


def test_nodes_of_other_schedulers_come_last_or_not_at_all() -> None:
    """The emptier node is that of another one."""
    for only, states in ((False, {("placed", "b"), ("placed", "a")}), (True, {("placed", "b"), ("waiting", "")})):
        cycle = cluster({"a": 9, "b": 2}, [Gang("g", (Asked(2), Asked(2)))], ("allocate",))
        cycle.shard = NodeShard(frozenset({1}), only)
        assert by_shard(cycle, [0, 1]) == ([1], [0])
        assert set(ran(cycle).values()) == states
