"""Facts that make sense in the state of a core, as plain data, and some that are impossible there."""

from typing import Any

from draws import Draw
from gpol.engine.cores import Core
from gpol.engine.policy_graph import PolicyGraph
from gpol.engine.units import INT64_MAX
from gpol.engine.workload import Workload
from submission_draws import Plain, crowd, priority, submission
from worlds import CHECKS, SECOND, World, drawn_amount, supply

MOMENTS = (0, 0, 0, 1, SECOND, SECOND, 2 * SECOND, 5 * SECOND, 6 * SECOND, 20 * SECOND, 60 * SECOND)
BURSTS = (*(0,) * 8, *MOMENTS)
"""In cycles much happens before the next one, so that many compete in it."""

MOST_WAKES = 30
"""So many wakes one after the other, then another fact comes first."""

MOST_LIVE = (16, 6, 16, 30)
"""So many workloads live in a history; where there are more, they are cancelled rather than submitted."""

CROWDS = 250
"""A crowd of small workloads, and one that evicts them all, comes once in so many facts."""

DEEDS = ["finish"] * 6 + ["cancel", "cancel", "evict", "hold", "release", "priority", "boost", "own-hold", "done", "done", "check"]
DEEDS += ["adopt", "adopt", "stop", "stop", "requeued", "policy", "time", "start"]
SUPPLY = ["capacity", "capacity", "capacity", "node", "node", "node", "change", "remove"]
NOT_POSSIBLE = ("past", "again", "unknown", "finish", "evict", "hold", "capacity", "node", "done", "priority", "adopt", "digest", "since")
NOT_POSSIBLE += ("usage", "usage", "adopt", "adopt", "policy")


def _fits(deed: str, workload: Workload) -> bool:
    """Whether a deed is possible to a workload."""
    match deed:
        case "finish" | "evict":
            return workload.admitted is not None
        case "hold" | "own-hold" | "adopt" | "cancel":
            return workload.admitted is None
        case "stop":
            return workload.evicting
        case "release":
            return workload.held_by_owner or workload.held_by_operator is not None
        case _:
            return True


