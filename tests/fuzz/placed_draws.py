"""Clusters of racks and nodes, with flavors that give places to pods, and what happens there: policies and facts."""

from collections.abc import Iterator
from typing import Any

from draws import Draw
from gpol.engine.cores import Core
from gpol.engine.workload import Workload
from worlds import SECOND

Plain = dict[str, Any]

POOLS = ("h100", "a100")
WAYS = ("packed", "spread", "keeping room for 4 gpu", "keeping room for 8 gpu, 4 gpu")
MOST_WAITING = 6
"""Where more wait, some are cancelled: a long line costs time at each fact, and shows little that a short one does not."""

TAINT = {"key": "burst", "value": "", "effect": "NoSchedule"}


def placed_policy(draw: Draw, in_cycles: bool) -> str:
    """A policy whose flavors give places by racks and hosts, or by nodes alone."""
    lines = ['policy "placed" {', f"  use {draw.pick(['kueue.classical', 'kueue.fair']) if in_cycles else 'gpol.fair'}"]
    if not in_cycles:
        lines.append(f"  place pods {draw.pick(WAYS)}")
        lines += [f"  when a node is lost {draw.pick(['replace pods', 'evict', 'wait'])}"] if draw.chance(2) else []
        lines += [f"  when {what} {draw.pick(['take flavor', 'try next flavor'])}" for what in ("borrowing", "evicting") if draw.chance(2)]
    lines.append("}")
    of_nodes = not in_cycles or not draw.chance(3)
    lines += ["topology fabric {", '  level block from label "block"', '  level rack from label "rack"']
    lines += [*(["  level host from node"] if of_nodes else []), "}"]
    flavors = draw.some(POOLS, least=1 if draw.chance(3) else 2)
    for flavor in flavors:
        pool = "h100" if in_cycles and draw.chance(4) else flavor  # at once a node is of one flavor
        there = ["  gpu, cpu as owned", f'  label pool = "{pool}"'] if in_cycles else [f'  gpu, cpu from nodes where pool = "{pool}"']
        lines += [f"flavor {flavor} {{", *there]
        lines += [f"  placed {'on nodes' if draw.chance(4) else 'in fabric'}", "}"]
    lines += ["priority high 100", "priority low 0", "cohort all {"]
    one_owner = not in_cycles and draw.chance(2)
    for queue in ("a", "b", "c"):
        gpu = [(draw.number(12, 24) if queue == "a" else 0) if one_owner else draw.number(0, 24) for _ in flavors]
        owned = [
            f"    owns {amount} on {flavor}" for flavor, most in zip(flavors, gpu, strict=True) for amount in (f"{most} gpu", "100 cpu")
        ]
        evicts = draw.some(["    reclaims from anyone", "    evicts its own of lower priority"]) if in_cycles else []
        lines += [f"  queue {queue} {{", *owned, *evicts, "  }"]
    return "\n".join([*lines, "}", ""])


def without_places(text: str) -> str:
    """The same policy, whose flavors give no places."""
    return "\n".join(line for line in text.split("\n") if not line.startswith("  placed "))


