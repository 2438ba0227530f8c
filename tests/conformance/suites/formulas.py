"""Kueue's formulas: what is available, shares, who borrows, and what is kept for a workload that waits for nobody."""

from math import ceil

from gpol.engine.definition.admission.cycle import to_reserve
from gpol.engine.outcome.nomination import FlavorAssignment, Mode, Request
from gpol.engine.units import INT64_MAX

from .suite import Case, differences, table
from .table_cluster import Amounts, Group, Json, TableCluster, cluster_queue, groups_of, running, waiting


def available(case: Case) -> list[str]:
    """TestAvailable: what each ClusterQueue may still use, and what it could use at most."""
    tc = case["tc"]
    held = [running(f"in-{name}", name, amounts) for name, amounts in (tc.get("usage") or {}).items()]
    kueue = TableCluster({"clusterQueues": tc["clusterQueues"], "cohorts": tc.get("cohorts") or (), "workloads": held})
    now: dict[str, Amounts] = {}
    most: dict[str, Amounts] = {}
    for queue, wanted in tc["wantAvailable"].items():
        node, probe = kueue.queue(queue), kueue.probe
        slots = [kueue.slot(key) for key in wanted]
        now[queue] = kueue.amounts({slot: max(0, probe.available(node, slot)) for slot in slots})
        most[queue] = kueue.amounts({slot: probe.most(node, slot) for slot in slots})
    expected = {"available": tc["wantAvailable"], "potentially available": tc["wantPotentiallyAvailable"]}
    return differences(expected, {"available": now, "potentially available": most})


def share(case: Case) -> list[str]:
    """TestDominantResourceShare: the share of every node, the resource that makes it, and whether the node borrows at all.

    `flvResQ` is what a workload would add to each node, looked at one by one, as far as the node has quota of it; cohorts are roots in
    the cases that have it.
    """
    tc = case["tc"]
    queues = {tc[key]["metadata"]["name"]: tc[key] for key in ("clusterQueue", "lendingClusterQueue") if key in tc}
    user = tc["clusterQueue"]["metadata"]["name"]
    kueue = TableCluster(
        {"clusterQueues": [*queues.values()], "cohorts": tc.get("cohorts") or (), "workloads": [running("in", user, tc["usage"])]}
    )
    expected, found = {}, {}
    for want in tc["want"]:
        name = want["Name"]
        expected[name] = (want["DrValue"], want["DrName"], want.get("Borrowing", False))
        if "NodeType" in want:
            found[name] = _share(kueue, kueue.cohort(name), kueue.queue(user))
        else:
            having = _keys(queues[name])
            more = kueue.request({key: amount for key, amount in (tc.get("flvResQ") or {}).items() if key in having})
            found[name] = _share(kueue, kueue.queue(name), kueue.queue(name), more)
    return differences(expected, found)


def _keys(queue: Json) -> list[str]:
    """The `flavor|resource` pairs of which a ClusterQueue has quota."""
    return [
        f"{flavor['name']}|{resource}"
        for group in groups_of(queue)
        for flavor in group["flavors"]
        for resource in group["coveredResources"]
    ]


def _share(kueue: TableCluster, node: int, queue: int, more: Request = ()) -> tuple[int, str, bool]:
    """The share of a node in thousandths, rounded up, the dominant resource, and whether the node borrows; `queue` is at or below it and
    uses `more` than it does."""
    policy, slots = kueue.core.state.active.copy(), range(len(kueue.graph.slots))
    policy.tree.add(queue, more)
    infinite, whole = policy.shares.of(node)
    dominant = ""
    for resource in sorted({kueue.graph.slots[slot].resource for slot in slots}):
        mine = [slot for slot in slots if kueue.graph.slots[slot].resource == resource]
        used = tuple((slot, kueue.core.view.used(queue, slot) + dict(more).get(slot, 0)) for slot in mine)
        if not dominant and policy.shares.after(node, queue, used) < (infinite, whole):
            dominant = resource
    borrows = len(kueue.graph.path(node)) > 1 and policy.tree.borrows(node, slots)
    return INT64_MAX if infinite else ceil(whole), dominant, borrows


def borrowing_on(case: Case) -> list[str]:
    """TestIsBorrowingOn: whether a ClusterQueue borrows, and whether of what a workload asks for. The objects are the test's own."""
    tc = case["tc"]
    kueue = TableCluster(
        {
            "clusterQueues": [
                cluster_queue("cq", "cohort", [{"default": {"cpu": ("2",), "example.com/gpu": ("5",)}}]),
                cluster_queue("lending-cq", "cohort", [{"default": {"cpu": ("8",), "example.com/gpu": ("5",)}}]),
            ],
            "workloads": [running("in", "cq", tc["usage"])],
        }
    )
    node, probe = kueue.queue("cq"), kueue.probe
    expected = {"anywhere": tc.get("wantBorrowing", False), "on request": tc.get("wantBorrowingOnRequested", False)}
    requested = sorted(kueue.smallest(tc.get("requestedFRs") or {}))
    return differences(
        expected, {"anywhere": probe.borrows(node, range(len(kueue.graph.slots))), "on request": probe.borrows(node, requested)}
    )


def to_be_reserved(case: Case) -> list[str]:
    """TestResourcesToReserve: what a workload without victims keeps others from taking. The ClusterQueue is the test's own."""
    tc = case["tc"]
    memory: Group = {"on-demand": {"memory": ("100",)}, "spot": {"memory": ("0", "100")}}
    models: Group = {"model-a": {"gpu": ("10", "0")}, "model-b": {"gpu": ("10", "5")}}
    kueue = TableCluster(
        {
            "flavors": case["resourceFlavors"],
            "clusterQueues": [cluster_queue("cq", "eng", [memory, models])],
            "workloads": [running("in", "cq", tc["cqUsage"]), waiting("w")],
        },
        into={"ns/w": "cq"},
    )
    flavors = FlavorAssignment(usage=kueue.smallest(tc["assignmentUsage"]), level=tc["borrowing"], mode=Mode[tc["assignmentMode"].upper()])
    found = kueue.amounts(to_reserve(kueue.trial(), kueue.queue("cq"), flavors))
    return differences({"reserved": tc["wantReserved"]}, {"reserved": found})


SUITES = (
    table("TestAvailable", 8, "what each ClusterQueue may use now, and at most", available),
    table("TestDominantResourceShare", 16, "share, dominant resource and borrowing of every node", share),
    table("TestIsBorrowingOn", 5, "borrowing at all, and on what is asked for", borrowing_on),
    table("TestResourcesToReserve", 6, "amounts that are reserved", to_be_reserved),
)
