"""Workloads: what their objects say, pending or admitted."""

from typing import cast

from ....engine.event_parts import CheckState
from . import known_fields as known
from .effective_requests import charged, counted, names_claims
from .fields import INT32, Fields
from .objects import KueueAdmission, KueuePodSet, KueueWorkload, PodSetAssignment
from .pods import affinity, beyond_limits, requests, tolerations
from .quantity import amount
from .selectors import conditions
from .topology.second_pass import lost_nodes, updated
from .topology.topology_assignments import PlacesGiven, places_given
from .topology.topology_requests import check_groups, places_asked

_STATES = ("Pending", "Ready", "Retry", "Rejected")
_GATED = "kueue.x-k8s.io/admission-gated-by"
_BOOST = "kueue.x-k8s.io/priority-boost"
_REPLACES = "kueue.x-k8s.io/workload-slice-replacement-for"
_NAMES_CLAIMS = "it names a ResourceClaim, and Kueue admits only claims by template"
_MOST_PODS = 1_000_000
_MOST_POD_SETS = 18

StatusCondition = tuple[str, int | None]
"""The reason and the time of a condition that is true."""


def workload(namespace: str, name: str, file: str, whole: Fields) -> KueueWorkload:
    """A Workload of v1beta1 or v1beta2."""
    metadata = whole.sub("metadata")
    spec, status = whole.sub("spec").known(known.WORKLOAD), whole.sub("status").known(known.WORKLOAD_STATUS)
    annotations = metadata.sub("annotations")
    replaces = annotations.optional_name(_REPLACES)
    if replaces == f"{namespace}/{name}":
        annotations.wrong(_REPLACES, "names the workload itself", "name the slice whose place it takes")
    _note_unused(spec)
    rows = list(spec.subs("podSets", _MOST_POD_SETS))
    pod_sets = tuple(pod_set for row in rows if (pod_set := _pod_set(row)) is not None)
    _check_pod_sets(spec, rows)
    check_groups(spec, pod_sets)
    true, false = _conditions(whole)
    evicted = true.get("Evicted")
    reclaimable = _reclaimable(status, pod_sets)
    admission = _admission(status, pod_sets, reclaimable, true, false) if status.has("admission") else None
    held = _held(spec, annotations, true, false)
    if admission is not None:
        _note_strangers(status, rows)
        pod_sets = updated(charged(pod_sets, rows, admission), status, admission)
    elif "Finished" not in true:
        held = held or (_NAMES_CLAIMS if names_claims(rows) else "")
        pod_sets = counted(pod_sets, rows, status, reclaimable, held)
    return KueueWorkload(
        namespace=namespace,
        name=name,
        file=file,
        uid=metadata.text("uid"),
        created=metadata.time("creationTimestamp"),
        queue=spec.optional_name("queueName"),
        priority=spec.whole("priority", 0),
        boost=_boost(annotations),
        kind=next((owner.text("kind") for owner in metadata.subs("ownerReferences")), ""),
        labels=metadata.text_map("labels") if metadata.has("labels") else {},
        pod_sets=pod_sets,
        admission=admission,
        held=held,
        misconfigured=_misconfigured(rows),
        backs_off_until=status.sub("requeueState").known(known.REQUEUE_STATE).time("requeueAt"),
        requeued=evicted[1] if evicted is not None and evicted[0] in ("PodsReadyTimeout", "AdmissionCheck") else None,
        timed_out=evicted is not None and evicted[0] == "PodsReadyTimeout",
        checks=_checks(status),
        reclaimable=reclaimable,
        finished="Finished" in true,
        replaces=replaces,
        lost_nodes=() if admission is None or "Finished" in true else lost_nodes(whole, status, admission),
    )


def _note_unused(spec: Fields) -> None:
    """Say which fields count for nothing under Kueue's defaults, or only beside scheduling."""
    if spec.rows("preemptionGates"):
        spec.found.note("spec.preemptionGates", "counts for nothing: Kueue's feature gates for it are off by default")
    if spec.has("maximumExecutionTimeSeconds"):
        spec.found.note("spec.maximumExecutionTimeSeconds", "is not imported: no workload ends by it")
    if (spec.has("priorityClassRef") or spec.text("priorityClassName")) and not spec.has("priority"):
        spec.found.note("spec.priority", "is missing beside a priority class: it counts as 0, as in Kueue")


def _conditions(whole: Fields) -> tuple[dict[str, StatusCondition], dict[str, StatusCondition]]:
    """The conditions that are true and those that are false, by type."""
    true: dict[str, StatusCondition] = {}
    false: dict[str, StatusCondition] = {}
    for condition in conditions(whole):
        kept = true if condition.text("status") == "True" else false
        kept[condition.text("type")] = (condition.text("reason"), condition.time("lastTransitionTime"))
    return true, false


def _boost(annotations: Fields) -> int:
    text = annotations.text(_BOOST)
    if not text:
        return 0
    if len(text) > 11 or not text.removeprefix("-").isdecimal() or not text.isascii() or not -INT32 <= int(text) < INT32:
        annotations.wrong(_BOOST, f"`{text[:20]}` is no boost", "write a whole number of 32 bits")
        return 0
    return int(text)


def _held(spec: Fields, annotations: Fields, true: dict[str, StatusCondition], false: dict[str, StatusCondition]) -> str:
    """Why Kueue does not queue a workload; empty where it does."""
    if not spec.flag("active", True):
        return "it is not active"
    if annotations.text(_GATED):
        return f"it is gated by {annotations.text(_GATED)}"
    if "Requeued" in false:
        return "it is not requeued yet"
    if "WaitingForReplacementPods" in true:
        return "it waits for replacement pods"
    return ""


