"""Who has to go: Kueue's tables of preemption, classical and fair, and of the steps they are made of."""

from typing import Any

from gpol.adapters.kueue.decide.kueue_reasons import REASONS
from gpol.adapters.kueue.read.objects import Configuration
from gpol.engine.definition.admission.nominate import search
from gpol.engine.definition.preemption.candidates import ordered
from gpol.engine.definition.preemption.fair_sharing import next_queue
from gpol.engine.definition.preemption.rules import Preemptor

from .suite import Case, differences, table
from .table_cluster import TableCluster, cluster_queue, quantities, waiting


def classical(case: Case) -> list[str]:
    """TestPreemption, TestHierarchicalPreemptions: victims and reasons; one that was told to go before counts, and keeps its reason."""
    tc = case["tc"]
    pod_sets = {pod_set["name"]: pod_set for pod_set in tc["incoming"]["spec"]["podSets"]}
    asked: dict[str, int] = {}
    needing: set[str] = set()
    for part in tc["assignment"]["PodSets"]:
        for resource, amount in quantities(pod_sets[part["Name"]]).items():
            chosen = part["Flavors"].get(resource)
            if chosen is not None:
                key = f"{chosen['Name']}|{resource}"
                asked[key] = asked.get(key, 0) + amount
                needing |= {key} if chosen["Mode"] == "Preempt" else set()
    victims = _victims(case, asked, sorted(needing), Configuration())
    going = {name: reason for name, (reason, before) in victims.items() if not before}
    expected = {"victims": tc["wantPreempted"], "told to go": _told(tc["wantWorkloads"])}
    return differences(expected, {"victims": len(victims), "told to go": going})


def _told(workloads: list[Any]) -> dict[str, str]:
    """The workloads that were preempted, each with the reason."""
    return {
        f"{workload['metadata'].get('namespace', '')}/{workload['metadata']['name']}": condition["reason"]
        for workload in workloads
        for condition in workload["status"].get("conditions") or []
        if condition["type"] == "Preempted" and condition["status"] == "True"
    }


def fair(case: Case) -> list[str]:
    """TestFairPreemptions: victims and reasons, by the strategies of the case; all pods ask for cpu on one flavor."""
    tc = case["tc"]
    flavor = tc["assignmentFlavor"] or "default"
    asked = {
        f"{flavor}|{resource}": amount for pod_set in tc["incoming"]["spec"]["podSets"] for resource, amount in quantities(pod_set).items()
    }
    victims = _victims(case, asked, sorted(asked), Configuration(fair=True, strategies=tuple(tc.get("strategies") or ())))
    found = sorted(f"{name}:{reason}" for name, (reason, _) in victims.items())
    return differences({"victims": sorted(tc.get("wantPreempted") or [])}, {"victims": found})


def _victims(case: Case, asked: dict[str, int], needing: list[str], configuration: Configuration) -> dict[str, tuple[str, bool]]:
    """The victims by name for amounts by `flavor|resource`: the reason, and whether each was told to go before."""
    tc = case["tc"]
    incoming = f"{tc['incoming']['metadata'].get('namespace', '')}/{tc['incoming']['metadata']['name']}"
    objects = {
        "flavors": tc.get("flavors") or case["flavors"],
        "clusterQueues": tc["clusterQueues"],
        "cohorts": tc.get("cohorts") or (),
        "workloads": [*tc["admitted"], {**tc["incoming"], "status": {}}],  # one is reserved already, which its test does not look at
    }
    kueue = TableCluster(objects, configuration, into={incoming: tc["targetCQ"]})
    preemptor = Preemptor(kueue.workload(incoming), kueue.request(asked), sorted(kueue.slot(key) for key in needing))
    return {victim.workload: (REASONS[victim.kind], victim.evicting) for victim in search(kueue.trial(), preemptor).victims}


def policy(case: Case) -> list[str]:
    """TestSatisfiesPreemptionPolicy: whether a ClusterQueue with this policy lets the one workload evict the other."""
    tc = case["tc"]
    queue = cluster_queue("cq", "", [{"default": {"cpu": ("1",)}}])
    queue["spec"]["preemption"] = {"reclaimWithinCohort" if tc["policy"] == "Any" else "withinClusterQueue": tc["policy"]}
    boost = bool((tc.get("featureGates") or {}).get("PriorityBoost"))
    objects = {"clusterQueues": [queue], "workloads": [tc["preemptor"], tc["candidate"]]}
    into = {"default/preemptor": "cq", "default/candidate": "cq"}
    kueue = TableCluster(objects, Configuration(boost=boost), into)
    said = kueue.graph.queue_at(kueue.queue("cq")).preemption
    wanted = said.reclaims if tc["policy"] == "Any" else said.own
    return differences(
        {"allowed": tc.get("want", False)}, {"allowed": kueue.probe.may_evict("default/preemptor", "default/candidate", wanted)}
    )


def turns(case: Case) -> list[str]:
    """TestMakeClusterQueueOrdering: from which ClusterQueue the next victim is taken, where nothing changes but who is left."""
    tc = case["tc"]
    objects = {
        "clusterQueues": tc["clusterQueues"],
        "cohorts": tc.get("cohorts") or (),
        "workloads": [*tc["admitted"], waiting("preemptor")],
    }
    kueue = TableCluster(objects, Configuration(fair=True), into={"ns/preemptor": tc["preemptorCQ"]})
    trial, queue = kueue.trial(), kueue.queue(tc["preemptorCQ"])
    left = {node: ordered(trial, trial.running(node), queue) for node in map(kueue.queue, tc["candidateCQs"])}
    order, actions = [], iter(tc.get("actions") or ())
    while (target := next_queue(trial, queue, left)) is not None:
        order.append(kueue.graph.nodes[target].name)
        left[target] = [] if next(actions, "pop") == "drop" else left[target][1:]
    return differences({"order": tc.get("wantOrder") or []}, {"order": order})


SUITES = (
    table("TestPreemption", 36, "victims and reasons", classical),
    table("TestHierarchicalPreemptions", 15, "victims and reasons", classical),
    table("TestFairPreemptions", 35, "victims and reasons", fair),
    table("TestSatisfiesPreemptionPolicy", 12, "whether a workload may evict another", policy),
    table("TestMakeClusterQueueOrdering", 7, "the order of the ClusterQueues from which victims are taken", turns),
)
