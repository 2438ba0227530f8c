"""`gpol kueue decide`: what Kueue would decide for scenarios, through the same import as a dump of a cluster.

single: one workload on a cluster's objects; timeline: steps of submissions and finishes, with scheduling cycles after each.
"""

from dataclasses import replace
from typing import Any

from ...dsl.checker import check_parsed
from ...dsl.parser import Parsed
from ...engine.errors import FactError
from ...engine.events import (
    AnyDecision,
    Fact,
    PolicyActivated,
    TimeAdvanced,
    WorkloadCancelled,
    WorkloadDeferred,
    WorkloadEvicted,
    WorkloadFinished,
    WorkloadSubmitted,
)
from ...engine.graph import PolicyGraph
from ...engine.reference import Core
from ...engine.reference.cycles.nominate import Nomination, Nominator
from ...engine.reference.cycles.plan import Mode
from ...engine.reference.cycles.queues import Queues
from ...engine.reference.state import Active
from ...engine.units import SECOND
from .facts import Moment, facts
from .kinds import Raw, read_objects
from .load import Imported, ImportRefused, Problem, load, raws_of
from .policy import CLASSICAL, FAIR
from .problems import Findings
from .quantity import kueue_amount
from .reasons import REASONS
from .scenario_form import Scenario, lead, listed, moment, name_of, opened, refused, settings, steps_of, text, texts, times_of

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

    def __init__(self, scenario: Scenario, now: int, ahead: int, more: tuple[Raw, ...] = ()) -> None:
        configuration = settings(scenario)
        profile = FAIR if configuration.fair else CLASSICAL
        self.ahead, clock = ahead, now + ahead
        self.imported: Imported = load([*raws_of(scenario), *more], now, profile, "scenario", configuration, clock=clock, controllers=False)
        self.notes = list(self.imported.notes)
        checked = check_parsed(Parsed(self.imported.tree, (), (), "", "scenario.gpol"))
        if checked.graph is None:
            raise ImportRefused(tuple(Problem("", "scenario", "", error.message, error.help) for error in checked.errors))
        self.graph: PolicyGraph = checked.graph
        self.core = Core()
        activated = PolicyActivated(time=clock, file="scenario.gpol", text="scenario", digest=self.graph.digest)
        self.core.step(activated, self.graph)

    @property
    def policy(self) -> Active:
        """The active policy."""
        assert self.core.state.active is not None
        return self.core.state.active

    @property
    def queues(self) -> Queues:
        """Its queues."""
        assert self.core.queues is not None
        return self.core.queues

    def answer(self, scenario: Scenario, **fields: Any) -> dict[str, Any]:
        """The scenario's answer, with notes where there are any."""
        notes = {"notes": list(dict.fromkeys(str(note) for note in self.notes))} if self.notes else {}
        return {"name": name_of(scenario), **fields, **notes}


# --- one decision -----------------------------------------------------------------------------------------------------


def _single(scenario: Scenario) -> dict[str, Any]:
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
    workload = cluster.core.state.workloads.get(incoming)
    if workload is None or workload.queue < 0 or workload.admitted is not None:
        raise refused("targetCQ", f"{incoming} does not wait in ClusterQueue {queue}", "name a ClusterQueue of the scenario")
    nomination = Nominator(cluster.queues.cluster(), cluster.queues.height).nominate(workload, {})
    return cluster.answer(scenario, **_quotas(cluster), **_nominated(cluster.graph, nomination))


def _by_no_queue(workload: Any) -> Any:
    """A workload without the name of a LocalQueue, as its ClusterQueue is given."""
    spec = workload.get("spec") if isinstance(workload, dict) else None
    return {**workload, "spec": {**spec, "queueName": None}} if isinstance(spec, dict) else workload


