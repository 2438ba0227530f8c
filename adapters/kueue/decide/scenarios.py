"""`gpol kueue decide`: what Kueue would decide for scenarios, through the same import as a dump of a cluster.

single: one workload on a cluster's objects; timeline: steps of submissions and finishes, with scheduling cycles after each.
"""

from dataclasses import replace
from typing import Any

from ....dsl.analysis.checker import check_parsed
from ....dsl.syntax.parser import Parsed
from ....engine.cores import Core
from ....engine.default_core import new_core
from ....engine.errors import FactError
from ....engine.events import AnyDecision, WorkloadDeferred, WorkloadEvicted
from ....engine.facts import Fact, PolicyActivated, TimeAdvanced, WorkloadCancelled, WorkloadFinished, WorkloadSubmitted
from ....engine.outcome.named import assignments
from ....engine.outcome.nomination import Mode, Nomination
from ....engine.policy_graph import PolicyGraph
from ....engine.units import SECOND
from ....engine.workload import Workload
from ..import_.facts import Moment, facts
from ..import_.load import Imported, ImportRefused, Problem, load, raws_of
from ..import_.policy import CLASSICAL, FAIR
from ..problems import Findings
from ..read.kinds import Raw, read_objects
from ..read.quantity import kueue_amount
from .kueue_reasons import REASONS
from .reasons_answer import reason_answer, why_answer
from .scenario_schema import ScenarioData, lead, listed, moment, name_of, opened, refused, settings, steps_of, text, texts, times_of
from .topology_answers import places_answer, usage_answer

MODES = {Mode.NO_FIT: "NoFit", Mode.PREEMPT: "Preempt", Mode.FIT: "Fit"}

MOST_CYCLES, MOST_IDLE = 30, 3
"""A step ends after so many cycles in a row that changed nothing; after so many in all, the history ends as a livelock."""

_NOT_PLAYED = "is no workload that could run: it has no pods, is finished, or holds quota of a ClusterQueue that is not there"


def decide(line: object) -> dict[str, Any]:
    """The answer to one scenario. Raises ImportRefused for what cannot be imported, with nothing decided."""
    scenario = opened(line)
    try:
        return _timeline(scenario) if "steps" in scenario else _single(scenario)
    except FactError as error:
        raise refused("", str(error), "correct the scenario") from None


class _Cluster:
    """A scenario's cluster in a core, as of a moment. The core's clock is `ahead` of the scenario's; `notes` are of all its imports."""

    def __init__(self, scenario: ScenarioData, now: int, ahead: int, more: tuple[Raw, ...] = ()) -> None:
        configuration = settings(scenario)
        profile = FAIR if configuration.fair else CLASSICAL
        self.ahead, clock = ahead, now + ahead
        self.imported: Imported = load([*raws_of(scenario), *more], now, profile, "scenario", configuration, clock=clock, controllers=False)
        self.notes = list(self.imported.notes)
        checked = check_parsed(Parsed(self.imported.tree, (), (), "", "scenario.gpol"))
        if checked.graph is None:
            raise ImportRefused(tuple(Problem("", "scenario", "", error.message, error.help) for error in checked.errors))
        self.graph: PolicyGraph = checked.graph
        self.core: Core = new_core()
        activated = PolicyActivated(time=clock, file="scenario.gpol", text="scenario", digest=self.graph.digest)
        self.core.step(activated, self.graph)

    def running(self) -> dict[str, Workload]:
        """The workloads that hold quota, in order of name."""
        return {workload.name: workload for workload in sorted(self.core.view.workloads(), key=_name) if workload.admitted is not None}

    def answer(self, scenario: ScenarioData, **fields: Any) -> dict[str, Any]:
        """The scenario's answer, with notes where there are any."""
        notes = {"notes": list(dict.fromkeys(str(note) for note in self.notes))} if self.notes else {}
        return {"name": name_of(scenario), **fields, **notes}


def _name(workload: Workload) -> str:
    return workload.name


# --- one decision -----------------------------------------------------------------------------------------------------


