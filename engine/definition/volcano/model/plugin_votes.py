"""What a plugin says in a cycle: a function for each callback in which it takes part, made when the cycle begins (`OnSessionOpen`).

Volcano: pkg/scheduler/framework/session_plugins.go. An order is below 0 where the left one comes first, above 0 where the right one does. A
vote is 1 (yes), 0 (no opinion) or -1 (no). Victims are those of the candidates that may be evicted for a pod, in their order.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ...session.pods import Pod, SessionWorkload
from .hyper_node_map import HyperNodeDomain
from .pod_group_facts import SubJob
from .volcano_cycle import VolcanoCycle
from .volcano_settings import VolcanoPlugin

_Job = SessionWorkload
NodeScores = Mapping[int, Fraction | int]
"""The scores of nodes by their numbers."""


@dataclass(frozen=True, slots=True)
class PluginVotes:
    """What one plugin says; None: nothing. Queues are numbers of quota nodes. `CALLBACK_OF` has the name of each callback."""

    job_valid: Callable[[_Job], bool] | None = None
    job_order: Callable[[_Job, _Job], int] | None = None
    job_ready: Callable[[_Job], bool] | None = None
    job_promised: Callable[[_Job], int] | None = None
    job_starving: Callable[[_Job], bool] | None = None
    job_enqueueable: Callable[[_Job], int] | None = None
    job_enqueued: Callable[[_Job], None] | None = None
    sub_job_order: Callable[[_Job, SubJob, SubJob], int] | None = None
    sub_job_ready: Callable[[_Job, SubJob], bool] | None = None
    sub_job_promised: Callable[[_Job, SubJob], int] | None = None
    pod_order: Callable[[Pod, Pod], int] | None = None
    queue_order: Callable[[int, int], int] | None = None
    victim_queue_order: Callable[[int, int, int], int] | None = None
    """Two queues of victims, and the queue of the pod for which they would be evicted."""
    preemptable: Callable[[Pod, Sequence[Pod]], list[Pod]] | None = None
    reclaimable: Callable[[Pod, Sequence[Pod]], list[Pod]] | None = None
    preemptive: Callable[[int, Pod], bool] | None = None
    """Whether a queue may take room from other queues for a pod."""
    overused: Callable[[int], bool] | None = None
    allocatable: Callable[[int, Pod], bool] | None = None
    """Whether a queue may give one more pod room."""
    node_scores: Callable[[Pod, Sequence[int], str], NodeScores] | None = None
    """The scores of some nodes for a pod whose sub-job stands in a HyperNode so far (empty: none)."""
    hyper_node_scores: Callable[[_Job, SubJob, Sequence[str]], Mapping[str, Fraction]] | None = None
    gradients_for_job: Callable[[_Job, HyperNodeDomain], list[list[HyperNodeDomain]]] | None = None
    gradients_for_sub_job: Callable[[_Job, SubJob, HyperNodeDomain], list[list[HyperNodeDomain]]] | None = None


CALLBACK_OF: Mapping[str, str] = {
    "job_valid": "",
    "job_order": "JobOrder",
    "job_ready": "JobReady",
    "job_promised": "JobPipelined",
    "job_starving": "JobStarving",
    "job_enqueueable": "JobEnqueued",
    "job_enqueued": "JobEnqueued",
    "sub_job_order": "SubJobOrder",
    "sub_job_ready": "SubJobReady",
    "sub_job_promised": "SubJobPipelined",
    "pod_order": "TaskOrder",
    "queue_order": "QueueOrder",
    "victim_queue_order": "",
    "preemptable": "Preemptable",
    "reclaimable": "Reclaimable",
    "preemptive": "Preemptive",
    "overused": "Overused",
    "allocatable": "Allocatable",
    "node_scores": "NodeOrder",
    "hyper_node_scores": "HyperNodeOrder",
    "gradients_for_job": "HyperNodeGradient",
    "gradients_for_sub_job": "HyperNodeGradient",
}
"""The callback of the configuration that turns each function on; empty: it is always on."""

OpenPlugin = Callable[[VolcanoCycle, VolcanoPlugin], PluginVotes]
"""How a plugin begins a cycle."""