def _misconfigured(rows: list[Fields]) -> str:
    """What is wrong with the pods, for which Kueue turns a workload away when it is its turn; empty where nothing is."""
    return next((told for row in rows if (told := beyond_limits(row.sub("template").sub("spec")))), "")


def _checks(status: Fields) -> dict[str, CheckState]:
    rows = [row.known(known.CHECK_STATE) for row in status.subs("admissionChecks")]
    states = {row.name("name"): row.one_of("state", _STATES, "Pending") for row in rows}
    return {name: cast(CheckState, states[name]) for name in sorted(states)}


# --- pod sets


def _pod_set(row: Fields) -> KueuePodSet | None:
    """A pod set; None where it has no pods."""
    row.known(known.POD_SET)
    name, count = row.text("name", "main"), row.whole("count", 1, 0, _MOST_PODS)
    spec, topology = row.sub("template").sub("spec"), row.sub("topologyRequest").known(known.TOPOLOGY_REQUEST)
    asked = places_asked(topology, count)
    made = KueuePodSet(
        name=name,
        count=count,
        min_count=row.whole("minCount", 1, 1, _MOST_PODS) if row.has("minCount") else None,
        requests=requests(spec),
        node_selector=spec.text_map("nodeSelector") if spec.has("nodeSelector") else {},
        affinity=affinity(spec),
        tolerations=tolerations(spec),
        group=topology.text("podSetGroupName"),
        within=asked.within,
        near=asked.near,
        anywhere=asked.anywhere,
        slices=asked.slices,
    )
    if made.min_count is not None and made.min_count > count:
        row.wrong("minCount", f"is {made.min_count}, above the count", f"write at most {count}" if count else "leave it out")
    if count == 0:
        row.found.note("spec.podSets", "a pod set without pods is left out")
    return made if count else None


def _check_names(owner: Fields, field: str, rows: list[Fields], remedy: str) -> None:
    """Report each pod set that several rows of a field name."""
    names = [row.text("name", "main") for row in rows]
    for name in sorted({name for name in names if names.count(name) > 1}):
        owner.wrong(field, f"has pod set `{name}` twice", remedy)


def _check_pod_sets(spec: Fields, rows: list[Fields]) -> None:
    _check_names(spec, "podSets", rows, "give each a name of its own")
    if not spec.broken and spec.data.get("podSets") in (None, []):
        spec.wrong("podSets", "is empty", "a workload has pods")


# --- what it holds


def _reclaimable(status: Fields, pod_sets: tuple[KueuePodSet, ...]) -> dict[str, int]:
    """Pods that are done, by pod set; no more than there are."""
    counts = {pod_set.name: pod_set.count for pod_set in pod_sets}
    rows = list(status.subs("reclaimablePods"))
    _check_names(status, "reclaimablePods", rows, "keep one")
    said = {row.text("name", "main"): row.whole("count", 0, 0) for row in rows}
    return {name: min(said[name], counts[name]) for name in sorted(said) if name in counts}


def _admission(
    status: Fields,
    pod_sets: tuple[KueuePodSet, ...],
    reclaimable: dict[str, int],
    true: dict[str, StatusCondition],
    false: dict[str, StatusCondition],
) -> KueueAdmission | None:
    """The reservation of quota; None where Kueue says that it is over."""
    if "QuotaReserved" in false:
        return None
    said = status.sub("admission").known(known.ADMISSION)
    reserved = true.get("QuotaReserved")
    counts = {pod_set.name: pod_set.count for pod_set in pod_sets}
    rows = list(said.subs("podSetAssignments", _MOST_POD_SETS))
    _check_names(said, "podSetAssignments", rows, "keep one: Kueue gives each what it holds once")
    made = [_assignment(row, counts, reclaimable, PlacesGiven() if "Finished" in true else places_given(row)) for row in rows]
    return KueueAdmission(
        cluster_queue=said.name("clusterQueue"),
        since=None if reserved is None else reserved[1],
        assignments=tuple(assignment for assignment in made if assignment.pod_set in counts),
        admitted="Admitted" in true,
        evicting="Evicted" in true,
    )


def _note_strangers(status: Fields, rows: list[Fields]) -> None:
    """Say that something is held for pod sets that the workload does not have."""
    names = {row.text("name", "main") for row in rows}
    for given in status.sub("admission").subs("podSetAssignments", _MOST_POD_SETS):
        if given.text("name", "main") not in names:
            status.found.note("status.admission.podSetAssignments", "is of a pod set that the workload does not have: it is not charged")


def _assignment(row: Fields, counts: dict[str, int], reclaimable: dict[str, int], placed: PlacesGiven) -> PodSetAssignment:
    """What a pod set was given, less the pods of it that are done. These keep their places, as in Kueue."""
    name = row.known(known.ASSIGNMENT).text("name", "main")
    given = row.whole("count", counts.get(name, 0), 0, _MOST_PODS)
    left = min(given, counts.get(name, 0) - reclaimable.get(name, 0))
    flavors, charged = row.name_map("flavors"), row.requests("resourceUsage")
    usage = {resource: amount(charged[resource], resource) for resource in charged if resource in flavors}
    if left < given:
        usage = {resource: usage[resource] // given * left for resource in usage}
    if any(charge < 0 for charge in usage.values()):
        row.wrong("resourceUsage", "is below 0", "write 0 or more")
    usage = {resource: max(0, usage[resource]) for resource in usage}
    return PodSetAssignment(name, left, flavors, usage, placed.levels, placed.places, placed.delayed)