def _single(scenario: ScenarioData) -> dict[str, Any]:
    now, queue = moment(scenario, "now"), text(scenario, "targetCQ")
    ahead = lead((now, raw) for raw in (*listed(scenario, "workloads"), scenario["incoming"]))
    cluster = _Cluster(scenario, now, ahead, (Raw(_by_no_queue(scenario["incoming"]), "", "Workload"),))
    incoming = cluster.imported.objects.workloads[-1].key
    if all(fact.workload != incoming for fact in cluster.imported.facts if isinstance(fact, WorkloadSubmitted)):
        raise refused("incoming", f"{incoming} {_NOT_PLAYED}", "give one that Kueue could admit")
    for fact in cluster.imported.facts:
        if isinstance(fact, WorkloadSubmitted) and fact.workload == incoming:
            fact = fact.model_copy(update={"queue": cluster.imported.names.queue(queue)})
        cluster.core.step(fact)
    workload = cluster.core.view.workload(incoming)
    if workload is None or workload.queue < 0 or workload.admitted is not None:
        raise refused("targetCQ", f"{incoming} does not wait in ClusterQueue {queue}", "name a ClusterQueue of the scenario")
    nomination = cluster.core.probe.nominate(incoming)
    placed = _placed(cluster, workload, nomination) if listed(scenario, "topologies") else {}
    return cluster.answer(scenario, **_quotas(cluster), **_nominated(cluster.graph, nomination), **placed)


def _by_no_queue(workload: Any) -> Any:
    """A workload without the name of a LocalQueue, as its ClusterQueue is given."""
    spec = workload.get("spec") if isinstance(workload, dict) else None
    return {**workload, "spec": {**spec, "queueName": None}} if isinstance(spec, dict) else workload


def _quotas(cluster: _Cluster) -> dict[str, Any]:
    """Available and greatest amounts and the share of each ClusterQueue."""
    probe, graph = cluster.core.probe, cluster.graph
    nodes = {node.name: index for index, node in enumerate(graph.nodes)}
    slots = {name: slot for slot, name in enumerate(graph.slot_names)}
    available: dict[str, dict[str, int]] = {}
    potential: dict[str, dict[str, int]] = {}
    shares: dict[str, float] = {}
    for queue in cluster.imported.objects.cluster_queues:
        node = nodes[cluster.imported.names.queue(queue.name)]
        available[queue.name], potential[queue.name] = {}, {}
        for group in queue.groups:
            for flavor, resource in ((flavor.flavor, resource) for flavor in group.flavors for resource in group.resources):
                slot, key = slots[flavor, resource], f"{flavor}|{resource}"
                available[queue.name][key] = kueue_amount(max(0, probe.available(node, slot)), resource)
                potential[queue.name][key] = kueue_amount(probe.most(node, slot), resource)
        infinite, share = probe.share(node)
        shares[queue.name] = -1 if infinite and share else float(share)
    return {"available": available, "potential": potential, "drs": shares}


def _placed(cluster: _Cluster, workload: Workload, nomination: Nomination) -> dict[str, Any]:
    """Where its pods would stand, what is used in each lowest domain of each topology, and why it is not admitted at once."""
    graph, objects = cluster.graph, cluster.imported.objects
    held = [(workload.fact.pod_sets, workload.assignments) for workload in cluster.running().values()]
    return {
        "topology": places_answer(objects, assignments(graph, nomination.flavors)),
        "usage": usage_answer(objects, held),
        "reason": reason_answer(graph, nomination),
        "why": why_answer(graph, workload.fact, nomination),
    }


def _nominated(graph: PolicyGraph, nomination: Nomination) -> dict[str, Any]:
    flavors = nomination.flavors
    return {
        "mode": MODES[flavors.mode],
        "borrowing": flavors.level,
        "flavors": {
            f"{pod_set.name}/{resource}": [graph.flavors[chosen.flavor].name, MODES[chosen.grade.mode]]
            for pod_set in flavors.pod_sets
            for resource, chosen in sorted(pod_set.flavors.items())
        },
        "targets": sorted(f"{victim.workload}:{REASONS[victim.kind]}" for victim in nomination.victims),
    }