class PlacedFacts:
    """Draws facts one by one, for the state that they meet; of several `policies` now and then another one decides.

    In `busy` histories small workloads fill the cluster, and few of them end.
    """

    def __init__(self, draw: Draw, policies: int = 1) -> None:
        self.draw, self.policies, self.number, self.nodes, self.busy = draw, policies, 0, list[str](), draw.chance(2)
        self.first = self._first()

    def _first(self) -> Iterator[Plain]:
        yield {"kind": "PolicyActivated", "policy": 0, "time": 0}
        for _ in range(self.draw.number(2, 6)):
            yield {"time": 0, **self._node(f"n{len(self.nodes)}", "NodeAdded")}

    def _node(self, name: str, kind: str) -> Plain:
        draw = self.draw
        if kind == "NodeAdded":
            self.nodes.append(name)
        labels = {"pool": draw.pick(POOLS) if draw.chance(2) else "h100", "block": "b1" if not draw.chance(3) else "b2"}
        if not draw.chance(8):
            labels["rack"] = draw.pick(["r1", "r2", "r3"])
        capacity = {
            "gpu": 1000 * draw.pick([8, 4, 6]),
            "cpu": 1000 * draw.pick([64, 9]),
            **({"pods": draw.number(1, 5)} if draw.chance(3) else {}),
        }
        about: Plain = {"kind": kind, "node": name, "labels": labels, "capacity": capacity}
        if draw.chance(6):
            about["taints"] = [TAINT]
        return {**about, "cordoned": True} if draw.chance(8) else about

    def next(self, core: Core, wake: int | None) -> Plain:
        """The next fact."""
        first = next(self.first, None)
        if first is not None:
            return first
        draw, time = self.draw, core.time + self.draw.pick([0, SECOND, 5 * SECOND])
        if wake is not None and draw.number(1, 2) == 1:
            return {"kind": "TimeAdvanced", "time": max(core.time, wake)}
        live = list(core.view.workloads())
        running = [workload for workload in live if workload.admitted is not None]
        if len(live) - len(running) > MOST_WAITING and draw.chance(2):
            waiting = [workload.name for workload in live if workload.admitted is None]
            return {"kind": "WorkloadCancelled", "workload": draw.pick(waiting), "time": time}
        match draw.number(1, 20):
            case 1 if len(self.nodes) < 10:
                return {"time": time, **self._node(f"n{self.number}x", "NodeAdded")}
            case 2 if self.nodes and draw.chance(2):
                return {"time": time, **self._node(draw.pick(self.nodes), "NodeChanged")}
            case 2 if self.nodes:
                return {"kind": "NodeRemoved", "node": self.nodes.pop(draw.number(0, len(self.nodes) - 1)), "time": time}
            case 12 if running:
                return self._lost(draw.pick(running), time)
            case 3 | 4 | 5 | 6 | 7 if running and not (self.busy and draw.number(1, 2) == 1):
                return {"kind": "WorkloadFinished", "workload": draw.pick(running).name, "time": time}
            case 8 if running:
                return {"kind": "OperatorAction", "by": "op", "action": "evict", "workload": draw.pick(running).name, "time": time}
            case 9 if live:
                return {"kind": "WorkloadCancelled", "workload": draw.pick(live).name, "time": time}
            case 10 if running:
                return self._done(draw.pick(running), time)
            case 11:
                return {"kind": "TimeAdvanced", "time": time}
            case 13 | 14 if self.policies > 1:
                return {"kind": "PolicyActivated", "policy": draw.number(0, self.policies - 1), "time": time}
            case 15 if len(live) > len(running) and draw.chance(3):
                waiting = draw.pick([workload for workload in live if workload.admitted is None])
                return self._adopted(core, waiting, time) or {"kind": "TimeAdvanced", "time": time}
        return {"time": time, **self._submission(running)}

    def _lost(self, workload: Workload, time: int) -> Plain:
        """Nodes that a running workload has lost, if it stands on some."""
        there = [place.domain[-1] for given in workload.assignments for place in given.places]
        lost = {"lost_nodes": self.draw.some(list(dict.fromkeys(there)), least=1)} if there else {"boost": 1}
        return {"kind": "WorkloadUpdated", "workload": workload.name, "time": time, **lost}

    def _adopted(self, core: Core, workload: Workload, time: int) -> Plain | None:
        """It runs already, with pods on any nodes; where nodes are followed, also on one that is not there. None: on no flavor of nodes."""
        draw, graph = self.draw, core.graph
        assert graph is not None
        flavor = draw.pick(graph.flavors)
        asked = {resource for pod_set in workload.fact.pod_sets for resource in pod_set.requests}
        served = {slot.resource for slot in graph.slots if graph.flavors[slot.flavor] == flavor}
        if workload.queue < 0 or not asked <= served or flavor.topology < 0 or not graph.topologies[flavor.topology].ends_at_nodes:
            return None
        known = [*self.nodes, *(["n99"] if graph.settings.follows_nodes else [])]
        placements = []
        for pod_set, count in ((pod_set, count) for pod_set, count in workload.pod_sets() if count and known):
            pods = dict.fromkeys(draw.some(known, least=1)[:count], 0)
            for number in range(count):
                pods[list(pods)[number % len(pods)]] += 1
            placement: Plain = {"pod_set": pod_set.name, "count": count, "flavors": dict.fromkeys(sorted(pod_set.requests), flavor.name)}
            placement["usage"] = {resource: count * pod_set.requests[resource] for resource in sorted(pod_set.requests)}
            placements.append({**placement, "places": [{"domain": [node], "pods": pods[node]} for node in pods]})
        fact: Plain = {"kind": "WorkloadAdopted", "workload": workload.name, "queue": graph.nodes[workload.queue].name, "since": time}
        return {**fact, "time": time, "placements": placements} if placements else None

    def _done(self, workload: Workload, time: int) -> Plain:
        pod_set, left = self.draw.pick(list(workload.pod_sets()))
        done = {pod_set.name: pod_set.count - self.draw.number(0, left)}
        return {"kind": "WorkloadUpdated", "workload": workload.name, "reclaimable": done, "time": time}

    def _submission(self, running: list[Workload]) -> Plain:
        draw = self.draw
        self.number += 1
        fact: Plain = {"kind": "WorkloadSubmitted", "workload": f"w{self.number}", "queue": draw.pick(["a", "b", "c"])}
        fact["priority"] = draw.pick(["low", "high"])
        fact["pod_sets"] = (
            self._leader_and_workers() if draw.chance(4) else [self._pod_set(f"p{at}") for at in range(draw.pick([1, 1, 1, 2]))]
        )
        if running and draw.chance(12):
            fact["replaces"] = draw.pick(running).name
        return fact

    def _pod_set(self, name: str) -> Plain:
        draw, small = self.draw, self.busy and not self.draw.chance(4)
        count = draw.pick([1, 2, 3, 4] if small else [1, 2, 3, 4, 6, 8])
        gpu = 0 if draw.chance(60) else 1000 * draw.pick([1, 2] if small else [1, 2, 4, 8])
        pods: Plain = {"name": name, "count": count, "requests": {"gpu": gpu}}
        if draw.chance(3):
            pods["requests"]["cpu"] = draw.pick([1_000, 4_000])
        pods |= self._wish(count)
        if draw.chance(5) and count > 1:
            pods["min_count"] = draw.number(1, count)
        if draw.chance(5):
            pods["tolerations"] = [{"key": "burst", "operator": "Exists"}]
        if draw.chance(8):
            pods["flavors"] = [draw.pick(POOLS)]
        if draw.chance(8):
            pods["node_selector"] = {"rack": draw.pick(["r1", "r2"])}
        return pods

    def _wish(self, count: int) -> Plain:
        """What pods say of their places."""
        draw = self.draw
        match draw.number(1, 7):
            case 1:
                return {"within": draw.pick(["rack", "block", "host", "none-such"] if draw.chance(6) else ["rack", "block"])}
            case 2:
                return {"near": draw.pick(["rack", "block", "host"])}
            case 3:
                return {"anywhere": True}
            case 4 if count % 2 == 0 or draw.chance(6):
                return {"within": "block", "slices": [{"level": "rack", "size": 2}]}
            case 5 if count % 4 == 0:
                return {"slices": [{"level": "rack", "size": 4}, {"level": "host", "size": 2}]}
            case 6 if count % 2 == 0 or draw.chance(6):
                return {"near": "rack", "slices": [{"level": draw.pick(["host", "rack"]), "size": 2}]}
        return {}

    def _leader_and_workers(self) -> list[Plain]:
        """One leader with its workers, which stand together."""
        draw, count = self.draw, self.draw.pick([2, 3, 4])
        wish = draw.pick([{"within": "rack"}, {"near": "rack"}, {"anywhere": True}])
        leader: Plain = {
            "name": "leader",
            "count": 1,
            "requests": {"gpu": 1000 * draw.pick([1, 2]) if not draw.chance(30) else 0},
            "group": "g",
            **wish,
        }
        workers: Plain = {"name": "workers", "count": count, "requests": {"gpu": 1000 * draw.pick([1, 2, 4])}, "group": "g", **wish}
        return [leader, workers] if draw.number(1, 2) == 1 else [workers, leader]