def _quotas(cluster: _Cluster) -> dict[str, Any]:
    """Available and greatest amounts and the share of each ClusterQueue."""
    policy = cluster.policy
    available: dict[str, dict[str, int]] = {}
    potential: dict[str, dict[str, int]] = {}
    shares: dict[str, float] = {}
    for queue in cluster.imported.objects.cluster_queues:
        node = policy.name_index[cluster.imported.names.queue(queue.name)]
        available[queue.name], potential[queue.name] = {}, {}
        for group in queue.groups:
            for flavor, resource in ((flavor.flavor, resource) for flavor in group.flavors for resource in group.resources):
                slot, key = policy.slot_index[flavor, resource], f"{flavor}|{resource}"
                available[queue.name][key] = kueue_amount(max(0, policy.tree.available(node, slot)), resource)
                potential[queue.name][key] = kueue_amount(policy.tree.potential[node][slot], resource)
        infinite, share = policy.shares.of(node)
        shares[queue.name] = -1 if infinite and share else float(share)
    return {"available": available, "potential": potential, "drs": shares}


def _nominated(graph: PolicyGraph, nomination: Nomination) -> dict[str, Any]:
    plan = nomination.plan
    return {
        "mode": MODES[plan.mode],
        "borrowing": plan.level,
        "flavors": {
            f"{pod_set.name}/{resource}": [graph.flavors[chosen.flavor].name, MODES[chosen.mode]]
            for pod_set in plan.pod_sets
            for resource, chosen in sorted(pod_set.flavors.items())
        },
        "targets": sorted(f"{target.workload.name}:{REASONS[target.kind]}" for target in nomination.targets),
    }


# --- a history --------------------------------------------------------------------------------------------------------


def _timeline(scenario: Scenario) -> dict[str, Any]:
    steps = steps_of(scenario)
    times = times_of(steps)
    now = times[0] if steps else 0
    comes = [(at, raw) for at, step in zip(times, steps, strict=True) for raw in listed(step, "submit")]
    cluster = _Cluster(scenario, now, lead([*((now, raw) for raw in listed(scenario, "workloads")), *comes]))
    for fact in cluster.imported.facts:
        cluster.core.step(fact)
    answers: list[dict[str, Any]] = []
    livelock = False
    for at, step in zip(times, steps, strict=True):
        answer, livelock = _step(cluster, step, at)
        answers.append(answer)
        if livelock:
            break
    return cluster.answer(scenario, livelock=livelock, steps=answers)


def _step(cluster: _Cluster, step: Scenario, at: int) -> tuple[dict[str, Any], bool]:
    """Play one step: what finishes, what is submitted, then cycles a second apart until nothing changes."""
    core = cluster.core
    at = max(at + cluster.ahead, core.time)
    for name in texts(step, "finish"):
        workload = core.state.workloads.get(name)
        if workload is None:
            raise refused("finish", f"no workload {name[:200]!r} waits or runs", "finish a workload once, after its submission")
        core.step((WorkloadFinished if workload.admitted is not None else WorkloadCancelled)(time=at, workload=name))
    for fact in _submissions(cluster, at, step):
        core.step(fact)
    evicted: list[str] = []
    cycles = idle = 0
    while cluster.queues.anything_waits() and idle < MOST_IDLE and cycles < MOST_CYCLES:
        decisions = core.step(TimeAdvanced(time=at + cycles * SECOND))
        cycles += 1
        gone = [decision for decision in decisions if isinstance(decision, WorkloadEvicted)]
        evicted += [f"{decision.workload}:{REASONS[decision.preemption]} by {decision.beneficiary}" for decision in gone]
        idle = 0 if any(_moves(decision) for decision in decisions) else idle + 1
    running = {name: workload for name, workload in sorted(core.state.workloads.items()) if workload.admitted is not None}
    answer = {
        "admitted": {
            name: {f"{part.pod_set}/{resource}": flavor for part in workload.assignments for resource, flavor in part.flavors.items()}
            for name, workload in running.items()
        },
        "evicted": evicted,
        "pending": sorted(name for name in core.state.workloads if name not in running),
        "cycles": cycles,
    }
    return answer, cycles == MOST_CYCLES and idle < MOST_IDLE and cluster.queues.anything_waits()


def _moves(decision: AnyDecision) -> bool:
    """Whether a decision changes who runs, waits in a queue or is parked."""
    return not isinstance(decision, WorkloadDeferred) or decision.waits == "parked"


def _submissions(cluster: _Cluster, at: int, step: Scenario) -> list[Fact]:
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
