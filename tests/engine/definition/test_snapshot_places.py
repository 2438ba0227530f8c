"""What is used at places is the same in a core from a snapshot, in a copy, and in one that was told what another one decided."""

import json
from collections.abc import Callable
from itertools import pairwise

import pytest
from gpol.engine.default_core import SnapshotError, freeze, thaw
from gpol.engine.definition.core import DefinitionCore
from in_cycles import Cycles
from placing import FABRIC, ask, cluster_of

POLICY = f"""policy "p" {{ use kueue.classical }}
{FABRIC}flavor a {{
  gpu as owned
  placed in fabric
}}
flavor b {{
  gpu as owned
  placed in fabric
  tolerates pool
}}
cohort all {{
  queue q {{
    owns 20 gpu on a
    only a
    evicts its own of lower priority
  }}
  queue r {{
    owns 20 gpu on b
    only b
  }}
}}
"""


def busy() -> Cycles:
    """Nodes, one of them tainted and one that takes no pods; workloads that run there on both flavors, and some that wait."""
    c = cluster_of(POLICY, n1="b/r 4", n2="b/s 3", n3="c/t 5")
    labels = {"block": "b", "rack": "s"}
    c.fact(
        "NodeAdded",
        node="n4",
        labels=labels,
        capacity={"gpu": "8", "pods": 9},
        taints=[{"key": "pool", "value": "spot", "effect": "NoSchedule"}],
    )
    c.fact("NodeAdded", node="n5", labels=labels, capacity={"gpu": "8", "pods": 3}, cordoned=True)
    ask(c, "v1", 3)
    ask(c, "v2", 4, queue="r", near="rack")
    c.rest()
    ask(c, "w1", 9)
    ask(c, "w2", 3, queue="r", within="rack")
    c.cycle()
    ask(c, "w3", 3, priority=9, within="rack")
    return c


def thawed(c: Cycles) -> DefinitionCore:
    """A core from its snapshot."""
    core = thaw(freeze(c.core), c.graph)
    assert isinstance(core, DefinitionCore)
    return core


def copied(c: Cycles) -> DefinitionCore:
    """A copy of it."""
    core = c.core.copy()
    assert isinstance(core, DefinitionCore)
    return core


def replayed(c: Cycles) -> DefinitionCore:
    """A core that was told all that the other one was told and has decided."""
    core = DefinitionCore()
    for event, graph in c.history:
        core.apply(event, graph)
    return core


def use(core: DefinitionCore) -> list[dict[str, dict[str, int]]]:
    """What is used of each node under each flavor, where it is more than nothing."""
    places = core.state.active.places
    found = []
    for flavor in range(2):
        used = {name: places.used(flavor, (name,)) for name in sorted(places.machines)}
        found.append(
            {name: {key: used[name][key] for key in sorted(used[name]) if used[name][key]} for name in used if any(used[name].values())}
        )
    return found


def core_of(c: Cycles) -> DefinitionCore:
    """The core of a cluster."""
    assert isinstance(c.core, DefinitionCore)
    return c.core


@pytest.mark.parametrize("again", [thawed, copied, replayed])
def test_the_same_use_and_the_same_decisions(again: Callable[[Cycles], DefinitionCore]) -> None:
    """Nodes with their taints, what runs there, and what is decided next."""
    c = busy()
    other = again(c)
    assert use(other) == use(core_of(c)) != [{}, {}]
    assert other.state.machines == c.state.machines
    c.core, original = other, c.core
    decided = c.rest()
    c.core = original
    assert c.rest() == decided
    assert "run w3" in decided, decided
    assert use(other) == use(core_of(c))


@pytest.mark.parametrize("again", [thawed, copied])
def test_neither_disturbs_the_other(again: Callable[[Cycles], DefinitionCore]) -> None:
    """What ends in one goes on in the other."""
    c = busy()
    before, other = use(core_of(c)), again(c)
    c.finish("v1")
    assert use(other) == before != use(core_of(c))


def test_use_is_made_of_what_runs() -> None:
    """It stands in no snapshot: what a workload holds there follows from its places, and places of a node that is gone are none."""
    c = busy()
    document = json.loads(freeze(c.core))
    assert "places" not in document
    [given] = next(each for each in document["workloads"] if each["fact"]["workload"] == "v1")["assignments"]
    given["places"][0]["pods"] = "none"
    with pytest.raises(SnapshotError):
        thaw(json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode(), c.graph)


def test_each_flavor_of_nodes_sees_all_that_is_used() -> None:
    """v1 runs on a, v2 and w2 on b: both flavors see the nodes of all of them, and those who end use nothing."""
    c = busy()
    seen = use(core_of(c))
    assert seen[0] == seen[1]
    assert sum(amounts["gpu"] for amounts in seen[0].values()) == 10_000
    for name in ("v1", "v2", "w2"):
        c.finish(name)
    assert use(core_of(c)) == [{}, {}]


def test_use_outlives_a_change_of_nodes_and_of_the_policy() -> None:
    """A node that changes or goes, and another policy with the same flavors, change nothing of what is used."""
    c = busy()
    seen = [use(core_of(c))]
    c.fact("NodeChanged", node="n1", labels={"block": "b", "rack": "s"}, capacity={"gpu": "9", "pods": 9})
    seen.append(use(core_of(c)))
    c.activate(POLICY.replace("owns 20 gpu on b", "owns 19 gpu on b"))
    seen.append(use(core_of(c)))
    assert all(before == after for before, after in pairwise(seen))
