"""Volcano's own tests and recorded decisions as cases: what each is about, and in what gpol's answer differs."""

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gpol.adapters.kueue.problems import ImportRefused
from gpol.adapters.volcano.decide.plugin_settings import volcano_settings
from gpol.adapters.volcano.decide.session_objects import cycle_of
from gpol.adapters.volcano.decide.volcano_scenarios import opened, sessions
from gpol.engine.definition.session.pods import PodStatus
from gpol.engine.definition.volcano.model.volcano_cycle import VolcanoCycle
from gpol.engine.definition.volcano.passes.volcano_passes import run_cycle

DATA = Path(__file__).resolve().parents[4] / "shared" / "conformance" / "volcano"
"""Where the reference data are: a folder beside the repository."""

COMPARED = ("pods", "evicted", "podGroups", "allocatedHyperNode")
"""The parts of a session's answer that have to be the same."""

TOLERANCE = 0.01
"""By how much figures may differ."""

PLAYED = datetime(2026, 1, 1, tzinfo=UTC)
"""When Volcano's tests ran, about; their objects say nothing of when they were created."""

NO_TOPOLOGY, TOPOLOGY, SEVERAL = "tables", "tables, topology", "several answers"

_ABOUT_TOPOLOGY = ("TestAllocateWithNetWorkTopologies", "TestNodeLevelScoreWithNetWorkTopologies")
_ABOUT_TOPOLOGY += ("TestHyperNodeBinpackWithNetWorkTopologies", "TestAllocateWithPartitionPolicyNetworkTopology")
_VOLUMES = ("PVs", "PVCs", "SCs", "IgnoreProvisioners")
_DEVICES = ("ResourceSlices", "DeviceClasses", "ResourceClaims")
_ABOUT_IT = ("Name", "MinimalBindCheck")


@dataclass(frozen=True, slots=True)
class VolcanoCase:
    """A case of a suite; `differences` is empty where it matches. `left_out` says why a case was not played."""

    suite: str
    name: str
    differences: tuple[str, ...] = ()
    left_out: str = ""


# --- tables -----------------------------------------------------------------------------------------------------------


def tables() -> list[dict[str, Any]]:
    """The cases of Volcano's test tables."""
    found: list[dict[str, Any]] = json.loads((DATA / "volcano_cases.json").read_text(encoding="utf-8"))
    return found


def played_table(entry: dict[str, Any]) -> VolcanoCase:
    """What comes of a case of a table."""
    suite = TOPOLOGY if entry["func"] in _ABOUT_TOPOLOGY else NO_TOPOLOGY
    folder = Path(entry["file"]).parent.name
    name = f"{folder} {entry['func']}[{entry['index']}] {entry['case']['Name']}"
    reason = _left_out(entry)
    if reason:
        return VolcanoCase(suite, name, left_out=reason)
    try:
        scenario = opened(_scenario(entry))
        cycle = cycle_of(scenario.case, volcano_settings(scenario, "off"), PLAYED)
    except ImportRefused as refusal:
        return VolcanoCase(suite, name, left_out=str(refusal).splitlines()[0])
    run_cycle(cycle)
    return VolcanoCase(suite, name, tuple(_differences(entry["case"], cycle)))


def _left_out(entry: dict[str, Any]) -> str:
    case = entry["case"]
    if any(case.get(name) for name in _VOLUMES):
        return "volumes"
    if any(case.get(name) for name in _DEVICES):
        return "devices that pods claim (DRA)"
    if "shuffle" in entry["actions"]:
        return "the plugin of this test is a stub whose code is not part of the table"
    return ""


def _scenario(entry: dict[str, Any]) -> dict[str, Any]:
    """The scenario of a case. A plugin that the test did not register has no effect."""
    tiers = [{"plugins": [_plugin(each) for each in tier["plugins"] if each.get("registered", True)]} for tier in entry["tiers"]]
    objects = {name: value for name, value in entry["case"].items() if name not in _ABOUT_IT and not name.startswith("Expect")}
    made = {"name": entry["func"], "actions": entry["actions"], "tiers": tiers, "case": objects}
    return {**made, **({"configurations": entry["configurations"]} if "configurations" in entry else {})}


def _plugin(given: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if name != "registered"}


