"""Bodies as Volcano's scheduler sends them: its structs with all their exported fields, as Go writes them."""

import json
from typing import Any

Json = dict[str, Any]

PENDING, RUNNING = 1, 32
"""Statuses of a task: a bit each."""

MAX_FLOAT = 1.7976931348623157e308
"""What an unlimited resource is."""


def resource(cpus: int = 4, gpus: int = 1) -> Json:
    """A Resource: thousandths of cpus and gpus, bytes of memory."""
    return {
        "MilliCPU": cpus * 1000,
        "Memory": 68719476736,
        "ScalarResources": {"nvidia.com/gpu": gpus * 1000, "pods": 1},
        "MaxTaskNum": 0,
    }


def pod(namespace: str, name: str, group: str, uid: str, node: str = "") -> Json:
    """A Pod, as the API server has it."""
    return {
        "metadata": {
            "name": name,
            "namespace": namespace,
            "uid": uid,
            "resourceVersion": "184467",
            "creationTimestamp": "2026-03-05T14:00:00Z",
            "labels": {"volcano.sh/job-name": group, "volcano.sh/task-spec": "worker", "volcano.sh/queue-name": "nlp"},
            "annotations": {"scheduling.k8s.io/group-name": group, "note": 'a <b> & "c" \u2028'},
            "ownerReferences": [
                {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "name": group, "uid": "f-1", "controller": True}
            ],
            "managedFields": [{"manager": "vc-controller-manager", "operation": "Update", "fieldsV1": {"f:metadata": {"f:labels": {}}}}],
        },
        "spec": {
            "volumes": [{"name": "kube-api-access", "projected": {"sources": [{"serviceAccountToken": {"expirationSeconds": 3607}}]}}],
            "containers": [
                {
                    "name": "worker",
                    "image": "registry.example/train:1",
                    "command": ["python", "-m", "train"],
                    "env": [{"name": f"VARIABLE_{place}", "value": "x" * 40} for place in range(20)],
                    "resources": {"limits": {"nvidia.com/gpu": "1"}, "requests": {"cpu": "4", "memory": "64Gi", "nvidia.com/gpu": "1"}},
                }
            ],
            "nodeName": node,
            "schedulerName": "volcano",
            "priority": 100,
        },
        "status": {"phase": "Running" if node else "Pending", "qosClass": "Burstable"},
    }


def task(namespace: str, group: str, place: int = 0, status: int = PENDING, node: str = "") -> Json:
    """A TaskInfo: a pod of a PodGroup."""
    uid, name = f"{group}-uid-{place}", f"{group}-worker-{place}"
    return {
        "UID": uid,
        "Job": f"{namespace}/{group}",
        "Name": name,
        "Namespace": namespace,
        "TaskRole": "worker",
        "Resreq": resource(),
        "InitResreq": resource(),
        "DRAResreq": None,
        "ResourceClaimKeys": None,
        "ResourceClaimDRAResreq": None,
        "NodeName": node,
        "EvictionOccurred": False,
        "JobAllocatedHyperNode": "",
        "Status": status,
        "LastTransaction": None,
        "Priority": 100,
        "VolumeReady": False,
        "Preemptable": True,
        "BestEffort": False,
        "HasRestartableInitContainer": False,
        "SchGated": False,
        "RevocableZone": "",
        "NumaInfo": {"Policy": "", "ResMap": {}},
        "Pod": pod(namespace, name, group, uid, node),
        "PodAnnotations": {"scheduling.k8s.io/group-name": group},
        "CustomBindErrHandlerSucceeded": False,
    }


def job(namespace: str, group: str, uid: str, pods: int = 1, queue: str = "nlp") -> Json:
    """A JobInfo: a PodGroup with its pods, three times."""
    tasks = {each["UID"]: each for each in (task(namespace, group, place) for place in range(pods))}
    by_status = {str(PENDING): tasks} if tasks else {}
    return {
        "UID": f"{namespace}/{group}",
        "PgUID": uid,
        "Name": group,
        "Namespace": namespace,
        "Queue": queue,
        "Priority": 100,
        "MinAvailable": pods,
        "WaitingTime": None,
        "JobFitErrors": "",
        "NodesFitErrors": {},
        "AllocatedHyperNode": "",
        "NetworkTopology": None,
        "SubJobs": {f"{namespace}/{group}": {"GID": "", "UID": f"{namespace}/{group}", "Tasks": tasks, "TaskStatusIndex": by_status}},
        "TaskToSubJob": dict.fromkeys(tasks, f"{namespace}/{group}"),
        "MinSubJobs": {},
        "TaskStatusIndex": by_status,
        "Tasks": tasks,
        "TaskMinAvailable": {"worker": pods},
        "TaskMinAvailableTotal": pods,
        "Allocated": resource(0, 0),
        "TotalRequest": {**resource(), "Memory": MAX_FLOAT},
        "CreationTimestamp": "2026-03-05T14:00:00Z",
        "PodGroup": {
            "metadata": {"name": group, "namespace": namespace, "uid": uid, "creationTimestamp": "2026-03-05T14:00:00Z"},
            "spec": {"minMember": pods, "queue": queue, "minResources": {"cpu": "4", "nvidia.com/gpu": "1"}},
            "status": {"phase": "Pending"},
            "Version": "v1beta1",
        },
        "ScheduleStartTimestamp": None,
        "Preemptable": True,
        "RevocableZone": "",
        "Budget": {"MinAvailable": "", "MaxUnavailable": ""},
    }


def queue_info(name: str) -> Json:
    """A QueueInfo."""
    return {
        "UID": name,
        "Name": name,
        "Weight": 1,
        "Weights": "",
        "Hierarchy": "",
        "Queue": {
            "metadata": {"name": name, "uid": f"queue-{name}", "creationTimestamp": "2026-01-01T00:00:00Z"},
            "spec": {"weight": 1, "deserved": {"nvidia.com/gpu": "8"}, "reclaimable": True},
            "status": {"state": "Open", "pending": 1, "allocated": {"nvidia.com/gpu": "8"}},
        },
    }


def encoded(body: Any) -> bytes:
    """A body as Go writes it: no spaces, and `<`, `>` and `&` as escapes."""
    text = json.dumps(body, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026").encode()


def job_body(namespace: str, group: str, uid: str, pods: int = 1) -> bytes:
    """The body of `jobEnqueueable`."""
    return encoded({"job": job(namespace, group, uid, pods)})


def queue_body(name: str) -> bytes:
    """The body of `queueOverused`."""
    return encoded({"queue": queue_info(name)})


def eviction_body(evictor: str, *evictees: str) -> bytes:
    """The body of `reclaimable` and `preemptable`; PodGroups are `NAMESPACE/NAME`, of each evictee one pod."""
    running = [task(*each.split("/"), place, RUNNING, "node-1") for place, each in enumerate(evictees)]
    return encoded({"evictor": task(*evictor.split("/")), "evictees": running})
