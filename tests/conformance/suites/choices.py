"""Single choices: which of two flavors is better, and with how many pods a workload starts."""

from typing import Any

from gpol.engine.definition.admission.nominate import fewest_missing
from gpol.engine.definition.flavor.assigner import rank
from gpol.engine.outcome.nomination import Grade, Verdict

from .suite import Case, differences, table
from .table_cluster import TableCluster, cluster_queue

GRADES = (Grade.NO_MATCH, Grade.NO_VICTIMS, Grade.PREEMPT, Grade.RECLAIM, Grade.FIT)
"""Kueue's granular modes, in order."""


def preferred(case: Case) -> list[str]:
    """TestIsPreferred: whether the first of two verdicts on flavors is better, in a ClusterQueue of these settings."""
    tc = case["tc"]
    queue = cluster_queue("cq", "", [{"default": {"cpu": ("1",)}}])
    queue["spec"]["flavorFungibility"] = tc["config"]
    kueue = TableCluster({"clusterQueues": [queue]})
    rather = kueue.graph.queue_at(kueue.queue("cq")).rather
    better = rank(_verdict(tc["a"]), rather) > rank(_verdict(tc["b"]), rather)
    return differences({"preferred": tc.get("wantPreferred", False)}, {"preferred": better})


def _verdict(said: dict[str, Any]) -> Verdict:
    return GRADES[said["preemptionMode"]], said["borrowingLevel"]


def fewer_pods(case: Case) -> list[str]:
    """TestSearch: the most pods, between all and the fewest that pod sets allow, of which no more than a limit fit."""
    tc = case["tc"]
    most = [pod_set.get("count", 1) for pod_set in tc["podSets"]]
    least = [pod_set.get("minCount", pod_set.get("count", 1)) for pod_set in tc["podSets"]]

    def attempt(counts: list[int]) -> int | None:
        return sum(counts) if sum(counts) <= tc["countLimit"] else None

    found = fewest_missing(most, least, attempt)
    return differences({"pods": tc["wantCount"] if tc.get("wantFound") else None}, {"pods": found})


SUITES = (
    table("TestIsPreferred", 10, "which of two flavors is better", preferred),
    table("TestSearch", 9, "whether fewer pods are found, and how many", fewer_pods),
)
