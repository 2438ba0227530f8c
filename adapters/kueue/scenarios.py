"""`gpol kueue decide`: what Kueue would decide for scenarios, through the same import as a dump of a cluster.

single: one workload on a cluster's objects; timeline: steps of submissions and finishes, with scheduling cycles after each.
"""

from collections.abc import Iterator, Mapping
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
from .configuration import STRATEGIES
from .facts import Moment, facts
from .fields import Fields
from .kinds import Raw, read_objects
from .load import Imported, ImportRefused, Problem, load, raws_of
from .objects import Configuration
from .policy import CLASSICAL, FAIR
from .problems import Findings
from .quantity import kueue_amount
from .reasons import REASONS

MODES = {Mode.NO_FIT: "NoFit", Mode.PREEMPT: "Preempt", Mode.FIT: "Fit"}

MOST_CYCLES, MOST_IDLE = 30, 3
"""A step ends after so many cycles in a row that changed nothing; after so many in all, the history ends as a livelock."""

Scenario = Mapping[str, Any]


def decide(scenario: object) -> dict[str, Any]:
    """The answer to one scenario. Raises ImportRefused for what cannot be imported, with nothing decided."""
    if isinstance(scenario, dict) and isinstance(scenario.get("in"), dict):
        scenario = scenario["in"]  # a line of the corpora, with the answer beside it
    if not isinstance(scenario, dict):
        raise _refused("", "is no object with named fields", "write one scenario a line")
    try:
        if "steps" in scenario:
            return _timeline(scenario)
        if "incoming" in scenario:
            return _single(scenario)
    except FactError as error:
        raise _refused("", str(error), "correct the scenario") from None
    raise _refused("", "has neither `incoming` nor `steps`", "write one or the other")


def _refused(field: str, cause: str, remedy: str) -> ImportRefused:
    return ImportRefused((Problem("", "scenario", field, cause, remedy),))


class _Cluster:
    """A scenario's cluster in a core, as of a moment."""

    def __init__(self, scenario: Scenario, now: int, more: tuple[Raw, ...] = ()) -> None:
        for key in ("flavors", "clusterQueues", "cohorts", "localQueues", "workloads", "admissionChecks", "priorityClasses", "namespaces"):
            _list(scenario, key)
        profile = FAIR if scenario.get("fair") else CLASSICAL
        self.imported: Imported = load([*raws_of(scenario), *more], now, profile, "scenario", _settings(scenario))
        checked = check_parsed(Parsed(self.imported.tree, (), (), "", "scenario.gpol"))
        if checked.graph is None:
            raise ImportRefused(tuple(Problem("", "scenario", "", error.message, error.help) for error in checked.errors))
        self.graph: PolicyGraph = checked.graph
        self.core = Core()
        activated = PolicyActivated(time=now, file="scenario.gpol", text="scenario", digest=self.graph.digest)
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


def _list(scenario: Scenario, key: str) -> list[Any]:
    value = scenario.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise _refused(key, "is no list", "write a list of objects")
    return value


def _settings(scenario: Scenario) -> Configuration:
    named = _list(scenario, "strategies")
    for name in named:
        if name not in STRATEGIES:
            raise _refused("strategies", f"names {str(name)[:60]!r}", f"write {' or '.join(STRATEGIES)}")
    fair = bool(scenario.get("fair"))
    return Configuration(fair=fair, strategies=tuple(named) if fair else ())


def _moment(scenario: Scenario, key: str) -> int:
    found = Findings(kind="scenario")
    moment = Fields(dict(scenario), "", found).time(key)
    found.check()
    if moment is None:
        raise _refused(key, "is missing", "write it as 2026-01-02T03:04:05Z")
    return moment


# --- one decision -----------------------------------------------------------------------------------------------------


def _single(scenario: Scenario) -> dict[str, Any]:
    cluster = _Cluster(scenario, _moment(scenario, "now"), (Raw(scenario["incoming"], "", "Workload"),))
    target = cluster.imported.names.queue(str(scenario.get("targetCQ", "")))
    incoming = cluster.imported.objects.workloads[-1].key
    for fact in cluster.imported.facts:
        if isinstance(fact, WorkloadSubmitted) and fact.workload == incoming:
            fact = fact.model_copy(update={"queue": target, "local_queue": None})
        cluster.core.step(fact)
    workload = cluster.core.state.workloads.get(incoming)
    if workload is None or workload.queue < 0 or workload.admitted is not None:
        cause = f"{incoming} does not wait in ClusterQueue {scenario.get('targetCQ')}"
        raise _refused("targetCQ", cause, "name a ClusterQueue of the scenario")
    nomination = Nominator(cluster.queues.cluster(), cluster.queues.height).nominate(workload, {})
    return {"name": scenario.get("name"), **_quotas(cluster), **_nominated(cluster.graph, nomination)}


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
    steps = _list(scenario, "steps")
    for step in steps:
        if not isinstance(step, dict):
            raise _refused("steps", "has a step that is no object", "write it with `at`, `submit` and `finish`")
    cluster = _Cluster(scenario, _moment(steps[0], "at") if steps else 0)
    for fact in cluster.imported.facts:
        cluster.core.step(fact)
    answers: list[dict[str, Any]] = []
    livelock = False
    for step in steps:
        answer, livelock = _step(cluster, step)
        answers.append(answer)
        if livelock:
            break
    return {"name": scenario.get("name"), "livelock": livelock, "steps": answers}


def _step(cluster: _Cluster, step: Scenario) -> tuple[dict[str, Any], bool]:
    """Play one step: what finishes, what is submitted, then cycles a second apart until nothing changes."""
    core = cluster.core
    at = max(_moment(step, "at"), core.time)
    for name in _list(step, "finish"):
        workload = core.state.workloads.get(name)
        if workload is None:
            raise _refused("finish", f"no workload {str(name)[:200]!r} waits or runs", "finish a workload once, after its submission")
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


def _submissions(cluster: _Cluster, at: int, step: Scenario) -> Iterator[Fact]:
    found = Findings()
    read = read_objects([Raw(plain, "", "Workload") for plain in _list(step, "submit")], found)
    found.check()
    made = facts(replace(cluster.imported.objects, workloads=read.workloads), Moment(at, in_cycles=True, queues={}), found)
    found.check()
    yield from made
