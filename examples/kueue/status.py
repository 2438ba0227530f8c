"""What Kueue says of the objects of the example: who reserves quota, who waits and why, and how much of each queue is used."""

from collections.abc import Callable
from dataclasses import dataclass

from cluster import GPU, TENANTS, Object
from gpol.adapters.kueue.decide.kueue_reasons import REASONS
from gpol.engine.events import WorkloadAdmitted, WorkloadDeferred, WorkloadEvicted
from objects import CHECK, RESOURCES

At = Callable[[int], str]
"""Microseconds since the epoch as Kubernetes writes a moment."""


@dataclass(slots=True)
class Story:
    """What became of a workload: its last admission, its last eviction, why it was not admitted since, and when it finished."""

    admitted: WorkloadAdmitted | None = None
    evicted: WorkloadEvicted | None = None
    deferred: WorkloadDeferred | None = None
    finished: int | None = None

    def holds(self, now: int) -> bool:
        """Whether it holds what it was given: one that is told to stop does so until its pods are gone."""
        if self.admitted is None or self.finished is not None:
            return False
        return self.evicted is None or self.evicted.time < self.admitted.time or self.evicted.time == now


def _condition(what: str, status: bool, since: str, reason: str, message: str) -> Object:
    return {"lastTransitionTime": since, "message": message, "observedGeneration": 1, "reason": reason, "status": str(status), "type": what}


# --- workloads --------------------------------------------------------------------------------------------------------


def workload_status(item: Object, story: Story, now: int, at: At) -> Object:
    """The status of a workload at a moment."""
    status: Object = {"conditions": list(_conditions(story, now, at))}
    if story.admitted is not None and (story.finished is not None or story.holds(now)):
        status["admission"] = _admission(item, story.admitted)
        if any("a100-spot" in part.flavors.values() for part in story.admitted.assignments):
            since = at(story.admitted.time)
            message = "The spot nodes are there"
            status["admissionChecks"] = [{"lastTransitionTime": since, "message": message, "name": CHECK, "state": "Ready"}]
    return status


def _conditions(story: Story, now: int, at: At) -> list[Object]:
    if story.admitted is not None and (story.finished is not None or story.holds(now)):
        return _started(story, story.admitted, now, at)
    made = []
    if story.evicted is not None:
        made += [*_evicted(story.evicted, at), _condition("Requeued", True, at(story.evicted.time), "Preempted", "It waits again")]
    if story.deferred is not None:
        limit = story.deferred.why.limit
        short = f": {limit.deficit} more {limit.resource} needed in flavor {limit.flavor}" if limit is not None else ""
        message = f"couldn't assign flavors to its pod sets{short}"
        made.append(_condition("QuotaReserved", False, at(story.deferred.time), story.deferred.reason, message))
    elif story.evicted is not None:
        made.append(_condition("QuotaReserved", False, at(story.evicted.time), "Preempted", "It was preempted"))
    return made


def _started(story: Story, admitted: WorkloadAdmitted, now: int, at: At) -> list[Object]:
    """One that holds quota, or held it until it finished."""
    since = at(admitted.time)
    made = [
        _condition("QuotaReserved", True, since, "QuotaReserved", f"Quota reserved in ClusterQueue {admitted.queue}"),
        _condition("Admitted", True, since, "Admitted", f"The workload is admitted in ClusterQueue {admitted.queue}"),
    ]
    if story.finished is not None:
        made.append(_condition("Finished", True, at(story.finished), "Succeeded", "Job finished successfully"))
    elif story.evicted is not None and story.evicted.time == now:
        made += _evicted(story.evicted, at)
    return made


def _evicted(evicted: WorkloadEvicted, at: At) -> list[Object]:
    since, message = at(evicted.time), f"Preempted to accommodate {evicted.beneficiary}"
    return [
        _condition("Evicted", True, since, "Preempted", message),
        _condition("Preempted", True, since, REASONS[evicted.preemption], message),
    ]


