"""Submissions with everything that one may say, as plain data."""

from typing import Any

from draws import Draw
from gpol.engine.cores import Core
from gpol.engine.policy_graph import PolicyGraph
from gpol.engine.units import INT64_MAX
from worlds import (
    EFFECTS,
    GROUPS,
    HUGE,
    KINDS,
    LABELS,
    NAMESPACE_LABELS,
    NAMESPACES,
    NODE_LABELS,
    PRIORITIES,
    SECOND,
    UNITS,
    USERS,
    World,
    drawn_amount,
    near_bounds,
)

Plain = dict[str, Any]


def priority(draw: Draw) -> int | str | None:
    """A priority that is asked for, rarely an unknown one."""
    options = [None, *PRIORITIES, *PRIORITIES, 0, 1, 2, draw.pick([-1, 2**31 - 1, -(2**31), 7]), "unknown" if draw.chance(8) else 1]
    return draw.pick(options)


def submission(draw: Draw, world: World, core: Core, name: str, time: int) -> Plain:
    """A workload for some queue: named, by its local queue, or left to the match rules."""
    graph = core.graph
    assert graph is not None
    queue = draw.pick(graph.queues)
    fact: Plain = {"kind": "WorkloadSubmitted", "workload": name}
    all_locals = [local.name for each in graph.queues for local in each.local_queues]
    locals_ = [local.name for local in queue.local_queues]
    way = draw.pick(["named"] * 8 + ["local"] * (8 if locals_ else 0) + ["matched"] * 2)
    if way == "named":
        fact["queue"] = "nowhere" if draw.chance(60) else graph.nodes[queue.node].name
        if locals_ and draw.chance(2):
            fact["local_queue"] = draw.pick(locals_ if not draw.chance(30) else all_locals)
    elif way == "local":
        fact["local_queue"] = draw.pick(locals_) if not draw.chance(40) else "x/unknown"
    _says_who(draw, fact, way == "matched")
    if (asked := priority(draw)) is not None:
        fact["priority"] = asked
    fact["pod_sets"] = pod_sets(draw, world, core, queue.node)
    if draw.chance(2):
        fact["namespace_labels"] = dict(draw.some(NAMESPACE_LABELS, least=1, most=2))
    if draw.chance(8):
        fact["created"] = max(0, time - draw.pick([0, 1, SECOND, 5 * SECOND, 60 * SECOND]))
    if draw.chance(6):
        fact["uid"] = f"u{draw.number(0, 9)}"
    if draw.chance(12):
        fact["boost"] = draw.pick([1, -1, 5, 2**31 - 1, -(2**31)])
    if draw.chance(25):
        fact["hold"] = True
    if draw.chance(60):
        fact["misconfigured"] = "no image"
    running = [workload for workload in core.view.workloads() if workload.admitted is not None and workload.queue >= 0]
    if running and draw.chance(40 if world.crowded else 8):
        _replace(draw, graph, fact, draw.pick(running))
    return fact


def _says_who(draw: Draw, fact: Plain, fully: bool) -> None:
    """User, group and so on; more of them where a queue has to be found by them."""
    for field, values in (("namespace", NAMESPACES), ("user", USERS), ("group", GROUPS), ("workload_kind", KINDS)):
        if fully or draw.chance(2):
            fact[field] = draw.pick(values)
    if fully or draw.chance(4):
        fact["labels"] = dict(draw.some(LABELS, most=2))


def _replace(draw: Draw, graph: PolicyGraph, fact: Plain, old: Any) -> None:
    """Let a submission take the place of a running workload: mostly of its queue, and a little greater."""
    fact["replaces"] = old.name
    if draw.chance(6):
        return
    fact.pop("local_queue", None)
    fact |= {"queue": graph.nodes[old.queue].name, "namespace": old.fact.namespace}
    fact["pod_sets"] = [pod_set.model_dump(mode="json") for pod_set in old.fact.pod_sets]
    pods = draw.pick(fact["pod_sets"])
    greatest = max([1, *(amount for each in fact["pod_sets"] for amount in each["requests"].values())])
    if greatest * (sum(each["count"] for each in fact["pod_sets"]) + 1) <= INT64_MAX:
        pods["count"] += 1


