"""The queues and departments of a KAI cluster as the quota tree of a session, with all that KAI's harness fills in.

KAI: pkg/scheduler/test_utils/test_utils_builder.go (BuildQueueInfoMap, BuildDepartmentInfoMap, addDefaultDepartmentIfNeeded).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from ...engine.definition.kai.quota.shares import QuotaBound
from ...engine.definition.session.quota_nodes import ROOT, QuotaNode
from ..kueue.problems import Problem
from .case_form import KaiCaseForm, KaiDepartment, KaiQueue

DEFAULT_DEPARTMENT = "default"
"""The department that is put above all queues where none is given."""

DEFAULT_PRIORITY = 100
"""The priority of a queue that has none."""

_UNLIMITED = Fraction(-1)
_MEGABYTE = 1_000_000
_MINUTE = 60_000_000


@dataclass(frozen=True, slots=True)
class CaseQuotas:
    """The quota nodes, the root first, and the number of each queue and department by name."""

    nodes: tuple[QuotaNode, ...]
    numbers: Mapping[str, int]

    def is_leaf(self, number: int) -> bool:
        """Whether jobs may belong to a node."""
        return not self.nodes[number].children


def quota_tree(form: KaiCaseForm, problems: list[Problem]) -> CaseQuotas:
    """The quota tree of a cluster; what is wrong with it is added to `problems`."""
    departments = list(form.departments)
    parents = {index: queue.parent_queue for index, queue in enumerate(form.queues)}
    if not departments and not form.disable_default_department:
        departments = [KaiDepartment(Name=DEFAULT_DEPARTMENT, DeservedGPUs=-1, MaxAllowedGPUs=-1)]
        parents = dict.fromkeys(parents, DEFAULT_DEPARTMENT)
    numbers: dict[str, int] = {}
    places = [f"Queues[{index}]" for index in range(len(form.queues))] + [f"Departments[{index}]" for index in range(len(departments))]
    both: list[KaiQueue | KaiDepartment] = [*form.queues, *departments]
    for number, (place, each) in enumerate(zip(places, both, strict=True), start=1):
        if numbers.setdefault(each.name, number) != number:
            problems.append(Problem("", "", f"{place}.Name", f"`{each.name}` names a second queue or department", "give each its own name"))
    made = [QuotaNode(ROOT, "", ROOT, (), (None,) * 4, (None,) * 4, (0,) * 4, (Fraction(0),) * 4)]
    for index, queue in enumerate(form.queues):
        parent = numbers.get(parents[index], ROOT)
        if parents[index] and parents[index] not in numbers:
            problems.append(
                Problem("", "", f"Queues[{index}].ParentQueue", f"`{parents[index]}` is no queue or department", "name one that there is")
            )
        made.append(_of_queue(index, queue, parent, problems))
    for index, department in enumerate(departments):
        made.append(_of_department(len(form.queues), index, department, problems))
    children: list[list[int]] = [[] for _ in made]
    for node in made[1:]:
        children[node.parent].append(node.number)
    nodes = tuple(replace(node, children=tuple(below)) for node, below in zip(made, children, strict=True))
    _check_tree(nodes, problems)
    return CaseQuotas(nodes, numbers)


def _of_queue(index: int, queue: KaiQueue, parent: int, problems: list[Problem]) -> QuotaNode:
    place = f"Queues[{index}]"
    owned = (
        _bound(f"{place}.DeservedCPUs", queue.deserved_cpus, 1, problems),
        _bound(f"{place}.DeservedMemory", queue.deserved_memory, _MEGABYTE, problems),
        _bound(f"{place}.DeservedGPUs", queue.deserved_gpus, 1, problems),
        None,
    )
    limit = _limits(place, queue, problems)
    priority = DEFAULT_PRIORITY if queue.priority is None else queue.priority
    weight = (Fraction(1), Fraction(1), queue.gpu_over_quota_weight, Fraction(0))
    return QuotaNode(index + 1, queue.name, parent, (), owned, limit, (0,) * 4, weight, priority, index * _MINUTE + index)


def _of_department(queues: int, index: int, department: KaiDepartment, problems: list[Problem]) -> QuotaNode:
    """A department owns CPU and memory without limit, and weighs what it owns of GPUs. It comes after the queue of its minute."""
    place = f"Departments[{index}]"
    owned = (None, None, _bound(f"{place}.DeservedGPUs", department.deserved_gpus, 1, problems), None)
    limit = _limits(place, department, problems)
    weight = (Fraction(1), Fraction(1), department.deserved_gpus, Fraction(0))
    number, created = queues + index + 1, index * _MINUTE + queues + index
    return QuotaNode(number, department.name, ROOT, (), owned, limit, (0,) * 4, weight, DEFAULT_PRIORITY, created)


def _limits(place: str, node: KaiQueue | KaiDepartment, problems: list[Problem]) -> tuple[QuotaBound, ...]:
    gpus = _UNLIMITED if node.max_allowed_gpus == 0 else node.max_allowed_gpus
    return (
        _bound(f"{place}.MaxAllowedCPUs", node.max_allowed_cpus, 1, problems),
        _bound(f"{place}.MaxAllowedMemory", node.max_allowed_memory, _MEGABYTE, problems),
        _bound(f"{place}.MaxAllowedGPUs", gpus, 1, problems),
        None,
    )


def _bound(place: str, given: Fraction | None, scale: int, problems: list[Problem]) -> QuotaBound:
    """An amount in the smallest unit; None where it is absent or -1."""
    if given is None or given == _UNLIMITED:
        return None
    amount = given * scale
    if amount < 0 or amount.denominator != 1:
        remedy = "give whole GPUs, milli-CPUs and bytes, or -1 for no limit"
        problems.append(Problem("", "", place, f"{float(given):g} is no amount that gpol decides about", remedy))
        return 0
    return int(amount)


def _check_tree(nodes: tuple[QuotaNode, ...], problems: list[Problem]) -> None:
    """Every node is below the root: no queue is its own ancestor."""
    reached = [ROOT]
    for number in reached:  # grows as it goes
        reached += nodes[number].children
    lost = [node.name for node in nodes if node.number not in set(reached)]
    if lost:
        problems.append(Problem("", "", "Queues", f"`{lost[0]}` is its own ancestor", "let its parents end at a queue without one"))
