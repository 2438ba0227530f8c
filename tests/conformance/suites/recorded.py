"""Recorded decisions: what Kueue's own scheduler answered on generated clusters, asked of the function behind `gpol kueue decide`."""

from collections.abc import Sequence
from typing import Any

from gpol.adapters.kueue.decide.scenarios import decide

from .node_room import NodeRoom
from .suite import Case, Suite, differences


def single(case: Case) -> list[str]:
    """One decision: every field of the answer but the English message."""
    kueue = {key: value for key, value in case["kueue"].items() if key != "message"}
    kueue["targets"] = kueue.get("targets") or []
    return differences({"name": case["in"]["name"], **kueue}, decide(case["in"]))


def tas_single(case: Case) -> list[str]:
    """One decision on a cluster with topologies: where pods would stand, what is used there and why there is no place besides."""
    absent: Case = {"topology": {}, "why": [], "reason": ""}
    return single({**case, "kueue": {**absent, **{key: value for key, value in case["kueue"].items() if value is not None}}})


def timeline(case: Case) -> list[str]:
    """A history: after each step who holds quota on which flavors, who was evicted why and for whom, and who waits.

    Of a livelock the last step is not compared, which is where Kueue was stopped; but that it is one.
    """
    kueue, found = case["kueue"], decide(case["in"])
    if (kueue["livelock"], len(kueue["steps"])) != (found["livelock"], len(found["steps"])):
        return differences({"livelock": kueue["livelock"], "steps": len(kueue["steps"])}, {**found, "steps": len(found["steps"])})
    return _steps(kueue["steps"][:-1] if kueue["livelock"] else kueue["steps"], found["steps"])


def tas_timeline(case: Case) -> list[str]:
    """A history on a cluster with topologies: after each step where the pods of those stand that hold quota as well.

    Not compared are a livelock's last step, and all from the one on in which Kueue puts more on a node than it has. But no step of gpol's
    may do so, unless domains of several nodes are counted by flavor.
    """
    kueue, found = case["kueue"], decide(case["in"])
    compared = kueue["steps"][: compared_steps(kueue)]
    if len(found["steps"]) < len(compared):
        return differences({"steps": len(compared)}, {"steps": len(found["steps"])})
    room, workloads = NodeRoom(case["in"]), submitted(case["in"])
    overfilled = [] if case["in"]["name"] in COUNTED_APART else [room.overfilled(workloads, step) for step in found["steps"]]
    return [
        *_steps(compared, found["steps"], topology={}),
        *(f"step {number}: {told}" for number, step in enumerate(overfilled, start=1) for told in step),
    ]


def compared_steps(kueue: Case) -> int:
    """How many steps of a history are compared."""
    steps = len(kueue["steps"]) - bool(kueue["livelock"])
    return steps if kueue.get("overcommit") is None else min(steps, kueue["overcommit"])


def submitted(history: Case) -> dict[str, Any]:
    """The workloads of a history by name."""
    workloads = [workload for step in history["steps"] for workload in step.get("submit") or ()]
    return {f"{workload['metadata']['namespace']}/{workload['metadata']['name']}": workload for workload in workloads}


def _steps(steps: Sequence[Case], found: Sequence[Case], **more: Any) -> list[str]:
    """What differs after each step; `more` are fields that are compared besides, as they are where a step has nothing of them."""
    fields = {"admitted": {}, "evicted": [], "pending": [], **more}
    return [
        f"step {number}: {difference}"
        for number, (step, answer) in enumerate(zip(steps, found, strict=False), start=1)
        for difference in differences({field: step.get(field) or fields[field] for field in fields}, answer)
    ]


LIVELOCKS = ("80", "144", "164", "196", "201", "211")
"""The histories that never come to rest under Kueue's own code, in the order of the file."""

_LIVELOCK = "the last step never comes to rest, as Kueue admits and evicts the same workloads for ever; the steps before it are compared"

TAS_LIVELOCKS = ("50", "102")
"""Those on clusters with topologies."""

OVERFILLED = ("8", "14", "15", "21", "26", "33", "35", "40", "41", "55", "62", "65", "66", "73", "83")
"""The histories in which Kueue puts more on a node than it has, in the order of the file."""

COUNTED_APART = ("14", "40", "73", "83")
"""Those of them in which flavors have the same nodes, and a topology that ends above nodes."""

_OVERFILLED = (
    "Kueue admits two heads of a cycle to the same room of a node; the steps before it are compared, and gpol fills no node beyond its size"
)

_COUNTED_APART = (
    "two flavors have the same nodes, and a topology that ends above nodes: there Kueue counts what each flavor uses by itself, and so "
    "does gpol, so that both put more into a domain than it has; the steps before that are compared"
)

SUITES = (
    Suite("single", "kueue/single.jsonl.gz", 1500, "every field of the answer but the message", single),
    Suite(
        "timeline",
        "kueue/timeline.jsonl.gz",
        200,
        "after every step who is admitted, evicted and pending",
        timeline,
        remarks=dict.fromkeys(LIVELOCKS, _LIVELOCK),
    ),
    Suite("tas_single", "kueue/tas_single.jsonl.gz", 1000, "as `single`, and places, what is used there, the reason and why", tas_single),
    Suite(
        "tas_timeline",
        "kueue/tas_timeline.jsonl.gz",
        150,
        "as `timeline`, and places; no node filled beyond its size",
        tas_timeline,
        remarks={
            **dict.fromkeys(TAS_LIVELOCKS, _LIVELOCK),
            **dict.fromkeys(OVERFILLED, _OVERFILLED),
            **dict.fromkeys(COUNTED_APART, _COUNTED_APART),
        },
    ),
)
