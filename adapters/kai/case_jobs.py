"""The jobs of a KAI cluster as workloads of a session, with all that KAI's harness fills in.

KAI: pkg/scheduler/test_utils/jobs_fake/jobs.go, tasks_fake/tasks.go, resources_fake/resources.go; pkg/common/podgroup.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from ...engine.definition.kai.terms import WorkloadTerms
from ...engine.definition.session.pods import PodAmounts, PodStatus, SessionGroup
from ...engine.event_parts import PodSet, Requirement
from ..kueue.problems import Problem
from .case_form import MOST_TASKS, KaiCaseForm, KaiJob, KaiSubGroups, KaiTask, KaiTopology, KaiTopologyWish
from .case_queues import CaseQuotas

STATUSES = {
    "Pending": PodStatus.WAITING,
    "Pipelined": PodStatus.PROMISED,
    "Binding": PodStatus.PLACED,
    "Running": PodStatus.RUNNING,
    "Releasing": PodStatus.STOPPING,
    "StuckInReleasing": PodStatus.STUCK,
    "Failed": PodStatus.DONE,
    "Succeeded": PodStatus.DONE,
}
"""KAI's words for the states of a task."""

SUCCEEDED = "Succeeded"

ON_A_NODE = ("Pipelined", "Binding", "Running", "Releasing", "StuckInReleasing")
"""States of tasks that have a node."""

NODE_TYPE = "kai.scheduler/type"
"""The label that a node has by itself: its name."""

DEFAULT_LEAF = "default"
"""The leaf of tasks that name none."""

NON_PREEMPTIBLE = 100
"""Jobs from this priority on may not be evicted, unless they say otherwise."""

_MINUTE, _SECOND = 60_000_000, 1_000_000
_GIGABYTE, _CPU = 10**9, 1_000

TaskState = tuple[str, str]
"""What is known of a task between rounds: KAI's word for its state, and the name of its node ("": none)."""


@dataclass(frozen=True, slots=True)
class CaseTask:
    """A task: its name, the group of its job, what its pod asks for, and how it stands at first."""

    name: str
    group: int
    requests: PodAmounts
    pod_set: PodSet
    priority: int
    first: TaskState


@dataclass(frozen=True, slots=True)
class CaseJob:
    """A job, as all rounds know it. `deleted`: its tasks go on stopping between rounds."""

    name: str
    queue: int
    priority: int
    preemptible: bool
    created: int
    deleted: bool
    groups: tuple[SessionGroup, ...]
    tasks: tuple[CaseTask, ...]
    terms: WorkloadTerms


def case_jobs(form: KaiCaseForm, tree: CaseQuotas, grace_s: int, problems: list[Problem]) -> tuple[CaseJob, ...]:
    """The jobs in the order in which KAI's harness makes them: of high priority first, as given within one. `grace_s` is in seconds."""
    tasks = sum(len(job.tasks) for job in form.jobs)
    if tasks > MOST_TASKS:
        problems.append(Problem("", "", "Jobs", f"have {tasks:,} tasks, more than {MOST_TASKS:,}", "split the cluster"))
        return ()
    order = sorted(range(len(form.jobs)), key=lambda index: -form.jobs[index].priority)
    seen: set[str] = set()
    made = []
    for position, index in enumerate(order):
        job, place = form.jobs[index], f"Jobs[{index}]"
        if job.name in seen:
            problems.append(Problem("", "", f"{place}.Name", f"`{job.name}` names a second job", "give each its own name"))
        seen.add(job.name)
        age = job.job_age_in_minutes or len(order) - position
        made.append(_job(form, tree, job, place, position - age * _MINUTE, grace_s, problems))
    return tuple(made)


def _job(form: KaiCaseForm, tree: CaseQuotas, job: KaiJob, place: str, created: int, grace_s: int, problems: list[Problem]) -> CaseJob:
    def wrong(field: str, cause: str, remedy: str) -> None:
        problems.append(Problem("", "", f"{place}.{field}" if field else place, cause, remedy))

    queue = tree.numbers.get(job.queue_name, -1)
    if queue < 0:
        wrong("QueueName", f"`{job.queue_name}` is no queue, and KAI leaves such a job alone", "name a queue, or leave the job out")
    elif not tree.is_leaf(queue):
        wrong("QueueName", f"`{job.queue_name}` has queues below it, and KAI leaves such a job alone", "name one of those")
    if job.preemptibility not in ("", "preemptible", "non-preemptible"):
        wrong("Preemptibility", f"gpol does not decide about `{job.preemptibility}`", "write preemptible or non-preemptible")
    preemptible = job.preemptibility == "preemptible" if job.preemptibility else job.priority < NON_PREEMPTIBLE
    groups, leaves = _groups(job, form.topologies, wrong)
    asked = _requests(job, wrong)
    tasks = tuple(_task(form, job, index, task, asked, leaves, wrong) for index, task in enumerate(job.tasks))
    grace = Fraction(grace_s) if job.per_job_staleness_grace_period is None else job.per_job_staleness_grace_period
    terms = WorkloadTerms(
        int(grace * _SECOND),
        int((job.stale_duration or 0) * _SECOND),
        any(task.state == SUCCEEDED for task in job.tasks),
        max(int((job.preemption_delay or 0) * _SECOND), 0),
    )
    return CaseJob(job.name, queue, job.priority, preemptible, created, job.delete_job_in_test, groups, tasks, terms)


