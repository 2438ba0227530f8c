"""PodGroups and their sub-groups: which pods belong to which, and how many of each start together.

Volcano: pkg/scheduler/api/job_info.go (`getOrCreateSubJob`, `getOrCreateDefaultSubJob`), sub_job_info.go (`getSubJobMatchValues`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ....engine.definition.session.pods import PodAmounts, SessionGroup
from ....engine.definition.volcano.model.pod_group_facts import GroupPhase, NetworkWish, PodGroupFacts, SubJob
from .go_durations import go_duration
from .object_parts import LabelSelector, ScenarioPod
from .volcano_parts import NetworkTopologySpec, ScenarioPodGroup, SubGroupPolicy

_WAITS = ("volcano.sh/sla-waiting-time", "sla-waiting-time")

WHOLE = 0
"""The group of a workload that is all of it."""


@dataclass(frozen=True, slots=True)
class PodGroupParts:
    """A PodGroup in parts: its groups, what Volcano knows of it, and the group of each of its pods, in their order."""

    groups: tuple[SessionGroup, ...]
    facts: PodGroupFacts
    group_of: tuple[int, ...]


def pod_group_parts(
    given: ScenarioPodGroup, key: str, pods: Sequence[ScenarioPod], min_resources: PodAmounts | None, tiers: Mapping[str, int]
) -> PodGroupParts:
    """A PodGroup with its pods. `tiers` are the numbers of tiers by name."""
    spec = given.spec
    whole, policies = spec.network_topology, spec.sub_group_policy or []
    wish = _wish(whole, tiers)
    if not policies:
        groups = (SessionGroup("", -1, (), spec.min_member),)
        sub_jobs: tuple[SubJob, ...] = (SubJob(key, WHOLE, network=wish),) if pods else ()
        return PodGroupParts(groups, _facts(given, min_resources, sub_jobs, (), wish), (WHOLE,) * len(pods))
    found: dict[tuple[int, tuple[str, ...]], list[int]] = {}
    for at, pod in enumerate(pods):
        found.setdefault(_part_of(policies, pod), []).append(at)
    leaves = {part: len(policies) + 1 + number for number, part in enumerate(found)}
    below: dict[int, list[int]] = {}
    for (policy, _), leaf in leaves.items():
        below.setdefault(policy, []).append(leaf)
    policy_groups = tuple(range(1, len(policies) + 1))
    made = [SessionGroup("", -1, (*policy_groups, *below.get(WHOLE, ())), spec.min_member)]
    for number, each in zip(policy_groups, policies, strict=True):
        made.append(SessionGroup(each.name, WHOLE, tuple(below.get(number, ())), each.min_sub_groups or 0))
    parts: list[SubJob] = []
    for (number, values), leaf in leaves.items():
        said = policies[number - 1] if number else None
        least = 1 if said is None or said.sub_group_size is None else said.sub_group_size
        name = key if said is None else f"{key}/{said.name}-{'-'.join(values)}"
        network = wish if said is None else _wish(said.network_topology, tiers)
        made.append(SessionGroup(name, number, (), least))
        parts.append(SubJob(name, leaf, number, _whole_number(values[0]) if values else 0, network))
    group_of = tuple(leaves[_part_of(policies, pod)] for pod in pods)
    return PodGroupParts(tuple(made), _facts(given, min_resources, tuple(parts), policy_groups, wish), group_of)


def _facts(
    given: ScenarioPodGroup,
    min_resources: PodAmounts | None,
    sub_jobs: tuple[SubJob, ...],
    policies: tuple[int, ...],
    wish: NetworkWish | None,
) -> PodGroupFacts:
    """A scheduler that starts does not read where a PodGroup stood: it follows from its pods (`recoverAllocatedHyperNode`)."""
    by_role = tuple(sorted((given.spec.min_task_member or {}).items()))
    phase = GroupPhase(given.status.phase)
    return PodGroupFacts(phase, min_resources, sub_jobs, by_role, policies, wish, longest_wait=_longest_wait(given))


def _longest_wait(given: ScenarioPodGroup) -> int:
    """How long a PodGroup says that it waits at most, in microseconds; 0 where it says nothing."""
    for name in _WAITS:
        said = given.metadata.annotation(name)
        if said:
            return go_duration(said, f"case.PodGroups.{given.metadata.name}.metadata.annotations.{name}")
    return 0


def _wish(said: NetworkTopologySpec | None, tiers: Mapping[str, int]) -> NetworkWish | None:
    if said is None:
        return None
    highest = said.highest_tier_allowed
    if highest is None and said.highest_tier_name:
        highest = tiers.get(said.highest_tier_name)
    return NetworkWish(said.mode == "hard", highest)


def _part_of(policies: Sequence[SubGroupPolicy], pod: ScenarioPod) -> tuple[int, tuple[str, ...]]:
    """The first policy that a pod matches, by its group, with the values of its labels; the whole and none where there is none."""
    labels = pod.metadata.labels or {}
    for number, policy in enumerate(policies, start=1):
        keys = policy.match_label_keys or []
        values = tuple(labels.get(key, "") for key in keys)
        if values and all(values) and _selects(policy.label_selector, labels):
            return number, values
    return WHOLE, ()


def _selects(selector: LabelSelector | None, labels: Mapping[str, str]) -> bool:
    if selector is None:
        return True
    if any(labels.get(key) != value for key, value in (selector.match_labels or {}).items()):
        return False
    for each in selector.match_expressions or []:
        has, listed = each.key in labels, labels.get(each.key) in (each.values or [])
        holds = {"In": has and listed, "NotIn": not has or not listed, "Exists": has, "DoesNotExist": not has}
        if not holds[each.operator]:
            return False
    return True


def _whole_number(text: str) -> int:
    """A text as Go reads a number; 0 where it is none."""
    digits = text[1:] if text[:1] in ("+", "-") else text
    return int(text) if digits.isascii() and digits.isdigit() and len(digits) < 19 else 0
