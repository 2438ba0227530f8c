"""Generators of clusters of Kueue: objects that its webhooks accept, in which each field that decides may be said or left out."""

from typing import Any

from hypothesis import strategies as st

Json = dict[str, Any]

NOW = "2026-01-03T03:04:05Z"
RESOURCES = ("cpu", "memory", "nvidia.com/gpu")
FLAVORS = ("h100", "a100", "spot", "lost")
"""Flavors that quotas name; `lost` may have no object."""

COHORTS = {"org": "", "team": "org", "squad": "team", "a": "squad", "cluster": ""}
"""Cohorts and their parents, four deep; one is called as a ClusterQueue, one as gpol's root."""

QUEUES = ("a", "b", "c", "d")
EXCLUDED = ("example.com/", "example.com/nic", "ephemeral-storage")
"""How the names of resources begin that are not counted; nobody has a quota of any."""

_NOTATIONS = {"cpu": ["0", "1500m", "4", "8"], "memory": ["0", "3000000", "1Gi", "2Gi"], "nvidia.com/gpu": ["0", 2, "4", "8"]}
_ASKED = {"cpu": ["500m", 1, "3"], "memory": ["1M", "3000", "1Gi"], "nvidia.com/gpu": [1, "2", "4"]}
_KEYS, _VALUES = ("pool", "cloud.example.com/kind"), ("x", "y")
_EFFECTS = ("NoSchedule", "NoExecute", "PreferNoSchedule")


def named(kind: str, name: str, namespace: str = "", **others: Any) -> Json:
    """An object of Kueue."""
    metadata = {"name": name} if not namespace else {"name": name, "namespace": namespace}
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": metadata, **others}


def maybe(field: str, values: st.SearchStrategy[Any]) -> st.SearchStrategy[Json]:
    """A field with one of these values, or none."""
    return st.just({}) | values.map(lambda value: {field: value})