def _differences(case: dict[str, Any], cycle: VolcanoCycle) -> Iterator[str]:
    session = cycle.session
    nodes = [node.name for node in session.nodes]
    bound = {pod.name: nodes[pod.node] for pod in session.pods if pod.status is PodStatus.PLACED and not cycle.is_bound(pod)}
    if len(bound) != case["ExpectBindsNum"]:
        yield f"binds {len(bound)} pods, not {case['ExpectBindsNum']}: {bound}"
    elif not case.get("MinimalBindCheck") and "ExpectBindMap" in case:
        wanted = case["ExpectBindMap"] or {}
        for pod in sorted({*bound, *wanted}):
            if bound.get(pod) != wanted.get(pod):
                yield f"{pod} is bound to {bound.get(pod)}, not {wanted.get(pod)}"
    evicted = Counter(session.pods[each.victim].name for each in cycle.evictions)
    if evicted != Counter(case["ExpectEvicted"]):
        yield f"evicts {sorted(evicted.elements())}, not {sorted(case['ExpectEvicted'])}"
    jobs = {workload.name: workload for workload in session.workloads}
    for job, wanted in (case.get("ExpectPipeLined") or {}).items():
        promised = [nodes[pod.node] for pod in session.pods_of(jobs[job], PodStatus.PROMISED)]
        if not promised or not set(promised) <= set(wanted):
            yield f"pods of {job} wait for {promised}, not for {wanted}"
    for job, phase in (case.get("ExpectStatus") or {}).items():
        if cycle.phases[jobs[job].number] != phase:
            yield f"{job} is {cycle.phases[jobs[job].number]}, not {phase}"
    if "ExpectBindNumsInHyperNode" in case:
        lowest = Counter(cycle.hyper_nodes.lowest_of(nodes.index(node)) for node in bound.values())
        if sorted(lowest.values()) != case["ExpectBindNumsInHyperNode"]:
            yield f"binds {sorted(lowest.values())} pods in HyperNodes, not {case['ExpectBindNumsInHyperNode']}"


# --- recorded decisions -----------------------------------------------------------------------------------------------


def recorded() -> Iterator[dict[str, Any]]:
    """The recorded decisions, scenario by scenario."""
    with gzip.open(DATA / "recorded.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def played_recorded(entry: dict[str, Any]) -> tuple[VolcanoCase, VolcanoCase]:
    """What comes of a recorded scenario: its decisions, and the figures of the sessions up to the first that differs."""
    scope, name = entry["in"]["scope"], f"recorded {entry['in']['name']}"
    several = "answers" in entry["volcano"]
    possible = [each["sessions"] for each in entry["volcano"]["answers"]] if several else [entry["volcano"]["sessions"]]
    answer = sessions(opened(entry))
    found = [tuple(_session_differences(answer, wanted)) for wanted in possible]
    best = min(found, key=len)
    right = possible[found.index(best)]
    figures: list[str] = []
    for number, (own, wanted) in enumerate(zip(answer, right, strict=False)):
        if _parts(own) != _parts(wanted):
            break
        figures += _figure_differences(own, wanted, number)
    suite = SEVERAL if several else scope
    return VolcanoCase(suite, name, best), VolcanoCase(f"figures of {suite}", name, tuple(figures))


def _parts(session: dict[str, Any]) -> list[Any]:
    return [session.get(part, {}) for part in COMPARED]


def _session_differences(answer: list[dict[str, Any]], wanted: list[dict[str, Any]]) -> Iterator[str]:
    """In what the sessions differ. What comes after the first one that does rests on other objects, so it is not told."""
    for number, (own, other) in enumerate(zip(answer, wanted, strict=True)):
        for part in COMPARED:
            mine, theirs = own.get(part, {}), other.get(part, {})
            for key in sorted({*mine, *theirs}):
                if mine.get(key) != theirs.get(key):
                    yield f"session {number + 1}: {part}: {key} is {mine.get(key)}, not {theirs.get(key)}"
        if _parts(own) != _parts(other):
            return


def _figure_differences(own: dict[str, Any], wanted: dict[str, Any], number: int) -> Iterator[str]:
    """Where figures differ by more than the tolerance. Only those that were recorded are compared; what was left out is 0."""
    for job in sorted({*own.get("jobShare", {}), *wanted.get("jobShare", {})}):
        mine, theirs = (each.get("jobShare", {}).get(job, 0) for each in (own, wanted))
        if abs(mine - theirs) > TOLERANCE:
            yield f"session {number + 1}: share of {job} is {mine}, not {theirs}"
    queues = wanted.get("queues", {})
    if sorted(queues) != sorted(own.get("queues", {})):
        yield f"session {number + 1}: queues are {sorted(own.get('queues', {}))}, not {sorted(queues)}"
        return
    told = {name for figures in queues.values() for name in figures}
    for queue in sorted(queues):
        for name in sorted(told):
            mine, theirs = _row(own["queues"][queue].get(name)), _row(queues[queue].get(name))
            for resource in sorted({*mine, *theirs}):
                if abs(mine.get(resource, 0) - theirs.get(resource, 0)) > TOLERANCE:
                    yield f"session {number + 1}: {name} of {queue}, {resource}: {mine.get(resource, 0)}, not {theirs.get(resource, 0)}"


def _row(figure: Any) -> dict[str, Any]:
    return figure if isinstance(figure, dict) else {"": figure or 0}