def pod_sets(draw: Draw, world: World, core: Core, queue: int) -> list[Plain]:
    """One to three pod sets that mostly could run in a queue if it were empty; some of one group."""
    count = 1 if world.crowded and not draw.chance(30) else draw.pick([1, 1, 1, 1, 2, 2, 3])
    made = [_pod_set(draw, world, core, queue, name) for name in ("main", "second", "third")[:count]]
    if count > 1 and draw.chance(3):
        for each in made[-2:]:
            each["group"] = "g"
    pods = sum(each["count"] for each in made)
    for each in made:  # no more than 64 bits hold, all together
        each["requests"] = {resource: min(amount, INT64_MAX // pods) for resource, amount in each["requests"].items()}
    return made


def _requests(draw: Draw, world: World, core: Core, queue: int) -> dict[str, int]:
    """What a pod asks for: of one flavor and maybe others, up to all that the queue could ever use."""
    graph = core.graph
    assert graph is not None
    most: dict[str, int] = {}
    for slot in draw.shuffled(range(len(graph.slots))):
        most.setdefault(graph.slots[slot].resource, core.probe.most(queue, slot))
    served = {resource for group in graph.queue_at(queue).groups for resource in group.resources} or set(most)
    known = [resource for resource in most if resource in served or draw.chance(20)]
    asked = draw.some([resource for resource in known if resource != "pods" or draw.chance(10)], least=1, most=3)
    if draw.chance(20):
        asked += draw.some(["cpu", "memory", "other"], most=1)
    found = {}
    for resource in asked:
        top, unit = most.get(resource, 0), UNITS.get(resource, 1)
        if world.size not in ("small", "fine") and top > 0:
            beyond = draw.pick(HUGE) if world.size == "huge" else near_bounds(draw, world.size)
            found[resource] = draw.pick([top, top // 2, top // 3, top // 4, top // 2 + 1, draw.number(0, top), beyond])
        elif top >= unit and not draw.chance(10):
            found[resource] = unit * draw.number(1, min(draw.pick([1, 2, 4, 12]), top // unit)) + (draw.chance(12) if unit > 1 else 0)
        else:
            found[resource] = drawn_amount(draw, world.size, resource, 4)
    return found


def _pod_set(draw: Draw, world: World, core: Core, queue: int, name: str) -> Plain:
    graph = core.graph
    assert graph is not None
    made: Plain = {"name": name, "requests": {} if draw.chance(60) else _requests(draw, world, core, queue)}
    made["count"] = draw.pick([1, 1, 1, 1, 2, 3])
    if made["count"] > 1 and draw.chance(40 if world.crowded else 3):
        made["min_count"] = draw.number(1, made["count"])
    if draw.chance(7):
        made["flavors"] = draw.some([*(flavor.name for flavor in graph.flavors), "none-such"], least=1, most=2)
    if draw.chance(16):
        made["node_selector"] = dict(draw.some(NODE_LABELS, least=1, most=2))
    if draw.chance(20):
        made["affinity"] = [[_requirement(draw) for _ in range(draw.pick([1, 1, 2, 0]))] for _ in range(draw.pick([1, 1, 2]))]
    if draw.chance(4):
        made["tolerations"] = [_toleration(draw) for _ in range(draw.number(1, 2))]
    return made


def _requirement(draw: Draw) -> Plain:
    key, value = draw.pick(NODE_LABELS)
    operator = draw.pick(["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"])
    values = {"In": [value, "x"], "NotIn": [value], "Gt": [draw.pick(["7", "x", ""])], "Lt": [draw.pick(["10", "-1"])]}.get(operator, [])
    return {"key": "size" if operator in ("Gt", "Lt") and draw.chance(2) else key, "operator": operator, "values": values}


def _toleration(draw: Draw) -> Plain:
    made: Plain = {"key": draw.pick(["pool", "spot", ""]), "operator": draw.pick(["Exists", "Equal"])}
    if made["operator"] == "Equal":
        made["value"] = draw.pick(["f0", ""])
    return {**made, "effect": draw.pick(["", *EFFECTS])}


def crowd(draw: Draw, core: Core, name: str) -> list[Plain]:
    """Some forty small workloads that use up a slot of a queue, and one that needs all of it; nothing where there is too little of it."""
    graph = core.graph
    assert graph is not None
    queue = draw.pick(graph.queues).node
    slots = [slot for slot in range(len(graph.slots)) if core.probe.most(queue, slot) >= 40 and graph.slots[slot].resource != "pods"]
    if not slots:
        return []
    slot, count = draw.pick(slots), draw.number(34, 40)
    flavor, resource = graph.slot_name(slot)
    one = min(core.probe.most(queue, slot) // count, INT64_MAX)
    pods: Plain = {"requests": {resource: one}, "flavors": [flavor]}
    facts: list[Plain] = []
    for number in range(count):
        about = {"workload": f"{name}-{number:02}"}
        facts.append({"kind": "WorkloadSubmitted", **about, "queue": graph.nodes[queue].name, "priority": -1, "pod_sets": [pods]})
        if graph.settings.defers:  # a cycle admits one at a time
            placement = {"pod_set": "main", "count": 1, "flavors": {resource: flavor}, "usage": {resource: one}}
            facts.append({"kind": "WorkloadAdopted", **about, "queue": graph.nodes[queue].name, "since": 0, "placements": [placement]})
    other = queue if draw.chance(2) else draw.pick(graph.queues).node
    all_of_it = {"requests": {resource: min(max(1, core.probe.most(other, slot)), INT64_MAX)}, "flavors": [flavor]}
    facts.append({"kind": "WorkloadSubmitted", "workload": name, "queue": graph.nodes[other].name, "priority": 9, "pod_sets": [all_of_it]})
    return [*facts, {"kind": "TimeAdvanced"}]