def seldom(strategy: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    """Nothing most of the time: what keeps everybody waiting must not be everywhere."""
    return st.sampled_from([False] * 5 + [True]).flatmap(lambda there: strategy if there else st.just({}))


def _joined(*parts: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    return st.tuples(*parts).map(lambda found: {key: value for part in found for key, value in part.items()})


# --- quotas


@st.composite
def _quota(draw: st.DrawFn, resource: str, is_queue: bool, has_parent: bool) -> Json:
    notations = _NOTATIONS[resource]
    nominal = draw(st.sampled_from([0, 1, 2, 2, 3, 3]))
    said: Json = {"name": resource, "nominalQuota": notations[nominal]}
    if has_parent and draw(st.booleans()):
        said["borrowingLimit"] = draw(st.sampled_from(notations))
    if has_parent and draw(st.booleans()):  # a ClusterQueue lends no more than it owns
        said["lendingLimit"] = draw(st.sampled_from([notations[0], notations[nominal]] if is_queue else notations))
    return said


@st.composite
def resource_groups(draw: st.DrawFn, is_queue: bool, has_parent: bool) -> list[Json]:
    """Up to two groups; no resource and no flavor is in both."""
    resources, flavors = draw(st.permutations(RESOURCES)), draw(st.permutations(FLAVORS))
    cut, at = draw(st.integers(0, len(resources))), draw(st.integers(1, len(flavors) - 1))
    halves = [(resources[:cut], flavors[:at]), (resources[cut:], flavors[at:])]
    made = []
    for covered, tried in halves[: draw(st.integers(0 if not is_queue else 1, 2))]:
        kept = tried[: draw(st.integers(1, 3))]
        if covered:
            rows = [{"name": flavor, "resources": [draw(_quota(name, is_queue, has_parent)) for name in covered]} for flavor in kept]
            made.append({"coveredResources": list(covered), "flavors": rows})
    return made


_weights = st.sampled_from(["0", "500m", 1, "2", "0.25"]).map(lambda weight: {"weight": weight})


# --- ClusterQueues and what is above and below them


_rows = st.sampled_from(
    [
        {"key": "dep", "operator": "In", "values": ["lend", "eng"]},
        {"key": "dep", "operator": "NotIn", "values": ["ops"]},
        {"key": "dep", "operator": "Exists"},
        {"key": "old", "operator": "DoesNotExist"},
    ]
)
_selectors = st.just({}) | _joined(
    maybe("matchLabels", st.just({"dep": "eng"})),
    maybe("matchExpressions", st.lists(_rows, max_size=2, unique_by=lambda row: row["operator"])),
)


@st.composite
def _preemption(draw: st.DrawFn) -> Json:
    said = draw(
        _joined(
            maybe("withinClusterQueue", st.sampled_from(["Never", "LowerPriority", "LowerOrNewerEqualPriority"])),
            maybe("reclaimWithinCohort", st.sampled_from(["Never", "LowerPriority", "Any"])),
        )
    )
    if said.get("reclaimWithinCohort", "Never") != "Never" and draw(st.booleans()):
        threshold = maybe("maxPriorityThreshold", st.sampled_from([-5, 0, 100]))
        said["borrowWithinCohort"] = draw(_joined(maybe("policy", st.sampled_from(["Never", "LowerPriority"])), threshold))
    return said


_fungibility = _joined(
    maybe("whenCanBorrow", st.sampled_from(["MayStopSearch", "TryNextFlavor"])),
    maybe("whenCanPreempt", st.sampled_from(["MayStopSearch", "TryNextFlavor"])),
) | st.sampled_from(["BorrowingOverPreemption", "PreemptionOverBorrowing"]).map(
    lambda preference: {"whenCanBorrow": "TryNextFlavor", "whenCanPreempt": "TryNextFlavor", "preference": preference}
)


@st.composite
def _checks(draw: st.DrawFn, groups: list[Json]) -> Json:
    flavors = [flavor["name"] for group in groups for flavor in group["flavors"]]
    names = draw(st.lists(st.sampled_from(["prov", "budget"]), unique=True, max_size=2))
    on = maybe("onFlavors", st.lists(st.sampled_from(flavors), unique=True)) if flavors else st.just({})
    return {"admissionChecksStrategy": {"admissionChecks": [{"name": name, **draw(on)} for name in names]}} if names else {}


@st.composite
def cluster_queues(draw: st.DrawFn, name: str) -> Json:
    """A ClusterQueue."""
    cohort = draw(st.sampled_from(["", *COHORTS]))
    groups = draw(resource_groups(is_queue=True, has_parent=bool(cohort)))
    usage = {"admissionMode": "UsageBasedAdmissionFairSharing"}
    spec = draw(
        _joined(
            st.just({"cohortName": cohort} if cohort else {}),
            maybe("queueingStrategy", st.sampled_from(["StrictFIFO", "BestEffortFIFO"])),
            st.just({"namespaceSelector": {}}) | seldom(_selectors).map(lambda said: {"namespaceSelector": said}) | seldom(st.just({})),
            maybe("flavorFungibility", _fungibility),
            maybe("preemption", _preemption()),
            maybe("fairSharing", _weights),
            seldom(st.sampled_from(["None", "Hold", "HoldAndDrain"]).map(lambda stop: {"stopPolicy": stop})),
            maybe("admissionScope", st.just(usage)),
            seldom(_checks(groups)),
        )
    )
    return named("ClusterQueue", name, spec=spec | ({"resourceGroups": groups} if groups else {}))


@st.composite
def _cohorts(draw: st.DrawFn) -> list[Json]:
    """Some of the cohorts as objects; any other is only named. One whose parent is said is an object."""
    made = []
    for name, parent in COHORTS.items():
        if parent or draw(st.booleans()):
            groups = draw(resource_groups(is_queue=False, has_parent=bool(parent)))
            spec = {"parentName": parent} if parent else {}
            made.append(
                named("Cohort", name, spec=spec | draw(maybe("fairSharing", _weights)) | ({"resourceGroups": groups} if groups else {}))
            )
    return made


@st.composite
def _flavors(draw: st.DrawFn) -> list[Json]:
    taint = st.fixed_dictionaries(
        {"key": st.sampled_from(_KEYS), "effect": st.sampled_from(_EFFECTS)}, optional={"value": st.sampled_from(_VALUES)}
    )
    forgiven = st.sampled_from(
        [{"operator": "Exists"}, {"key": "pool", "operator": "Exists", "effect": "NoSchedule"}, {"key": "pool", "value": "x"}]
    )
    spec = _joined(
        maybe("nodeLabels", st.dictionaries(st.sampled_from(_KEYS), st.sampled_from(_VALUES), min_size=1)),
        seldom(st.lists(taint, min_size=1, max_size=1).map(lambda taints: {"nodeTaints": taints})),
        maybe("tolerations", st.lists(forgiven, max_size=2, unique_by=str)),
    )
    kept = FLAVORS[:-1] if draw(st.integers(0, 5)) == 5 else FLAVORS
    return [named("ResourceFlavor", name, spec=draw(st.just({}) | spec)) for name in kept]


@st.composite
def configurations(draw: st.DrawFn) -> list[Json]:
    """The manager's Configuration, or none."""
    strategies = st.sampled_from(
        [["LessThanOrEqualToFinalShare", "LessThanInitialShare"], ["LessThanInitialShare"], ["LessThanOrEqualToFinalShare"]]
    )
    usage = _joined(
        st.sampled_from([{"usageHalfLifeTime": "168h"}, {"usageHalfLifeTime": "0s"}]),
        maybe("usageSamplingInterval", st.sampled_from(["5m", "1m30s"])),
        maybe("resourceWeights", st.dictionaries(st.sampled_from(RESOURCES), st.sampled_from([0, 1, 2.5]), min_size=1)),
    )
    excluded = st.lists(st.sampled_from(EXCLUDED), min_size=1, unique=True).map(lambda prefixes: {"excludeResourcePrefixes": prefixes})
    said = draw(
        _joined(
            maybe("fairSharing", st.just({}) | maybe("preemptionStrategies", strategies)),
            maybe("admissionFairSharing", usage),
            seldom(excluded.map(lambda said: {"resources": said})),
        )
    )
    return [{"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration", **said}] if said else []


@st.composite
def _local_queues(draw: st.DrawFn, queues: list[str]) -> list[Json]:
    made = []
    for number in range(draw(st.integers(1, 4))):
        stop = seldom(st.sampled_from(["None", "Hold", "HoldAndDrain"]).map(lambda stop: {"stopPolicy": stop}))
        spec = {"clusterQueue": queues[number % len(queues)], **draw(stop), **draw(maybe("fairSharing", _weights))}
        made.append(named("LocalQueue", f"lq{number}", "ns" if number % 2 else "other", spec=spec))
    return made


# --- whole clusters


@st.composite
def clusters(draw: st.DrawFn) -> tuple[list[Json], list[Json]]:
    """The objects that an export writes, and those of a cluster that it does not: checks, namespaces and workloads."""
    queues = [draw(cluster_queues(name)) for name in QUEUES[: draw(st.integers(2, 4))]]
    names = [queue["metadata"]["name"] for queue in queues]
    locals_ = draw(_local_queues(names))
    classes = [named("WorkloadPriorityClass", name, value=value) for name, value in (("high", 100), ("low", -5))]
    written = [*draw(_flavors()), *draw(st.sampled_from([[], classes])), *draw(_cohorts()), *queues, *locals_, *draw(configurations())]
    active = {"conditions": [{"type": "Active", "status": "True", "reason": "Active", "lastTransitionTime": NOW}]}
    checks = [
        named("AdmissionCheck", name, spec={}, status=active) for name in ("budget", "prov")[draw(st.sampled_from([0, 0, 0, 1, 2])) :]
    ]
    labels = draw(st.sampled_from([{}, {"dep": "eng"}, {"old": "yes"}]))
    namespaces = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}} for name in ("ns", "other")]
    return written, [*checks, *namespaces, *draw(_workloads(locals_, queues))]


