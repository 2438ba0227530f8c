"""Tiers as levels of a topology, and the flavor that is placed in it."""

from ...topology_objects import by_name, fabric, hyper_node, node, pod
from ...volcano_objects import GPU, block, facts, notes, problems, queue, text


def test_a_policy_with_a_topology() -> None:
    """The highest tier is the widest level; a tier that has one name is called by it. What exists comes from the nodes."""
    made = text(queue(), *fabric())
    assert block(made, "topology hypernodes") == [
        'level spine from label "gpol.dev/hypernode-tier-2"',
        'level tier-1 from label "gpol.dev/hypernode-tier-1"',
        "level host from node",
    ]
    assert block(made, 'flavor "default"') == [f'"{GPU}" from nodes where gpol.dev/topology = "hypernodes"', "placed in hypernodes"]
    assert "ignore cpu, memory" in made


def test_tainted_nodes_keep_nobody_off() -> None:
    """PodGroups do not say what their pods tolerate: the policy says so, where one can change it."""
    tainted = node("t", spec={"taints": [{"key": "gpu", "effect": "NoSchedule"}]})
    objects = [queue(), *fabric(), hyper_node("c", 1, *by_name("Node", "t")), tainted]
    assert "tolerates anything" in block(text(*objects), 'flavor "default"')
    assert (
        "Node t: spec.taints: keep nothing off: PodGroups do not say what their pods tolerate, and the flavor tolerates anything"
        in notes(*objects)
    )


def test_names_of_tiers_that_are_no_names() -> None:
    """Two tiers of one name, two names of one tier, the name of another level: then the number says it."""
    leaves = [hyper_node(f"l{number}", 1, *by_name("Node", f"n{number}"), tierName="same") for number in (1, 2)]
    tops = [
        hyper_node("m1", 2, *by_name("HyperNode", "l1"), tierName="same"),
        hyper_node("t1", 3, *by_name("HyperNode", "m1"), tierName="x"),
        hyper_node("t2", 3, *by_name("HyperNode", "l2"), tierName="y"),
        hyper_node("u", 4, *by_name("HyperNode", "t1"), tierName="host"),
        hyper_node("v", 7, *by_name("HyperNode", "u"), tierName="tier-1"),
    ]
    made = text(queue(), *leaves, *tops, node("n1"), node("n2"))
    levels = [line.split()[1] for line in block(made, "topology hypernodes")]
    assert levels == ["tier-7", "tier-4", "tier-3", "tier-2", "tier-1", "host"]


def test_hyper_nodes_without_nodes() -> None:
    """Nothing says then what there is."""
    [told] = problems(queue(), hyper_node("s", 1, *by_name("Node", "n")))
    assert told == (
        "HyperNode s: is there, and no Node: nothing says which nodes the cluster has; "
        "add what `kubectl get nodes -o yaml` writes, or leave the HyperNodes out"
    )


def test_too_many_tiers() -> None:
    """A topology has at most sixteen levels, and the last one is of nodes."""
    tower = [hyper_node("s1", 1, *by_name("Node", "n"))]
    tower += [hyper_node(f"s{tier}", tier, *by_name("HyperNode", f"s{tier - 1}")) for tier in range(2, 17)]
    assert problems(queue(), *tower, node("n")) == [
        "HyperNode s1: spec.tier: is one of 16 tiers in all HyperNodes, and a topology has at most 15 above its nodes; use fewer tiers"
    ]
    assert "level tier-15 from label" in text(queue(), *tower[:-1], node("n"))


def test_what_is_left_out_is_noted() -> None:
    """HyperNodes without nodes, and nodes in no HyperNode. Of nodes that are not ready the amounts are."""
    empty = hyper_node("e", 1, {"type": "Node", "selector": {"regexMatch": {"pattern": "^nothing$"}}})
    found = notes(queue(), *fabric(), empty, node("outside"), hyper_node("c", 1, *by_name("Node", "down")), node("down", ready="False"))
    assert found == [
        "HyperNode e: spec.members: are no nodes of the dump: it is left out",
        "Node outside: is in no HyperNode: it is left out, and nothing is placed there",
        "Node down: status.conditions: is not ready: Volcano places nothing there, and it counts as cordoned, with nothing on it",
    ]


def test_a_node_that_is_not_ready_has_nothing() -> None:
    """It stays in its HyperNode, so that an export does not take it out of there."""
    found = facts(
        queue(), hyper_node("s", 1, *by_name("Node", "up", "down")), node("up"), node("down", ready="Unknown"), pod("p", "down", 1)
    )
    down, up = found
    assert (down["cordoned"], down["capacity"], down["labels"]["gpol.dev/hypernode-tier-1"]) == (True, {"cpu": 0, GPU: 0, "pods": 0}, "s")
    assert (up.get("cordoned"), up["capacity"][GPU]) == (None, 8)


# --- what exists


def test_nodes_say_what_exists() -> None:
    """So --capacity has no effect; a limit of the root that is below it could not be kept, and one above it is none."""
    assert problems(queue(), *fabric(), capacity=(f"{GPU}=64",)) == [
        "--capacity: has no effect: there are HyperNodes, and their nodes say what exists; leave the option out"
    ]
    assert problems(queue(), queue("root", capability={GPU: "63"}), *fabric()) == [
        f"Queue root: spec.capability.{GPU}: is 63, and the nodes have 64: places are given on all of them; "
        "leave it out, or limit the Queues directly below the root"
    ]
    assert notes(queue(), queue("root", capability={GPU: "64"}), *fabric()) == [
        f"Queue root: spec.capability.{GPU}: is left out: the nodes have no more, and they say what exists"
    ]


def test_limits_alone_are_enough_where_nodes_are_known() -> None:
    """Nothing has to be deserved: a limit is on what the nodes have, and without any all of it counts."""
    assert block(text(queue(capability={"cpu": "8"}), *fabric()), 'flavor "default"')[0].startswith("cpu from nodes where")
    assert block(text(queue(weight=2), *fabric()), 'flavor "default"')[0].startswith(f'cpu, "{GPU}" from nodes where')


def test_without_hyper_nodes_nodes_count_for_nothing() -> None:
    """The policy is the same as without the nodes."""
    assert text(queue(), node("n")) == text(queue())
