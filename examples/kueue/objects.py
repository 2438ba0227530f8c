"""The objects of the example's cluster, as Kueue's API shows them: what administrators wrote, and workloads."""

from cluster import (
    COHORTS,
    CPU_PER_GPU,
    GI_PER_GPU,
    GPU,
    LABELS,
    PRIORITIES,
    SPOT,
    TENANTS,
    Cohort,
    Job,
    Object,
    Tenant,
)

API = "kueue.x-k8s.io/v1beta2"
RESOURCES = ("cpu", "memory", GPU)
CHECK = "spot-nodes"
"""The admission check that asks for spot nodes."""

_OWNERS = {"Job": "batch/v1", "Sweep": "batch/v1", "PyTorchJob": "kubeflow.org/v1", "RayCluster": "ray.io/v1",
           "LeaderWorkerSet": "leaderworkerset.x-k8s.io/v1"}  # fmt: skip


def amounts(gpus: int) -> dict[str, str]:
    """What belongs to so many GPUs, as quantities by resource."""
    return {"cpu": str(gpus * CPU_PER_GPU), "memory": f"{gpus * GI_PER_GPU}Gi" if gpus else "0", GPU: str(gpus)}


def metadata(name: str, created: str, namespace: str = "", **more: object) -> Object:
    """What every object says of itself."""
    return {"creationTimestamp": created, **more, "name": name, **({"namespace": namespace} if namespace else {})}


# --- what administrators wrote ----------------------------------------------------------------------------------------


def flavors(created: str) -> list[Object]:
    """The ResourceFlavors."""
    return [
        {"apiVersion": API, "kind": "ResourceFlavor", "metadata": metadata(name, created), "spec": {
            "nodeLabels": labels, **({"nodeTaints": [dict(SPOT)]} if name == "a100-spot" else {})}}
        for name, labels in LABELS.items()
    ]  # fmt: skip


def cohorts(created: str) -> list[Object]:
    """The Cohorts; a pool of spot GPUs belongs to a cohort, not to one of its queues."""
    return [{"apiVersion": API, "kind": "Cohort", "metadata": metadata(each.name, created), "spec": _cohort(each)} for each in COHORTS]


def _cohort(cohort: Cohort) -> Object:
    spec: Object = {"fairSharing": {"weight": cohort.weight or "1"}}
    if cohort.parent:
        spec["parentName"] = cohort.parent
    if cohort.spot:
        quotas = [{"name": resource, "nominalQuota": amount} for resource, amount in amounts(cohort.spot).items()]
        spec["resourceGroups"] = [{"coveredResources": list(RESOURCES), "flavors": [{"name": "a100-spot", "resources": quotas}]}]
    return spec


def cluster_queue(tenant: Tenant, created: str) -> Object:
    """A ClusterQueue, without what Kueue says of it."""
    spec: Object = {
        **({"cohortName": tenant.cohort} if tenant.cohort else {}),
        "fairSharing": {"weight": tenant.weight or "1"},
        "flavorFungibility": {"whenCanBorrow": "MayStopSearch", "whenCanPreempt": "TryNextFlavor"},
        "namespaceSelector": {"matchLabels": {"tenant": tenant.name}},
        "preemption": {
            "borrowWithinCohort": {"policy": "Never"},
            "reclaimWithinCohort": tenant.reclaim,
            "withinClusterQueue": tenant.within,
        },
        "queueingStrategy": "BestEffortFIFO",
        "resourceGroups": [{"coveredResources": list(RESOURCES), "flavors": [_flavor(tenant, *owned) for owned in tenant.owned]}],
        "stopPolicy": "None",
        **dict(tenant.spec),
    }
    if any(flavor == "a100-spot" for flavor, _ in tenant.owned):
        spec["admissionChecksStrategy"] = {"admissionChecks": [{"name": CHECK, "onFlavors": ["a100-spot"]}]}
    return {"apiVersion": API, "kind": "ClusterQueue", "metadata": metadata(tenant.name, created), "spec": spec}


def _flavor(tenant: Tenant, flavor: str, owned: int) -> Object:
    """The quotas of one flavor. Limits are said of GPUs alone: they are what is scarce."""
    borrows, lends = dict(tenant.borrows), dict(tenant.lends)
    quotas = []
    for resource, amount in amounts(owned).items():
        quota = {"name": resource, "nominalQuota": amount}
        if resource == GPU and flavor in borrows:
            quota["borrowingLimit"] = str(borrows[flavor])
        if resource == GPU and flavor in lends:
            quota["lendingLimit"] = str(lends[flavor])
        quotas.append(quota)
    return {"name": flavor, "resources": quotas}