# --- tasks ----------------------------------------------------------------------------------------------------------

_Wrong = Callable[[str, str, str], None]


def _requests(job: KaiJob, wrong: _Wrong) -> PodAmounts:
    """What a task asks for: milli-CPUs, bytes, GPUs, and to be one pod more. Nothing given is 1 CPU and 1 GB."""
    gpus = job.required_gpus_per_task
    if gpus.denominator != 1:
        wrong("RequiredGPUsPerTask", f"{float(gpus):g}: gpol does not decide about shares of GPUs", "ask for whole GPUs")
        gpus = Fraction(0)
    if job.is_best_effort_job:
        return (0, 0, 0, 1)
    return (_up(job.required_cpus_per_task * _CPU) or _CPU, _up(job.required_memory_per_task) or _GIGABYTE, int(gpus), 1)


def _up(amount: Fraction) -> int:
    """An amount as whole units, as Kubernetes rounds it."""
    return -(-amount.numerator // amount.denominator)


def _task(
    form: KaiCaseForm, job: KaiJob, index: int, task: KaiTask, asked: PodAmounts, leaves: Mapping[str, int], wrong: _Wrong
) -> CaseTask:
    place = f"Tasks[{index}]"
    if task.state not in STATUSES:
        wrong(f"{place}.State", f"`{task.state}` is no state that gpol knows", f"write one of {', '.join(STATUSES)}")
    if task.state in ON_A_NODE and task.node_name not in form.nodes:
        wrong(f"{place}.NodeName", f"`{task.node_name}` is no node, and a task that is {task.state} has one", "name one of Nodes")
    leaf = task.sub_group_name or DEFAULT_LEAF
    if leaf not in leaves:
        wrong(f"{place}.SubGroupName", f"`{leaf}` is no sub-group with pods", "name one of the podSets")
    if task.required_gpus is not None:
        asked = (*asked[:2], task.required_gpus, asked[3])
    affinity = ((Requirement(key=NODE_TYPE, operator="In", values=task.node_affinity_names),),) if task.node_affinity_names else ()
    requests = {"cpu": asked[0], "gpu": asked[2], "memory": asked[1]}
    pod_set = PodSet(name=leaf, requests=requests, affinity=affinity)
    return CaseTask(f"{job.name}-{index}", leaves.get(leaf, 0), asked, pod_set, task.priority or 0, (task.state, task.node_name))


# --- sub-groups -----------------------------------------------------------------------------------------------------


def _groups(job: KaiJob, topologies: tuple[KaiTopology, ...], wrong: _Wrong) -> tuple[tuple[SessionGroup, ...], dict[str, int]]:
    """The groups of a job, the whole of it first, and the number of each leaf by name.

    Tasks that name no leaf belong to `default`; where there is none it is added, and needs as many pods as the job has tasks.
    """
    root = KaiSubGroups() if job.root_sub_group_set is None else job.root_sub_group_set.subgroups
    made: list[SessionGroup | None] = []
    leaves: dict[str, int] = {}

    def add_inner(inner: KaiSubGroups, parent: int) -> int:
        number = len(made)
        made.append(None)
        children = [add_inner(each, number) for each in inner.sets]
        children += [add_leaf(each.name, number, each.min_available, each.topology) for each in inner.pod_sets]
        if parent < 0 and DEFAULT_LEAF not in leaves and any(not task.sub_group_name for task in job.tasks):
            children.append(add_leaf(DEFAULT_LEAF, number, len(job.tasks), None))
        minimum = len(children) if inner.min_sub_group is None else inner.min_sub_group
        made[number] = SessionGroup(inner.name, parent, tuple(children), minimum, *_levels(inner.topology, topologies, wrong))
        return number

    def add_leaf(name: str, parent: int, minimum: int, topology: KaiTopologyWish | None) -> int:
        if name in leaves:
            wrong("RootSubGroupSet", f"`{name}` names a second sub-group with pods", "give each its own name")
        leaves[name] = len(made)
        made.append(SessionGroup(name, parent, (), minimum, *_levels(topology, topologies, wrong)))
        return leaves[name]

    add_inner(root, -1)
    return tuple(group for group in made if group is not None), leaves


def _levels(
    wish: KaiTopologyWish | None, topologies: tuple[KaiTopology, ...], wrong: _Wrong
) -> tuple[tuple[int, int] | None, tuple[int, int] | None]:
    """The levels that are required and preferred, as (topology, level)."""
    if wish is None or not wish.topology:
        return None, None
    number = next((index for index, each in enumerate(topologies) if each.object_meta.name == wish.topology), -1)
    if number < 0:
        wrong("RootSubGroupSet", f"`{wish.topology}` is no topology", "name one of Topologies")
        return None, None
    labels = [level.node_label for level in topologies[number].spec.levels]
    found: list[tuple[int, int] | None] = []
    for level in (wish.required_level, wish.preferred_level):
        if level and level not in labels:
            wrong("RootSubGroupSet", f"`{level}` is no level of topology `{wish.topology}`", f"name one of {', '.join(labels)}")
        found.append((number, labels.index(level)) if level in labels else None)
    return found[0], found[1]