class Facts:
    """A history, fact by fact: the next one depends on the state of a core that has taken in all others."""

    def __init__(self, draw: Draw, world: World, policies: int) -> None:
        self.draw, self.world, self.policies = draw, world, policies
        self.number = self.wakes = 0
        self.ahead: list[Plain] = []
        self.nodes: list[str] = []
        self.most_live = 60 if world.crowded else draw.pick(MOST_LIVE)

    def next(self, core: Core, wake: int | None) -> Plain:
        """The next fact; `policy` is the number of the policy that one activates, `impossible` says what is wrong with it."""
        draw, graph = self.draw, core.graph
        if graph is None:
            if draw.chance(10):
                return {"kind": "TimeAdvanced", "time": core.time, "impossible": "early"}
            return {"kind": "PolicyActivated", "time": core.time, "policy": 0}
        time = min(core.time + draw.pick(BURSTS if core.decides_in_cycles else MOMENTS), INT64_MAX)
        if wake is not None and wake > INT64_MAX:
            wake = None  # no fact can be that late
        due = wake is not None and (wake < time or (wake == time and not core.decides_in_cycles))
        if wake is not None and (due or draw.chance(12)) and self.wakes < MOST_WAKES and not draw.chance(30):
            self.wakes += 1
            return {"kind": "TimeAdvanced", "time": wake}
        self.wakes = 0
        self.number += 1
        if self.ahead:
            return {**self.ahead.pop(0), "time": time}
        live = core.view.workloads()
        if draw.chance(30):
            return self._impossible(core, graph, time, live)
        supply = (
            [] if graph.settings.forest else SUPPLY if self.nodes or any(each.nodes is not None for each in graph.flavors) else SUPPLY[:2]
        )
        supply = supply + ["usage"] * 3 if graph.settings.usage is not None else supply
        deeds = (["submit"] * 28 if len(live) < self.most_live else ["cancel"] * 14 + ["submit"] * 4) + DEEDS + supply
        deed = "crowd" if draw.chance(CROWDS) else draw.pick(deeds)
        fact = self._fact(core, graph, deed, live, time)
        return {"kind": "TimeAdvanced", "time": time} if fact is None else {**fact, "time": time}

    def _fact(self, core: Core, graph: PolicyGraph, deed: str, live: Any, time: int) -> Plain | None:
        """A fact of some sort, or None where it makes no sense now."""
        draw = self.draw
        match deed:
            case "submit":
                return submission(draw, self.world, core, f"w{self.number:03}", time)
            case "crowd":
                self.ahead = crowd(draw, core, f"w{self.number:03}")
                return self.ahead.pop(0) if self.ahead else None
            case "policy":
                return {"kind": "PolicyActivated", "policy": draw.number(0, self.policies - 1)}
            case "start":
                return {"kind": "SimulationStarted", "on_evict": "restart", "source": "x", "source_digest": "sha256:" + "0" * 64}
            case "usage":
                return self._usage(graph, time)
            case "capacity" | "node" | "change" | "remove":
                return self._supply(graph, deed)
            case "time":
                return None
        fitting = [workload for workload in live if _fits(deed, workload)] or live
        return self._about(core, graph, deed, draw.pick(fitting), time) if live else None

    def _usage(self, graph: PolicyGraph, time: int) -> Plain | None:
        locals_ = [local.name for queue in graph.queues for local in queue.local_queues]
        if not locals_ or graph.settings.usage is None:
            return None
        consumed = {resource: drawn_amount(self.draw, self.world.size, resource) for resource in self.draw.some(self.world.resources)}
        fact: Plain = {"kind": "UsageReported", "local_queue": self.draw.pick(locals_), "consumed": consumed}
        return fact if self.draw.chance(2) else {**fact, "as_of": max(0, time - self.draw.pick([0, SECOND, 60 * SECOND]))}

    def _supply(self, graph: PolicyGraph, deed: str) -> Plain | None:
        draw = self.draw
        if deed == "capacity":
            fixed = [flavor for flavor in graph.flavors if flavor.nodes is None]
            if not fixed:
                return None
            flavor = draw.pick(fixed)
            some = draw.some([resource for resource, _ in flavor.capacity], least=1)
            there = {name: draw.pick([supply(draw, self.world.size, name), drawn_amount(draw, self.world.size, name)]) for name in some}
            return {"kind": "CapacityChanged", "flavor": flavor.name, "capacity": there}
        if deed == "remove" and self.nodes:
            return {"kind": "NodeRemoved", "node": self.nodes.pop(draw.number(0, len(self.nodes) - 1))}
        capacity = {name: drawn_amount(draw, self.world.size, name) for name in draw.some(self.world.resources, least=1)}
        labels = {"pool": draw.pick([*self.world.flavors]), "zone": draw.pick(["a", "b"])}
        about: Plain = {"labels": labels if not draw.chance(10) else {}, "capacity": capacity}
        if deed == "change" and self.nodes:
            return {"kind": "NodeChanged", "node": draw.pick(self.nodes), **about}
        self.nodes.append(f"n{self.number}")
        return {"kind": "NodeAdded", "node": self.nodes[-1], **about}

    def _about(self, core: Core, graph: PolicyGraph, deed: str, workload: Workload, time: int) -> Plain | None:
        """A fact about a live workload."""
        draw, name = self.draw, workload.name
        runs, update = workload.admitted is not None, {"kind": "WorkloadUpdated", "workload": name}
        match deed:
            case "finish" if runs:
                return {"kind": "WorkloadFinished", "workload": name}
            case "cancel":
                return {"kind": "WorkloadCancelled", "workload": name}
            case "evict" | "hold" | "release" if deed == "release" or runs == (deed == "evict"):
                fact = {"kind": "OperatorAction", "by": draw.pick(["op", "ann"]), "action": deed, "workload": name}
                return {**fact, "note": "so it is"} if draw.chance(3) else fact
            case "priority":
                return {**update, "priority": asked} if (asked := priority(draw)) is not None else None
            case "boost":
                return {**update, "boost": draw.pick([0, 1, -1, 3])}
            case "own-hold" if not runs:
                return {**update, "hold": draw.chance(2)}
            case "done":
                done = {
                    p.name: draw.number(p.count - left, p.count if draw.chance(6) else p.count - 1)
                    for p, left in workload.pod_sets()
                    if left
                }
                return {**update, "reclaimable": dict(draw.some(sorted(done.items()), least=1))} if done else None
            case "check":
                states = ["Pending", "Ready", "Ready", "Retry", "Rejected"]
                return {**update, "checks": {check: draw.pick(states) for check in draw.some(CHECKS, least=1)}}
            case "adopt" if not runs:
                return self._adoption(graph, workload, time)
            case "stop" if workload.evicting:
                return {**update, "requeued": time}
            case "requeued":
                return {**update, "requeued": max(0, time - draw.pick([0, SECOND, 20 * SECOND]))}
        return None

    def _adoption(self, graph: PolicyGraph, workload: Workload, time: int) -> Plain | None:
        draw = self.draw
        own = graph.nodes[workload.queue].name if workload.queue >= 0 else ""
        elsewhere = draw.chance(3 if graph.settings.usage is not None else 5)
        queue = own if own and not elsewhere else graph.nodes[draw.pick(graph.queues).node].name
        placements = []
        for pod_set, left in workload.pod_sets():
            count = left if not draw.chance(5) else draw.number(0, pod_set.count)
            flavors = {
                resource: draw.pick(having)
                for resource in sorted({*pod_set.requests, *(["pods"] if "pods" in self.world.resources else [])})
                if (having := [graph.flavors[slot.flavor].name for slot in graph.slots if slot.resource == resource])
            }
            usage = {resource: count if resource == "pods" else count * pod_set.requests[resource] for resource in flavors}
            if draw.chance(8):
                usage = {resource: drawn_amount(draw, self.world.size, resource) for resource in usage}
            if draw.chance(10):  # a flavor that does not serve the resource, or is none: nothing is charged for it
                resource = draw.pick([*sorted(pod_set.requests), "other"])
                flavors[resource] = draw.pick([*(flavor.name for flavor in graph.flavors), "none-such"])
                usage.pop(resource, None)
            placements.append({"pod_set": pod_set.name, "count": count, "flavors": flavors, "usage": usage})
        since = max(0, time - draw.pick([0, 0, SECOND, 20 * SECOND]))
        fact: Plain = {"kind": "WorkloadAdopted", "workload": workload.name, "queue": queue, "since": since}
        if graph.settings.defers and draw.chance(3):
            fact["evicting"] = True
        return {**fact, "placements": draw.some(placements, least=1)}

    def _impossible(self, core: Core, graph: PolicyGraph, time: int, live: Any) -> Plain:
        """A fact that cannot have happened now, if one can be found."""
        draw = self.draw
        wrong = draw.pick(NOT_POSSIBLE)
        fact = self._wrong(core, graph, wrong, draw.pick(live) if live else None, time)
        if fact is None:
            return {"kind": "WorkloadFinished", "workload": "nobody", "time": time, "impossible": "unknown"}
        return {"time": time, **fact, "impossible": wrong}

    def _wrong(self, core: Core, graph: PolicyGraph, wrong: str, workload: Workload | None, time: int) -> Plain | None:
        match wrong:
            case "past" if core.time > 0:
                return {"kind": "TimeAdvanced", "time": core.time - 1}
            case "capacity":
                flavor, resource = (graph.flavors[0].name, "other") if self.draw.chance(2) else ("none-such", "gpu")
                return {"kind": "CapacityChanged", "flavor": flavor, "capacity": {resource: 1}}
            case "node" if self.nodes and self.draw.chance(2):
                return {"kind": "NodeAdded", "node": self.nodes[-1], "capacity": {}}
            case "node":
                gone = {"kind": "NodeRemoved", "node": "none-such"}
                return gone if self.draw.chance(2) else {"kind": "NodeChanged", "node": "none-such", "capacity": {}}
            case "digest":
                return {"kind": "PolicyActivated", "policy": 0, "digest": "sha256:" + "0" * 64}
            case "policy":
                return {"kind": "PolicyActivated", "policy": 0, "graph": None}
            case "usage":
                later = {"as_of": time + 1} if self.draw.chance(2) else {}
                return {"kind": "UsageReported", "local_queue": "x/unknown", "consumed": {}, **later}
        if workload is None:
            return None
        runs, about = workload.admitted is not None, {"workload": workload.name}
        update, last = {"kind": "WorkloadUpdated", **about}, workload.fact.pod_sets[-1]
        match wrong:
            case "again":
                return {"kind": "WorkloadSubmitted", **about, "pod_sets": [{"requests": {"gpu": 1}}]}
            case "finish" if not runs:
                return {"kind": "WorkloadFinished", **about}
            case "evict" if not runs:
                return {"kind": "OperatorAction", "by": "op", "action": "evict", **about}
            case "hold" if runs:
                return (
                    {"kind": "OperatorAction", "by": "op", "action": "hold", **about} if self.draw.chance(2) else {**update, "hold": True}
                )
            case "done":
                return {**update, "reclaimable": {last.name: last.count + 1} if self.draw.chance(2) else {"none-such": 1}}
            case "priority" if workload.queue >= 0:
                return {**update, "priority": "none-such"}
            case "since":
                return {**update, "requeued": time + 1}
            case "adopt":
                return self._wrong_adoption(graph, workload, time)
        return None

    def _wrong_adoption(self, graph: PolicyGraph, workload: Workload, time: int) -> Plain:
        """An adoption with something wrong: the queue, the time, a pod set given twice, too many pods, or no flavor of that name."""
        last = workload.fact.pod_sets[-1]
        place: Plain = {"pod_set": last.name, "count": last.count, "flavors": {}, "usage": {}}
        fact: Plain = {"kind": "WorkloadAdopted", "workload": workload.name, "queue": graph.nodes[graph.queues[0].node].name, "since": time}
        match self.draw.pick(["queue", "since", "twice", "count", "flavor", "unknown", "evicting"]):
            case "queue":
                fact["queue"] = graph.nodes[0].name
            case "since":
                fact["since"] = time + 1
            case "twice":
                return {**fact, "placements": [place, place]}
            case "count":
                place["count"] += 1
            case "flavor":
                place["usage"] = {"gpu": 1}
            case "unknown":
                place |= {"usage": {"gpu": 1}, "flavors": {"gpu": "none-such"}}
            case "evicting":
                fact["evicting"] = not graph.settings.defers
                place["count"] += graph.settings.defers
        return {**fact, "placements": [place]}