@st.composite
def _workloads(draw: st.DrawFn, locals_: list[Json], queues: list[Json]) -> list[Json]:
    """Workloads that wait, and some that run on the first group of their ClusterQueue."""
    groups = {queue["metadata"]["name"]: queue["spec"].get("resourceGroups", []) for queue in queues}
    made = []
    for number in range(draw(st.integers(2, 9))):
        local = draw(st.sampled_from(locals_))
        mine = groups[local["spec"]["clusterQueue"]]
        covered = mine[0]["coveredResources"] if mine else ["cpu"]
        asked = {resource: draw(st.sampled_from(_ASKED[resource])) for resource in covered[: draw(st.integers(1, 3))]}
        beyond = draw(st.sampled_from([{}, {}, {}, {"example.com/nic": 1}]))
        container = {"name": "c", "resources": {"requests": asked | beyond}}
        pods = {"name": "main", "count": 1, "template": {"spec": {"containers": [container]}}}
        spec = {"queueName": local["metadata"]["name"], "priority": draw(st.sampled_from([0, 0, 100])), "podSets": [pods]}
        item = named("Workload", f"w{number}", local["metadata"]["namespace"], spec=spec)
        item["metadata"] |= {"creationTimestamp": f"2026-01-03T01:00:{number:02}Z", "uid": f"u{number}"}
        if mine and draw(st.booleans()):
            flavor = draw(st.sampled_from(mine[0]["flavors"]))["name"]
            given = {"name": "main", "count": 1, "flavors": dict.fromkeys(asked, flavor), "resourceUsage": asked}
            reserved = {
                "type": "QuotaReserved",
                "status": "True",
                "reason": "QuotaReserved",
                "lastTransitionTime": f"2026-01-03T02:00:{number:02}Z",
            }
            admission = {"clusterQueue": local["spec"]["clusterQueue"], "podSetAssignments": [given]}
            item["status"] = {"admission": admission, "conditions": [reserved]}
        made.append(item)
    return made