def local_queues(created: str) -> list[Object]:
    """A LocalQueue in each namespace."""
    return [
        {"apiVersion": API, "kind": "LocalQueue", "metadata": metadata("gpu", created, home), "spec": {
            "clusterQueue": tenant.name, "fairSharing": {"weight": "1"}, "stopPolicy": "None"}}
        for tenant in TENANTS for home in tenant.homes
    ]  # fmt: skip


def namespaces(created: str) -> list[Object]:
    """The namespaces, each labelled with its tenant."""
    return [
        {"apiVersion": "v1", "kind": "Namespace", "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"},
         "metadata": metadata(home, created, labels={"kubernetes.io/metadata.name": home, "tenant": tenant.name})}
        for tenant in TENANTS for home in tenant.homes
    ]  # fmt: skip


def priority_classes(created: str) -> list[Object]:
    """The WorkloadPriorityClasses."""
    return [
        {"apiVersion": API, "kind": "WorkloadPriorityClass", "metadata": metadata(name, created), "value": value}
        for name, value in PRIORITIES.items()
    ]


def admission_checks(created: str) -> list[Object]:
    """The check that provisions spot nodes."""
    condition = {"lastTransitionTime": created, "message": "The admission check is active", "observedGeneration": 1, "reason": "Active",
                 "status": "True", "type": "Active"}  # fmt: skip
    parameters = {"apiGroup": "kueue.x-k8s.io", "kind": "ProvisioningRequestConfig", "name": "spot"}
    spec = {"controllerName": "kueue.x-k8s.io/provisioning-request", "parameters": parameters}
    return [
        {
            "apiVersion": API,
            "kind": "AdmissionCheck",
            "metadata": metadata(CHECK, created),
            "spec": spec,
            "status": {"conditions": [condition]},
        }
    ]


def configuration() -> Object:
    """The manager's Configuration: it turns fair sharing on."""
    return {"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration", "fairSharing": {
        "preemptionStrategies": ["LessThanOrEqualToFinalShare"]}}  # fmt: skip


# --- workloads --------------------------------------------------------------------------------------------------------


def workload(job: Job, created: str) -> Object:
    """A workload as it is submitted."""
    owner = {"apiVersion": _OWNERS[job.kind], "controller": True, "kind": "Job" if job.kind == "Sweep" else job.kind, "name": job.name,
             "uid": job.uid[::-1]}  # fmt: skip
    return {
        "apiVersion": API,
        "kind": "Workload",
        "metadata": metadata(f"{job.kind.lower()}-{job.name}-{job.uid[:5]}", created, job.namespace, ownerReferences=[owner], uid=job.uid),
        "spec": {
            "active": True,
            "podSets": _pod_sets(job),
            "priority": PRIORITIES[job.priority],
            "priorityClassRef": {"group": "kueue.x-k8s.io", "kind": "WorkloadPriorityClass", "name": job.priority},
            "queueName": job.queue,
        },
    }


def _pod_sets(job: Job) -> list[Object]:
    """Gangs of machines with 8 GPUs; a sweep is many pods of one GPU, and makes do with half of them."""
    if job.kind == "Sweep":
        return [{**_pod_set(job, "main", job.gpus * 2, 1), "minCount": job.gpus}]
    pods = max(1, job.gpus // 8)
    each = job.gpus // pods
    if job.kind == "PyTorchJob" and pods > 1:
        return [_pod_set(job, "master", 1, each), _pod_set(job, "worker", pods - 1, each)]
    if job.kind == "RayCluster":
        return [_pod_set(job, "head", 1, 0), _pod_set(job, "workers", pods, each)]
    return [_pod_set(job, "main", pods, each)]


def _pod_set(job: Job, name: str, count: int, gpus: int) -> Object:
    requests = {"cpu": str(gpus * (CPU_PER_GPU - 2)), "memory": f"{gpus * (GI_PER_GPU - 24)}Gi", GPU: str(gpus)} if gpus else {
        "cpu": "4", "memory": "16Gi"}  # fmt: skip
    spec: Object = {
        "containers": [{"image": f"registry.example/{job.namespace}:2026.03", "name": name, "resources": {"requests": requests}}]
    }
    if job.pinned:
        spec["nodeSelector"] = {"nvidia.com/gpu.product": LABELS[job.pinned]["nvidia.com/gpu.product"]}
    if job.tenant.tolerant:
        spec["tolerations"] = [{"effect": SPOT["effect"], "key": SPOT["key"], "operator": "Exists"}]
    return {"count": count, "name": name, "template": {"spec": spec}}
