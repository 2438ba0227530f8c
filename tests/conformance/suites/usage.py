"""Usage of local queues that fades: TestFsAdmission, TestScheduleForAFS."""

from gpol.adapters.kueue.problems import Findings
from gpol.adapters.kueue.read.configuration import usage_config
from gpol.adapters.kueue.read.fields import Fields
from gpol.adapters.kueue.read.objects import Configuration
from gpol.adapters.kueue.read.quantity import amount, parse
from gpol.engine.events import AnyDecision, WorkloadAdmitted, WorkloadDeferred
from gpol.engine.facts import TimeAdvanced, UsageReported

from .suite import Case, differences, table
from .table_cluster import Json, TableCluster, cluster_queue
from .world import as_created


def first_in_line(case: Case) -> list[str]:
    """TestFsAdmission: the workload that a ClusterQueue would look at first.

    The test has no quotas; here the ClusterQueue has nothing of each resource that was used, so that the policy knows it.
    """
    tc = case["tc"]
    used = tc.get("initConsumedResources") or {}
    resources = sorted({"cpu", *(resource for amounts in used.values() for resource in amounts)})
    queue = {**tc["cq"], "spec": {**tc["cq"]["spec"], **_nothing_of(resources)}}
    kueue = TableCluster(
        {
            "clusterQueues": [queue],
            "localQueues": [{**local, "spec": {**local["spec"], "clusterQueue": "cq"}} for local in tc["lqs"]],
            "workloads": [as_created(workload) for workload in tc["wls"]],
        },
        _configuration(tc.get("afsConfig")),
    )
    _report(kueue, used)
    return differences({"first": _key(tc["wantWl"])}, {"first": kueue.probe.head(kueue.queue("cq"))})


def _nothing_of(resources: list[str]) -> Json:
    spec = cluster_queue("cq", "", [{"default": dict.fromkeys(resources, ("0",))}])["spec"]
    return {"resourceGroups": spec["resourceGroups"]}


def in_turn(case: Case) -> list[str]:
    """TestScheduleForAFS: who is admitted, and why others wait, once nothing is left to be looked at.

    The test deletes a LocalQueue of which Kueue has queued the workloads already: they come to their ClusterQueue without one.
    """
    tc, gone = case["tc"], case["tc"]["deleteQueue"]
    gates = tc.get("featureGates") or {}
    queue = case["clusterQueues"][0]["metadata"]["name"]
    orphans = [workload for workload in tc["workloads"] if workload["spec"]["queueName"] == gone]
    kueue = TableCluster(
        {
            "flavors": case["resourceFlavors"],
            "clusterQueues": case["clusterQueues"],
            "localQueues": [local for local in case["queues"] if local["metadata"]["name"] != gone],
            "workloads": [as_created(workload) for workload in tc["workloads"]],
        },
        _configuration(case["afsConfig"] if gates["AdmissionFairSharing"] else None),
        into={_key(workload): queue for workload in orphans},
    )
    _report(kueue, {f"default/{local}": used for local, used in tc["initialUsage"].items() if local != gone})
    decisions: list[AnyDecision] = []
    while kueue.core.next_wake() is not None:
        decisions += kueue.core.step(TimeAdvanced(time=kueue.now))
    found = {decision.workload: "QuotaReserved" for decision in decisions if isinstance(decision, WorkloadAdmitted)}
    found |= {decision.workload: decision.reason for decision in decisions if isinstance(decision, WorkloadDeferred)}
    wanted = {_key(workload): _reason(workload) for workload in tc["wantWorkloads"]}
    return differences(wanted, {name: found.get(name, "") for name in wanted})


def _reason(workload: Json) -> str:
    """The token of its QuotaReserved condition; empty where it has none, because nothing was ever decided about it."""
    conditions = workload["status"].get("conditions") or []
    return next((condition["reason"] for condition in conditions if condition["type"] == "QuotaReserved"), "")


def _configuration(said: Json | None) -> Configuration:
    return Configuration(usage=None if said is None else usage_config(Fields(said, "", Findings())))


def _report(kueue: TableCluster, used: dict[str, dict[str, str]]) -> None:
    """Tell what local queues have used, of those that admit by usage."""
    for local, amounts in used.items():
        consumed = {resource: amount(parse(quantity), resource) for resource, quantity in amounts.items()}
        if any(known.name == local for queue in kueue.graph.queues if queue.by_usage for known in queue.local_queues):
            kueue.play([UsageReported(time=kueue.now, local_queue=local, consumed=consumed)])


def _key(workload: Json) -> str:
    return f"{workload['metadata']['namespace']}/{workload['metadata']['name']}"


SUITES = (
    table("TestFsAdmission", 6, "who is first in a ClusterQueue", first_in_line),
    table("TestScheduleForAFS", 8, "who is admitted, and the reason why others wait", in_turn),
)
