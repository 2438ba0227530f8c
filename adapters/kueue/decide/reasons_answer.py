"""Why a workload is not admitted at once, as Kueue's messages state it: the reason's token, and what each message says as data."""

import json
from collections.abc import Iterator
from typing import Any

from ....engine.eligibility import companions, groups_of
from ....engine.facts import WorkloadSubmitted
from ....engine.outcome.nomination import FlavorReason, Mode, Nomination, NoPlaces, Obstacle, PodSetFlavors
from ....engine.policy_graph import PolicyGraph
from ..read.quantity import kueue_amount

_CAUSES = {"selector": "nodeSelector", "affinity": "affinity", "outside": "topologyDomain"}
_KINDS = {
    "not-selected": "affinity",
    "without-places": "withoutTopology",
    "only-with-places": "onlyTopology",
    "no-level": "noLevel",
}
_MILD: tuple[FlavorReason, ...] = ("", "TopologyPlacementFailed", "WaitingForQuota", "ExceedsMaxQuota", "PodTooLarge", "NoMatchingFlavor")


def why_answer(graph: PolicyGraph, fact: WorkloadSubmitted, nomination: Nomination) -> list[dict[str, Any]]:
    """What Kueue's messages state, in order; nothing of what fits."""
    flavors = nomination.flavors
    if flavors.mode is Mode.FIT:
        return []
    named = _names(fact)
    found = [said for pods in flavors.pod_sets for said in _of_pod_set(graph, named[pods.name], pods)]
    if flavors.unplaced is not None:
        found.append(_topology(graph, named[flavors.unplaced.pod_sets[0]], flavors.unplaced))
    texts = {json.dumps(each, sort_keys=True) for each in found}
    return [json.loads(text) for text in sorted(texts)]


def reason_answer(graph: PolicyGraph, nomination: Nomination) -> str:
    """The token of a workload that can never be admitted as things stand, or "".

    Kueue looks at pod sets about which it has a message (resolveNoFitReason): where the one that finds no place on empty nodes had none
    before, the token is empty. Of each of its groups of resources the mildest reason counts, and of these the most severe.
    """
    flavors = nomination.flavors
    failed = flavors.unplaced_if_empty
    if flavors.mode is not Mode.NO_FIT or failed is None:
        return flavors.reason if flavors.mode is Mode.NO_FIT else ""
    told = set(flavors.unplaced.pod_sets) if flavors.unplaced is not None else set()
    reason: FlavorReason = ""
    for pods in flavors.pod_sets:
        spoken = pods.name in told or any(each.kind != "no-places" for each in pods.obstacles)
        if pods.name in failed.pod_sets and spoken:
            reason = max(reason, _most_severe(graph, nomination, pods, failed.flavor), key=_MILD.index)
    return reason


def _most_severe(graph: PolicyGraph, nomination: Nomination, pods: PodSetFlavors, placed: int) -> FlavorReason:
    found: FlavorReason = ""
    for group in groups_of(graph, graph.queue_at(nomination.queue)):
        if not any(resource in pods.requests for resource in group.resources):
            continue
        useless = [
            each for each in pods.attempts if each.flavor in group.flavors and (each.grade.mode is Mode.NO_FIT or each.flavor == placed)
        ]
        reasons: list[FlavorReason] = ["TopologyPlacementFailed" if each.flavor == placed else each.reason for each in useless]
        found = max(found, min(reasons, key=_MILD.index, default=_MILD[0]), key=_MILD.index)
    return found


def _names(fact: WorkloadSubmitted) -> dict[str, str]:
    """How each pod set is called: those of a group together, as Kueue names one of them by chance."""
    joined: dict[str, list[str]] = {}
    for index, pod_set in enumerate(fact.pod_sets):
        joined.setdefault(companions(index, pod_set), []).append(pod_set.name)
    return {name: "|".join(sorted(names)) for names in joined.values() for name in names}


def _of_pod_set(graph: PolicyGraph, name: str, pods: PodSetFlavors) -> Iterator[dict[str, Any]]:
    for obstacle in pods.obstacles:
        said = _said(graph, obstacle)
        if said:
            yield {"podSet": name, **said}


def _said(graph: PolicyGraph, obstacle: Obstacle) -> dict[str, Any]:
    """What a message says of an obstacle; nothing for one that has none."""
    flavor = graph.flavors[obstacle.flavor].name if obstacle.flavor >= 0 else ""
    match obstacle.kind:
        case "short":
            more = kueue_amount(obstacle.assumed + obstacle.asked - obstacle.limit, obstacle.resource)
            return {"kind": "unused", "resource": obstacle.resource, "flavor": flavor, "more": more}
        case "exceeds":
            before, request, capacity = (
                kueue_amount(amount, obstacle.resource) for amount in (obstacle.assumed, obstacle.asked, obstacle.limit)
            )
            told = {"before": before, "request": request, "capacity": capacity}
            return {"kind": "maximum", "resource": obstacle.resource, "flavor": flavor, **told}
        case "taint":
            taint = graph.flavors[obstacle.flavor].taints[obstacle.index]
            value = f"={taint.value}" if taint.value else ""
            return {"kind": "taint", "flavor": flavor, "taint": f"{taint.key}{value}:{taint.effect}"}
        case "not-selected" | "without-places" | "only-with-places" | "no-level":
            return {"kind": _KINDS[obstacle.kind], "flavor": flavor}
        case _:
            return {}


def _topology(graph: PolicyGraph, name: str, failure: NoPlaces) -> dict[str, Any]:
    """What the message says of a topology in which there is too little room."""
    if failure.kind == "slice-above":
        return {"podSet": name, "kind": "sliceAbove", "slice": failure.level, "podset": failure.asked}
    if failure.kind == "no-domains":
        return {"podSet": name, "kind": "noDomains", "level": failure.level}
    topology = graph.topologies[graph.flavors[failure.flavor].topology].name
    if failure.layers:
        room: dict[str, Any] = {"layers": [list(layer) for layer in failure.layers]}
    else:
        room = {"fit": failure.fit, "of": failure.of, "unit": "pod" if failure.size == 1 else "slice"}
    excluded = {_cause(cause, detail): nodes for cause, detail, nodes in failure.kept_off}
    looked = {"nodes": failure.nodes, "excluded": excluded} if excluded else {}
    return {"podSet": name, "kind": "topology", "topology": topology, **room, **looked}


def _cause(cause: str, detail: str) -> str:
    return f'{cause} "{detail}"' if cause in ("taint", "resource") else _CAUSES[cause]