def _admission(item: Object, admitted: WorkloadAdmitted) -> Object:
    pod_sets = {row["name"]: row["template"]["spec"]["containers"][0]["resources"]["requests"] for row in item["spec"]["podSets"]}
    return {
        "clusterQueue": admitted.queue,
        "podSetAssignments": [
            {
                "count": part.count,
                "flavors": dict(sorted(part.flavors.items())),
                "name": part.pod_set,
                "resourceUsage": {resource: _times(pod_sets[part.pod_set][resource], part.count) for resource in sorted(part.flavors)},
            }
            for part in admitted.assignments
        ],
    }


def _number(quantity: str) -> int:
    return int(quantity.removesuffix("Gi"))


def _quantity(number: int, resource: str) -> str:
    return f"{number}Gi" if resource == "memory" and number else str(number)


def _times(quantity: str, count: int) -> str:
    return _quantity(_number(quantity) * count, "memory" if quantity.endswith("Gi") else GPU)


# --- queues -----------------------------------------------------------------------------------------------------------


def _reserving(shown: list[Object]) -> list[Object]:
    """The workloads that hold quota."""
    return [item for item in shown if "admission" in item["status"] and not _is_finished(item)]


def _is_finished(item: Object) -> bool:
    return any(condition["type"] == "Finished" for condition in item["status"]["conditions"])


def cluster_queue_status(queue: Object, shown: list[Object], installed: str) -> Object:
    """The status of a ClusterQueue: what its workloads hold of each flavor, and how many hold and wait."""
    name, spec = queue["metadata"]["name"], queue["spec"]
    reserving = [item for item in _reserving(shown) if item["status"]["admission"]["clusterQueue"] == name]
    mine = [item for item in shown if item["metadata"]["namespace"] in _homes(name)]
    held = _held(reserving)
    used = [_flavor_usage(flavor, held, "cohortName" in spec) for flavor in spec["resourceGroups"][0]["flavors"]]
    stopped = spec["stopPolicy"] != "None"
    active = ("Stopped", "Can't admit new workloads: Stopped") if stopped else ("Ready", "Can admit new workloads")
    waiting = [item for item in mine if "admission" not in item["status"]]
    return {
        "admittedWorkloads": len(reserving),
        "conditions": [_condition("Active", not stopped, installed, *active)],
        "flavorsReservation": used,
        "flavorsUsage": used,
        "pendingWorkloads": len(waiting),
        "reservingWorkloads": len(reserving),
    }


def _homes(name: str) -> tuple[str, ...]:
    return next(tenant.homes for tenant in TENANTS if tenant.name == name)


def _held(reserving: list[Object]) -> dict[tuple[str, str], int]:
    """Amounts by flavor and resource."""
    held: dict[tuple[str, str], int] = {}
    for item in reserving:
        for part in item["status"]["admission"]["podSetAssignments"]:
            for resource, flavor in part["flavors"].items():
                held[flavor, resource] = held.get((flavor, resource), 0) + _number(part["resourceUsage"][resource])
    return held


def _flavor_usage(flavor: Object, held: dict[tuple[str, str], int], borrows: bool) -> Object:
    owned = {row["name"]: _number(row["nominalQuota"]) for row in flavor["resources"]}
    rows = []
    for resource in RESOURCES:
        total = held.get((flavor["name"], resource), 0)
        borrowed = max(0, total - owned[resource]) if borrows else 0
        rows.append({"borrowed": _quantity(borrowed, resource), "name": resource, "total": _quantity(total, resource)})
    return {"name": flavor["name"], "resources": rows}


def local_queue_status(queue: Object, shown: list[Object], installed: str) -> Object:
    """The status of a LocalQueue: how many of its workloads hold and wait."""
    mine = [item for item in shown if item["metadata"]["namespace"] == queue["metadata"]["namespace"]]
    reserving = len(_reserving(mine))
    active = _condition("Active", True, installed, "Ready", "Can submit new workloads to ClusterQueue")
    waiting = sum("admission" not in item["status"] for item in mine)
    return {"admittedWorkloads": reserving, "conditions": [active], "pendingWorkloads": waiting, "reservingWorkloads": reserving}