# --- a history --------------------------------------------------------------------------------------------------------


def _timeline(scenario: ScenarioData) -> dict[str, Any]:
    steps = steps_of(scenario)
    times = times_of(steps)
    now = times[0] if steps else 0
    comes = [(at, raw) for at, step in zip(times, steps, strict=True) for raw in listed(step, "submit")]
    cluster = _Cluster(scenario, now, lead([*((now, raw) for raw in listed(scenario, "workloads")), *comes]))
    for fact in cluster.imported.facts:
        cluster.core.step(fact)
    answers: list[dict[str, Any]] = []
    livelock = False
    for number, (at, step) in enumerate(zip(times, steps, strict=True)):
        answer, livelock = _step(cluster, step, number, at)
        if listed(scenario, "topologies"):
            answer["topology"] = _places(cluster)
        answers.append(answer)
        if livelock:
            break
    return cluster.answer(scenario, livelock=livelock, steps=answers)


def _step(cluster: _Cluster, step: ScenarioData, number: int, at: int) -> tuple[dict[str, Any], bool]:
    """Play one step: what finishes, what is submitted, then cycles a second apart until nothing changes."""
    core = cluster.core
    at = max(at + cluster.ahead, core.time)
    for name in texts(step, "finish"):
        workload = core.view.workload(name)
        if workload is None:
            raise refused(
                f"steps[{number}].finish", f"no workload {name[:200]!r} waits or runs", "finish a workload once, after its submission"
            )
        core.step((WorkloadFinished if workload.admitted is not None else WorkloadCancelled)(time=at, workload=name))
    for fact in _submissions(cluster, at, step):
        core.step(fact)
    evicted: list[str] = []
    cycles = idle = 0
    while core.next_wake() is not None and idle < MOST_IDLE and cycles < MOST_CYCLES:
        decisions = core.step(TimeAdvanced(time=at + cycles * SECOND))
        cycles += 1
        gone = [decision for decision in decisions if isinstance(decision, WorkloadEvicted)]
        evicted += [_evicted(decision) for decision in gone]
        idle = 0 if any(_moves(decision) for decision in decisions) else idle + 1
    running = cluster.running()
    answer = {
        "admitted": {
            name: {f"{part.pod_set}/{resource}": flavor for part in workload.assignments for resource, flavor in part.flavors.items()}
            for name, workload in running.items()
        },
        "evicted": evicted,
        "pending": sorted(name for name in core.view.names() if name not in running),
        "cycles": cycles,
    }
    return answer, cycles == MOST_CYCLES and idle < MOST_IDLE and core.next_wake() is not None


def _evicted(decision: WorkloadEvicted) -> str:
    """Who goes, why, and for whom, if for anybody."""
    for_whom = f" by {decision.beneficiary}" if decision.beneficiary is not None else ""
    return f"{decision.workload}:{REASONS[decision.preemption]}{for_whom}"


def _places(cluster: _Cluster) -> dict[str, Any]:
    """Where the pods of each running workload stand that has places."""
    placed = {name: places_answer(cluster.imported.objects, workload.assignments) for name, workload in cluster.running().items()}
    return {name: placed[name] for name in placed if placed[name]}


def _moves(decision: AnyDecision) -> bool:
    """Whether a decision changes who runs, waits in a queue or is parked."""
    return not isinstance(decision, WorkloadDeferred) or decision.waits == "parked"


def _submissions(cluster: _Cluster, at: int, step: ScenarioData) -> list[Fact]:
    found = Findings()
    read = read_objects([Raw(plain, "", "Workload") for plain in listed(step, "submit")], found)
    found.check()
    objects = replace(cluster.imported.objects, workloads=read.workloads)
    made = facts(objects, Moment(at - cluster.ahead, in_cycles=True, clock=at), found)
    found.check()
    cluster.notes += found.notes()
    submitted = {fact.workload for fact in made if isinstance(fact, WorkloadSubmitted)}
    for workload in objects.workloads:
        if workload.key not in submitted:
            raise refused("submit", f"{workload.key} {_NOT_PLAYED}", "leave it out")
    return made
