"""A KAI cluster as it is read, and as a session for each round.

KAI: pkg/scheduler/test_utils/test_utils_builder.go (BuildSession), nodes_fake/nodes.go.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from pydantic import ValidationError

from ...engine.definition.kai.terms import KaiTerms
from ...engine.definition.session.pods import NO_NODE, Pod, PodStatus, SessionWorkload
from ...engine.definition.session.quota_nodes import QuotaNode
from ...engine.definition.session.session import Session, SessionNode
from ...engine.nodes.domains import DomainTree, domain_tree
from ...engine.nodes.inventory import Machine
from ...engine.policy_graph import Flavor, Level, Source, Topology
from ..kueue.problems import MOST_PROBLEMS, ImportRefused, Problem
from .case_form import REFUSED, KaiCaseForm, KaiNode
from .case_jobs import NODE_TYPE, STATUSES, CaseJob, TaskState, case_jobs
from .case_queues import quota_tree

RESOURCES = ("cpu", "memory", "gpu", "pods")
"""The resources of a session: milli-CPUs, bytes and GPUs, which count for quota, and the number of pods, which only limits nodes."""

_CPUS, _MEMORY, _PODS = 20_000, 20 * 10**9, 110
_MINUTE = 60_000_000


@dataclass(frozen=True, slots=True)
class KaiCase:
    """A cluster that was read: what does not change from round to round. Nodes stand in the order of their names.

    `tasks` are all tasks by the numbers of their pods, each with the number of its job.
    """

    name: str
    nodes: tuple[SessionNode, ...]
    quota_nodes: tuple[QuotaNode, ...]
    trees: tuple[DomainTree, ...]
    jobs: tuple[CaseJob, ...]
    terms: KaiTerms

    def first_states(self) -> list[TaskState]:
        """How the tasks stand before the first round."""
        return [task.first for job in self.jobs for task in job.tasks]

    def task_names(self) -> list[str]:
        """The names of the tasks, by the numbers of their pods."""
        return [task.name for job in self.jobs for task in job.tasks]

    def job_of(self) -> list[CaseJob]:
        """Whose each task is, by the numbers of their pods."""
        return [job for job in self.jobs for _ in job.tasks]

    def session(self, states: Sequence[TaskState]) -> Session:
        """The session of a round: the cluster with its tasks as they stand. A job that has started did so a minute ago."""
        numbers = {node.name: node.number for node in self.nodes}
        pods: list[Pod] = []
        workloads: list[SessionWorkload] = []
        for number, job in enumerate(self.jobs):
            first = len(pods)
            for task in job.tasks:
                status, node = states[len(pods)]
                stands = STATUSES[status] not in (PodStatus.WAITING, PodStatus.DONE)
                at = numbers[node] if stands else NO_NODE
                pods.append(Pod(len(pods), task.name, number, task.group, task.requests, task.pod_set, STATUSES[status], at, task.priority))
            runs = any(pod.status in (PodStatus.PLACED, PodStatus.RUNNING) for pod in pods[first:])
            started = self.terms.now - _MINUTE if runs else None
            mine = tuple(range(first, len(pods)))
            workloads.append(
                SessionWorkload(number, job.name, job.queue, job.priority, job.preemptible, job.created, started, job.groups, mine)
            )
        return Session(RESOURCES, self.nodes, self.quota_nodes, workloads, pods, self.trees)


def read_case(data: object, grace_s: int = 0) -> KaiCase:
    """A cluster of the form. Raises ImportRefused with everything that is wrong.

    `grace_s`: how many seconds a broken gang may run that says nothing itself.
    """
    form = _form(data)
    problems: list[Problem] = []
    tree = quota_tree(form, problems)
    jobs = case_jobs(form, tree, grace_s, problems)
    names = [topology.object_meta.name for topology in form.topologies]
    if len(names) != len(set(names)):
        problems.append(Problem("", "", "Topologies", "have two of one name", "give each its own name"))
    if problems:
        raise ImportRefused(tuple(problems[:MOST_PROBLEMS]), max(0, len(problems) - MOST_PROBLEMS))
    machines = {name: _machine(name, form.nodes[name]) for name in sorted(form.nodes)}
    nodes = tuple(
        SessionNode(number, name, machine, tuple(machine.capacity[resource] for resource in RESOURCES))
        for number, (name, machine) in enumerate(machines.items())
    )
    every = Flavor("nodes", (), None, Fraction(1), _NOWHERE)
    trees = tuple(
        domain_tree(_topology(each.object_meta.name, [level.node_label for level in each.spec.levels]), every, machines)
        for each in form.topologies
    )
    return KaiCase(form.name, nodes, tree.nodes, trees, jobs, KaiTerms(tuple(job.terms for job in jobs)))


_NOWHERE = Source("", 0)


def _topology(name: str, labels: Sequence[str]) -> Topology:
    """A topology whose lowest domains are single nodes."""
    return Topology(name, (*(Level(label, label) for label in labels), Level("", None)), _NOWHERE)


def _machine(name: str, node: KaiNode) -> Machine:
    """A node as the harness makes it: 20,000 CPUs, 20 GB and 110 pods unless it says otherwise, and its name as a label."""
    capacity = {
        "cpu": _up((node.cpu_millis or Fraction(_CPUS)) * 1_000),
        "memory": _up(node.cpu_memory or Fraction(_MEMORY)),
        "gpu": node.gpus,
        "pods": _PODS if node.max_task_num is None else node.max_task_num,
    }
    return Machine({NODE_TYPE: name, **node.labels}, capacity, 0)


def _up(amount: Fraction) -> int:
    return -(-amount.numerator // amount.denominator)


def _form(data: object) -> KaiCaseForm:
    """The form, checked field by field. Raises ImportRefused."""
    if not isinstance(data, dict):
        raise ImportRefused((Problem("", "the line", "", "is no object", 'write a cluster, or {"in": CLUSTER}'),))
    try:
        return KaiCaseForm.model_validate(data)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)
        problems = tuple(_problem(each) for each in found[:MOST_PROBLEMS])
        raise ImportRefused(problems, max(0, len(found) - MOST_PROBLEMS)) from None


def _problem(error: Any) -> Problem:
    """What pydantic found, in our words."""
    field = [error["ctx"]["field"]] if error["type"] == REFUSED else []
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{str(part)[:80]}" for part in (*error["loc"], *field)).lstrip(".")
    cause, remedy = _CAUSES.get(error["type"], ("{message}", "correct it"))
    message = error["msg"].removeprefix("Value error, ")[:300]
    return Problem("", "", place, cause.format(message=message, **error.get("ctx", {})), remedy)


_CAUSES = {
    "extra_forbidden": ("is no field of KAI's form", "correct its name, or leave it out"),
    "missing": ("is missing", "give it"),
    REFUSED: ("{message}", "leave it out"),
    "model_type": ("is no object", "write one"),
    "dict_type": ("is no object", "write one"),
    "tuple_type": ("is no list", "write one"),
    "string_type": ("is no text", "write one"),
    "int_type": ("is no whole number", "write one"),
    "bool_type": ("is neither true nor false", "write one of them"),
    "greater_than_equal": ("is below {ge}", "correct it"),
    "less_than_equal": ("is above {le}", "correct it"),
    "less_than": ("is not below {lt}", "correct it"),
    "too_short": ("has fewer than {min_length} entries", "add some"),
    "too_long": ("has more than {max_length} entries", "split the cluster"),
    "string_unicode": ("has a character that Unicode does not have", "correct it"),
    "string_too_short": ("is empty", "write a name"),
    "string_too_long": ("has more than {max_length} characters", "shorten it"),
}
"""Our words for what pydantic finds, by its names: what is wrong, and what to do."""
