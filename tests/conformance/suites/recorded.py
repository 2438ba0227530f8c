"""Recorded decisions: what Kueue's own scheduler answered on generated clusters, asked of the function behind `gpol kueue decide`."""

from gpol.adapters.kueue.decide.scenarios import decide

from .suite import Case, Suite, differences


def single(case: Case) -> list[str]:
    """One decision: every field of the answer but the English message."""
    kueue = {key: value for key, value in case["kueue"].items() if key != "message"}
    kueue["targets"] = kueue.get("targets") or []
    return differences({"name": case["in"]["name"], **kueue}, decide(case["in"]))


def timeline(case: Case) -> list[str]:
    """A history: after each step who holds quota on which flavors, who was evicted why and for whom, and who waits.

    Of a livelock the last step is not compared, which is where Kueue was stopped; but that it is one.
    """
    kueue, found = case["kueue"], decide(case["in"])
    if (kueue["livelock"], len(kueue["steps"])) != (found["livelock"], len(found["steps"])):
        return differences({"livelock": kueue["livelock"], "steps": len(kueue["steps"])}, {**found, "steps": len(found["steps"])})
    steps = kueue["steps"][:-1] if kueue["livelock"] else kueue["steps"]
    return [
        f"step {number}: {difference}"
        for number, (step, answer) in enumerate(zip(steps, found["steps"], strict=False), start=1)
        for difference in differences(
            {"admitted": step.get("admitted") or {}, "evicted": step.get("evicted") or [], "pending": step.get("pending") or []}, answer
        )
    ]


LIVELOCKS = ("80", "144", "164", "196", "201", "211")
"""The histories that never come to rest under Kueue's own code, in the order of the file."""

_LIVELOCK = "the last step never comes to rest, as Kueue admits and evicts the same workloads for ever; the steps before it are compared"

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
)
